"""The lock of the jars: which files each version of Kafka needs, with their SHA-256 digests; and how it is made.

`python -m kwalk.clusters.lab.lock` resolves every version with Maven and writes `jars.lock.json`. Only this needs
Maven; the lab itself downloads what the lock lists.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from attrs import frozen

LOCK = Path(__file__).with_name("jars.lock.json")
RELEASES = (
    "0.10.2.0",
    "0.11.0.1",
    "1.0.0",
    "2.1.0",
    "2.3.0",
    "2.5.0",
    "2.8.0",
    "2.8.2",
    "3.0.0",
    "3.0.2",
    "3.2.0",
    "3.3.2",
    "3.4.1",
    "3.5.2",
    "3.6.2",
    "3.7.0",
    "3.7.2",
    "3.8.1",
    "3.9.0",
    "3.9.1",
    "3.9.2",
)
"""The versions in the lock. 1.0.0 is there as a client that knows no topic ids, too."""
SCALA = {"0.10.2.0": "2.11", "0.11.0.1": "2.11", "1.0.0": "2.11", "2.1.0": "2.12", "2.3.0": "2.12"}
"""The Scala version of a release's artifact, where it is not 2.13."""
LOG4J = ("org.slf4j", "slf4j-log4j12", "1.7.25")
XML_BIND = ("javax.xml.bind", "jaxb-api", "2.3.1")
ZOOKEEPER = ("org.apache.zookeeper", "zookeeper", "3.4.10")
BESIDE = {
    "0.10.2.0": (LOG4J, XML_BIND),
    "0.11.0.1": (LOG4J, XML_BIND),
    "1.0.0": (LOG4J,),
    "2.1.0": (LOG4J, ZOOKEEPER),
    "2.3.0": (LOG4J, ZOOKEEPER),
}
"""What a release needs and does not bring, where that is not reload4j only.

That is a binding of SLF4J to Log4j 1, before 1.0 classes that Java had up to 10, and for 2.3 a ZooKeeper before 3.4.13,
which does not connect with Java 14 and later.
"""
RELOAD4J = ("org.slf4j", "slf4j-reload4j", "1.7.36")

POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>lab</groupId><artifactId>jars</artifactId><version>1</version><dependencies>
{dependencies}
</dependencies></project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


@frozen
class Jar:
    """A file of a Maven repository: its path below the root, its SHA-256 digest (hexadecimal) and its size in bytes."""

    path: str
    sha256: str
    size: int


def locked_jars() -> dict[str, tuple[Jar, ...]]:
    """Return the jars of each locked release, in the order of their paths."""
    lock = json.loads(LOCK.read_text(encoding="utf-8"))
    jars = {path: Jar(path, digest, size) for path, (digest, size) in lock["jars"].items()}
    return {release: tuple(jars[path] for path in paths) for release, paths in lock["releases"].items()}


def resolve(release: str, folder: Path) -> tuple[Jar, ...]:
    """Resolve a release's runtime class path with Maven, into a folder with the layout of a repository."""
    kafka = ("org.apache.kafka", f"kafka_{SCALA.get(release, '2.13')}", release)
    dependencies = "\n".join(DEPENDENCY.format(*one) for one in (kafka, *BESIDE.get(release, (RELOAD4J,))))
    pom = folder / "pom.xml"
    pom.write_text(POM.format(dependencies=dependencies))
    subprocess.run(
        [
            "mvn",
            "-q",
            "-B",
            "-f",
            str(pom),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            "-Dmdep.useRepositoryLayout=true",
            f"-DoutputDirectory={folder / 'jars'}",
        ],
        check=True,
    )
    root = folder / "jars"
    return tuple(_jar(path, root) for path in sorted(root.rglob("*.jar")))


def _jar(path: Path, root: Path) -> Jar:
    content = path.read_bytes()
    return Jar(path.relative_to(root).as_posix(), hashlib.sha256(content).hexdigest(), len(content))


def write_lock(releases: tuple[str, ...] = RELEASES) -> None:
    """Resolve the releases and write the lock file."""
    found: dict[str, tuple[Jar, ...]] = {}
    for release in releases:
        with tempfile.TemporaryDirectory() as folder:
            found[release] = resolve(release, Path(folder))
    jars = {jar.path: [jar.sha256, jar.size] for release in found.values() for jar in release}
    paths = {release: [jar.path for jar in jars] for release, jars in found.items()}
    LOCK.write_text(json.dumps({"releases": paths, "jars": dict(sorted(jars.items()))}, indent=1) + "\n")


if __name__ == "__main__":
    write_lock(tuple(sys.argv[1:]) or RELEASES)
