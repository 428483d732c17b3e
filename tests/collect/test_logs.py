"""Log directories, from wherever they are: a folder, the script's output, an archive, another machine."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from attrs import evolve

from kwalk.clusters.collect.collect import CollectOptions, LogPlace, collect
from kwalk.clusters.collect.log_files import HEADER, PartitionFiles, RootFiles, header_in, offsets_in
from kwalk.clusters.collect.logs import LogsUnread, read_listing, read_path, script
from kwalk.clusters.lab.brokers import record_batch
from kwalk.model.language import UsageError
from tests.collect.clusters import CLUSTER, SECRET, batch, log_folders, zookeeper_of
from tests.snapshots.captured import AGED, document

SHELLS = [shell for shell in (["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]
TOOLS = ("sh", "awk", "find", "head", "od", "cat", "ls")
"""What the script needs."""
HOSTILE = (
    "t-0",
    "-n-1",
    "a b-2",
    "x=y-3",
    "$(touch pwned)-4",
    "'; touch pwned;'-5",
    "100%41-6",
    "back\\slash-7",
    "line\nfeed-8",
    "|root -9",
    "ümlaut-10",
    "==> .\n==> .-11",
    "-rw-r--r-- 1 0 0 9 Jan 1 0:00 .-12",
    "a.log <==\n-13",
)
ASIDE = {f"t-0.{'0a' * 16}-{suffix}" for suffix in ("stray", "delete", "future")}
FIRST, SECOND = f"{7:020}.log", f"{30:020}.log"
CHECKPOINT = "replication-offset-checkpoint"


UNUSUAL = {
    "void-0": b"",
    "short-1": batch()[:60],
    "old-2": batch()[:16] + b"\1" + SECRET.encode() * 9,
    "header-3": batch()[:61],
}
"""Segments by their directories: of these, only the last begins with the header of a batch that is read."""


@pytest.fixture
def folder(tmp_path):
    """A root with partitions of hostile names, and with what is not to be read."""
    root = tmp_path / "a root, 100% hostile; $(touch pwned)"
    root.mkdir()
    (root / "meta.properties").write_text(f"#date\nversion=0\nbroker.id=7\ncluster.id={CLUSTER}\n")
    for number, name in enumerate(HOSTILE):
        (root / name).mkdir()
        (root / name / "partition.metadata").write_text(f"version: 0\ntopic_id: {'AbCd' * 5}{number:02}\n")
        (root / name / "leader-epoch-checkpoint").write_text("" if number % 2 else "0\n1\n0 0\n")
        (root / name / SECOND).write_bytes(batch(30))
        (root / name / FIRST).write_bytes(batch(7, crc=0x0A3D3D3E, timestamp=0x202E2F0A3D3D3E20 >> 8, epoch=number))
        (root / name / f"{0:020}.index").write_text(SECRET * 9)
        (root / name / "0.log").write_text(SECRET * 9)
    for name, content in UNUSUAL.items():
        (root / name).mkdir()
        (root / name / FIRST).write_bytes(content)
    (root / "t-0" / "partition.metadata").write_text("version: 0")
    (root / "empty-0").mkdir()
    for name in ("t-0.0123456789abcdef-delete", "no-partition", "t-0/below-0", *ASIDE):
        (root / name).mkdir()
        (root / name / FIRST).write_bytes(batch())
    (root / "t-0" / "below-0" / "partition.metadata").write_text(SECRET)
    (root / CHECKPOINT).write_text("0\n2\nt 0 8\n100%41 6 9\nline\nfeed 8 1\n")
    (root / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 8")
    (root / "cleaner-offset-checkpoint").write_text("")
    (root / "cleaner-offset-checkpoint.tmp").write_text(SECRET)
    return root


def listing_of(folder: Path, shell: list[str], cwd: Path) -> str:
    file = cwd / "list_logs.sh"
    file.write_text(script())
    return subprocess.run([*shell, str(file), str(folder)], cwd=cwd, capture_output=True, text=True, check=True).stdout


def test_a_folder_shows_its_partitions_and_what_is_read_of_their_logs(folder):
    (root,) = read_path(folder)
    sizes = {FIRST: len(batch()), SECOND: len(batch())}
    assert sorted(root.directories) == sorted((*HOSTILE, *UNUSUAL, "empty-0"))
    head = root.directories["t-0"].head
    assert root.directories["t-0"] == PartitionFiles("version: 0", "0\n1\n0 0\n", sizes, head)
    assert {name: HEADER.unpack(root.directories[name].head)[2] for name in HOSTILE} == {
        name: number for number, name in enumerate(HOSTILE)
    }
    assert {name: root.directories[name].head for name in UNUSUAL} == {
        "void-0": None,
        "short-1": None,
        "old-2": None,
        "header-3": batch()[:61],
    }
    assert root.directories["void-0"].sizes == {FIRST: 0}
    assert {name: log.sizes for name, log in root.set_aside.items()} == {key: {FIRST: len(batch())} for key in ASIDE}
    assert root.directories["-n-1"].epochs == ""
    assert root.directories["empty-0"] == PartitionFiles(sizes={})
    assert (root.broker_id, root.problems) == (7, ())
    empty = "cleaner-offset-checkpoint"  # as a cleaner creates it: no log was cleaned
    assert sorted(root.checkpoints) == [empty, "recovery-point-offset-checkpoint", CHECKPOINT]
    assert root.checkpoints[empty] == ""


def test_no_secret_of_a_record_is_in_a_listing(folder, tmp_path):
    text = listing_of(folder, ["sh"], tmp_path)
    assert SECRET not in text
    assert SECRET.encode().hex() not in text


def without_empty(roots):
    """What a listing or an archive shows: a directory without files may be one that could not be read."""
    empty = {"empty-0": PartitionFiles()}
    return [evolve(root, directories={**root.directories, **empty}) for root in roots]


def test_a_directory_of_which_a_file_was_read_has_no_segments(folder, tmp_path):
    (folder / "emptied-0").mkdir()
    (folder / "emptied-0" / "leader-epoch-checkpoint").write_text("0\n0\n")
    (root,) = read_listing(listing_of(folder, ["sh"], tmp_path), "a test")
    assert root.directories["emptied-0"].sizes == {}
    assert root.directories["empty-0"].sizes is None


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_the_script_shows_what_the_folder_shows(folder, shell, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    text = listing_of(folder, shell, tmp_path / "elsewhere")
    assert read_listing(text, "a test") == without_empty(read_path(folder))
    assert not list(tmp_path.rglob("pwned"))


def test_the_script_needs_no_stat(folder, tmp_path, monkeypatch):
    found = {tool: shutil.which(tool) for tool in TOOLS}
    (tmp_path / "bin").mkdir()
    for tool, path in found.items():
        (tmp_path / "bin" / tool).symlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert read_listing(listing_of(folder, ["sh"], tmp_path), "a test") == without_empty(read_path(folder))


@pytest.mark.skipif(not shutil.which("busybox"), reason="busybox is not installed")
def test_the_script_needs_no_more_than_busybox_has(folder, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for tool in (*TOOLS, "stat"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which("busybox"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert read_listing(listing_of(folder, ["sh"], tmp_path), "a test") == without_empty(read_path(folder))


def test_the_beginnings_of_more_segments_than_fit_one_command_are_listed(tmp_path):
    for number in range(3_000):
        (tmp_path / "root" / f"topic-with-a-longer-name-{number}").mkdir(parents=True)
        (tmp_path / "root" / f"topic-with-a-longer-name-{number}" / FIRST).write_bytes(batch(crc=number))
    assert read_listing(listing_of(tmp_path / "root", ["sh"], tmp_path), "a test") == read_path(tmp_path / "root")


def test_a_segment_that_is_cut_while_it_is_read_has_no_batch_and_the_next_one_has(tmp_path, monkeypatch):
    """A head that prints four bytes of the first file stands for the real one."""
    for number in range(4):
        (tmp_path / "root" / f"t-{number}").mkdir(parents=True)
        (tmp_path / "root" / f"t-{number}" / FIRST).write_bytes(batch(crc=number))
    (tmp_path / "bin").mkdir()
    real = shutil.which("head")
    parts = (
        f"{real} -c 61 /dev/null",
        """printf '\\n==> %s <==\\n' "$4" """,
        f'{real} -c 4 "$4"; shift 4; {real} -c 61 /dev/null "$@"',
    )
    (tmp_path / "bin" / "head").write_text("#!/bin/sh\n" + "\n".join(parts) + "\n")
    (tmp_path / "bin" / "head").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (listed,) = read_listing(listing_of(tmp_path / "root", ["sh"], tmp_path), "a test")
    (read,) = read_path(tmp_path / "root")
    differing = [name for name, files in read.directories.items() if listed.directories[name] != files]
    assert len(differing) == 1
    assert listed.directories[differing[0]] == evolve(read.directories[differing[0]], head=None)


def test_a_listing_of_the_first_version_is_read(tmp_path):
    lines = ["root /data", "file ./meta.properties", "|broker.id=7", "directory ./t-0", "file ./t-0/partition.metadata"]
    (tmp_path / "listing").write_text("\n".join(["kwalk log directories 1", *lines, "|version: 0", "end", ""]))
    (root,) = read_path(tmp_path / "listing")
    assert root == RootFiles("/data", "broker.id=7\n", {"t-0": PartitionFiles("version: 0\n")})


@pytest.mark.parametrize(
    "line",
    [
        "segment x ./t-0/00000000000000000000.log",
        "segment 7 ./t-0/other.log",
        "segment 7 ./t/00000000000000000000.log",
        "segment",
        "batch 7 7 7",
        "batch zz 00",
        "batch 742d30 00",
        "batch",
        "a-word-of-a-later-version 1",
    ],
)
def test_a_line_of_a_listing_that_is_garbled_is_skipped(line):
    text = f"kwalk log directories 2\nroot /data\ndirectory ./t-0\n{line}\nend\n"
    assert read_listing(text, "a test") == [RootFiles("/data", directories={"t-0": PartitionFiles()})]


def test_a_listing_that_a_mail_program_has_changed_is_read(folder, tmp_path):
    text = listing_of(folder, ["sh"], tmp_path)
    file = tmp_path / "listing.txt"
    file.write_bytes(text.replace("\n", "\r\n").encode())
    assert read_path(file) == read_listing(text, "a test")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_problem_of_its_root(folder, tmp_path):
    (folder / "t-0" / "partition.metadata").chmod(0)
    (read,) = read_path(folder)
    (listed,) = read_listing(listing_of(folder, ["sh"], tmp_path), "a test")
    assert read.directories["t-0"].identity is listed.directories["t-0"].identity is None
    assert len(read.problems) == len(listed.problems) == 1


@pytest.mark.parametrize("packed", ["w", "w:gz"])
def test_an_archive_shows_what_the_folder_shows(folder, packed, tmp_path):
    file = tmp_path / "logs.tar"
    with tarfile.open(file, packed) as archive:
        archive.add(folder, "data/logs")
    (root,) = without_empty(read_path(folder))
    assert read_path(file) == [evolve(root, path="data/logs")]
    with tarfile.open(file, packed) as archive:
        archive.add(folder, ".")
    assert read_path(file) == [evolve(root, path=".")]


def test_an_archive_without_segments_shows_neither_sizes_nor_batches(folder, tmp_path):
    def without_segments(member):
        return None if member.name.endswith(".log") else member

    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        archive.add(folder, ".", filter=without_segments)
    (root,) = read_path(tmp_path / "logs.tar")
    (whole,) = read_path(folder)
    assert root.directories["t-0"] == evolve(whole.directories["t-0"], sizes=None, head=None)
    assert root.checkpoints == whole.checkpoints


def hostile_archive(file: Path, name: str) -> None:
    with tarfile.open(file, "w") as archive:
        member = tarfile.TarInfo(name)
        member.size = 3
        archive.addfile(member, io.BytesIO(b"abc"))


@pytest.mark.parametrize("name", ["../t-0/partition.metadata", "/data/../../t-0/partition.metadata"])
def test_an_archive_with_a_path_that_leaves_it_is_refused(name, tmp_path):
    hostile_archive(tmp_path / "logs.tar", name)
    with pytest.raises(LogsUnread, match="has a path that leaves it"):
        read_path(tmp_path / "logs.tar")


def test_links_and_devices_in_an_archive_are_skipped(tmp_path):
    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("t-0/partition.metadata")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    assert read_path(tmp_path / "logs.tar") == []


def test_an_archive_that_is_cut_is_refused(folder, tmp_path):
    with tarfile.open(tmp_path / "whole.tar.gz", "w:gz") as archive:
        archive.add(folder, ".")
    (tmp_path / "cut.tar.gz").write_bytes((tmp_path / "whole.tar.gz").read_bytes()[:-200])
    with pytest.raises(LogsUnread, match=r"cut\.tar\.gz"):
        read_path(tmp_path / "cut.tar.gz")


# Errors, each of one line.


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", 'is no listing of log directories \\(it begins ""\\)'),
        (b"hello\n", 'is no listing of log directories \\(it begins "hello"\\)'),
        (b"kwalk log directories 1\nroot /data\ndirectory ./t-0\n", "is cut: its last line is not 'end'"),
        (b"kwalk log directories 3\nroot /data\nend\n", 'is no listing of log directories \\(it begins "kwalk log'),
        (b"\x7fELF\x00\x01", "is no listing of log directories"),
    ],
)
def test_a_file_that_is_no_listing_is_refused(content, message, tmp_path):
    (tmp_path / "listing").write_bytes(content)
    with pytest.raises(LogsUnread, match=message):
        read_path(tmp_path / "listing")


def test_a_path_without_a_log_directory_is_refused(tmp_path):
    with pytest.raises(LogsUnread, match=r"is no log directory: it has neither meta\.properties nor directories"):
        read_path(tmp_path)
    with pytest.raises(LogsUnread, match="does not exist"):
        read_path(tmp_path / "nowhere")


def test_an_empty_folder_is_the_new_disk_of_a_broker_that_is_named(tmp_path):
    (root,) = read_path(tmp_path, may_be_empty=True)
    assert not root.is_root and not root.directories
    (tmp_path / "photos").mkdir()
    with pytest.raises(LogsUnread, match="is no log directory"):
        read_path(tmp_path, may_be_empty=True)


@pytest.fixture
def shown():
    return document(AGED)


@pytest.mark.parametrize(
    ("properties", "broker", "message"),
    [
        ("broker.id=2\n", 1, "belongs to broker 2, not 1"),
        (
            "broker.id=1\ncluster.id=other\n",
            1,
            r"to another cluster \(other\), as ZooKeeper has .*: see whether its address",
        ),
        ("node.id=1\n", 1, "belongs to a node in KRaft mode, and the cluster does not migrate"),
        ("version=0\n", None, "does not say which broker it belongs to: name it, as in --logs 1="),
    ],
)
def test_a_root_of_another_broker_or_cluster_is_refused(shown, properties, broker, message, tmp_path):
    folder = log_folders(shown, tmp_path)[1]
    (folder / "meta.properties").write_text(properties)
    options = CollectOptions("2.8.2", ask_brokers=False, logs=(LogPlace(str(folder), broker),))
    with pytest.raises(UsageError, match=message):
        collect(zookeeper_of(shown), options)


def test_the_root_of_a_kraft_controller_is_left_out_of_a_cluster_that_does_not_migrate(shown, tmp_path):
    """A migration was rolled back, and the folder of its controller is still there."""
    (tmp_path / "controller" / "__cluster_metadata-0").mkdir(parents=True)
    (tmp_path / "controller" / "meta.properties").write_text("version=1\nnode.id=3000\n")
    options = CollectOptions("3.9.0", ask_brokers=False, logs=(LogPlace(str(tmp_path / "controller"), 3000),))
    (problem,) = (one for one in collect(zookeeper_of(shown), options).problems if "KRaft" in one)
    assert problem.endswith("belongs to a controller of KRaft, and ZooKeeper shows no migration: it is left out.")


def test_a_migration_znode_without_content_is_a_problem(shown):
    """Seen on brokers of 3.9.0 and 3.6.2: KRaft's controllers wait."""
    client = zookeeper_of(shown)
    client.put("/migration", b"")
    problems = collect(client, CollectOptions("3.9.0", ask_brokers=False)).problems
    (problem,) = (one for one in problems if one.startswith("/migration"))
    assert problem.startswith("/migration has no content: KRaft's controllers fail to read it, again and again,")


# What files say.


@pytest.mark.parametrize(
    ("checkpoint", "offsets"),
    [
        ("", {}),
        ("0\n0\n", {}),
        ("0\n2\nt 0 5\na.b_c-d 12 9223372036854775807\n", {"t-0": 5, "a.b_c-d-12": 2**63 - 1}),
        ("0\n1\nt 0 5", {"t-0": 5}),
        ("0\n1\nt  0\t5 \n", {"t-0": 5}),
        ("1\n0\n", None),
        ("0", None),
        ("0\n2\nt 0 5\n", None),
        ("0\n1\nt 0 5\nt 1 5\n", None),
        ("0\n1\nt 0\n", None),
        ("0\n1\nt 0 -5\n", None),
        ("0\n1\nt 0 5 5\n", None),
        ("0\n1\nt 0 9223372036854775808\n", None),
        ("0\n1\nline\nfeed 0 5\n", None),
        ("0\n1\nt 0 5\nfeed 0 5\n", None),
        ("0\nx\n", None),
        ("\0\0\0", None),
    ],
)
def test_a_checkpoint_is_read_as_a_whole_or_not_at_all(checkpoint, offsets):
    assert offsets_in(checkpoint) == offsets


def test_a_header_is_that_of_a_whole_batch_of_the_second_format():
    real = record_batch(b"value", 7)
    assert header_in(real) == real[:61]
    assert header_in(real[:60]) is None
    assert [header_in(real[:16] + bytes([magic]) + real[17:]) for magic in (0, 1, 3)] == [None] * 3


# Another machine.


SSH = """\
import subprocess, sys
with open({log!r}, "a") as log:
    print(*sys.argv[1:], sep="\\t", file=log)
*_, host, command = sys.argv
if host == "broker-3":
    sys.exit("Permission denied (publickey).")
sys.exit(subprocess.run(["sh", "-c", command.replace("/data", {folder!r} + "/" + host)]).returncode)
"""


def test_one_command_of_ssh_lists_all_roots_of_a_broker(shown, tmp_path):
    (tmp_path / "ssh.py").write_text(SSH.format(log=str(tmp_path / "log"), folder=str(tmp_path)))
    folders = log_folders(shown, tmp_path)
    for folder in folders.values():
        (folder / "more").mkdir()
    places = tuple(LogPlace(root, None, "{host}") for root in ("/data", "/data/more"))
    command = (sys.executable, str(tmp_path / "ssh.py"))
    found = collect(zookeeper_of(shown), CollectOptions("2.8.2", ask_brokers=False, logs=places, ssh=command))
    problem = "The log directories of broker 3 were not read: ssh broker-3 failed with exit code 1: Permission denied"
    assert found.problems == [f"{problem} (publickey)."]
    dirs = {number: broker["dirs"] for number, broker in found.document["brokers"].items()}
    assert dirs["3"] is None
    assert sorted(dirs["1"]) == sorted(shown["brokers"]["1"]["dirs"])
    log = (tmp_path / "log").read_text().splitlines()
    assert sorted(log) == [f"--\tbroker-{n}\tsh -s -- /data /data/more" for n in (1, 2, 3)]


def test_a_machine_that_never_answers_is_a_problem_and_no_failure(shown):
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    places = (LogPlace("/data", 1, "somewhere"),)
    options = CollectOptions("2.8.2", ask_brokers=False, logs=places, ssh=command, seconds=0.2)
    (problem,) = collect(zookeeper_of(shown), options).problems
    assert "no listing of its log directories within 0.2 s" in problem


def test_a_host_that_a_broker_registers_cannot_be_an_option_of_ssh(shown):
    zk = zookeeper_of(shown)
    zk.put("/brokers/ids/1", {"host": "-oProxyCommand=touch pwned"})
    options = CollectOptions("2.8.2", ask_brokers=False, logs=(LogPlace("/data", None, "{host}"),), ssh=("false",))
    problems = collect(zk, options).problems
    assert any("'-oProxyCommand=touch pwned' is no host for ssh" in problem for problem in problems)
