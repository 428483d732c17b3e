"""Steps of plans on a cluster: each has a hand, which does what the commands say."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from attrs import evolve

from kwalk.clusters.lab.brokers import AdminAnswer
from kwalk.clusters.lab.cluster import LabBroker, failed_root
from kwalk.clusters.lab.experiments import operator_steps
from kwalk.clusters.lab.experiments.operator_steps import carry_out
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import KwalkError
from kwalk.model.language.recovery import Procedure
from tests.snapshots.captured import FILES, FOLDER


class FakeLab:
    """Keeps what is done to a cluster; its brokers have folders, and no processes."""

    def __init__(self, folder, *, answer="NONE"):
        self.done, self.zk, self.answer = [], self, answer
        self.brokers = {number: LabBroker(number, "3.9.0", folder / f"broker-{number}") for number in range(1, 6)}
        for broker in self.brokers.values():
            broker.data.mkdir(parents=True, exist_ok=True)
            (broker.data / "meta.properties").write_text(f"version=0\nbroker.id={broker.id}\ncluster.id=c\n")
            broker.process = SimpleNamespace(runs=True)

    def get(self, path):
        return b"", SimpleNamespace(version=7)

    def do(self, write):
        self.done.append((write.op.name, write.path))

    def stop(self, number):
        self.done.append(("stop", number))

    def start(self, *numbers):
        self.done.append(("start", *numbers))

    def repair_disks(self, number):
        self.done.append(("repair", number))

    def renumber(self, number, wanted):
        self.done.append(("renumber", number, wanted))
        self.brokers[wanted] = self.brokers.pop(number)

    def add(self, number):
        self.brokers[number] = LabBroker(number, "3.9.0", self.brokers[1].folder.parent / f"broker-{number}")
        self.brokers[number].data.mkdir(parents=True)
        return self.brokers[number]

    def admin(self, **_):
        return self

    def topic(self, name):
        return {}

    def reassign(self, topic, assignment):
        self.done.append(("reassign", topic, assignment))
        return AdminAnswer(self.answer)

    def elect_unclean(self, topic, partition):
        self.done.append(("elect", topic, partition))
        return AdminAnswer(self.answer)

    def note(self, text):
        pass


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch):
    monkeypatch.setattr(operator_steps, "rest", lambda lab: None)
    monkeypatch.setattr(operator_steps, "LONGEST_REST", 0.0)


SCRIPT = "bin/kafka-server-{}.sh"


def procedure(name, *commands):
    return Procedure(name, "Title.", (), 1, commands=commands)


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.name != "meta.properties")


@pytest.mark.parametrize("name", list(FILES)[::5])
def test_the_lab_has_a_hand_for_every_step_that_plans_may_have(name, tmp_path):
    for number, one in enumerate(recovery_problem(FILES[name]).procedures):
        lab = FakeLab(tmp_path / str(number))
        carry_out(lab, one)
        numbers = [int(word) for word in one.name.split()[1:] if word.isdecimal()]
        bounced = [(what, number) for number in numbers for what in ("stop", "start")]
        assert lab.done == bounced or [op for op, *_ in lab.done] in (["SET_DATA"], ["DELETE"], ["elect"])


def test_files_are_removed_and_directories_moved_while_the_broker_is_stopped(tmp_path):
    lab = FakeLab(tmp_path)
    broker = lab.brokers[3]
    for folder in ("t-0", "t-1"):
        (broker.data / folder).mkdir()
        (broker.data / folder / "partition.metadata").write_text("x")
    carry_out(
        lab,
        procedure(
            "move-directories t 3",
            "rm -f t-0/partition.metadata t-2/partition.metadata   # in LOG_DIR",
            "mv t-1 BACKUP   # in LOG_DIR",
        ),
    )
    assert lab.done == [("stop", 3), ("start", 3)]
    assert below(broker.folder) == [
        "backup",
        "backup/0",
        "backup/0/t-1",
        "backup/0/t-1/partition.metadata",
        "data",
        "data/t-0",
    ]


def test_metadata_files_of_several_topics_are_removed_on_one_broker_after_the_other(tmp_path):
    lab = FakeLab(tmp_path)
    names = ("t-0/partition.metadata", "u-0/partition.metadata", "v-0/partition.metadata")
    for path in (lab.brokers[number].data / name for number in (1, 2, 3) for name in names):
        path.parent.mkdir()
        path.write_text("x")
    commands = [f"rm -f {name}   # in each LOG_DIR" for name in names[:2]]
    carry_out(lab, procedure("restart-without-metadata-files-of-topics 1,3 t u", "stop", *commands, "start"))
    assert lab.done == [("stop", 1), ("start", 1), ("stop", 3), ("start", 3)]
    left = [[name for name in names if (lab.brokers[number].data / name).exists()] for number in (1, 2, 3)]
    assert left == [["v-0/partition.metadata"], list(names), ["v-0/partition.metadata"]]


def test_directories_of_several_brokers_are_moved_while_all_are_stopped(tmp_path):
    lab = FakeLab(tmp_path)
    for number in (1, 2):
        (lab.brokers[number].data / "t-0").mkdir()
    commands = [f"mv t-0 BACKUP   # in LOG_DIR of broker {number}" for number in (1, 2)]
    carry_out(lab, procedure("move-directories-at-once t 1 2", "stop   # on each of them", *commands, "start"))
    assert lab.done == [("stop", 1), ("stop", 2), ("start", 1, 2)]
    for number in (1, 2):
        assert below(lab.brokers[number].folder) == ["backup", "backup/0", "backup/0/t-0", "data"]


def test_an_empty_broker_starts_with_what_it_had_in_the_backup(tmp_path):
    lab = FakeLab(tmp_path)
    broker = lab.brokers[2]
    (broker.data / "t-0").mkdir()
    broker.process = None
    carry_out(lab, procedure("start-empty-broker 2", "bin/kafka-server-start.sh config/server.properties"))
    assert lab.done == [("start", 2)]
    assert below(broker.folder) == ["backup", "backup/0", "backup/0/data", "backup/0/data/t-0"]


def test_a_disk_that_failed_is_replaced_by_an_empty_one_and_others_stay(tmp_path):
    lab = FakeLab(tmp_path)
    broker = lab.brokers[2] = LabBroker(2, "3.9.0", tmp_path / "two-disks", directories=2)
    (failed_root(broker.roots[0]) / "t-0").mkdir(parents=True)
    broker.roots[0].touch()  # in the way of the broker, as a disk that cannot be read
    (broker.roots[1] / "t-1").mkdir(parents=True)
    carry_out(lab, procedure("replace-disk 2", "bin/kafka-server-start.sh config/server.properties"))
    moved = ["backup", "backup/0", "backup/0/data.failed", "backup/0/data.failed/t-0"]
    assert below(broker.folder) == [*moved, "data", "data-2", "data-2/t-1"]


def test_a_broker_gets_another_id_while_it_is_stopped(tmp_path):
    lab = FakeLab(tmp_path)
    carry_out(lab, procedure("set-broker-id 4 1", "bin/kafka-server-stop.sh"))
    assert lab.done == [("stop", 4), ("renumber", 4, 1), ("start", 1)]


def test_directories_are_given_to_a_new_broker_while_neither_runs(tmp_path):
    lab = FakeLab(tmp_path)
    (lab.brokers[4].data / "t-0").mkdir()
    carry_out(lab, procedure("give-directories 4 9", "stop   # on broker 4", "mv t-0 NEW_LOG_DIR   # in LOG_DIR"))
    assert lab.done == [("stop", 4), ("start", 4), ("start", 9)]
    assert below(lab.brokers[4].folder) == ["data"] and below(lab.brokers[9].folder) == ["data", "data/t-0"]


def test_a_disk_is_repaired_while_the_broker_is_stopped(tmp_path):
    lab = FakeLab(tmp_path)
    carry_out(lab, procedure("repair-disk 5"))
    assert lab.done == [("stop", 5), ("repair", 5), ("start", 5)]


def test_an_unclean_election_is_an_admin_request_and_a_refusal_an_error(tmp_path):
    elect = procedure("elect-unclean t", "kafka-leader-election.sh --election-type UNCLEAN --topic t --partition 3")
    lab = FakeLab(tmp_path)
    carry_out(lab, elect)
    assert lab.done == [("elect", "t", 3)]
    carry_out(FakeLab(tmp_path / "again", answer="ELECTION_NOT_NEEDED"), elect)
    with pytest.raises(KwalkError, match="The controller refuses"):
        carry_out(FakeLab(tmp_path / "refused", answer="NOT_CONTROLLER"), elect)


def test_replicas_that_are_not_to_be_elected_are_stopped_meanwhile(tmp_path):
    tool = "bin/kafka-leader-election.sh --election-type UNCLEAN --topic t --partition 3"
    stop, start = "bin/kafka-server-stop.sh   # on broker 2", "bin/kafka-server-start.sh   # on broker 2"
    lab = FakeLab(tmp_path)
    carry_out(lab, procedure("elect-unclean t 2", stop, tool, start))
    assert lab.done == [("stop", 2), ("elect", "t", 3), ("start", 2)]


def test_a_replica_with_more_records_starts_before_it_is_elected(tmp_path):
    tool = "bin/kafka-leader-election.sh --election-type UNCLEAN --topic t --partition 3"
    commands = [f"{SCRIPT.format('start')}   # on broker 5", f"{SCRIPT.format('stop')}   # on broker 2", tool]
    step = procedure("elect-unclean-after-start t 5 2", *commands, f"{SCRIPT.format('start')}   # on broker 2")
    lab = FakeLab(tmp_path)
    lab.brokers[5].process = None
    carry_out(lab, evolve(step, starts=frozenset({"5"})))
    assert lab.done == [("start", 5), ("stop", 2), ("elect", "t", 3), ("start", 2)]


def test_a_reassignment_is_an_admin_request(tmp_path):
    wanted = json.dumps({"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]})
    tool = "kafka-reassign-partitions.sh --reassignment-json-file f.json"
    lab = FakeLab(tmp_path)
    carry_out(lab, procedure("put-back t 2", f"echo '{wanted}' > f.json", f"{tool} --execute", f"{tool} --verify"))
    assert lab.done == [("reassign", "t", {0: [1, 2]})]


def test_a_command_without_a_hand_is_an_error(tmp_path):
    with pytest.raises(KwalkError, match="no hand"):
        carry_out(FakeLab(tmp_path), procedure("sync t", "zkCli.sh -server ZK sync /brokers"))


def test_a_broker_may_have_several_log_directories(tmp_path):
    broker = LabBroker(1, "3.9.0", tmp_path, 2)
    (broker.roots[1] / "t-0").mkdir(parents=True)
    assert [root.name for root in broker.roots] == ["data", "data-2"]
    assert broker.directory("t-0") == tmp_path / "data-2" / "t-0" and broker.directory("t-1") is None
    assert failed_root(broker.data).name == "data.failed"


def test_logs_that_were_set_aside_are_brought_back_by_the_commands_themselves(tmp_path):
    """Both logs of broker 2 are moved as the plan says, and get KRaft's id; broker 1 has a log in its place."""
    source = FOLDER.parent / "snapshots/migrating/erased-id-00-dual-write-3.9.0.json"
    problem, lab = recovery_problem(source), FakeLab(tmp_path)
    (step,) = [one for one in problem.procedures if one.name == "bring-logs-back t0 1 2"]
    aside = json.loads(source.read_text())["brokers"]["2"]["set_aside"]
    for broker, names in ((1, ()), (2, aside)):
        for name in ("t0-0", "t0-1", "t0-2", *names):
            (lab.brokers[broker].data / name).mkdir()
            (lab.brokers[broker].data / name / "00000000000000000000.log").write_text(name)
    carry_out(lab, step)
    assert lab.done == [("stop", 2), ("stop", 1), ("start", 1), ("start", 2)]
    wanted = json.loads(source.read_text())["image"]["topics"]["t0"]["topic_id"]
    for broker in (1, 2):
        for number in range(3):
            folder = lab.brokers[broker].data / f"t0-{number}"
            assert (folder / "partition.metadata").read_text() == f"version: 0\ntopic_id: {wanted}\n"
            assert (folder / "00000000000000000000.log").read_text().endswith("-stray") == (broker == 2)
    assert [path.name for path in sorted((lab.brokers[2].folder / "backup").iterdir())] == ["t0-0", "t0-1", "t0-2"]


def test_replicas_that_are_down_start_before_a_broker_is_made_one_of_them(tmp_path):
    lab = FakeLab(tmp_path)
    lab.brokers[2].process = None
    starts = [f"bin/kafka-server-start.sh -daemon config/server.properties   # on broker {number}" for number in (1, 2)]
    carry_out(lab, procedure("put-back t 1", *starts))
    assert lab.done == [("start", 2)]
