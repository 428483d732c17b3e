"""What can go wrong with a model, and with what people say about it; every message says what to do next."""
from __future__ import annotations

import difflib
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path

import attr

NOT_THE_MODEL = (str(Path(__file__).parent), str(Path(attr.__file__).parent), sysconfig.get_paths()["stdlib"], "<")
"""How the names of files begin that a model runs through, and that are not its own."""


class KwalkError(Exception):
    """The root of all errors that kwalk raises on purpose; the command line prints them and exits with 2."""


class UsageError(KwalkError):
    """Somebody asked for something that does not exist or makes no sense."""


class DomainError(KwalkError):
    """An action wrote a value outside of its field's domain, read past the end, or used None as a number."""


class LiftError(KwalkError):
    """A model uses a construct that cannot be lifted; the message has file, line and what to write instead."""


class InternalError(Exception):
    """kwalk contradicts itself, so that nothing that it says can be believed: no fault of the model or of its user."""

MOST_LISTED = 30
"""Of more names than this, an error lists only the nearest."""


class GuardFailed(Exception):
    """Raised by `require`: the action is not enabled here. Not an error."""


class PremiseFailed(Exception):
    """Raised by `premise`: the invariant says nothing about this state. Not an error."""


class BoundReached(Exception):
    """An action would go past a bound of the scenario: it is disabled here, and the hit is counted."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class Abort(Exception):
    """The root of a model's named aborts: raising one leaves the action from deep inside.

    What was done before stays done. A `try … except` in the model may catch it; otherwise the action ends there.
    """


def one_of(names: Iterable[str]) -> str:
    """A sentence that lists what is allowed."""
    return "Allowed: " + (", ".join(sorted(names)) or "nothing") + "."


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that is not among the known ones, with the nearest one as a suggestion."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if len(known) > MOST_LISTED:
        nearest = difflib.get_close_matches(name, known, n=6, cutoff=0.3) or sorted(known)[:6]
        listed = f"Allowed: {', '.join(nearest)}, and {len(known) - len(nearest)} others."
    else:
        listed = one_of(known)
    return UsageError(f"No {kind} named {name!r}.{hint} {listed}")


def told(error: BaseException) -> str:
    """What an error in somebody's model says, in one sentence that begins with the place in their file."""
    says = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    if not isinstance(error, KwalkError):
        says = f"{type(error).__name__}: {says}" if says else type(error).__name__
    return f"{_place(error)}{says.rstrip('.')}."


def _place(error: BaseException) -> str:
    """File and line of the innermost step in the model's own text, for the beginning of a sentence; or nothing."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: "
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(NOT_THE_MODEL)]
    return f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
