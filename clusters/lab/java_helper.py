"""A Java of its own, with the jars of a release, that a helper of the lab drives line by line. It must be a JDK."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Self

from kwalk.clusters.lab.cluster import find_java
from kwalk.clusters.lab.jars import jar_store
from kwalk.model.language import UsageError


class JavaHelper:
    """A helper that answers each line with a line. Use it as a context: it ends with that."""

    source: str
    """The file of the helper, beside this one."""

    def __init__(self, release: str) -> None:
        """Start Java with the jars of a release, which are downloaded if they are missing."""
        class_path = jar_store().class_path([release])[release]
        helper = Path(__file__).with_name(self.source)
        command = [str(find_java()), "-Xmx512m", "-XX:+UseSerialGC", "-cp", class_path, str(helper)]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - it lives as long as Java does
        pipe = subprocess.PIPE
        self._java = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._java.communicate()
        self._errors.close()

    def words(self, line: str) -> list[str]:
        """Give Java a line; return the words of its answer.

        Raises:
            UsageError: Java has ended.
        """
        assert self._java.stdin is not None and self._java.stdout is not None
        try:
            print(line, file=self._java.stdin, flush=True)
            words = self._java.stdout.readline().split()
        except BrokenPipeError:
            words = []
        if not words:
            self._errors.seek(0)
            raise UsageError(f"{self.source} has ended: {self._errors.read()[-2_000:]}")
        return words
