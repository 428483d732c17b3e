"""Ctrl-C that is noticed, and acted on where it does no harm.

An exception at any point would cut through a conversation with Java, or a table half written.
"""
from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether Ctrl-C was pressed. Pressed again, it raises KeyboardInterrupt as ever, for who cannot wait."""

    def __init__(self, signals: tuple[signal.Signals, ...] = (signal.SIGINT,)) -> None:
        self.signals, self.noticed = signals, False

    def arm(self) -> None:
        """Listen; say it again after whoever else takes the signal (starting Spark does). Only the main thread can."""
        if threading.current_thread() is threading.main_thread():
            for number in self.signals:
                signal.signal(number, self._notice)

    def _notice(self, number: int, frame: FrameType | None) -> None:
        if self.noticed:
            signal.default_int_handler(number, frame)
        self.noticed = True


@contextmanager
def interrupts_noticed(*others: signal.Signals) -> Iterator[Interrupts]:
    """Notice Ctrl-C, and other signals that are to mean the same; afterwards they mean again what they meant before."""
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
    """Afterwards Ctrl-C means again what it meant before, whoever has taken it meanwhile."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
