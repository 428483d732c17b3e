"""Install the top-level folders as subpackages of `kwalk`, with what only a build knows; all else is in pyproject.toml.

A wheel has the bitcode of the searches' loops, which Numba compiles here (ARCHITECTURE.md). It has the commit, and the
addresses of the project, which a release gives in the environment.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

FOLDERS = ("model", "invariants", "search", "clusters", "reports")
COMMIT = Path("kwalk", "commit.txt")
WITHOUT_BITCODE = "KWALK_WITHOUT_BITCODE"
"""The environment variable that leaves the bitcode out, which takes minutes to make."""
ADDRESSES = {"Source": "KWALK_SOURCE", "Documentation": "KWALK_DOCUMENTATION"}
"""By the label of an address of the project, the environment variable that has it."""


def packages_in(folder: str) -> list[str]:
    """Return the folder and all folders below it as packages, also those without Python files, such as templates."""
    return find_namespace_packages(include=[folder, f"{folder}.*"], exclude=["*__pycache__*"])


def write_commit(folder: Path) -> None:
    """Write the commit into a built package or a source archive, if it is known here."""
    if COMMIT.exists():  # in a source archive
        commit = COMMIT.read_text("ascii")
    elif Path(".git").exists() and shutil.which("git"):
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout
    else:
        return
    (folder / COMMIT).write_text(commit, "ascii")


class Build(build_py):
    """Build the package, its commit, and the bitcode of its loops."""

    def run(self) -> None:
        """Run the build; of an editable installation, the loops are compiled when they are used."""
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib).absolute()
        write_commit(folder)
        if (sys.platform, platform.machine()) == ("linux", "x86_64") and not os.environ.get(WITHOUT_BITCODE):
            command = [sys.executable, "-m", "kwalk.search.native.compile_all", folder / "kwalk/search/native/levels"]
            own = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run(command, cwd=folder, env=os.environ | own, check=True)


class SourceArchive(sdist):
    """Make the source archive, with its commit."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Write the files of the archive into a folder."""
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir))


setup(
    packages=["kwalk", *(f"kwalk.{name}" for folder in FOLDERS for name in packages_in(folder))],
    package_dir={"kwalk": "kwalk", **{f"kwalk.{folder}": folder for folder in FOLDERS}},
    project_urls={label: os.environ[name] for label, name in ADDRESSES.items() if os.environ.get(name)},
    cmdclass={"build_py": Build, "sdist": SourceArchive},
)
