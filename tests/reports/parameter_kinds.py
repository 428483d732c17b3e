"""A scenario for each kind of parameter of an action: an argument that its guard selects leads to a violation."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk import (
    Actor,
    Array,
    Bound,
    Domain,
    Scenario,
    action,
    always,
    array,
    choice,
    fifo,
    flag,
    member,
    nested,
    number,
    optional,
    require,
    state,
    subset,
    value,
)

NODES = Domain("nodes", "nodes", label=lambda n: f"node {n}")
MOST = Bound("most", "the most elements of a sequence")
ANYONE = Actor("anyone")


class Colour(Enum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


@value
class Mark:
    """A small record."""

    node: int = member(NODES)
    on: bool = flag()


@value
class Other:
    """A record of another class."""

    on: bool = flag()


@value
class Note:
    """A record of a record, a set, and what may be None."""

    mark: Mark = nested(Mark)
    nodes: frozenset[int] = subset(NODES)
    colour: Colour = choice(Colour)
    other: int | None = optional(NODES)


@state
class Count:
    """How many steps were taken."""

    steps: int = number(0, 2)


@always()
def steps_are_few(count: Count) -> bool:
    """False after two steps."""
    return count.steps < 2


@action(by=ANYONE, description="takes {x}")
def take_number(count: Count, x: Annotated[int, number(-1, 2)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == 2)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_member(count: Count, x: Annotated[int, NODES]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == 1)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_enum(count: Count, x: Colour) -> None:
    """Take one step."""
    require(count.steps < 2 and x is Colour.BLUE)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_truth(count: Count, x: bool) -> None:
    """Take one step."""
    require(count.steps < 2 and x)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_subset(count: Count, x: Annotated[frozenset[int], subset(NODES)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == {0, 1})
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_record(count: Count, x: Mark) -> None:
    """Take one step."""
    require(count.steps < 2 and x == Mark(node=1, on=True))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_large_record(count: Count, x: Note) -> None:
    """Take one step."""
    require(count.steps < 2 and x.mark == Mark(node=1, on=True))
    require(x == Note(mark=x.mark, nodes=frozenset({1}), colour=Colour.BLUE, other=1))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_optional_member(count: Count, x: Annotated[int | None, optional(NODES)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == 1)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_optional_none(count: Count, x: Annotated[int | None, optional(NODES)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x is None)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_optional_number(count: Count, x: Annotated[int | None, optional(number(0, 2))]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == 2)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_optional_enum(count: Count, x: Annotated[Colour | None, optional(Colour)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x is Colour.BLUE)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_optional_record(count: Count, x: Annotated[Mark | None, optional(Mark)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == Mark(node=1, on=True))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_array_of_truths(count: Count, x: Annotated[Array[bool], array(NODES, flag())]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == [False, True])
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_array_of_arrays(count: Count, x: Annotated[Array[Array[bool]], array(NODES, array(NODES, flag()))]) -> None:
    """Take one step."""
    require(count.steps < 2 and x[0][0] and x[1][1])
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_array_of_records(count: Count, x: Annotated[Array[Mark], array(NODES, Mark)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x[0] == Mark(node=1, on=True) and x[1] == Mark())
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_array_of_sets(count: Count, x: Annotated[Array[frozenset[int]], array(NODES, subset(NODES))]) -> None:
    """Take one step."""
    require(count.steps < 2 and x[1] == {0})
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_sequence(count: Count, x: Annotated[tuple[int, ...], fifo(NODES, MOST)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == (1, 0))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_sequence_of_records(count: Count, x: Annotated[tuple[Mark, ...], fifo(Mark, MOST)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == (Mark(node=1, on=True),))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_sequence_of_sets(count: Count, x: Annotated[tuple[frozenset[int], ...], fifo(subset(NODES), MOST)]) -> None:
    """Take one step."""
    require(count.steps < 2 and len(x) == 1 and x[0] == {1})
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_sequence_of_enums(count: Count, x: Annotated[tuple[Colour, ...], fifo(Colour, MOST)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == (Colour.BLUE, Colour.RED))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_sequence_of_options(count: Count, x: Annotated[tuple[int | None, ...], fifo(optional(NODES), MOST)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == (None, 1))
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_empty_sequence(count: Count, x: Annotated[tuple[int, ...], fifo(NODES, MOST)]) -> None:
    """Take one step."""
    require(count.steps < 2 and len(x) == 0)
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_set_of_records(count: Count, x: Annotated[frozenset[Mark], subset(Mark)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == {Mark(node=1, on=True), Mark()})
    count.steps += 1


@action(by=ANYONE, description="takes {x}")
def take_set_of_two_classes(count: Count, x: Annotated[frozenset[Mark | Other], subset(Mark, Other)]) -> None:
    """Take one step."""
    require(count.steps < 2 and x == {Mark(node=1, on=True), Other(on=True)})
    count.steps += 1


KINDS = {
    each.name.removeprefix("take_"): Scenario(
        name=each.name.replace("_", "-"),
        story="Something is taken.",
        state=Count,
        actions=(each,),
        properties=(steps_are_few,),
        bounds={"nodes": 2, "most": 2},
    )
    for each in (
        take_number,
        take_member,
        take_enum,
        take_truth,
        take_subset,
        take_record,
        take_large_record,
        take_optional_member,
        take_optional_none,
        take_optional_number,
        take_optional_enum,
        take_optional_record,
        take_array_of_truths,
        take_array_of_arrays,
        take_array_of_records,
        take_array_of_sets,
        take_sequence,
        take_sequence_of_records,
        take_sequence_of_sets,
        take_sequence_of_enums,
        take_sequence_of_options,
        take_empty_sequence,
        take_set_of_records,
        take_set_of_two_classes,
    )
}
globals().update({name.upper(): scenario for name, scenario in KINDS.items()})
