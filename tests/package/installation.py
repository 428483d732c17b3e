"""kwalk as a user has it: its wheel, installed into an environment of its own that shares the dependencies only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from attrs import frozen

from tests.structure.rooms import ROOMS, ROOT

SIDE_PRODUCTS = ("__pycache__", "*.egg-info", ".*_cache")


def build_wheel(folder: Path, *, bitcode: bool = False) -> Path:
    """Build the wheel in a copy of the project, so that nothing is left in the project itself.

    The copy is a repository with one commit.

    The bitcode of the loops takes minutes to make.
    """
    copy = folder / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for room in ("kwalk", *ROOMS):
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns(*SIDE_PRODUCTS))
    identity = ("-c", "user.name=kwalk", "-c", "user.email=kwalk@example.org")
    for words in (("init", "-q"), (*identity, "commit", "-q", "--allow-empty", "--no-verify", "-m", "A commit")):
        subprocess.run(["git", *words], cwd=copy, check=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", "out", "."]
    without = {} if bitcode else {"KWALK_WITHOUT_BITCODE": "1"}
    subprocess.run(command, cwd=copy, env=os.environ | without, check=True, capture_output=True)
    return next((copy / "out").glob("kwalk-*.whl"))


@frozen
class Environment:
    """A virtual environment with kwalk in it."""

    folder: Path

    @property
    def binaries(self) -> Path:
        """The folder of the commands."""
        return self.folder / "bin"

    def run(self, project: Path, *words: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command of the environment in a project's folder."""
        program, *rest = map(str, words)
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CI")}
        return subprocess.run(
            [self.binaries / program, *rest],
            cwd=project,
            env=kept,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
        )


def install(wheel: Path, folder: Path, *, numba: bool = True) -> Environment:
    """Install the wheel into a new environment, which takes the dependencies from the one that runs the tests.

    The loops that are compiled in the project are copied, because to compile them again would take a minute; but not if
    the environment is to be without Numba.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    made = Environment(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    dependencies = Path(sysconfig.get_paths()["purelib"])
    if numba:
        (site / "dependencies.pth").write_text(f"{dependencies}\n")
    else:
        for each in dependencies.iterdir():
            if not each.name.startswith(("numba", "kwalk", "__editable__", "__pycache__")) and each.suffix != ".pth":
                (site / each.name).symlink_to(each)
    pip = [sys.executable, "-m", "pip", "--python", made.binaries / "python", "install"]
    subprocess.run([*pip, "-q", "--no-deps", "--disable-pip-version-check", wheel], check=True, capture_output=True)
    if numba:
        _copy_compiled_loops(site / "kwalk")
    script = f"#!{made.binaries / 'python'}\nimport sys\nimport pytest\n\nsys.exit(pytest.console_main())\n"
    (made.binaries / "pytest").write_text(script)
    (made.binaries / "pytest").chmod(0o755)
    return made


def _copy_compiled_loops(package: Path) -> None:
    for room in ROOMS:
        for compiled in (ROOT / room).rglob("__pycache__/*.loop"):
            target = package / compiled.relative_to(ROOT)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(compiled, target)
