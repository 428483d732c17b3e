"""Ctrl-C as a flag that a search polls where it can stop without harm.

An exception at an arbitrary point could interrupt a request to Java, or leave a table half written.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether Ctrl-C was pressed. A second Ctrl-C raises KeyboardInterrupt at once."""

    def __init__(self, signals: tuple[signal.Signals, ...] = (signal.SIGINT,)) -> None:
        self.signals, self.noticed = signals, False

    def arm(self) -> None:
        """Install the handlers; repeat this after code that installs its own (starting Spark does).

        Only the main thread can; in another one this does nothing.
        """
        if threading.current_thread() is threading.main_thread():
            for number in self.signals:
                signal.signal(number, self._notice)

    def _notice(self, number: int, frame: FrameType | None) -> None:
        if self.noticed:
            signal.default_int_handler(number, frame)
        self.noticed = True


@contextmanager
def interrupts_noticed(*others: signal.Signals) -> Iterator[Interrupts]:
    """Set a flag at Ctrl-C and at `others`; restore the previous handlers at the end."""
    interrupts = Interrupts((signal.SIGINT, *others))
    before = {number: signal.getsignal(number) for number in others}
    with interrupts_restored():
        interrupts.arm()
        try:
            yield interrupts
        finally:
            if threading.current_thread() is threading.main_thread():
                for number, handler in before.items():
                    signal.signal(number, handler)


@contextmanager
def interrupts_restored() -> Iterator[None]:
    """Restore the previous SIGINT handler at the end."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
