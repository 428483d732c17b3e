"""`kwalk exhaust --spark`: what it says, where its states go, and what is refused."""

from __future__ import annotations

import shlex

import pytest


def test_a_search_that_was_cut_short_names_the_command_that_resumes_it_and_that_command_completes_it(kwalk, tmp_path):
    cut = kwalk("exhaust", "synod", "--spark", "--seconds", "0.000001")
    assert cut.code == 3 and (tmp_path / "kwalk-out" / "states" / "level-00000").is_dir()
    again = " ".join(cut.out.split()).partition("resume with: ")[2].partition(" --resume")[0]
    assert again == "kwalk exhaust synod --seconds 1e-06 --spark --checkpoint kwalk-out/states"
    done = kwalk(*shlex.split(again)[1:3], "--spark", "--resume", "--json")
    assert done.code == 0 and not (tmp_path / "kwalk-out" / "states").exists()
    counts = [done.object[name] for name in ("verdict", "distinct_states", "generated_states", "depth")]
    assert counts == ["holds", 3_921, 23_467, 16]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--spark", "--reduce"), "A search on Spark does not support reduction. Leave out --reduce, or --spark."),
        (("--spark", "--symmetry", "jugs"), "does not support symmetry. Leave out --symmetry, or --spark."),
        (("--spark", "--every", "5"), "saves a checkpoint at every level. Leave out --every, or --spark."),
        (("--partitions", "4"), "--partitions is for searches on Spark. Add --spark."),
        (("--master", "spark://host:7077"), "--master is for searches on Spark. Add --spark."),
    ],
)
def test_what_does_not_go_together_is_refused(kwalk, words, why):
    ran = kwalk("exhaust", "die-hard", *words)
    assert ran.code == 2 and why in ran.err
