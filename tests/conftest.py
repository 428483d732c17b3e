"""Fixtures that all tests share."""
from __future__ import annotations

import os

import pytest

from tests.reports.commands import kwalk as kwalk

os.environ.pop("KWALK_CACHE", None)  # tests give XDG_CACHE_HOME where they need a cache of their own


@pytest.fixture(scope="session")
def spark():
    """One Spark session on two cores for the whole run: starting one takes seconds."""
    from kwalk.search.spark.session import spark_session

    with spark_session(2) as session:
        yield session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests on Spark, and run them first, so that a worker without any starts no Java.

    Workers begin with runs of neighbours and take over from the ends of each other's, so that these stay together.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))
