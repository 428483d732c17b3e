"""Fixtures that all tests share."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.reports.commands import kwalk as kwalk

SLOW = (
    "agreement", "distributed", "examples/test_large_published_counts.py", "examples/test_published_counts.py",
    "examples/test_types.py", "kafka", "minimize/test_clusters.py", "minimize/test_lengths.py", "mutation", "nightly",
    "package", "prove", "reduction", "reports/test_audit_command.py", "reports/test_graph_command.py",
    "reports/test_illustrations.py", "search/exhaustive/test_sizes.py", "selftest", "snapshots", "spark", "symmetry",
)  # fmt: skip
"""Folders and files whose tests compile large models, start processes or search for seconds: marked `slow`."""

os.environ.pop("KWALK_CACHE", None)  # tests give XDG_CACHE_HOME where they need a cache of their own


@pytest.fixture(scope="session")
def spark():
    """One Spark session on two cores for the whole run: starting one takes seconds."""
    from kwalk.search.spark.session import spark_session

    with spark_session(2) as session:
        yield session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests and those on Spark, and run the latter first, so that a worker without any starts no Java.

    Workers begin with runs of neighbours and take over from the ends of each other's, so that these stay together.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if item.path.relative_to(Path(__file__).parent).as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))
