"""A property that is 2-inductive in its slice, and not among whole states."""

from __future__ import annotations

from kwalk import Actor, Array, Domain, Scenario, action, always, array, flag, member, number, require, state

SLOTS = Domain("slots", "slots")
SYSTEM = Actor("system")


@state
class Cursor:
    """A cursor over flags that no action sets, and a mark that the property does not read."""

    flags: Array[bool] = array(SLOTS, flag())
    at: int = member(SLOTS)
    mark: int = number(0, 7)


@action(by=SYSTEM, description="moves on from the first slot")
def move(cursor: Cursor) -> None:
    """Remove the mark as well."""
    require(cursor.at == 0)
    cursor.at = 1
    cursor.mark = 0


@action(by=SYSTEM, description="removes the mark")
def unmark(cursor: Cursor) -> None:
    """A step that changes nothing in the slice of the property."""
    require(cursor.at == 0)
    cursor.mark = 0


@always()
def flag_is_off(cursor: Cursor) -> bool:
    """Hold, as no flag is ever set."""
    return not cursor.flags[cursor.at]


SCENARIO = Scenario(
    name="two-inductive",
    story="A cursor moves once.",
    state=Cursor,
    actions=(move, unmark),
    properties=(flag_is_off,),
    bounds={"slots": 2},
)
