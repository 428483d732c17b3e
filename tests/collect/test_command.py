"""The command `kwalk collect`: what it refuses, with what to do instead; the script that it prints."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kwalk.clusters.collect.logs import script

AT = ("127.0.0.1:1", "--release", "2.8.2")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KWALK_ZOOKEEPER_PASSWORD", raising=False)
    (tmp_path / "cert.pem").write_text("no certificate")
    (tmp_path / "folder").mkdir()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("zk:1",), "The version of the brokers is not known: name it, as in --release 2.8.2."),
        ((), "Name the address of ZooKeeper, as in `kwalk collect zk-1:2181/chroot"),
        (("zk:1", "--release", "two"), "'two' is no version of Kafka. Allowed: a release of Apache Kafka from"),
        ((*AT, "--logs", "ssh://host/data"), "names no broker"),
        ((*AT, "--save-as", "folder"), "it is a folder"),
        ((*AT, "--topic", ""), "the value is empty"),
    ],
)
def test_what_is_not_possible_is_refused_with_what_is(kwalk, words, message):
    ran = kwalk("collect", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a b", "--release", "2.8.2"), "'a b' is no address of ZooKeeper. Allowed: HOST:PORT"),
        ((*AT, "--sasl", "me", "--digest", "me"), "--sasl and --digest exclude each other"),
        ((*AT, "--digest", "me"), "A user needs a password: name its file with --password-file, or set"),
        ((*AT, "--digest", "me", "--password-file", "nowhere"), "Cannot read the password in 'nowhere': no such file"),
        ((*AT, "--tls-ca", "nowhere"), "There is no file 'nowhere'. Name a file with certificates"),
        ((*AT, "--tls-cert", "cert.pem"), "A client certificate needs its key: give both, or neither."),
        ((*AT, "--seconds", "0.5"), "No ZooKeeper answers at 127.0.0.1:1 within 0.5 s (Connection dropped: socket"),
    ],
)
def test_an_address_or_a_user_that_is_none_is_refused(kwalk, words, message):
    pytest.importorskip("kazoo", reason="kazoo is not installed; run make setup")
    ran = kwalk("collect", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


def test_the_script_is_printed_without_an_address(kwalk):
    ran = kwalk("collect", "--script")
    assert (ran.code, ran.out, ran.err) == (0, script(), "")


def test_no_file_is_left_if_no_zookeeper_answers(kwalk, tmp_path):
    pytest.importorskip("kazoo", reason="kazoo is not installed; run make setup")
    kwalk("collect", *AT, "--seconds", "0.5", "--save-as", "new/now.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cert.pem", "folder"]


def test_the_library_of_zookeeper_is_imported_by_no_other_command():
    code = "import sys; from kwalk.reports.command_line import main; main(sys.argv[1:]); print('kazoo' in sys.modules)"
    command = [sys.executable, "-c", code, "lab", "list"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1] == "False"
