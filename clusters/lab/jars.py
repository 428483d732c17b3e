"""The jars of Kafka's releases: downloaded once from a Maven repository into the cache, checked at each use.

A jar is code that will be executed: it is used only if its SHA-256 digest is that of the lock. It appears in the cache
under its name when all of it is there and the digest is right.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import time
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import frozen

from kwalk.clusters.lab.lock import Jar, locked_jars
from kwalk.model.language import UsageError
from kwalk.model.language.errors import unknown
from kwalk.search.base.atomic_files import replacing
from kwalk.search.base.cache import cache_folder
from kwalk.search.base.progress import Progress, Report, silent

MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
VARIABLE = "KWALK_MAVEN"
"""The environment variable with the URL of another Maven repository, such as a mirror of Maven Central."""
SCHEMES = ("https://", "http://", "file://")
BLOCK = 1 << 18
PATIENCE = 60
"""Seconds without an answer of the repository before a download is given up."""


def repository(environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of the Maven repository to download from."""
    url = environment.get(VARIABLE) or MAVEN_CENTRAL
    if not url.startswith(SCHEMES):
        raise UsageError(f"{VARIABLE} is {url!r}. It must be the URL of a Maven repository: {MAVEN_CENTRAL}.")
    return url.rstrip("/")


def jars_of(release: str) -> tuple[Jar, ...]:
    """Return the jars of a release; UsageError if the lab does not have it."""
    locked = locked_jars()
    if release not in locked:
        raise unknown("release in the lab", release, locked)
    return locked[release]


@frozen
class JarStore:
    """The folder of the cache with the jars, and the repository that missing ones come from."""

    folder: Path
    url: str

    def path(self, jar: Jar) -> Path:
        """Return where a jar is, or will be."""
        return self.folder / jar.path

    def has(self, release: str) -> bool:
        """Whether all jars of a release are there, whatever is in them."""
        return all(self.path(jar).is_file() for jar in jars_of(release))

    def class_path(self, releases: Iterable[str], report: Report = silent) -> dict[str, str]:
        """Return the class path of each release; download what is missing, and check everything.

        Args:
            releases: The releases, such as "2.8.2".
            report: Called with the progress of the downloads, in bytes.

        Raises:
            UsageError: A release is unknown, or a jar cannot be downloaded or has another digest than the lock.
        """
        wanted = {release: jars_of(release) for release in dict.fromkeys(releases)}
        every = {jar.path: jar for jars in wanted.values() for jar in jars}
        missing = [jar for jar in every.values() if not self._is_right(jar)]
        progress = _Download(sum(jar.size for jar in missing), report)
        for jar in missing:
            self._download(jar, progress)
        return {release: os.pathsep.join(str(self.path(jar)) for jar in jars) for release, jars in wanted.items()}

    def _is_right(self, jar: Jar) -> bool:
        try:
            return hashlib.sha256(self.path(jar).read_bytes()).hexdigest() == jar.sha256
        except OSError:
            return False

    def _download(self, jar: Jar, progress: _Download) -> None:
        source, target = f"{self.url}/{jar.path}", self.path(jar)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with urllib.request.urlopen(source, timeout=PATIENCE) as answer, replacing(target, shared=True) as file:
                digest, size = hashlib.sha256(), 0
                while block := answer.read(BLOCK):
                    size += len(block)
                    if size > jar.size:
                        break
                    digest.update(block)
                    file.write(block)
                    progress.add(len(block), target.name)
                if digest.hexdigest() != jar.sha256 or size != jar.size:
                    raise _WrongJar(source, jar)
        except (OSError, http.client.HTTPException) as error:
            raise UsageError(
                f"Cannot download {source} into {target.parent}: {error}. Connect to the network, or set {VARIABLE} to "
                "the URL of a mirror of Maven Central (or of a folder: file:///mirror). Then run the command again: "
                "complete jars are kept."
            ) from error


class _WrongJar(UsageError):
    """What a repository sent is not the jar that the lock describes."""

    def __init__(self, source: str, jar: Jar) -> None:
        super().__init__(
            f"{source} is not the file that was locked: its SHA-256 digest must be {jar.sha256}, its size {jar.size:,} "
            f"bytes. It was not kept. Try again, or set {VARIABLE} to the URL of another mirror of Maven Central."
        )


class _Download:
    """The progress of several downloads."""

    def __init__(self, total: int, report: Report) -> None:
        self.total, self.report, self.received, self.start = total, report, 0, time.monotonic()

    def add(self, size: int, name: str) -> None:
        self.received += size
        seconds = time.monotonic() - self.start
        left = seconds / self.received * (self.total - self.received)
        self.report(Progress("download", self.received // 1024, "KiB", seconds, self.total // 1024, left, name))


def jar_store(environment: Mapping[str, str] = os.environ) -> JarStore:
    """Return the store of jars in this user's cache.

    Raises:
        UsageError: There is no folder for a cache, or KWALK_MAVEN is no URL.
    """
    cache = cache_folder(environment)
    if cache is None:
        raise UsageError("There is no folder for the jars of Kafka. Set KWALK_CACHE to the absolute path of one.")
    return JarStore(cache / "lab" / "jars", repository(environment))
