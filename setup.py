"""Install the top-level folders as subpackages of `kwalk`; everything else about the project is in pyproject.toml."""

from setuptools import find_namespace_packages, setup

FOLDERS = ("model", "invariants", "search", "clusters", "reports")


def packages_in(folder: str) -> list[str]:
    """Return the folder and all folders below it as packages, also those without Python files, such as templates."""
    return find_namespace_packages(include=[folder, f"{folder}.*"], exclude=["*__pycache__*"])


setup(
    packages=["kwalk", *(f"kwalk.{name}" for folder in FOLDERS for name in packages_in(folder))],
    package_dir={"kwalk": "kwalk", **{f"kwalk.{folder}": folder for folder in FOLDERS}},
)
