"""The diagnosis of a capture is what was observed of its cluster; `tests/captures/README.md` describes them."""

from __future__ import annotations

import re

import pytest

from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.diagnosis import Condition, diagnose, symptoms
from kwalk.model.kafka.snapshots.snapshot import read_snapshot
from tests.snapshots.captured import FILES, FOLDER, changed, document

LATENT = {
    # The old client has expanded the topic, or a failover has minted a second id; no leader epoch has risen since.
    "scenario-01-04-old-alter",
    "scenario-01-05-produce-consume",
    "scenario-01-06-delete-controller",
    "scenario-01-07-produce-consume",
    "scenario-06-04-old-alter",
    "scenario-06-05-produce-consume",
    "scenario-06-06-delete-controller",
    "scenario-06-07-produce-consume",
    # Before the failover even the fresh topic of the literal series is at risk: see `_without_id`.
    "scenario-01-exact-04-old-alter",
    "scenario-01-exact-04a-old-alter-immediately",
    "scenario-01-exact-05-produce-consume",
}


def seen(name: str) -> Condition:
    """What the README says of a capture: the two 08 series and the repair up to its last restart are broken."""
    if name in LATENT:
        return Condition.LATENT
    repairing = name.startswith(("scenario-03-00", "scenario-03-01", "scenario-03-02-1", "scenario-03-02-2"))
    if repairing or name.startswith(("scenario-01-08", "scenario-06-08")):
        return Condition.BROKEN
    return Condition.CONSISTENT


@pytest.mark.parametrize("name", FILES)
def test_the_diagnosis_of_a_capture_is_what_was_seen_of_the_cluster(name: str) -> None:
    diagnosis = diagnose(read_capture(FILES[name]))
    assert diagnosis.condition is seen(name)
    assert diagnosis.sentences[0].lower().startswith(diagnosis.condition.value)
    assert all(text.isprintable() and text.endswith(".") for text in diagnosis.sentences)


@pytest.mark.parametrize("name", [name for name in FILES if "rw" in document(name)["extra"]])
def test_the_partitions_called_broken_are_those_to_which_acks_all_could_not_be_written(name: str) -> None:
    writes = {int(p): did["produce"]["ok"] for p, did in document(name)["extra"]["rw"].items()}
    capture = read_capture(FILES[name])
    assert set(symptoms(capture, capture.topics["t"]).broken) == {p for p, ok in writes.items() if not ok}


def test_after_the_old_clients_expansion_the_operator_reads_what_a_failover_and_a_restart_will_do() -> None:
    assert diagnose(read_capture(FILES["scenario-01-04-old-alter"])).sentences == (
        "Latent: the next controller failover mints a new id for topic t, because its znode has lost its id.",
        "Replicas of t-0 and t-1 on brokers 1, 2 and 3 keep the id hbcto079Q-K_O7AoNlw-Ig and will refuse the new one.",
        "Then restarting broker 1 leaves t-0 and t-1 without a working leader (as does restarting brokers 2 or 3).",
        "A crash of broker 1, the controller, does both at once.",
        "Until that failover it can be undone: write topic_id hbcto079Q-K_O7AoNlw-Ig back into /brokers/topics/t.",
    )


def test_a_replica_that_refuses_beside_a_leader_that_agrees_is_dropped_and_the_leader_works() -> None:
    def one_foreign_follower(capture: dict) -> None:
        held = capture["brokers"]["2"]["dirs"]["t-0"]
        held.update(topic_id="B" * 22, partition_metadata="version: 0\ntopic_id: " + "B" * 22)

    latent = diagnose(read_capture(changed(one_foreign_follower)))
    assert latent.condition is Condition.LATENT
    assert "any rise of a leader epoch puts broker 2 out of the ISR of t-0." in latent.sentences[-1]


def test_stopping_the_leader_counts_when_the_next_in_line_refuses() -> None:
    def next_in_line_is_foreign(capture: dict) -> None:
        held = capture["brokers"]["1"]["dirs"]["t-0"]
        held.update(topic_id="B" * 22, partition_metadata="version: 0\ntopic_id: " + "B" * 22)

    latent = diagnose(read_capture(changed(next_in_line_is_foreign)))
    assert latent.sentences[-1].endswith("restarting broker 3 leaves t-0 without a working leader.")


def test_a_partition_that_vanished_from_the_znode_is_broken() -> None:
    lost = diagnose(read_capture(changed(lambda d: d["topics"]["t"]["znode"]["partitions"].pop("1"))))
    assert lost.sentences[0].startswith("Broken: t-1 has a state in ZooKeeper, but")


def test_a_partition_without_leader_and_isr_is_broken_because_its_isr_is_empty() -> None:
    def empty_isr(capture: dict) -> None:
        capture["topics"]["t"]["partition_state"]["0"] |= {"leader": -1, "isr": []}

    broken = diagnose(read_capture(changed(empty_isr)))
    assert broken.sentences[0] == "Broken: t-0 has no working leader."
    assert any(text.startswith("t-0 has no leader, and its ISR is empty") for text in broken.sentences)


def test_a_controller_that_sends_another_id_than_zookeeper_has_is_latent_damage() -> None:
    def another_id(capture: dict) -> None:
        capture["topics"]["t"]["znode"]["topic_id"] = capture["topics"]["t"]["topic_id"] = "B" * 22

    latent = diagnose(read_capture(changed(another_id, "scenario-01-01-old-create")))
    assert latent.sentences[0].startswith("Latent: the controller sends the id hbcto079Q-K_O7AoNlw-Ig for topic t")


def test_a_topic_that_never_had_an_id_is_consistent() -> None:
    def forget(capture: dict) -> None:
        capture["topics"]["t"]["znode"].pop("topic_id")
        capture["topics"]["t"]["topic_id"] = None
        for broker in capture["brokers"].values():
            broker["metadata_cache"]["topics"]["t"]["topic_id"] = "A" * 22

    old = diagnose(read_capture(changed(forget, "scenario-01-01-old-create")))
    assert old.sentences[0].startswith("Consistent: topic t has no topic id anywhere")


def test_the_worst_topic_speaks_and_the_others_like_it_are_counted() -> None:
    def more_topics(capture: dict) -> None:
        for number in range(3):
            twin = dict(capture["topics"]["t"], znode=dict(capture["topics"]["t"]["znode"]))
            twin["topic_id"] = twin["znode"]["topic_id"] = None if number else "C" * 22
            capture["topics"][f"u{number}"] = twin
            for broker in capture["brokers"].values() if number else ():
                broker["metadata_cache"]["topics"][f"u{number}"] = broker["metadata_cache"]["topics"]["t"]

    diagnosis = diagnose(read_capture(changed(more_topics)))
    assert diagnosis.sentences[0].startswith("Latent: the next controller failover mints a new id for topic u1")
    assert diagnosis.sentences[-1] == "1 more topic is latent."


def test_the_answer_that_the_how_to_shows_is_the_one_that_its_capture_gets() -> None:
    page = (FOLDER.parent.parent / "docs" / "how-to" / "read-a-cluster.md").read_text(encoding="utf-8")
    name = re.search(r"kwalk hunt --from tests/captures/([\w-]+)\.json", page)[1]
    shown = re.search(r"```text\n(.*?)\n```", page, re.DOTALL)[1].split("\n")
    crash = [("fault", "broker 1 crashes"), ("broker 1", "starts")]
    assert tuple(shown) == read_snapshot(FILES[name]).diagnose(crash)
