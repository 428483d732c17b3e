"""Parsers of option values; argparse and pytest print the messages of ArgumentTypeError."""

from __future__ import annotations

import argparse
import math
import re

OPERATORS = (
    "dropped-guard",
    "dropped-effect",
    "negated-condition",
    "swapped-connective",
    "off-by-one",
    "swapped-field",
)
"""The names of the mutation operators, so that parsing a command line does not import the operators."""
MIGRATION = "migration-with-records"
"""The scenario of `hunt --migrate`; an installed package announces it."""
MOST_SEED = 2**63 - 1
MOST_SIZE = 2**31
MOST_WORKERS = 256
MOST_PARTITIONS = 1 << 16
MOST_GIBIBYTES = 2**20


def nonempty(text: str) -> str:
    """Return a text that is not empty (an unset variable of a script is)."""
    if not text:
        raise argparse.ArgumentTypeError("the value is empty; give a value, or leave out the option")
    return text


def bound(text: str) -> tuple[str, int]:
    """NAME=N."""
    name, _, size = text.partition("=")
    if not name or not re.fullmatch(r"[0-9]{1,18}", size) or int(size) > MOST_SIZE:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N with N a whole number in 0 … {MOST_SIZE:,}")
    return name, int(size)


def release(text: str) -> tuple[int | None, str]:
    """VERSION, or ID=VERSION."""
    number, equals, version = text.rpartition("=")
    if not re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", version) or (equals and not re.fullmatch("[0-9]{1,3}", number)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 2.8.2, nor ID=VERSION such as 2=2.8.2")
    return (int(number) if equals else None), version


def zone(text: str) -> str:
    """Return a time zone as it is: +HH:MM or -HH:MM."""
    if not re.fullmatch(r"[+-](0[0-9]|1[0-4]):[0-5][0-9]", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not +HH:MM or -HH:MM, up to 14:59 ahead of UTC or behind it")
    return text


def zone_seconds(text: str) -> float:
    """Return by how many seconds a time zone is ahead of UTC."""
    ahead = 3600.0 * int(text[1:3]) + 60.0 * int(text[4:6])
    return -ahead if text[0] == "-" else ahead


def flag(text: str) -> tuple[str, str]:
    """NAME=SETTING."""
    name, _, setting = text.partition("=")
    if not name or not setting:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SETTING, such as NAME=on or NAME=off")
    return name, setting


def positive(text: str) -> int:
    """Return a count of at least 1."""
    return _whole(text, 1, 10**12)


def natural(text: str) -> int:
    """Return a count of at least 0."""
    return _whole(text, 0, 10**6)


def port(text: str) -> int:
    """Return the number of a TCP port."""
    return _whole(text, 1, 65_535)


def workers(text: str) -> int:
    """Return a number of cores."""
    return _whole(text, 1, MOST_WORKERS)


def partitions(text: str) -> int:
    """Return a number of partitions."""
    return _whole(text, 1, MOST_PARTITIONS)


def seed(text: str) -> int:
    """Return a seed."""
    return _whole(text, 0, MOST_SEED)


def seconds(text: str) -> float:
    """Return a time in seconds."""
    return _above_zero(text, "a number of seconds above 0", math.inf)


def minutes(text: str) -> float:
    """Return a time in minutes."""
    return _above_zero(text, "a number of minutes above 0", math.inf)


def gibibytes(text: str) -> float:
    """Return an amount of memory in GiB."""
    return _above_zero(text, f"a number of GiB above 0 and below {MOST_GIBIBYTES:,}", MOST_GIBIBYTES)


def _whole(text: str, least: int, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text) or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number in {least:,} … {most:,}")
    return int(text)


def _above_zero(text: str, what: str, limit: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < limit:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return number
