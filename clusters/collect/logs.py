"""What a snapshot needs of log directories: the names of the partitions' directories, and three small files.

Words: a *root* is one of a broker's log directories (log.dirs); a *directory* in it belongs to one partition. They are
read from a folder, by a shell script on another machine (`list_logs.sh`), from that script's output, or from a tar
archive. Nothing is extracted from an archive, and records are never read.

Source: kafka.log.LogManager, kafka.server.BrokerMetadataCheckpoint, kafka.server.PartitionMetadataFile.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from attrs import field, frozen

from kwalk.model.kafka.snapshots.capture import leader_epochs, partition_metadata
from kwalk.model.kafka.snapshots.untrusted_json import JsonNode, printable
from kwalk.model.language import UsageError

DIRECTORY = re.compile(r".+-\d+", re.DOTALL)
"""The name of a partition's directory; that of a deleted, moved or stray one has a suffix."""
BROKER, IDENTITY, EPOCHS = "meta.properties", "partition.metadata", "leader-epoch-checkpoint"
SMALL = 1 << 20
"""The most bytes of a file that are read; a checkpoint of ten thousand leader epochs has a quarter of that."""
LARGEST_LISTING = 1 << 28
SCRIPT = Path(__file__).with_name("list_logs.sh")
HEAD, END = "kwalk log directories 1", "end"
HOST = re.compile(r"([A-Za-z0-9_.][A-Za-z0-9_.-]*@)?([A-Za-z0-9_.][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""The command that reaches another machine; it never asks for a password."""


class LogsUnread(Exception):
    """Log directories could not be read; the text says why, in one line."""


@frozen
class PartitionFiles:
    """The small files in a partition's directory; None where there is none."""

    identity: str | None = None
    epochs: str | None = None


@frozen
class LogRoot:
    """A root: its path, the content of its meta.properties (None without one), and its directories by name."""

    path: str
    broker: str | None = None
    directories: dict[str, PartitionFiles] = field(factory=dict)
    problems: tuple[str, ...] = ()

    def value_of(self, name: str) -> str | None:
        """Return a value of meta.properties."""
        found = re.search(rf"^{re.escape(name)}=(.*)$", self.broker or "", re.MULTILINE)
        return found[1].strip() if found else None

    @property
    def broker_id(self) -> int | None:
        """The broker that the root belongs to."""
        number = self.value_of("broker.id") or ""
        return int(number) if re.fullmatch("[0-9]{1,10}", number) else None

    @property
    def is_kraft(self) -> bool:
        """Whether it belongs to a node of a KRaft cluster."""
        return self.value_of("node.id") is not None or "__cluster_metadata-0" in self.directories

    @property
    def is_root(self) -> bool:
        """Whether it looks like a log directory at all."""
        return self.broker is not None or bool(self.directories)


def script() -> str:
    """Return the shell script that prints a listing."""
    return SCRIPT.read_text(encoding="utf-8")


# A folder of this machine.


def read_folder(path: Path) -> LogRoot:
    """Return a root on this machine; one without anything if there is no such folder.

    Raises:
        OSError: It cannot be read.
    """
    directories, problems = {}, []
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name) if path.is_dir() else ():
        if entry.is_dir() and DIRECTORY.fullmatch(entry.name):
            files, unread = _partition_files(Path(entry.path))
            directories[entry.name] = files
            problems += [f"{name} of {entry.name} in {path} cannot be read" for name in unread]
    return LogRoot(str(path), _small_file(path / BROKER), directories, tuple(problems))


def _small_file(path: Path) -> str | None:
    """Return the text of a small file; None if there is none. OSError if it is no regular file, or not allowed."""
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        return file.read(SMALL).decode(errors="replace")


def _partition_files(folder: Path) -> tuple[PartitionFiles, list[str]]:
    """Return the small files of a directory, and the names of those that cannot be read."""
    found: dict[str, str | None] = {}
    unread = []
    for name in (IDENTITY, EPOCHS):
        try:
            found[name] = _small_file(folder / name)
        except OSError:
            unread.append(name)
    return PartitionFiles(found.get(IDENTITY), found.get(EPOCHS)), unread


# The output of the script.


def read_listing(text: str, source: str) -> list[LogRoot]:
    """Return the roots in the output of the script.

    Raises:
        LogsUnread: It is no such output, or it is cut.
    """
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if lines[0] != HEAD:
        raise LogsUnread(
            f'{source} is no listing of log directories (it begins "{printable(lines[0])}"). Make it with the script '
            "that `kwalk collect --script` prints"
        )
    if lines[-1] != END:
        raise LogsUnread(f"{source} is cut: its last line is not {END!r}. Make it again")
    return [_root(part, source) for part in _parts(lines[1:-1])]


def _parts(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of each root."""
    part: list[str] = []
    for line in lines:
        if line.startswith("root ") and part:
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _root(lines: Sequence[str], source: str) -> LogRoot:
    path, texts, names, unread = "?", dict[str, list[str]](), [], []
    current = ""
    for line in lines:
        word, _, rest = line.partition(" ")
        if line.startswith(("|", "+")):
            texts.setdefault(current, []).append(unquote(line[1:]) + ("\n" if line[0] == "|" else ""))
        elif word == "root":
            path = unquote(rest)
        elif word == "directory":
            names.append(unquote(rest).removeprefix("./"))
        elif word == "file":
            current = unquote(rest).removeprefix("./")
            texts[current] = []
        elif word == "unreadable":
            texts.pop(current, None)
            unread.append(current)
        elif word == "missing":
            raise LogsUnread(f"{source}: there is no folder {printable(path)}, or it cannot be entered")
    files = {name: "".join(content) for name, content in texts.items()}
    return _assembled(path, files, names, [f"{printable(name)} in {printable(path)} cannot be read" for name in unread])


def _assembled(path: str, files: dict[str, str], names: Iterable[str], problems: Iterable[str] = ()) -> LogRoot:
    """Return a root with these files by their paths in it, and these directories besides theirs."""
    holders = (name.rpartition("/")[0] for name in files)
    known = sorted({name for name in (*names, *holders) if DIRECTORY.fullmatch(name) and "/" not in name})
    return LogRoot(
        path,
        files.get(BROKER),
        {name: PartitionFiles(files.get(f"{name}/{IDENTITY}"), files.get(f"{name}/{EPOCHS}")) for name in known},
        tuple(problems),
    )


# A tar archive.


def read_archive(path: Path) -> list[LogRoot]:
    """Return the roots in a tar archive of log directories; members other than the small files are skipped.

    If a folder has meta.properties, only such folders are roots: /data/logs-1 is named like a partition's directory.

    Raises:
        LogsUnread: It is no archive, it is cut, or it has a path that leaves it.
    """
    files: dict[str, dict[str, str]] = {}
    names: dict[str, set[str]] = {}
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                place = _place(member.name, path)
                if len(place) and place[-1] == BROKER and member.isfile():
                    files.setdefault("/".join(place[:-1]), {})[BROKER] = _member(archive, member)
                elif len(place) > 1 and place[-1] in (IDENTITY, EPOCHS) and member.isfile():
                    here = files.setdefault("/".join(place[:-2]), {})
                    here["/".join(place[-2:])] = _member(archive, member)
                elif len(place) and member.isdir() and DIRECTORY.fullmatch(place[-1]):
                    names.setdefault("/".join(place[:-1]), set()).add(place[-1])
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        shown, why = printable(str(path), 200), printable(str(error))
        raise LogsUnread(f"{shown} cannot be read as an archive: {why}") from error
    roots = [_assembled(root or ".", files.get(root, {}), names.get(root, ())) for root in sorted({*files, *names})]
    return [root for root in roots if root.broker is not None] or [root for root in roots if root.is_root]


def _place(name: str, archive: Path) -> list[str]:
    """Return the parts of a member's path; LogsUnread if it leaves the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name:
        raise LogsUnread(
            f'{printable(str(archive), 200)} has a path that leaves it ("{printable(name)}"): nothing of it is used. '
            "Make it with tar in the log directory itself"
        )
    return parts


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    return "" if file is None else file.read(SMALL).decode(errors="replace")


# Another machine.


@frozen
class SshPlace:
    """Log directories on a machine that ssh reaches: user, host and port as ssh takes them, and the roots."""

    host: str
    port: int | None
    roots: tuple[str, ...]

    def __str__(self) -> str:
        return f"ssh {self.host}"


def ssh_place(host: str, root: str) -> SshPlace:
    """Return a place from [USER@]HOST[:PORT] and a root; UsageError if ssh could take the host for an option."""
    if not HOST.fullmatch(host):
        raise UsageError(
            f"{host!r} is no host for ssh. Allowed: [USER@]HOST[:PORT], as in ssh://admin@broker-1:22/data/logs."
        )
    found = re.fullmatch(r"(.*?)(?::([0-9]+))?", host)
    assert found
    return SshPlace(found[1].replace("[", "").replace("]", ""), int(found[2]) if found[2] else None, (root,))


def read_by_ssh(place: SshPlace, command: Sequence[str] = SSH, *, seconds: float = 120.0) -> list[LogRoot]:
    """Return the roots of a place: one command, which runs the script there.

    Raises:
        LogsUnread: ssh failed, or there was no listing in time.
    """
    port = () if place.port is None else ("-p", str(place.port))
    there = shlex.join(["sh", "-s", "--", *place.roots])
    words = [*command, *port, "--", place.host, there]
    try:
        done = subprocess.run(words, input=script().encode(), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise LogsUnread(f"{place}: no listing of its log directories within {seconds:g} s") from None
    except OSError as error:
        raise LogsUnread(f"{command[0]!r} cannot be started: {error.strerror}") from error
    output = done.stdout.decode(errors="replace")
    if done.returncode or not output:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no output"])[-1]
        raise LogsUnread(f"{place} failed with exit code {done.returncode}: {printable(last, 200).rstrip('.')}")
    return read_listing(output, str(place))


# Any file or folder.


def read_path(path: Path) -> list[LogRoot]:
    """Return the roots that a path names: a root itself, an archive of roots, or a listing.

    Raises:
        LogsUnread: It is none of them.
    """
    shown = printable(str(path), 200)
    try:
        if path.is_dir():
            root = read_folder(path)
            if not root.is_root:
                raise LogsUnread(f"{shown} is no log directory: it has neither {BROKER} nor directories of partitions")
            return [root]
        if not path.is_file():
            raise LogsUnread(f"{shown} does not exist, or is no file or folder")
        if tarfile.is_tarfile(path):
            return read_archive(path)
        with open(path, "rb") as file:
            return read_listing(file.read(LARGEST_LISTING).decode(errors="replace"), shown)
    except OSError as error:
        raise LogsUnread(f"{shown} cannot be read: {(error.strerror or str(error)).lower()}") from error


# The pieces of a snapshot.


def directory_object(files: PartitionFiles) -> tuple[dict[str, str | None], list[str]]:
    """Return a directory as a snapshot has it, and the names of the files that are garbled, which it does not have."""
    garbled = [
        name
        for name, read, text in ((IDENTITY, partition_metadata, files.identity), (EPOCHS, leader_epochs, files.epochs))
        if not _is_readable(read, text)
    ]
    found = {
        "partition_metadata": None if IDENTITY in garbled else files.identity,
        "leader_epoch_checkpoint": None if EPOCHS in garbled else files.epochs,
    }
    return found, garbled


def _is_readable(read: Callable[[JsonNode], object], text: str | None) -> bool:
    try:
        read(JsonNode(text))
    except UsageError:
        return False
    return True
