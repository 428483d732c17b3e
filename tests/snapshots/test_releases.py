"""The release of a capture: the same ones in all commands, exactly, and no version is taken for another in silence."""

from __future__ import annotations

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER, read_series
from kwalk.model.kafka.versions import PUBLISHED
from kwalk.model.kafka.versions.reported import reported_release
from kwalk.model.language import Model, UsageError
from kwalk.reports.handlers.explain import model_of
from tests.snapshots.captured import changed

MINTED = "HgbT0nas7y0cBb4Hn4b8xw"


def minted_again(version: str) -> bytes:
    """A cluster whose controller has another topic id than all logs have: an old client had erased the first one."""

    def change(capture: dict) -> None:
        capture["version"] = version
        topic = capture["topics"]["t"]
        topic["topic_id"] = topic["znode"]["topic_id"] = MINTED
        topic["version"] = 3
        for broker in capture["brokers"].values():
            broker.pop("metadata_cache", None)

    return changed(change)


def later(first: str, last: str = PUBLISHED[-1]) -> list[str]:
    return list(PUBLISHED[PUBLISHED.index(first) : PUBLISHED.index(last) + 1])


@pytest.mark.parametrize("release", later("3.1.0"))
def test_since_3_1_leaders_refuse_fetches_by_an_id_that_their_logs_do_not_have(release: str) -> None:
    inspection = inspect_snapshot(minted_again(release))
    assert {one.kind.name for one in inspection.observations} == {"fetch-by-id-refused"}
    assert inspection.exit_code == 12


@pytest.mark.parametrize("release", later("2.8.0", "3.0.2"))
def test_before_3_1_fetches_name_topics_only(release: str) -> None:
    inspection = inspect_snapshot(minted_again(release))
    assert {one.kind.name for one in inspection.observations} == {"topic-id-differs"}
    assert inspection.exit_code == 13


@pytest.mark.parametrize("release", later("2.8.0"))
def test_all_readers_of_snapshots_take_every_release_as_a_variant(release: str) -> None:
    made = minted_again(release)
    reading, series = read_snapshot(made), read_series([made])[0]
    assert Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant).variant == release
    assert model_of(REAL_CLUSTER, series, None).variant == release
    assert recovery_problem(made).worlds


@pytest.mark.parametrize("question", ["", "--plan", "--forecast", "--explain"])
def test_a_diagnosis_takes_a_release_that_has_no_listed_variant(kwalk, tmp_path, question) -> None:
    (tmp_path / "now.json").write_bytes(minted_again("3.0.0"))
    ran = kwalk("diagnose", tmp_path / "now.json", *((question, "--seconds", "120") if question else ()))
    assert (ran.code, "3.0.0" in ran.out) == (13 if question in ("", "--forecast") else 0, True)


@pytest.mark.parametrize("question", ["", "--plan", "--forecast", "--explain"])
def test_a_diagnosis_says_how_it_reads_a_version(kwalk, tmp_path, question) -> None:
    (tmp_path / "now.json").write_bytes(minted_again("7.3.0-ccs"))
    ran = kwalk("diagnose", tmp_path / "now.json", *((question, "--seconds", "120") if question else ()))
    assert "Confluent Platform 7.3, which is Apache Kafka 3.3" in " ".join(ran.out.split())


@pytest.mark.parametrize("read", [inspect_snapshot, recovery_problem, read_snapshot, lambda made: read_series([made])])
@pytest.mark.parametrize("version", ["2.4.1", "4.0.0", "3.4.2", "7.4.1"])
def test_all_readers_of_snapshots_refuse_the_same_versions(read, version) -> None:
    with pytest.raises(UsageError, match="Allowed: "):
        read(minted_again(version))


def test_what_names_no_release_is_a_note_of_an_inspection() -> None:
    assert inspect_snapshot(minted_again("2.8.1.amzn.1")).notes[-1] == reported_release("2.8.1.amzn.1").note
