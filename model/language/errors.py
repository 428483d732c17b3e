"""Errors of kwalk. Every message says what to do next."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path

import attr

NOT_THE_MODEL = (str(Path(__file__).parent), str(Path(attr.__file__).parent), sysconfig.get_paths()["stdlib"], "<")
"""Beginnings of the names of files that a model executes and that are not its own."""


class KwalkError(Exception):
    """The root of all errors that kwalk raises on purpose; the command line prints them and exits with 2."""


class UsageError(KwalkError):
    """A name, option or argument does not exist or has no meaning."""


class DomainError(KwalkError):
    """An action writes a value outside of its field's domain, reads past the end, or uses None as a number."""


class LiftError(KwalkError):
    """A model uses a construct that cannot be lifted; the message has file, line and what to write instead."""


class InternalError(Exception):
    """Two parts of kwalk contradict each other: a defect of kwalk, not of the model or its user."""


NO_ITEM = (
    "next(…) finds no item, and has no default (StopIteration). Give it one, as in `next((x for x in …), None)`, or "
    "test before it that there is an item"
)
"""What an error of a model says in place of Python's StopIteration, which has no text."""
MOST_LISTED = 30
"""With more names than this, an error lists only the most similar ones."""


class GuardFailed(Exception):
    """Raised by `require`: the action is not enabled in this state. Not an error."""


class PremiseFailed(Exception):
    """Raised by `premise`: the property does not apply to this state. Not an error."""


class BoundReached(Exception):
    """A step would exceed a bound of the scenario: it is disabled, and the hit is counted."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class Abort(Exception):
    """The base class of a model's named aborts: raising one ends the action from any depth of calls.

    What the action has written before remains written. A `try … except` of the model may catch it.
    """


def one_of(names: Iterable[str]) -> str:
    """Return a sentence that lists the allowed names."""
    return f"Allowed: {listed}." if (listed := ", ".join(sorted(names))) else "There is none."


def close_to(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to one that does not exist; None if none is."""
    import difflib  # slow to import

    return next(iter(difflib.get_close_matches(name, list(names), n=1)), None)


def unknown(kind: str, name: str, names: Iterable[str]) -> UsageError:
    """Return the error for a name that is not among those that exist, with the most similar one as a suggestion.

    Args:
        kind: what the name should be the name of, such as "scenario".
        name: the name.
        names: all names of that kind.
    """
    import difflib  # slow to import

    names = list(names)
    near = close_to(name, names)
    hint = f" Did you mean {near!r}?" if near else ""
    if len(names) > MOST_LISTED:
        nearest = difflib.get_close_matches(name, names, n=6, cutoff=0.3) or sorted(names)[:6]
        listed = f"Allowed: {', '.join(nearest)}, and {len(names) - len(nearest)} others."
    else:
        listed = one_of(names)
    return UsageError(f"No {kind} named {name!r}.{hint} {listed}")


def error_text(error: BaseException) -> str:
    """Return an error of a model's code as one sentence that begins with file and line."""
    text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    if isinstance(error, AssertionError) and not text:
        text = "the condition of an assert is false"
    elif isinstance(error, StopIteration) or isinstance(error.__cause__, StopIteration):  # a generator wraps it
        text = NO_ITEM
    elif not isinstance(error, KwalkError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, TypeError) and "() takes 0 positional arguments but 1 was given" in text:
        name = text.partition(": ")[2].partition("(")[0]
        text += f": a decorator needs its parentheses, as in {'@action(by=CLERK)' if name == 'action' else '@always()'}"
    return f"{_place(error)}{text.rstrip('.')}."


def _place(error: BaseException) -> str:
    """Return file and line of the innermost call in the model's own code, to begin a sentence; or nothing."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: "
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(NOT_THE_MODEL)]
    return f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
