"""The lock of the jars, and how they come from a repository: all of one, with the right digest, or an error."""

from __future__ import annotations

import hashlib
import re

import pytest

from kwalk.clusters.lab import jars
from kwalk.clusters.lab.jars import MAVEN_CENTRAL, VARIABLE, JarStore, jar_store, repository
from kwalk.clusters.lab.lock import LOCK, RELEASES, Jar, locked_jars
from kwalk.model.language import UsageError

CONTENT = {"org/one/1/one-1.jar": b"first" * 1000, "org/two/2/two-2.jar": b"second"}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store whose lock has two jars, and whose repository is a folder."""
    locked = tuple(Jar(path, hashlib.sha256(content).hexdigest(), len(content)) for path, content in CONTENT.items())
    monkeypatch.setattr(jars, "locked_jars", lambda: {"1.2.3": locked})
    for path, content in CONTENT.items():
        file = tmp_path / "mirror" / path
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
    return JarStore(tmp_path / "jars", (tmp_path / "mirror").as_uri())


def test_the_lock_has_every_release_with_a_broker_and_a_logger():
    locked = locked_jars()
    assert tuple(locked) == RELEASES
    for release, found in locked.items():
        names = {jar.path.rpartition("/")[2] for jar in found}
        assert f"kafka-clients-{release}.jar" in names
        assert any(name.startswith("zookeeper-") for name in names)
        assert any(name.startswith(("reload4j-", "log4j-")) for name in names)


def test_every_locked_jar_has_a_digest_and_a_size_and_no_host():
    for found in locked_jars().values():
        assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) and jar.size > 0 for jar in found)
        assert all(re.fullmatch(r"[\w./+-]+\.jar", jar.path) and ".." not in jar.path for jar in found)
    assert "://" not in LOCK.read_text()


def test_jars_are_downloaded_once_and_make_a_class_path(store, tmp_path):
    reports = []
    first = store.class_path(["1.2.3"], reports.append)
    assert [path.rpartition("/")[2] for path in first["1.2.3"].split(":")] == ["one-1.jar", "two-2.jar"]
    assert reports[-1].done == reports[-1].total
    (tmp_path / "mirror").rename(tmp_path / "gone")
    assert store.class_path(["1.2.3"]) == first


def test_a_jar_that_was_changed_in_the_cache_is_downloaded_again(store):
    store.class_path(["1.2.3"])
    damaged = store.folder / "org/two/2/two-2.jar"
    damaged.write_bytes(b"hostile")
    store.class_path(["1.2.3"])
    assert damaged.read_bytes() == CONTENT["org/two/2/two-2.jar"]


@pytest.mark.parametrize("content", [b"another", b"second and more", b"secon", b""])
def test_a_file_that_is_not_the_locked_one_is_refused_and_not_kept(store, tmp_path, content):
    (tmp_path / "mirror/org/two/2/two-2.jar").write_bytes(content)
    with pytest.raises(UsageError, match=r"is not the file that was locked: its SHA-256 digest must be"):
        store.class_path(["1.2.3"])
    assert [path.name for path in store.folder.rglob("*") if path.is_file()] == ["one-1.jar"]


def test_without_a_repository_the_error_says_what_to_do(store, tmp_path):
    offline = JarStore(tmp_path / "other", "http://127.0.0.1:9/maven2")
    with pytest.raises(UsageError, match=rf"Cannot download http://127.0.0.1:9/.*set {VARIABLE} to the URL"):
        offline.class_path(["1.2.3"])


def test_an_unknown_release_is_refused_with_those_that_exist(store):
    with pytest.raises(UsageError, match=r"No release in the lab named '1.2.4'. Did you mean '1.2.3'"):
        store.class_path(["1.2.4"])


def test_the_repository_is_maven_central_unless_the_environment_names_another(tmp_path):
    assert repository({}) == MAVEN_CENTRAL
    assert repository({VARIABLE: "https://mirror.example/maven/"}) == "https://mirror.example/maven"
    with pytest.raises(UsageError, match="must be the URL of a Maven repository"):
        repository({VARIABLE: "mirror"})
    assert jar_store({"KWALK_CACHE": str(tmp_path)}).folder == tmp_path / "lab" / "jars"
