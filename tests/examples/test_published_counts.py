"""The examples have as many states as their sources say: distinct, generated, and deep.

Here plain Python counts; `test_large_published_counts` has the compiled engine count what is too large for it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from attrs import frozen

from kwalk.model.examples.alternating_bit import ALTERNATING_BIT
from kwalk.model.examples.b_tree import B_TREE
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.buffered_file import BUFFERED_FILE
from kwalk.model.examples.chang_roberts import CHANG_ROBERTS
from kwalk.model.examples.checkpoint_lease import CHECKPOINT_LEASE, connected
from kwalk.model.examples.consensus import CONSENSUS
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.disruptor import DISRUPTOR
from kwalk.model.examples.elevator import ELEVATOR_CALLS
from kwalk.model.examples.ewd840 import EWD840, Color
from kwalk.model.examples.ewd998 import EWD998
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.nonblocking_commit import NONBLOCKING_COMMIT, Vote
from kwalk.model.examples.paxos import PAXOS
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.scheduling_allocator import SCHEDULING_ALLOCATOR
from kwalk.model.examples.snapshot_isolation import SNAPSHOT_ISOLATION
from kwalk.model.examples.synod import SYNOD, Promise
from kwalk.model.examples.tic_tac_toe import TIC_TAC_TOE, Mark
from kwalk.model.examples.ticket_lock import TICKET_LOCK
from kwalk.model.examples.tower_of_hanoi import TOWER_OF_HANOI
from kwalk.model.examples.transaction_commit import TRANSACTION_COMMIT
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.examples.voting import VOTING
from kwalk.model.language import Model, Scenario
from tests.examples.plain_search import Space, space_of


@frozen
class Published:
    """What a source says of a model at some size; `depth` counts an initial state as 0, None where it does not say."""

    scenario: Scenario
    bounds: dict[str, int]
    distinct: int
    generated: int | None = None
    depth: int | None = None
    variant: str | None = None

    def __str__(self) -> str:
        sizes = ",".join(f"{name}={size}" for name, size in self.bounds.items())
        return f"{self.scenario.name}({sizes})"


STATERIGHTS_WAY_TO_A_CHOSEN_VALUE = (
    "receive_put(1)",
    "receive_prepare(0, 1)",
    "receive_promise(1, 0)",
    "receive_accept(2, 1)",
    "receive_accepted(1, 2)",
    "receive_put_ok(1, 1)",
    "receive_decided(2, 1)",
    "receive_get(2, 1)",
)
"""The deliveries that the test of examples/paxos.rs asserts; ballot 1 is (1, 1) there, and client 1 is 4."""

PUBLISHED = [
    Published(DIE_HARD, {}, distinct=16, generated=97, depth=7),
    Published(LOST_UPDATE, {"threads": 2}, distinct=13),
    Published(CONSENSUS, {"values": 3}, distinct=4),
    Published(TRANSACTION_COMMIT, {"rms": 3}, distinct=34, generated=94, depth=6),
    Published(TWO_PHASE_COMMIT, {"rms": 3}, distinct=288, generated=1_146, depth=10),
    Published(TOWER_OF_HANOI, {"disks": 5, "pegs": 3}, distinct=243, depth=31),
    Published(TIC_TAC_TOE, {"side": 3}, distinct=5_478, depth=9),
    Published(BLOCKING_QUEUE, {"threads": 2, "producers": 1, "capacity": 1}, distinct=4),
    Published(BLOCKING_QUEUE, {"threads": 3, "producers": 1, "capacity": 1}, distinct=14),
    Published(
        BLOCKING_QUEUE,
        {"threads": 7, "producers": 4, "capacity": 3},
        distinct=1_600,
        generated=12_313,
        variant="two-wait-sets",
    ),
    Published(ALTERNATING_BIT, {"data": 2, "slots": 2}, distinct=240, depth=9),
    Published(EWD840, {"nodes": 3}, distinct=302),
    Published(EWD840, {"nodes": 4}, distinct=1_566, depth=11),
    Published(EWD998, {"nodes": 2}, distinct=6_876, depth=27),
    Published(DISRUPTOR, {"readers": 2, "slots": 2, "limit": 3}, distinct=88, depth=19),
    Published(CHECKPOINT_LEASE, {"nodes": 2, "numbers": 3}, distinct=6_960, depth=22),
    Published(CHANG_ROBERTS, {"nodes": 3}, distinct=137, generated=227, depth=9),
    Published(SYNOD, {"acceptors": 1, "values": 1, "ballots": 2}, distinct=25, generated=82, depth=8),
    Published(SYNOD, {"acceptors": 3, "values": 2, "ballots": 2}, distinct=3_921, depth=16),
    Published(SCHEDULING_ALLOCATOR, {"clients": 3, "resources": 2}, distinct=1_690, depth=6),
    Published(SNAPSHOT_ISOLATION, {"keys": 2, "transactions": 2}, distinct=2_098, depth=8),
    Published(NONBLOCKING_COMMIT, {"participants": 2}, distinct=4_284, depth=18),
    Published(BUFFERED_FILE, {"most": 2}, distinct=1_302, generated=28_329, depth=6),
    Published(B_TREE, {"values": 1}, distinct=4_455, generated=22_243, depth=37),
    Published(ELEVATOR_CALLS, {"people": 2, "elevators": 2, "floors": 2}, distinct=4_122, generated=14_296, depth=35),
    Published(
        REFERENCE,
        {"brokers": 2, "partitions": 2, "topic_ids": 3, "failovers": 1, "restarts": 1},
        distinct=3_092,
        generated=8_129,
        depth=13,
    ),
]


@pytest.mark.parametrize("published", PUBLISHED, ids=str)
def test_an_example_has_the_published_number_of_states(published: Published) -> None:
    space = space_of(published.scenario, published.variant, **published.bounds)
    assert space.distinct == published.distinct
    assert published.generated in (None, space.generated)
    assert published.depth in (None, space.depth)


def test_what_tlc_drops_beyond_the_cut_channels_is_what_we_count_as_bound_hits() -> None:
    space = space_of(ALTERNATING_BIT, data=2, slots=2)
    assert space.generated + space.bounds_hit["slots"] == 1_392


@pytest.mark.parametrize(("nodes", "published"), [(3, 2_001), (4, 15_986)])
def test_tlc_generates_a_token_step_once_for_each_reason_that_allows_it(nodes: int, published: int) -> None:
    space = space_of(EWD840, nodes=nodes)
    assert space.generated + sum(_spare_reasons(space, vector) for vector in space.reached) == published


def test_tlc_generates_the_start_of_a_round_once_for_each_reason_that_allows_it() -> None:
    space = space_of(EWD998, nodes=2)
    spare = sum(_spare_reasons_to_start(space.model.state(vector)) for vector in space.reached)
    assert space.generated + space.bounds_hit.total() + spare == 33_664


def _spare_reasons_to_start(ring: Any) -> int:
    first, token = ring.process[0], ring.token
    reasons = [token.color.value == "black", first.color.value == "black", first.counter + token.sum > 0]
    return max(0, sum(reasons) - 1) if token.at == 0 else 0


def test_what_tlc_drops_beyond_the_last_event_is_what_we_count_as_bound_hits() -> None:
    space = space_of(DISRUPTOR, readers=2, slots=2, limit=3)
    assert (space.generated + space.bounds_hit["limit"], set(space.bounds_hit)) == (185, {"limit"})


def test_tlc_generates_an_expiry_once_for_each_replica_that_has_the_entry_and_a_lease_for_each_reason() -> None:
    space = space_of(CHECKPOINT_LEASE, nodes=2, numbers=3)
    spare = sum(_spare_replicas(space.model.state(vector)) for vector in space.reached)
    spare += _repetitions(space, "give_lease", _reasons_to_replace)
    assert space.generated + space.bounds_hit["constraint log_has_room"] + spare == 88_663


def _reasons_to_replace(cluster: Any, leader: int, prospect: int) -> int:
    lease = cluster.nodes[leader].lease
    if lease is None:
        return 1
    is_reported = connected(cluster, leader, lease.node) and lease.number < cluster.nodes[lease.node].voted
    return (lease.number < cluster.expired) + is_reported


def _spare_replicas(cluster: Any) -> int:
    return max(0, sum(replica.log[cluster.expired] is not None for replica in cluster.nodes) - 1)


def _spare_reasons(space: Space, vector: tuple[int, ...]) -> int:
    """How many of the cases by which EWD840.tla lets the token move are true here, beyond the first."""
    ring = space.model.state(vector)
    process = ring.process[ring.token.at]
    reasons = [process.color is Color.BLACK, ring.token.color is Color.BLACK]
    if ring.token.at != 0:
        reasons.append(not process.active)
    return max(0, sum(reasons) - 1)


def _repetitions(space: Space, action: str, reasons: Callable[..., int]) -> int:
    """How often TLC generates the steps of an action beyond the first time, as it does for each reason to take one."""
    return sum(
        reasons(space.model.state(vector), *instance.args) - 1
        for vector, enabled in space.enabled.items()
        for instance in enabled
        if instance.action.name == action
    )


@pytest.mark.thorough
def test_tlc_generates_a_vote_once_for_each_vote_of_the_quorum_that_shows_it_safe() -> None:
    space = space_of(VOTING, acceptors=3, values=2, ballots=3)
    assert space.generated + _repetitions(space, "vote", _reasons_to_vote) == 41_017


def _taken(space: Space, *actions: str) -> int:
    """How many steps of some actions there are from all reachable states."""
    return sum(one.action.name in actions for enabled in space.enabled.values() for one in enabled)


def test_steps_of_return_all_are_those_of_give_back() -> None:
    space = space_of(SCHEDULING_ALLOCATOR, clients=3, resources=2)
    assert space.generated - _taken(space, "return_all") == 5_854


def test_tlc_generates_a_step_of_terminating_where_all_transactions_are_done() -> None:
    space = space_of(SNAPSHOT_ISOLATION, keys=2, transactions=2)
    assert space.generated + len(space.deadlocks) == 3_475
    assert len(space.violation("transactions_are_serializable") or ()) == 8


def test_tlc_generates_a_step_of_one_participant_once_for_each_other_and_an_abort_once_for_each_no() -> None:
    space = space_of(NONBLOCKING_COMMIT, participants=2)
    names = ("send_vote", "abort_on_vote", "abort_unasked", "receive_decision", "decide", "abort_on_timeout")
    others = _taken(space, *names, "participant_dies")
    assert space.generated + others + _repetitions(space, "make_decision", _reasons_to_decide) == 23_988


def _reasons_to_decide(commitment: Any) -> int:
    """How many voted no, each of which is a reason to abort; 1 if nobody did."""
    return max(1, sum(vote is Vote.NO for vote in commitment.coordinator.votes))


def _reasons_to_vote(voting: Any, _: int, ballot: int, value: int, quorum: frozenset[int]) -> int:
    """How many of a quorum have voted for the value in the newest older ballot in which one of them has voted."""
    older = [vote for acceptor in quorum for vote in voting.votes[acceptor] if vote.ballot < ballot]
    newest = max((vote.ballot for vote in older), default=None)
    return sum(vote.ballot == newest for vote in older) if older else 1


def test_tlc_generates_a_proposal_once_for_each_vote_of_the_quorum_that_allows_it() -> None:
    space = space_of(SYNOD, acceptors=3, values=2, ballots=2)
    assert space.generated + _repetitions(space, "propose", _reasons_to_propose) == 23_563


def _reasons_to_propose(synod: Any, ballot: int, value: int, quorum: frozenset[int]) -> int:
    """How many promises of a quorum report a newest vote, which is for the value."""
    promises = [m for m in synod.messages if isinstance(m, Promise) and m.ballot == ballot and m.acceptor in quorum]
    votes = [promise.last for promise in promises if promise.last is not None]
    newest = max((vote.ballot for vote in votes), default=None)
    return sum(vote.ballot == newest and vote.value == value for vote in votes) if votes else 1


def test_voting_has_as_many_states_up_to_names_of_acceptors_and_values_as_tlc_finds_with_symmetry() -> None:
    space = space_of(VOTING, acceptors=3, values=2, ballots=2)
    assert (len({_without_names(space.model.state(vector)) for vector in space.reached}), space.depth) == (77, 10)


def _without_names(voting: Any) -> tuple[Any, ...]:
    """The least of the states that differ in the names of acceptors and values only."""
    ballots = [(-1 if known is None else known) for known in voting.known]
    votes = [
        [tuple(sorted((vote.ballot, names[vote.value]) for vote in some)) for some in voting.votes]
        for names in permutations((0, 1))
    ]
    return min(tuple(sorted(zip(ballots, renamed, strict=True))) for renamed in votes)


def test_tlc_generates_a_move_onto_an_empty_peg_twice() -> None:
    space = space_of(TOWER_OF_HANOI, disks=5, pegs=3)
    onto_empty_pegs = sum(3 - len(set(vector)) for vector in space.reached for _ in set(vector))
    assert space.generated + onto_empty_pegs == 913


def test_tic_tac_toe_ends_in_958_positions_of_which_x_wins_626() -> None:
    space = space_of(TIC_TAC_TOE, side=3)
    boards = [space.model.state(vector) for vector in space.deadlocks]
    with space.model.active():
        assert (len(boards), sum(board.has_line(Mark.X) for board in boards)) == (958, 626)


def test_ticket_lock_has_the_states_that_its_formula_counts() -> None:
    assert space_of(TICKET_LOCK).distinct == _ticket_lock_states(3, 4) == 89
    assert space_of(TICKET_LOCK, clients=4, tickets=6).distinct == _ticket_lock_states(4, 6)


def _ticket_lock_states(clients: int, tickets: int) -> int:
    """Ways to have some tickets out, times ways to hold them, times where the first holder is."""
    states, holders = 0, 1
    for out in range(min(clients, tickets) + 1):
        states += (tickets - out + 1) * holders * (2 if out else 1)
        holders *= clients - out
    return states


def test_paxos_chooses_a_value_as_stateright_shows() -> None:
    model = Model(PAXOS)
    (chosen,) = model.properties_of("value_chosen")
    vector = model.initial[0]
    for key in STATERIGHTS_WAY_TO_A_CHOSEN_VALUE:
        vector = model.attempt(model.instance(key), vector).after or pytest.fail(f"{key} cannot be taken")
    assert model.truth(chosen, vector)
