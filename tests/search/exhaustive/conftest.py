"""Fixtures that the tests of exhaustive search share."""

from __future__ import annotations

import pytest

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from tests.search.plain_counts import plain_counts
from tests.search.post_office import post_office


@pytest.fixture(scope="module")
def model():
    return post_office()


@pytest.fixture(scope="module")
def expected(model):
    return plain_counts(model)


@pytest.fixture(scope="module")
def reference():
    return Model(REFERENCE)
