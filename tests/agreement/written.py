"""Models that a test writes: one state with fields of every kind, and actions or properties from snippets of source."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from types import ModuleType

from kwalk.model.language import Action, Model, Property, Scenario

PRELUDE = '''
import enum
from enum import Enum, IntEnum, IntFlag
from decimal import Decimal
from functools import cache, wraps
from typing import Annotated
from kwalk.model.language import *

CELLS = Domain("cells")
WIDE = Domain("wide")
LIM = Bound("lim")
TWO = Bound("two")
ROOM = Bound("room")
SPACE = Bound("space")
ON = Flag("on")
OFF = Flag("off")
MODE = Flag("mode", settings=("old", "new"))
ANY = Actor("any", system=False)
LIMITS = (LIM, 0)
Cell = Annotated[int, CELLS]


class Light(Enum):
    RED = 1
    GREEN = 2
    DARK = 3
    BLACK = 3


WARM = frozenset({Light.RED})


@value
class Note:
    n: int = number(0, 2)
    f: bool = flag()

    @property
    def is_large(self) -> bool:
        return self.n > 1


@state
class Box:
    n: int = number(-1, 2)
    f: bool = flag()


@state
class World:
    n: int = number(-1, 3)
    m: int = number(-3, 2)
    f: bool = flag()
    g: bool = flag()
    c: int = member(CELLS)
    o: int | None = optional(number(0, 2))
    light: Light = choice(Light)
    maybe: Light | None = optional(Light)
    s: frozenset[int] = subset(CELLS)
    note: Note | None = optional(Note)
    sure: Note = nested(Note)
    a: Array[int] = array(CELLS, number(-1, 3))
    boxes: Array[Box] = array(CELLS, Box)
    box: Box = nested(Box)
    q: Fifo[int] = fifo(number(0, 3), ROOM)
    r: Fifo[int] = fifo(number(0, 3, default=1), SPACE)
    notes: Fifo[Note] = fifo(Note, ROOM)
    mail: set[Note] = subset(Note)
    few: set[Note] = bounded_set(Note, ROOM)
    pair: set[Note] = bounded_set(Note, 2)
    ids: Fresh = fresh(CELLS)
    out: int = number(-60, 60)


class Stop(Abort):
    pass


class Stopped(Stop):
    pass


@action(by=ANY)
def idle(w: World) -> None:
    """Changes nothing."""


'''
"""What every written module begins with."""
BOUNDS = {"cells": 2, "wide": 3, "lim": 2, "two": 2, "room": 2, "space": 3}
FLAGS = {"on": True, "off": False, "mode": "new"}
_numbers = count()


def written(folder: Path, text: str) -> ModuleType:
    """Return a new module with the prelude and the text."""
    name = f"written_{next(_numbers)}"
    file = folder / f"{name}.py"
    file.write_text(PRELUDE + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # the cache of kernels finds a model's sources by its module
    spec.loader.exec_module(module)
    return module


def action_text(body: str, name: str = "act") -> str:
    """Return the source of an action with this body, whose state is `w`."""
    return f"@action(by=ANY)\ndef {name}(w: World) -> None:\n" + textwrap.indent(body, "    ") + "\n\n\n"


def property_text(body: str, name: str = "prop") -> str:
    """Return the source of a property with this body, whose state is `w`."""
    return f"@always()\ndef {name}(w: World) -> bool:\n" + textwrap.indent(body, "    ") + "\n\n\n"


def model_of(module: ModuleType, names: Iterable[str] = ("act", "prop")) -> Model:
    """Return the model of the actions and properties of these names in a module."""
    found = [getattr(module, name) for name in names if hasattr(module, name)]
    return Model(
        Scenario(
            name="written",
            story="What a test wrote.",
            state=module.World,
            actions=tuple(one for one in found if isinstance(one, Action)) or (module.idle,),
            properties=tuple(one for one in found if isinstance(one, Property)),
            bounds=BOUNDS,
            flags=FLAGS,
        )
    )
