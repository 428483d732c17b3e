"""Kafka's own consumers: the helper of the lab, and what an experiment says of their histories."""

from __future__ import annotations

import pytest

from kwalk.clusters.lab.experiments.consumers import outcome_of_partition
from kwalk.clusters.lab.java_helper import JavaHelper

BEFORE = ["z gets t-1", "leader gets t-0"]


class Consumers(JavaHelper):
    """The helper without a lab."""

    source = "Consumers.java"


@pytest.mark.parametrize(
    ("later", "outcome"),
    [
        ([], "kept"),
        (["z revokes t-1", "a gets t-1"], "kept"),
        (["a gets t-1", "z revokes t-1"], "taken"),
        (["z loses t-1", "a gets t-1"], "lost"),
        (["leader ends with java.lang.IllegalStateException: Assignor"], "refused"),
    ],
)
def test_the_outcome_is_what_becomes_of_the_partition(later, outcome):
    assert outcome_of_partition(["leader gets t-1", *BEFORE, *later], "t-1") == outcome


@pytest.mark.lab
def test_the_helper_answers_each_line():
    with Consumers("3.9.0") as real:
        assert real.words("history") == ["history"]
        assert real.words("owned nobody")[0] == "error"
