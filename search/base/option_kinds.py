"""Kinds of values that options have: how a text is read, which values are allowed, and how a value is written.

The command line and pytest read texts; Python and the configurations of nights have values. Both are held to the same
rule. The pytest plugin imports this module in every test run of every project: it needs the standard library only.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, NamedTuple

GIB = 2**30
MOST_GIBIBYTES = 2**20
MOST_SIZE = 2**31


class OptionKind(NamedTuple):
    """A kind of values; called with a text, it returns the value, or raises argparse's and pytest's error.

    Args:
        metavar: What stands for a value in a usage line.
        allowed: What a value is, in words.
        parse: Returns the value of a text; ValueError if it is none.
        holds: Whether a value is allowed.
        text: Returns the text of a value, for the command that repeats a run.
        allowed_value: What a value is in Python, where it is not written as on the command line.
        choices: The only values, if they are few.
    """

    metavar: str
    allowed: str
    parse: Callable[[str], Any]
    holds: Callable[[Any], bool]
    text: Callable[[Any], str] = str
    allowed_value: str = ""
    choices: tuple[str, ...] = ()

    def __call__(self, text: str) -> Any:
        """Return the value of a text."""
        try:
            value = self.parse(text)
        except ValueError:
            value = None
        if not self.holds(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {self.allowed}")
        return value


def whole(least: int, most: int) -> OptionKind:
    """Return the kind of whole numbers in a range."""
    return OptionKind(
        "N", f"a whole number in {least:,} … {most:,}", _digits, lambda value: _is_whole(value, least, most)
    )


def above_zero(metavar: str, what: str) -> OptionKind:
    """Return the kind of numbers above 0; `what` names the number."""
    return OptionKind(
        metavar, f"a number of {what} above 0", float, lambda value: _is_amount(value, math.inf), "{:g}".format
    )


def text(metavar: str) -> OptionKind:
    """Return the kind of texts that are not empty: an unset variable of a script is."""
    return OptionKind(
        metavar, "a text that is not empty", _nonempty, lambda value: isinstance(value, str) and bool(value)
    )


def path(metavar: str) -> OptionKind:
    """Return the kind of files or folders; in Python, a `Path` is one, too."""
    return text(metavar)._replace(holds=lambda value: isinstance(value, str | PurePath) and bool(str(value)))


def one_of(*choices: str) -> OptionKind:
    """Return the kind of a few texts."""
    return OptionKind("", f"one of {', '.join(choices)}", str, lambda value: value in choices, choices=choices)


def _matched(pattern: str, value: str) -> str:
    if not re.fullmatch(pattern, value):
        raise ValueError(value)
    return value


def _digits(digits: str) -> int:
    return int(_matched("[0-9]{1,19}", digits))


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def _is_amount(value: object, limit: float) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < limit


def _nonempty(given_text: str) -> str:
    if not given_text:
        raise argparse.ArgumentTypeError("the value is empty; give a value, or leave out the option")
    return given_text


def _gibibytes(amount: str) -> int:
    if not _is_amount(float(amount), MOST_GIBIBYTES):
        raise ValueError(amount)
    return max(1, int(float(amount) * GIB))


def _named(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return name, value


def _bound(pair: str) -> tuple[str, int]:
    name, size = _named(pair)
    return name, _digits(size)


def _release(pair: str) -> tuple[int | None, str]:
    number, _, version = _matched(r"([0-9]{1,3}=)?[0-9]+(\.[0-9]+){1,3}", pair).rpartition("=")
    return (int(number) if number else None), version


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and "" not in value


SECONDS = above_zero("N", "seconds")
MINUTES = above_zero("M", "minutes")
MEMORY = OptionKind(
    "GIB",
    f"a number of GiB above 0 and below {MOST_GIBIBYTES:,}",
    _gibibytes,
    lambda value: _is_whole(value, 1, MOST_GIBIBYTES * GIB),
    lambda value: f"{value / GIB:g}",
    "a whole number of bytes above 0",
)
POSITIVE = whole(1, 10**12)
NATURAL = whole(0, 10**6)
SEED = whole(0, 2**63 - 1)
WORKERS = whole(1, 256)
PARTITIONS = whole(1, 1 << 16)
PORT = whole(1, 65_535)
NAME, URL, DIR, FILE = text("NAME"), text("URL"), path("DIR"), path("FILE")
BOUND = OptionKind(
    "NAME=N",
    f"NAME=N with N a whole number in 0 … {MOST_SIZE:,}",
    _bound,
    lambda value: _is_pair(value) and _is_whole(value[1], 0, MOST_SIZE),
    "{0[0]}={0[1]}".format,
    f"sizes by name, whole numbers in 0 … {MOST_SIZE:,}",
)
FLAG = OptionKind(
    "NAME=SETTING",
    "NAME=SETTING, such as NAME=on or NAME=off",
    _named,
    _is_pair,
    "{0[0]}={0[1]}".format,
    "settings by name",
)
RELEASE = OptionKind(
    "VERSION", "a version such as 2.8.2, nor ID=VERSION such as 2=2.8.2", _release, lambda value: value is not None
)
ZONE = OptionKind(
    "+HH:MM",
    "+HH:MM or -HH:MM, up to 14:59 ahead of UTC or behind it",
    lambda value: _matched(r"[+-](0[0-9]|1[0-4]):[0-5][0-9]", value),
    lambda value: value is not None,
)
