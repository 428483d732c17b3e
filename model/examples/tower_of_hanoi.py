"""The Tower of Hanoi: move a tower of disks to another peg, one disk at a time, never a larger on a smaller.

Words: disk 0 is the smallest. A peg's *top* is the smallest disk on it; an empty peg counts as a disk larger than all.
The property that the puzzle cannot be solved has one shortest counterexample, and it is long: a test of depth.

Source: E. Lucas, "Récréations mathématiques" (1883), who gives the shortest solution of 2**n - 1 moves. Counts: 243
distinct states, 913 generated, TLC depth 32 for five disks on three pegs (tlaplus/Examples,
specifications/tower_of_hanoi/Hanoi.toolbox/Model_1/MC.out); 3**n states in general, one per way to put n disks on pegs.
TLC generates a move onto an empty peg twice, as both cases of Hanoi.tla's CanMoveTo hold; here 727 are generated.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Actor, Array, Domain, Scenario, action, always, array, require, state

DISKS = Domain("disks", "disks, the smallest first")
PEGS = Domain("pegs", "pegs", label=lambda peg: "ABCDEFGH"[peg])

Peg = Annotated[int, PEGS]

PLAYER = Actor("player", system=False)


@state
class Towers:
    """On which peg each disk is; its place there follows from its size."""

    peg: Array[int] = array(DISKS, PEGS)


def top(towers: Towers, peg: int) -> int:
    """The smallest disk on a peg; for an empty peg the number of disks, which is larger than all."""
    for disk in DISKS:
        if towers.peg[disk] == peg:
            return disk
    return len(DISKS)


@action(by=PLAYER, description="moves a disk from {source} to {target}")
def move(towers: Towers, source: Peg, target: Peg) -> None:
    """The top disk goes onto a larger one."""
    disk = top(towers, source)
    require(disk < top(towers, target))
    towers.peg[disk] = target


@always(symptom="the monks are done, and the world ends")
def not_solved(towers: Towers) -> bool:
    """The tower never stands on the last peg: the counterexample is the solution."""
    return not all(peg == len(PEGS) - 1 for peg in towers.peg)


TOWER_OF_HANOI = Scenario(
    name="tower-of-hanoi",
    story="Five disks go from peg A to peg C.",
    state=Towers,
    actions=(move,),
    properties=(not_solved,),
    bounds={"disks": 5, "pegs": 3},
    source="tlaplus/Examples specifications/tower_of_hanoi/Hanoi.tla",
)
