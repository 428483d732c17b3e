"""Fixtures that all tests share."""
from __future__ import annotations

import pytest

from tests.reports.commands import kwalk as kwalk


@pytest.fixture(scope="session")
def spark():
    """One Spark session on two cores for the whole run: starting one takes seconds."""
    from search.spark.session import spark_session

    with spark_session(2) as session:
        yield session
