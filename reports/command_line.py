"""The command `kwalk`: from words on a command line to an exit code.

Results go to standard output; progress, warnings and refusals to standard error. What a command needs is imported when
it runs, so that `kwalk --help` answers at once. A process of the command (`start`) also looks for garbage more rarely
than Python would, and ends without taking everything apart: together these are a quarter of the time of a short search.
"""
from __future__ import annotations

import atexit
import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from model.language.errors import InternalError, KwalkError
from reports.commands.options import DEFAULT_OUT, parser
from reports.streams import forget, remark, settle_streams

COMMANDS = {
    "scenarios": ("reports.commands.catalogue", "scenarios"),
    "invariants": ("reports.commands.catalogue", "invariants"),
    "exhaust": ("reports.commands.searching", "exhaust"),
    "walk": ("reports.commands.searching", "walk"),
    "prove": ("reports.commands.searching", "prove"),
    "check": ("reports.commands.searching", "check"),
    "hunt": ("reports.commands.searching", "hunt"),
    "nightly": ("reports.commands.nightly", "run_nightly"),
    "audit": ("reports.commands.auditing", "run_audit"),
    "mutate": ("reports.commands.mutating", "run_mutate"),
    "explain": ("reports.commands.explaining", "run_explain"),
    "replay": ("reports.commands.traces", "run_replay"),
    "shrink": ("reports.commands.shrinking", "run_shrink"),
    "show": ("reports.commands.traces", "show"),
    "graph": ("reports.commands.graphing", "graph"),
    "compare": ("reports.commands.comparing", "run_compare"),
    "page": ("reports.commands.comparing", "run_page"),
    "illustrate": ("reports.commands.illustrating", "illustrate"),
}
"""The module and function behind each command."""
USAGE, INTERNAL, INTERRUPTED, UNREAD = 2, 70, 130, 141
"""Exit codes beside those of verdicts; the last two are those of a process that SIGINT or SIGPIPE ends."""


GARBAGE = 20_000, 20, 20
"""After how much the process looks for garbage: nearly all that it makes while it starts is there to stay."""


def start() -> NoReturn:
    """The process of a command: `main`, and then the end, which the system makes short."""
    gc.set_threshold(*GARBAGE)
    codes: list[int] = []
    atexit.register(_leave, codes)  # what is registered first is called last
    codes.append(main())
    sys.exit(codes[0])


def _leave(codes: list[int]) -> None:
    """End the process here, unless an exception that nobody expected is to end it."""
    if codes:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(codes[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code, as `kwalk --help` lists them. What went wrong on purpose becomes one message."""
    settle_streams()
    try:
        code = _run(argv)
        sys.stdout.flush()
    except KwalkError as error:
        return _refuse(str(error))
    except InternalError as error:
        return _refuse(f"internal error, and no verdict: {error} Please report it.", INTERNAL)
    except KeyboardInterrupt:
        return _refuse("interrupted before anything ran.", INTERRUPTED)
    except BrokenPipeError:
        forget(sys.stdout)  # The reader has seen enough, as in `kwalk show TRACE | head`.
        return UNREAD
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        forget(sys.stdout)
        return _refuse("no space is left for the output. Free some, or send it elsewhere.")
    return code


def _run(argv: Sequence[str] | None) -> int:
    """Understand a command and run it; models in the present folder can be imported."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    with suppress(OSError):  # the present folder may be gone
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
    module, function = COMMANDS[options.command]
    try:
        code: int = getattr(importlib.import_module(module), function)(options)
    except InternalError as error:
        _leave_bundle(error, getattr(options, "out", None) or DEFAULT_OUT)
        raise
    return code


def _leave_bundle(error: InternalError, folder: str) -> None:
    """Write down all that reproduces a contradiction between engines, and say where."""
    from reports.contradiction import write_bundle
    from search.contradiction import Contradiction

    if isinstance(error, Contradiction):
        print(f"Bundle: {write_bundle(error, folder)}")


def _refuse(message: str, code: int = USAGE) -> int:
    remark(f"kwalk: {message}")
    return code


if __name__ == "__main__":
    start()
