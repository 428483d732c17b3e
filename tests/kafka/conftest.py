"""Fixtures of the tests of the Kafka model."""

from __future__ import annotations

import pytest

from kwalk.search.analyses.audit import cells
from kwalk.search.exhaustive import search
from kwalk.search.kernel.interpreted import interpreted_kernel


@pytest.fixture
def interpreted(monkeypatch):
    """Exhaustive searches execute plain Python: models of a hundred thousand terms with some hundred states."""
    for module in (search, cells):
        monkeypatch.setattr(module, "kernel_for", interpreted_kernel)
