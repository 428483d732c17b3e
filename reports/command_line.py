"""The command `kwalk`: parses a command line, runs the command, and returns its exit code.

Results go to standard output; progress, warnings and errors to standard error. The modules of a command are imported
when it runs, so that `kwalk --help` is fast. The process (`start`) collects garbage less often than Python's default,
and exits without finalizing the interpreter: together these save a quarter of the time of a short search.
"""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from kwalk.model.language.errors import InternalError, KwalkError
from kwalk.reports.options.parser import completed, parser, renamed
from kwalk.reports.program import program
from kwalk.reports.streams import discard, remark, settle_streams
from kwalk.search.base.components import extra_missing
from kwalk.search.base.option_table import DEFAULT_OUT

USAGE, INTERNAL, INTERRUPTED, UNREAD = 2, 70, 130, 141
"""Exit codes besides those of verdicts; the last two are those of a process that SIGINT or SIGPIPE ends."""


ONE_BLAS_THREAD = "OPENBLAS_NUM_THREADS", "1"
"""NumPy's OpenBLAS would start a thread for each core, which costs more than all else of NumPy's import.

Nothing here multiplies matrices.
"""
GARBAGE = 20_000, 20, 20
"""The thresholds of the garbage collector: nearly all objects from the start of the process live until its end."""


def start() -> NoReturn:
    """Run `main` as the process of a command, then end the process."""
    gc.set_threshold(*GARBAGE)
    os.environ.setdefault(*ONE_BLAS_THREAD)
    codes: list[int] = []
    atexit.register(_leave, codes)  # the first function that is registered is called last
    codes.append(main())
    sys.exit(codes[0])


def _leave(codes: list[int]) -> None:
    """End the process without finalization, unless an unexpected exception ends it."""
    if codes:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(codes[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code (see `kwalk --help`). Expected errors become one message."""
    settle_streams()
    try:
        with _warnings_as_remarks():
            code = _run(argv)
        sys.stdout.flush()
    except KwalkError as error:
        return _refuse(str(error))
    except InternalError as error:
        return _refuse(f"internal error, no verdict: {error} Please report it.", INTERNAL)
    except KeyboardInterrupt:
        return _refuse("interrupted before the search started.", INTERRUPTED)
    except BrokenPipeError:
        discard(sys.stdout)  # the reader of a pipe has ended, as in `kwalk replay TRACE | head`
        return UNREAD
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        discard(sys.stdout)
        return _refuse("no space is left for the output. Free some space, or redirect the output.")
    return code


@contextmanager
def _warnings_as_remarks() -> Iterator[None]:
    """Show each warning that is meant for users (`UserWarning`) once, as one line without a source location."""
    shown: set[str] = set()
    with warnings.catch_warnings():
        default = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, UserWarning):
                default(message, category, *where, **more)
            elif str(message) not in shown:
                shown.add(str(message))
                remark(f"kwalk: {message}")

        warnings.showwarning = show
        yield


def _run(argv: Sequence[str] | None) -> int:
    """Parse a command line and run the command; modules in the current folder can be imported."""
    words, change = renamed(sys.argv[1:] if argv is None else argv)
    if change:
        remark(f"kwalk: {change} now; the old name works until the next release.")
    words = completed(words)
    try:
        options = parser(words).parse_args(words)
    except SystemExit as end:
        return int(end.code or 0)
    with suppress(OSError):  # the current folder may have been removed
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
    module, _, function = options.handler.partition(":")
    try:
        code: int = getattr(importlib.import_module(module), function)(options)
    except ModuleNotFoundError as error:
        missing = extra_missing(error)
        if missing is None:
            raise
        raise missing from error
    except InternalError as error:
        command = f"{program()} {shlex.join(words)}"
        _leave_bundle(error, getattr(options, "out", None) or DEFAULT_OUT, command)
        raise
    return code


def _leave_bundle(error: InternalError, folder: str, command: str) -> None:
    """Write the bundle that reproduces a contradiction between engines, and print its folder and the command."""
    from kwalk.reports.contradiction_bundle import bundle_of

    bundle = bundle_of(error, folder, command)
    if bundle is not None:
        print(f"Bundle: {bundle}\nReproduce: {command}")


def _refuse(message: str, code: int = USAGE) -> int:
    remark(f"kwalk: {message}")
    return code


if __name__ == "__main__":
    start()
