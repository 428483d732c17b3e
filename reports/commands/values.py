"""The values that options take, each read from its text; argparse and pytest print what ArgumentTypeError says."""
from __future__ import annotations

import argparse
import math
import re

OPERATORS = (
    "dropped-guard", "dropped-effect", "negated-condition", "swapped-connective", "off-by-one", "swapped-field",
)  # fmt: skip
"""The names of the mutation operators; the operators themselves are not loaded to read a command line."""
MOST_SEED = 2**63 - 1
MOST_SIZE = 2**31
MOST_WORKERS = 256
MOST_PARTITIONS = 1 << 16
MOST_GIBIBYTES = 2**20


def given(text: str) -> str:
    """A text that is not empty, as one is when a script's variable has no value."""
    if not text:
        raise argparse.ArgumentTypeError("the value is empty; give one, or leave the option out")
    return text


def bound(text: str) -> tuple[str, int]:
    """NAME=N."""
    name, _, size = text.partition("=")
    if not name or not re.fullmatch(r"[0-9]{1,18}", size) or int(size) > MOST_SIZE:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N with N a whole number in 0 … {MOST_SIZE:,}")
    return name, int(size)


def flag(text: str) -> tuple[str, str]:
    """NAME=SETTING."""
    name, _, setting = text.partition("=")
    if not name or not setting:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SETTING, such as NAME=on or NAME=off")
    return name, setting


def positive(text: str) -> int:
    """A count of at least one."""
    return _whole(text, 1, 10**12)


def natural(text: str) -> int:
    """A count that may be nought."""
    return _whole(text, 0, 10**6)


def workers(text: str) -> int:
    """A number of cores."""
    return _whole(text, 1, MOST_WORKERS)


def partitions(text: str) -> int:
    """How many parts the states of a search on disk are in."""
    return _whole(text, 1, MOST_PARTITIONS)


def seed(text: str) -> int:
    """A number that all choices come from."""
    return _whole(text, 0, MOST_SEED)


def seconds(text: str) -> float:
    """A time."""
    return _above_zero(text, "a number of seconds above 0", math.inf)


def minutes(text: str) -> float:
    """A time."""
    return _above_zero(text, "a number of minutes above 0", math.inf)


def gibibytes(text: str) -> float:
    """An amount of memory."""
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
