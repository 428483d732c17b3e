"""The cache: files that take time to make again. Some of them hold machine code, so the cache is read only if trusted.

Words: the *cache* is the folder `$KWALK_CACHE`, else `kwalk` in `$XDG_CACHE_HOME`, else `~/.cache/kwalk`, with a folder
for each kind of file; it can be deleted at any time. A file or folder is *trusted* if this user or root owns it, and
neither its group nor others may write to it. A folder is used only if it and all folders above it are trusted. Of those
above it, one that anybody may write to is accepted if it is sticky as `/tmp` is, because there only the owner of a
folder can replace it. A *seal* is the digest of a file's name and content at its beginning. It detects damage, not
forgery.

Each path is opened from the root, one folder at a time, relative to the descriptor of the folder before, and checked by
its descriptor: what was checked is what is read, whatever is renamed meanwhile (J. A. Kupsch and B. P. Miller, How to
Open a File and Not Get Hacked, 2008). Symbolic links to folders are followed in the same way. What is not trusted is
not used, and an `UntrustedCache` warning says so.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pwd
import shlex
import stat
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kwalk.model.language import UsageError

VARIABLE = "KWALK_CACHE"
"""The environment variable that names another folder."""
FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
WRITABLE = stat.S_IWGRP | stat.S_IWOTH
MAX_LINKS = 40
"""Symbolic links on a path, as many as Linux follows."""
SEAL = b"kwalk-cache "


class UntrustedCache(UserWarning):
    """A part of the cache is not used, because another user owns it or may write to it."""


class _NotTrusted(Exception):
    """A folder or file is not trusted; the message says what, why, and what to do."""


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of the cache; None for a user without a home.

    Raises:
        UsageError: KWALK_CACHE is not an absolute path.
    """
    own, base = environment.get(VARIABLE, ""), environment.get("XDG_CACHE_HOME", "")
    if own:
        if not os.path.isabs(own):
            raise UsageError(f"{VARIABLE} is {own!r}. It must be an absolute path: give the whole path, or unset it.")
        return Path(own)
    try:
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "kwalk"
    except RuntimeError:
        return None


def cache_path(folder: str, name: str) -> Path:
    """Return the path of a file in the cache; for a user without a home, one that can be neither read nor written."""
    return (cache_folder() or Path(os.devnull)) / folder / name


def read_cache(path: Path) -> bytes | None:
    """Return the content of a file of the cache; None if it is absent, damaged or (with a warning) not trusted."""
    with _or_warning(), _folder(path.parent) as folder, _file(folder, path) as (content, _):
        return _unsealed(path, content)
    return None


def write_cache(path: Path, content: bytes) -> None:
    """Write a file of the cache, and create its folder; a failure is no error."""
    with _or_warning(), _folder(path.parent, create=True) as folder:
        _write(folder, path.name, _seal(path.name, content) + content, 0o600)


def write_program(path: Path, content: bytes) -> bool:
    """Write a program into the cache unless it is there; return whether it is there and trusted."""
    with _or_warning(), _folder(path.parent, create=True) as folder:
        with _or_warning(), _file(folder, path) as (found, mode):
            if found == content and mode & stat.S_IXUSR:
                return True
        _write(folder, path.name, content, 0o700)
        return True
    return False


def read_beside_module(path: Path) -> bytes | None:
    """Return the content of a file that `write_beside_module` wrote; None if it is absent, damaged or not trusted.

    The folders above it are not checked: who can write there can replace the module.
    """
    try:
        with open(os.open(path, FILE), "rb") as file:
            _require_trusted(os.fstat(file.fileno()), path)
            return _unsealed(path, file.read())
    except (_NotTrusted, OSError):
        return None


def write_beside_module(path: Path, content: bytes) -> bool:
    """Write a file into a folder `__pycache__`, which is created; return whether that was possible."""
    try:
        if not path.parent.parent.is_absolute():
            return False  # the code of a terminal or of `exec` has no file
        path.parent.mkdir(exist_ok=True)
        handle = os.open(path.parent, FOLDER)
        try:
            _write(handle, path.name, _seal(path.name, content) + content, 0o644)
        finally:
            os.close(handle)
    except OSError:
        return False
    return True


def _unsealed(path: Path, content: bytes) -> bytes | None:
    seal, _, rest = content.partition(b"\n")
    return rest if seal + b"\n" == _seal(path.name, rest) else None


@contextmanager
def _or_warning() -> Iterator[None]:
    """End the block where a file cannot be read or written; give a warning where it is not trusted."""
    try:
        yield
    except _NotTrusted as error:
        warnings.warn(str(error), UntrustedCache, stacklevel=4)
    except OSError:
        pass


@contextmanager
def _folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """Open a trusted folder; OSError or _NotTrusted if that is impossible."""
    handle = _open_folder(path, create=create)
    try:
        yield handle
    finally:
        os.close(handle)


def _open_folder(path: Path, *, create: bool) -> int:
    """Return the descriptor of a folder, all of whose parents are trusted; missing folders are created if asked."""
    handle, here, links = os.open("/", FOLDER), Path("/"), 0
    waiting = [*reversed(path.parts[1:])]
    try:
        _require_trusted(os.fstat(handle), here, is_parent=bool(waiting))
        while waiting:
            part = waiting.pop()
            target = _link(handle, here, part)
            if target is not None:
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                waiting += [*reversed(target.parts)]
                continue
            handle = _step(handle, part, create=create)
            here = Path("/") if part == "/" else here.parent if part == ".." else here / part
            _require_trusted(os.fstat(handle), here, is_parent=bool(waiting))
    except BaseException:
        os.close(handle)
        raise
    return handle


def _link(handle: int, here: Path, part: str) -> Path | None:
    """Return the target of a symbolic link that this user or root owns; None for what is no link."""
    try:
        status = os.stat(part, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    _require_trusted(status, here / part)
    return Path(os.readlink(part, dir_fd=handle))


def _step(handle: int, part: str, *, create: bool) -> int:
    """Open a folder inside another one, and close the other one."""
    try:
        inner = os.open(part, FOLDER, dir_fd=handle)
    except FileNotFoundError:
        if not create:
            raise
        with suppress(FileExistsError):  # another process has created it meanwhile
            os.mkdir(part, 0o700, dir_fd=handle)
        inner = os.open(part, FOLDER, dir_fd=handle)
    os.close(handle)
    return inner


@contextmanager
def _file(folder: int, path: Path) -> Iterator[tuple[bytes, int]]:
    """Read a trusted file of an open folder: its content and its mode."""
    try:
        handle = os.open(path.name, FILE, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise _NotTrusted(f"{str(path)!r} is not used: it is a symbolic link. Delete it.") from error
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        _require_trusted(status, path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        yield file.read(), status.st_mode


def _write(folder: int, name: str, content: bytes, mode: int) -> None:
    """Write a file under a temporary name in an open folder, and rename it."""
    aside = f".{uuid.uuid4().hex}.partial"
    try:
        with open(os.open(aside, NEW_FILE, mode, dir_fd=folder), "wb") as file:
            file.write(content)
        os.replace(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside, dir_fd=folder)
        raise


def _seal(name: str, content: bytes) -> bytes:
    """Return the first line of a file. It covers the name, so that a copy under another name does not count."""
    digest = hashlib.blake2b(name.encode() + b"\0" + content, digest_size=32)
    return SEAL + digest.hexdigest().encode() + b"\n"


def _require_trusted(status: os.stat_result, path: Path, *, is_parent: bool = False) -> None:
    """Raise _NotTrusted unless only this user and root can change a file, a folder or a link."""
    mode, user = stat.S_IMODE(status.st_mode), os.geteuid()
    is_sticky_parent = is_parent and mode & stat.S_ISVTX
    is_writable = mode & WRITABLE and not is_sticky_parent and not stat.S_ISLNK(status.st_mode)
    if status.st_uid in (0, user) and not is_writable:
        return
    advice = f"Run `chmod go-w {shlex.quote(str(path))}` if you trust its content, or delete it"
    if status.st_uid not in (0, user):
        advice = "Delete it, or take it over with chown if you trust its content"
    raise _NotTrusted(
        f"The cache is not used: {str(path)!r} is owned by {_name(status.st_uid)} and has mode {mode:04o}, so others "
        f"could put machine code there that would run as you. You ({_name(user)}) or root must own it, and only the "
        f"owner may write to it. Without the cache, each start compiles again. {advice}; or set {VARIABLE} to a folder "
        "of your own."
    )


def _name(user: int) -> str:
    with suppress(KeyError):
        return f"{pwd.getpwuid(user).pw_name!r}, uid {user}"
    return f"uid {user}"
