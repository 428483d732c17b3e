"""Clusters of strangers: plans of who has lost a broker, or whose disk has got another broker's id."""

from __future__ import annotations

from functools import reduce

from kwalk.search.analyses.recovery import plan_recovery
from kwalk.search.analyses.settling import Settling
from tests.snapshots.test_combined_damages import EPOCHS, IDS, OTHER, log, problem
from tests.snapshots.test_reported_plans import procedure
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down


def test_the_log_of_a_broker_that_is_gone_for_good_stands_in_the_way_of_no_plan() -> None:
    """A broker that is down has the log of an earlier topic: no process takes up what is gone."""
    snapshot = alone("2.8.2")
    del snapshot["topics"]["orders"]["znode"]["topic_id"]
    snapshot["brokers"]["3"]["dirs"]["orders-0"] = log(OTHER, ((0, 0), (2, 30)), crc=9)
    down(snapshot, 3)
    state(snapshot)["isr"] = [1, 2]
    first = problem(snapshot)
    gone = next(one for one in first.alternatives if one.premise == "if broker 3 is gone for good")
    fits = [
        {c.args[0] for c in one.worlds[0].claims if c.declaration.name == "down_replica_fits"} for one in (first, gone)
    ]
    assert fits == [{0, 1, 2}, {0, 1}]
    assert "down-broker-has-another-log" in gone.uncovered and "down-broker-has-another-log" not in first.uncovered
    found = plan_recovery(gone, seconds=60)
    assert found.plan is not None and "write-topic-id orders" in found.plan.procedures[0].name


def test_a_disk_under_a_new_id_has_what_the_isr_had() -> None:
    """The other replica is behind: it has nothing that was acknowledged and the member of the ISR lacks."""
    snapshot = alone("3.4.1")
    snapshot["topics"]["orders"]["znode"]["partitions"]["0"] = [1, 2]
    snapshot["brokers"]["4"] = {
        **snapshot["brokers"]["1"],
        "dirs": {"orders-0": log(IDS["orders"], (*EPOCHS, (6, 80)))},
    }
    snapshot["brokers"]["1"] = {**snapshot["brokers"]["1"], "dirs": None, "log_dirs": None}
    snapshot["brokers"]["3"]["dirs"].pop("orders-0")
    snapshot["broker_ids"] = [1, 2, 3, 4]
    down(snapshot, 1)
    state(snapshot).update(leader=-1, isr=[1], leader_epoch=7)
    given = problem(snapshot)
    assert given.premise == "if the disk of broker 4 is that of broker 1, which has got another id"
    settling = Settling(given.worlds[0])
    (moves,) = procedure(given, "set-broker-id 4 1").moves
    belief = reduce(settling.moved, moves, settling.first(0))
    assert not any(settling.violated(vector) for vector, _ in belief.states)
