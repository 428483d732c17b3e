"""The captures of real clusters in `tests/captures`, and changed copies of one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "captures"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
AGED = "scenario-01-03-produce-consume"
"""A healthy topic with two partitions whose replicas have files: the one that tests change."""


def document(name: str = AGED) -> dict[str, Any]:
    """A capture's JSON, to be changed."""
    return json.loads(FILES[name].read_text())


def changed(change: Callable[[dict[str, Any]], object], name: str = AGED) -> bytes:
    """The bytes of a capture after a change in place."""
    made = copy.deepcopy(document(name))
    change(made)
    return json.dumps(made).encode()
