"""What a checkpoint is a checkpoint of: everything that a search's counts depend on."""
from __future__ import annotations

import hashlib
from typing import Any

import attrs

from model.language import Model
from search.kernel import Kernel

FORMAT = 3
"""To be raised when files are laid out otherwise, or loops number or count states otherwise."""
FREE = ("seconds", "memory", "workers", "report", "checkpoint")
"""The wishes that may differ when a search goes on: none of its counts depends on them."""


def identity(model: Model, kernel: Kernel, wish: Any) -> dict[str, Any]:
    """What must be the same when a search goes on, by what people call it; all of it can be written as JSON."""
    from search.compile.fingerprint import fingerprint

    wishes = {
        f.name.replace("_", "-"): str(getattr(wish, f.name)) for f in attrs.fields(type(wish))
        if f.name not in FREE and f.name != "claims"
    }  # fmt: skip
    return {
        "format": FORMAT,
        "scenario": model.scenario.name,
        "variant": model.variant,
        "bounds": {name: int(value) for name, value in model.binding.bounds.items()},
        "flags": {name: str(value) for name, value in model.binding.flags.items()},
        "claims": [claim.key for claim in wish.claims],
        **wishes,
        "initial states": hashlib.blake2b(repr(model.initial).encode(), digest_size=16).hexdigest(),
        "packing": [kernel.words, kernel.offsets.tolist(), kernel.widths.tolist(), kernel.lows.tolist()],
        "sources": fingerprint(model),
    }


UNTOLD = {
    "initial states": "it begins in other states",
    "packing": "its states are packed otherwise",
    "relations": "what its actions have to do with each other was worked out otherwise",
    "sources": "the source of the model, or of its language, was another one",
}
"""Differences whose values say nothing to people."""


def differences(saved: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    """What differs, in words; the sources only if nothing else explains it."""
    told: list[str] = []
    for name in dict.fromkeys([*asked, *saved]):
        before, now = saved.get(name), asked.get(name)
        if before == now or (name in UNTOLD and told):
            continue
        told += [UNTOLD[name]] if name in UNTOLD else _told(name, before, now)
    return told


def _told(name: str, before: Any, now: Any) -> list[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [key for key in dict.fromkeys([*now, *before]) if before.get(key) != now.get(key)]
        return [f"{name}: {key} was {before.get(key)}, and is {now.get(key)}" for key in keys]
    if isinstance(before, list) and isinstance(now, list):
        before, now = (", ".join(map(str, names)) or "none" for names in (before, now))
    return [f"{name} was {before}, and is {now}"]
