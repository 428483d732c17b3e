"""Series of random histories of the model with four topics: what `explain` makes of them."""

from __future__ import annotations

from functools import cache

import pytest

from kwalk.model.kafka.snapshots.limits import REMOVALS
from kwalk.model.kafka.snapshots.series import read_series
from kwalk.model.language.series import Series
from kwalk.reports.handlers.explain import explained, model_of
from kwalk.reports.handlers.target import scenario_with
from kwalk.search.analyses.explain.explain import ExplainOptions, Fit
from kwalk.search.kernel.model_digest import meaning_key
from tests.snapshots.generated import TOPICS, history_of


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
    _, scenario = scenario_with("read_series", None)
    models = [model_of(scenario, one, None) for one in found]
    assert len(found) == TOPICS
    assert len({meaning_key(model) for model in models}) == 1
    never_removed = [one for one in found if all(waypoint.without >= REMOVALS for waypoint in one.waypoints)]
    assert 0 < len(never_removed) < TOPICS


@pytest.mark.thorough
@pytest.mark.parametrize("release, number", [("3.0.2", 0), ("3.3.2", 0)])
def test_a_generated_history_of_four_topics_is_explained(release: str, number: int) -> None:
    found = series_of(release, number)
    _, scenario = scenario_with("read_series", None)
    reports = explained([(model_of(scenario, one, None), one) for one in found], ExplainOptions(seconds=600.0))
    assert [report.fit for report in reports] == [Fit.EXPLAINED] * TOPICS
