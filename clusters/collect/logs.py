"""What a snapshot needs of log directories: the partitions' directories, and what shows whose logs are in them.

That is: three small files (meta.properties, partition.metadata, leader-epoch-checkpoint), three checkpoints of each
root, the sizes of segments, and the header of each log's first batch (the words are those of `log_files`). They are
read from a folder, by a shell script on another machine (`list_logs.sh`), from that script's output, or from a tar
archive. Nothing is extracted from an archive, and records are never read.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from attrs import evolve, frozen

from kwalk.clusters.collect.log_files import (
    BROKER,
    CHECKPOINTS,
    DIRECTORY,
    EPOCHS,
    HEADER,
    IDENTITY,
    SEGMENT,
    SET_ASIDE,
    PartitionFiles,
    RootFiles,
    RootParts,
    header_in,
)
from kwalk.model.kafka.snapshots.capture import METADATA_LOG
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language import UsageError

SMALL, LARGE = 1 << 20, 1 << 26
"""The most bytes that are read of a file, and of a root's checkpoint.

A checkpoint of ten thousand leader epochs has a quarter of the first, one of 200,000 logs a quarter of the second.
"""
LARGEST_LISTING = 1 << 28
SCRIPT = Path(__file__).with_name("list_logs.sh")
HEADS, END = ("kwalk log directories 1", "kwalk log directories 2"), "end"
"""The first lines of listings, by their versions, and the last line. Version 1 has no checkpoints and segments."""
HOST = re.compile(r"([A-Za-z0-9_.][A-Za-z0-9_.-]*@)?([A-Za-z0-9_.][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""The command that reaches another machine; it never asks for a password."""


class LogsUnread(Exception):
    """Log directories could not be read; the text says why, in one line."""


def script() -> str:
    """Return the shell script that prints a listing."""
    return SCRIPT.read_text(encoding="utf-8")


# A folder of this machine.


def read_folder(path: Path) -> RootFiles:
    """Return a root on this machine; one without anything if there is no such folder.

    Raises:
        OSError: It cannot be read.
    """
    root = RootParts(os.path.abspath(path))
    directories, set_aside = dict[str, PartitionFiles](), dict[str, PartitionFiles]()
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name) if path.is_dir() else ():
        found = directories if DIRECTORY.fullmatch(entry.name) else set_aside
        is_log = found is directories or SET_ASIDE.fullmatch(entry.name)
        if is_log and entry.is_dir() and entry.name != METADATA_LOG:
            found[entry.name], unread = _partition_files(Path(entry.path))
            root.problems += [f"{name} of {entry.name} in {path} cannot be read" for name in unread]
    broker = _text(path / BROKER)
    for name in CHECKPOINTS.values():
        try:
            text = _text(path / name, LARGE)
            root.texts |= {} if text is None else {name: text}
        except OSError:
            root.problems.append(f"{name} in {path} cannot be read")
    return evolve(
        root.root(),
        broker=broker,
        directories=directories,
        set_aside=set_aside,
        has_metadata_log=(path / METADATA_LOG).is_dir(),
    )


def _text(path: Path, most: int = SMALL) -> str | None:
    """Return the text of a file; None if there is none. OSError if it is no regular file, or not allowed."""
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        return file.read(most).decode(errors="replace")


def _partition_files(folder: Path) -> tuple[PartitionFiles, list[str]]:
    """Return what is read in a directory, and the names of what cannot be read."""
    found: dict[str, str | None] = {}
    sizes: dict[str, int] | None = None
    head, unread = None, list[str]()
    for name in (IDENTITY, EPOCHS):
        try:
            found[name] = _text(folder / name)
        except OSError:
            unread.append(name)
    try:
        sizes = {entry.name: entry.stat().st_size for entry in os.scandir(folder) if _is_segment(entry)}
        if sizes:
            head = _head(folder / min(sizes))
    except FileNotFoundError:
        pass  # deleted meanwhile
    except OSError:
        unread.append("a segment")
    return PartitionFiles(found.get(IDENTITY), found.get(EPOCHS), sizes, head), unread


def _is_segment(entry: os.DirEntry[str]) -> bool:
    return SEGMENT.fullmatch(entry.name) is not None and entry.is_file(follow_symlinks=False)


def _head(path: Path) -> bytes | None:
    with open(path, "rb", buffering=0) as file:
        return header_in(file.read(HEADER.size))


# The output of the script.


def read_listing(text: str, source: str) -> list[RootFiles]:
    """Return the roots in the output of the script.

    Raises:
        LogsUnread: It is no such output, or it is cut.
    """
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if lines[0] not in HEADS:
        raise LogsUnread(
            f'{source} is no listing of log directories (it begins "{printable(lines[0])}"). Make it with the script '
            "that `kwalk collect --script` prints"
        )
    if lines[-1] != END:
        raise LogsUnread(f"{source} is cut: its last line is not {END!r}. Make it again")
    return [_root(part) for part in _parts(lines[1:-1])]


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


def _root(lines: Sequence[str]) -> RootFiles:
    root, texts, current = RootParts("?"), dict[str, list[str]](), ""
    for line in lines:
        word, _, rest = line.partition(" ")
        if line.startswith(("|", "+")):
            texts.setdefault(current, []).append(unquote(line[1:]) + ("\n" if line[0] == "|" else ""))
        elif word == "root":
            root.path = unquote(rest)
        elif word == "directory":
            root.names.add(_name(rest))
        elif word == "file":
            current = _name(rest)
            texts[current] = []
        elif word == "unreadable":
            texts.pop(current, None)
            root.problems.append(f"{printable(current)} in {printable(root.path)} cannot be read")
        elif word == "segment":
            _add_segment(root, rest)
        elif word == "batch":
            _add_head(root, rest)
        elif word == "missing":
            root.is_missing = True
    root.texts = {name: "".join(content) for name, content in texts.items()}
    return root.root()


def _is_log(name: str) -> bool:
    """Whether a directory is a partition's, or one that was set aside."""
    return bool(DIRECTORY.fullmatch(name) or SET_ASIDE.fullmatch(name))


def _name(text: str) -> str:
    return unquote(text).removeprefix("./")


def _add_segment(root: RootParts, rest: str) -> None:
    """Add a segment from its size and its name."""
    size, _, name = rest.partition(" ")
    directory, _, segment = _name(name).rpartition("/")
    if re.fullmatch("[0-9]{1,19}", size) and SEGMENT.fullmatch(segment) and _is_log(directory):
        root.add_segment(directory, segment, int(size))


def _add_head(root: RootParts, rest: str) -> None:
    """Add the first bytes of a segment; its name and they are in hexadecimal digits."""
    try:
        name, content = map(bytes.fromhex, rest.split(" "))
    except ValueError:
        return
    directory, _, segment = name.decode(errors="replace").rpartition("/")
    if SEGMENT.fullmatch(segment):
        root.heads[directory] = header_in(content)


# A tar archive.


def read_archive(path: Path) -> list[RootFiles]:
    """Return the roots in a tar archive of log directories; other members are skipped.

    If a folder has meta.properties, only such folders are roots: /data/logs-1 is named like a partition's directory.

    Raises:
        LogsUnread: It is no archive, it is cut, or it has a path that leaves it.
    """
    parts: dict[str, RootParts] = {}
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                _add_member(archive, member, _place(member.name, path), parts)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        shown, why = printable(str(path), 200), printable(str(error))
        raise LogsUnread(f"{shown} cannot be read as an archive: {why}") from error
    roots = [parts[name].root() for name in sorted(parts)]
    return [root for root in roots if root.broker is not None] or [root for root in roots if root.is_root]


def _add_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, place: Sequence[str], parts: dict[str, RootParts]
) -> None:
    """Add what is needed of a member, at a place in the archive, to the root that it belongs to."""
    if not place:
        return

    def root(levels: int) -> RootParts:
        folder = "/".join(place[:-levels]) or "."
        return parts.setdefault(folder, RootParts(folder))

    name, parent = place[-1], place[-2] if len(place) > 1 else ""
    if member.isdir():
        if _is_log(name):
            root(1).names.add(name)
    elif not member.isfile():
        return
    elif name in (BROKER, *CHECKPOINTS.values()):
        root(1).texts[name] = _member(archive, member, LARGE).decode(errors="replace")
    elif parent and name in (IDENTITY, EPOCHS):
        root(2).texts[f"{parent}/{name}"] = _member(archive, member, SMALL).decode(errors="replace")
    elif SEGMENT.fullmatch(name) and _is_log(parent):
        if root(2).is_first(parent, name):
            root(2).heads[parent] = header_in(_member(archive, member, HEADER.size))
        root(2).add_segment(parent, name, member.size)


def _place(name: str, archive: Path) -> list[str]:
    """Return the parts of a member's path; LogsUnread if it leaves the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name:
        raise LogsUnread(
            f'{printable(str(archive), 200)} has a path that leaves it ("{printable(name)}"): nothing of it is used. '
            "Make it with tar in the log directory itself"
        )
    return parts


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo, most: int) -> bytes:
    """Return the first bytes of a member."""
    file = archive.extractfile(member)
    return b"" if file is None else file.read(most)


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


def read_by_ssh(place: SshPlace, command: Sequence[str] = SSH, *, seconds: float = 120.0) -> list[RootFiles]:
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


def read_path(path: Path, *, may_be_empty: bool = False) -> list[RootFiles]:
    """Return the roots that a path names: a root itself, an archive of roots, or a listing.

    Args:
        path: The path.
        may_be_empty: Whether a folder without any file is a root, as a new disk of a broker that has lost one.

    Raises:
        LogsUnread: It is none of them.
    """
    shown = printable(str(path), 200)
    try:
        if path.is_dir():
            root = read_folder(path)
            if not root.is_root and not (may_be_empty and not any(path.iterdir())):
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
