"""The name by which a reader of "Reproduce:" starts kwalk."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def program() -> str:
    """Return `kwalk`, or the path by which it was started if PATH has no command of that name, or another one."""
    started = Path(sys.argv[0])
    if started.stem != "kwalk" or not started.exists():
        return "kwalk"  # in a test, a notebook or a script
    found = shutil.which("kwalk")
    return "kwalk" if found is not None and Path(found).samefile(started) else shlex.quote(str(started))
