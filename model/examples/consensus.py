"""Consensus: what it means to choose one value, without a word on how.

Words: a value is *chosen* once and for all. `voting` implements this, and `synod` implements voting: each refines the
one before it.

Source: L. Lamport, "The Paxos algorithm, or how to win a Turing award" (lecture, 2019); tlaplus/Examples,
specifications/PaxosHowToWinATuringAward/Consensus.tla. Counts: TLC counts 4 distinct states for three values
(MCConsensus.cfg).
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import Actor, Domain, Scenario, action, always, reachable, require, state, step, subset

VALUES = Domain("values", "values that can be chosen", label=lambda n: f"v{n + 1}")
Value = Annotated[int, VALUES]

SYSTEM = Actor("system")


@state
class Consensus:
    """The values that are chosen."""

    chosen: frozenset[int] = subset(VALUES)


@action(by=SYSTEM, description="chooses {value}", source="Next")
def choose(consensus: Consensus, value: Value) -> None:
    """Only one value, and only once."""
    require(not consensus.chosen)
    consensus.chosen = frozenset({value})


@always(symptom="two parts of the system continue with different values")
def one_value_chosen(consensus: Consensus) -> bool:
    """At most one value is ever chosen."""
    return len(consensus.chosen) <= 1


@step(symptom="a decision is taken back")
def choices_last(before: Consensus, after: Consensus) -> bool:
    """What is chosen stays chosen."""
    return before.chosen <= after.chosen


@reachable()
def can_be_chosen(consensus: Consensus, value: Value) -> bool:
    """Each value can be chosen."""
    return value in consensus.chosen


CONSENSUS = Scenario(
    name="consensus",
    story="One of three values is chosen.",
    state=Consensus,
    actions=(choose,),
    properties=(one_value_chosen, choices_last, can_be_chosen),
    bounds={"values": 3},
    source="tlaplus/Examples specifications/PaxosHowToWinATuringAward/Consensus.tla",
)
