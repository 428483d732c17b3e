"""The process of a command: `kwalk`, or `python -m kwalk`. Ctrl-C ends it without a traceback also while it starts."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def start() -> NoReturn:
    """Import the command line and run it."""
    try:
        from kwalk.reports.command_line import start
    except KeyboardInterrupt:
        sys.stderr.write("kwalk: interrupted before the search started.\n")
        sys.stderr.flush()
        os._exit(130)
    start()


if __name__ == "__main__":
    start()
