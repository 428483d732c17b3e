"""The debugger of a broker: what it tells jdb, of which a script takes the place."""

import sys
from types import SimpleNamespace

import pytest

from kwalk.clusters.lab.debugger import Debugger
from kwalk.model.language import KwalkError

JDB = f"""#!{sys.executable}
import sys
print(sys.argv[1:], flush=True)
for line in sys.stdin:
    word, *rest = line.split()
    print("told", line.strip())
    if word == "stop":
        print("> Set breakpoint", rest[-1])
        for thread in ("Sender-1", "Sender-2"):
            print('Breakpoint hit: "thread=' + thread + '", ' + rest[-1] + "(), line=1 bci=0")
    if word == "threads":
        print("  (some.Class)17       Sender-1       running (at breakpoint)")
        print("  (some.Class)18       Sender-2       running")
    sys.stdout.flush()
    if word == "quit":
        break
"""


def lab_with(tmp_path, output, *, jdb=True):
    (tmp_path / "broker-1.out").write_text(output)
    if jdb:
        (tmp_path / "jdb").write_text(JDB)
        (tmp_path / "jdb").chmod(0o755)
    process = SimpleNamespace(output=tmp_path / "broker-1.out")
    return SimpleNamespace(brokers={1: SimpleNamespace(process=process)}, java=tmp_path / "java", folder=tmp_path)


def test_threads_are_held_at_a_method_and_the_one_that_is_held_goes_on(tmp_path):
    listens = "Listening for transport dt_socket at address: {}\n"
    with Debugger(lab_with(tmp_path, listens.format(5001) + listens.format(5002)), 1) as debugger:
        debugger.hold("some.Class.method")
        assert sorted(debugger.held("some.Class.method", 2)) == ["Sender-1", "Sender-2"]
        debugger.let_go("Sender-1")
    written = (tmp_path / "jdb.out").read_text()
    assert "port=5002" in written and "port=5001" not in written
    told = [line.removeprefix("told ") for line in written.splitlines() if line.startswith("told ")]
    assert told == ["stop thread in some.Class.method", "threads", "resume 17", "quit"]


@pytest.mark.parametrize(
    ("output", "jdb"), [("Listening for transport dt_socket at address: 5001\n", False), ("", True)]
)
def test_a_broker_without_a_jdb_or_a_port_cannot_be_debugged(tmp_path, output, jdb):
    with pytest.raises(KwalkError, match="Broker 1 cannot be debugged: that needs the jdb of a JDK"):
        Debugger(lab_with(tmp_path, output, jdb=jdb), 1)


def test_what_a_debugger_does_not_write_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("kwalk.clusters.lab.debugger.PATIENCE", 0.2)
    lab = lab_with(tmp_path, "Listening for transport dt_socket at address: 5001\n")
    with Debugger(lab, 1) as debugger, pytest.raises(KwalkError, match="did not write 'Breakpoint hit"):
        debugger.held("some.Class.method")
