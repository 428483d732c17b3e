"""Series of random histories of the model with four topics: what `explain` makes of them."""

from __future__ import annotations

from functools import cache

import pytest

from kwalk.model.kafka.snapshots.limits import REMOVALS
from kwalk.model.kafka.snapshots.series import read_series
from kwalk.model.language import Model
from kwalk.model.language.series import Series
from kwalk.reports.handlers.explain import explained, model_of
from kwalk.reports.handlers.target import scenario_with
from kwalk.search.analyses.explain.explain import ExplainOptions, Fit
from kwalk.search.kernel.model_digest import meaning_key
from tests.snapshots.generated import TOPICS, generating_model, history_of, with_other_brokers
from tests.snapshots.synthetic import Walk


@cache
def series_of(release: str, number: int) -> tuple[Series, ...]:
    """The series of a generated history."""
    return read_series(history_of(release, number).walk.captures)


def test_a_generated_history_is_the_same_for_the_same_number_and_has_snapshots_between_its_operations() -> None:
    first, again = (history_of("3.3.2", 0, topics=1, operations=4) for _ in range(2))
    assert (first.walk.captures, first.walk.taken) == (again.walk.captures, again.walk.taken)
    assert len(first.walk.captures) == len(first.done)
    assert sum(event != "now" for gap in first.done for event in gap) >= 4


def test_topics_of_one_cluster_share_a_model_whether_they_are_deleted_or_not() -> None:
    """A topic is removed by hand, one gets a second partition, and each is created by a client of its own kind."""
    found = series_of("3.3.2", 0)
    assert len(found) == TOPICS
    assert len({meaning_key(model) for model in models_of(found)}) == 1
    never_removed = [one for one in found if all(waypoint.without >= REMOVALS for waypoint in one.waypoints)]
    assert 0 < len(never_removed) < TOPICS


@cache
def series_with_other_brokers(numbers: tuple[int, ...]) -> tuple[Series, ...]:
    """The series of two topics, created in one gap, of which one has its replicas in another order."""
    walk = Walk(generating_model("3.3.2", 2), "3.3.2", 0)
    walk.capture()
    for events in (("new_client_creates_topic(0)", "new_client_creates_topic(1)"), ("delete_controller()",)):
        for event in events:
            walk.do(event)
        walk.rest(orderly=True)
        walk.capture()
    return read_series([with_other_brokers(capture, "u", numbers) for capture in walk.captures])


def models_of(found: tuple[Series, ...]) -> list[Model]:
    _, scenario = scenario_with("read_series", None)
    return [model_of(scenario, one, None) for one in found]


def test_topics_with_their_replicas_in_another_order_share_a_model() -> None:
    found = series_with_other_brokers((2, 3, 1))
    assert [one.labels["brokers"] for one in found] == [("1", "2", "3"), ("2", "3", "1")]
    assert len({meaning_key(model) for model in models_of(found)}) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("numbers", [(2, 3, 1), (3, 1, 2)])
def test_topics_with_their_replicas_in_another_order_are_explained(numbers: tuple[int, ...]) -> None:
    found = series_with_other_brokers(numbers)
    pairs = list(zip(models_of(found), found, strict=True))
    assert [report.fit for report in explained(pairs, ExplainOptions())] == [Fit.EXPLAINED] * 2


@pytest.mark.thorough
@pytest.mark.parametrize("release, number", [("3.0.2", 0), ("3.3.2", 0)])
def test_a_generated_history_of_four_topics_is_explained(release: str, number: int) -> None:
    found = series_of(release, number)
    reports = explained(list(zip(models_of(found), found, strict=True)), ExplainOptions(seconds=600.0))
    assert [report.fit for report in reports] == [Fit.EXPLAINED] * TOPICS
