"""A broker's settings in each mode, the settings of KRaft controllers, and what their logs say of a migration."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kwalk.clusters.lab.cluster import MIGRATION_FLAG, Mode, settings_in
from kwalk.clusters.lab.quorum import Quorum, driver_states, hindrances

VOTERS = "3000@127.0.0.1:7,3001@127.0.0.1:8"
SETTINGS = {
    "broker.id": 2,
    "zookeeper.connect": "127.0.0.1:2181",
    "zookeeper.session.timeout.ms": 18000,
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "log.dirs": "data",
}
LOG = """\
[2026-11-26 9:34:24,130] INFO [KRaftMigrationDriver id=3000] 3000 transitioning from INACTIVE to INACTIVE state
[2026-11-26 9:34:24,140] DEBUG [KRaftMigrationDriver id=3000] 3000 transitioning from UNINITIALIZED to INACTIVE state
[2026-11-26 9:34:24,150] INFO [KRaftMigrationDriver id=3000] Still waiting for ZK brokers [7] to register.
[2026-11-26 9:34:24,160] DEBUG [KRaftMigrationDriver id=3000] 3000 transitioning from INACTIVE to WAIT_FOR_BROKERS state
"""
WAITS = (
    "[2026-11-26 9:34:25,100] INFO [KRaftMigrationDriver id=3000] Still waiting for ZK brokers [3] found in "
    "metadata to register with KRaft. (org.apache.kafka.metadata.migration.KRaftMigrationDriver)\n"
)
FAULT = """\
[2026-11-26 9:34:26,100] ERROR Encountered zk migration fault: Unhandled error in WaitForZkBrokersEvent (a.Fault)
java.util.NoSuchElementException: None.get
\tat scala.None$.get(Option.scala:627)
"""


def test_a_broker_that_migrates_keeps_its_settings_and_knows_the_quorum():
    found = settings_in(Mode.MIGRATING, SETTINGS, VOTERS)
    assert SETTINGS.items() <= found.items()
    assert (found[MIGRATION_FLAG], found["controller.quorum.voters"]) == ("true", VOTERS)
    assert found["listener.security.protocol.map"] == "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"


def test_a_broker_in_kraft_mode_knows_nothing_of_zookeeper():
    found = settings_in(Mode.KRAFT, {**SETTINGS, "inter.broker.protocol.version": "3.4"}, VOTERS)
    assert not [name for name in found if name.startswith(("zookeeper", "broker.id", "inter.broker.protocol"))]
    assert (found["process.roles"], found["node.id"], found["log.dirs"]) == ("broker", 2, "data")


def test_a_broker_in_zookeeper_mode_has_the_settings_that_it_had():
    assert settings_in(Mode.ZOOKEEPER, SETTINGS, VOTERS) == SETTINGS


@pytest.fixture
def quorum(tmp_path):
    """Three controllers of a lab that does not run."""
    return Quorum(SimpleNamespace(folder=tmp_path, zookeeper_port=2181, voters=""), 3)


def test_controllers_reach_zookeeper_and_have_the_flag_until_the_migration_is_finalized(quorum):
    controller = quorum.controllers[3001]
    before, after = (quorum.settings(controller, migrates=migrates) for migrates in (True, False))
    assert (before["zookeeper.connect"], before[MIGRATION_FLAG]) == ("127.0.0.1:2181", "true")
    assert not [name for name in after if name.startswith("zookeeper")]
    assert before["controller.quorum.voters"] == quorum.lab.voters
    assert quorum.lab.voters.count("@127.0.0.1:") == 3


def test_a_transition_to_the_same_state_is_none():
    assert driver_states(LOG) == ["INACTIVE", "WAIT_FOR_BROKERS"]


def test_what_hinders_the_driver_is_what_it_says_in_its_last_state_with_the_cause_of_a_fault():
    assert hindrances(LOG) == []
    assert hindrances(LOG + WAITS * 2 + FAULT) == [
        "Still waiting for ZK brokers [3] found in metadata to register with KRaft.",
        "Encountered zk migration fault: Unhandled error in WaitForZkBrokersEvent "
        "(java.util.NoSuchElementException: None.get)",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Encountered ZooKeeper error during event SyncKRaftMetadataEvent. Will retry.",
        "KRaft controller indicates an active migration, but the ZK state does not.",
    ],
)
def test_what_zookeeper_refuses_hinders_the_driver_too(said):
    line = f"[2026-11-26 9:34:26,100] INFO [KRaftMigrationDriver id=3000] {said} (a.Driver)\n"
    assert hindrances(LOG + line) == [said]


def test_the_active_controller_is_the_one_whose_driver_is_not_inactive(quorum):
    for number, states in {3000: ["INACTIVE"], 3001: ["INACTIVE", "WAIT_FOR_BROKERS"], 3002: []}.items():
        controller = quorum.controllers[number]
        controller.log.parent.mkdir(parents=True)
        before = ["UNINITIALIZED", *states]
        lines = [f"{number} transitioning from {a} to {b} state\n" for a, b in zip(before, states, strict=False)]
        controller.log.write_text("".join(lines))
    assert (quorum.active.id, quorum.state) == (3001, "WAIT_FOR_BROKERS")
    assert quorum.hindrances == []
