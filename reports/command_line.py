"""The command `kwalk`: from words on a command line to an exit code.

Results go to standard output; progress, warnings and refusals to standard error. What a command needs is imported when
it runs, so that `kwalk --help` answers at once.
"""
from __future__ import annotations

import errno
import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from model.language.errors import KwalkError
from reports.commands.options import parser
from reports.escaping import visible_lines

COMMANDS = {
    "scenarios": ("reports.commands.catalogue", "scenarios"),
    "invariants": ("reports.commands.catalogue", "invariants"),
    "exhaust": ("reports.commands.searching", "exhaust"),
    "walk": ("reports.commands.searching", "walk"),
    "prove": ("reports.commands.searching", "prove"),
    "hunt": ("reports.commands.searching", "hunt"),
    "replay": ("reports.commands.traces", "run_replay"),
    "show": ("reports.commands.traces", "show"),
}
"""The module and function behind each command."""
USAGE, INTERRUPTED = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code, as `kwalk --help` lists them."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:
        return int(end.code or 0)
    return _run(options)


def _run(options: Namespace) -> int:
    """Run a command that was understood, and turn what went wrong on purpose into one message."""
    from reports.terminal import tolerate_any_encoding

    tolerate_any_encoding()
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    module, function = COMMANDS[options.command]
    try:
        code: int = getattr(importlib.import_module(module), function)(options)
        sys.stdout.flush()
    except KwalkError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return _refuse("interrupted before anything ran.", INTERRUPTED)
    except BrokenPipeError:
        _forget_stdout()  # The reader has seen enough, as in `kwalk show TRACE | head`.
        return USAGE
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _forget_stdout()
        return _refuse("no space is left for the output. Free some, or send it elsewhere.")
    return code


def _refuse(message: str, code: int = USAGE) -> int:
    print(f"kwalk: {visible_lines(message)}", file=sys.stderr)
    return code


def _forget_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not complain about it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
