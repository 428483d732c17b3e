"""A model whose parameters are records, subsets and arrays, and whose initial states are chosen among arrays."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Scenario,
    action,
    always,
    array,
    flag,
    member,
    nested,
    number,
    optional,
    reachable,
    require,
    state,
    subset,
    value,
)

NODES = Domain("nodes", label=lambda n: f"n{n}")
BALLOTS = Domain("ballots")
VOTER = Actor("voter", of=NODES)
LEADER = Actor("leader")
WEIGHTS = Bound("weights")


@value
class Vote:
    """What is voted for, and by whom."""

    ballot: int = member(BALLOTS)
    by: int | None = optional(NODES)
    weight: int = number(0, 3, when=WEIGHTS)


Quorum = Annotated[frozenset[int], subset(NODES)]
Groups = Annotated[Array[frozenset[int]], array(BALLOTS, subset(NODES))]


@state
class Council:
    """Who is awake, the last vote with its quorum, and a group for each ballot."""

    awake: Array[bool] = array(NODES, flag())
    last: Vote = nested(Vote)
    quorum: frozenset[int] = subset(NODES)
    groups: Array[frozenset[int]] = array(BALLOTS, subset(NODES))


@action(by=LEADER, description="accepts {vote} with {quorum}")
def accept(council: Council, vote: Vote, quorum: Quorum) -> None:
    """A majority that is awake; the voter is in it."""
    require(2 * len(quorum) > len(NODES) and all(council.awake[n] for n in sorted(quorum)))
    require(vote.by is None or vote.by in quorum)
    council.last, council.quorum = vote, quorum


@action(by=LEADER, description="forms {groups} of size {size}")
def regroup(council: Council, groups: Groups, size: Annotated[int, number(1, 2)]) -> None:
    """The groups of one size, whose members were not together before."""
    require(all(len(group) == size for group in groups) and council.groups != groups)
    council.groups = groups


@action(by=VOTER, description="wakes up or falls asleep")
def turn(council: Council, node: Annotated[int, NODES]) -> None:
    """An action with a usual parameter."""
    council.awake[node] = not council.awake[node]


def begin(council: Council, awake: Annotated[Array[bool], array(NODES, flag())]) -> None:
    """Any two are awake."""
    require(sum(awake) == 2)
    council.awake = awake


@always()
def quorums_are_majorities(council: Council, quorum: Quorum) -> bool:
    """A minority is never the quorum, except at first."""
    return 2 * len(quorum) > len(NODES) or not quorum or council.quorum != quorum


@reachable()
def grouped(council: Council, first: Vote) -> bool:
    """Every vote can be the last one."""
    return council.last == first and len(council.groups[0]) == 2


COUNCIL = Scenario(
    name="council",
    story="Votes with quorums.",
    state=Council,
    actions=(accept, regroup, turn),
    properties=(quorums_are_majorities, grouped),
    initial=begin,
    bounds={"nodes": 3, "ballots": 2, "weights": 0},
)
