"""A debugger of a broker, which holds single threads at methods: the order of two threads can then be forced.

It is `jdb`, which a JDK has beside `java`, and a JRE does not.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.processes import wait_until
from kwalk.model.language import KwalkError

LISTENS = re.compile(r"Listening for transport dt_socket at address: (\d+)")
PATIENCE = 30.0
"""Seconds until a debugger has done what it was told, or a thread comes to a method."""


class Debugger:
    """A debugger of a broker of a lab with `debugged`. Use it as a context: all threads go on with its end.

    Args:
        lab: The lab.
        number: The broker.

    Raises:
        KwalkError: There is no `jdb`, or the broker cannot be debugged.
    """

    def __init__(self, lab: Lab, number: int) -> None:
        process, jdb = lab.brokers[number].process, lab.java.resolve().with_name("jdb")
        ports = LISTENS.findall(process.output.read_text()) if process else []
        if not ports or not jdb.exists():
            raise KwalkError(f"Broker {number} cannot be debugged: that needs the jdb of a JDK, beside {lab.java}.")
        self._output: Path = lab.folder / "jdb.out"
        where = f"com.sun.jdi.SocketAttach:hostname=127.0.0.1,port={ports[-1]}"
        with self._output.open("wb") as output:
            command = [str(jdb), "-connect", where]
            self._jdb = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)

    def __enter__(self) -> Debugger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with suppress(OSError):
            self._do("quit")
        try:
            self._jdb.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._jdb.kill()

    def hold(self, method: str) -> None:
        """Hold each thread that comes to a method."""
        self._do(f"stop thread in {method}")
        self._found(f"Set breakpoint {re.escape(method)}")

    def held(self, method: str, threads: int = 1) -> list[str]:
        """Wait until so many threads have been held at a method, and return their names."""
        hit = rf'Breakpoint hit: "thread=([^"]*)", {re.escape(method)}\('
        names: dict[str, None] = {}
        while len(names) < threads:
            others = "".join(f'(?!{re.escape(name)}")' for name in names)
            names[self._found(hit.replace("([", f"{others}([", 1))[1]] = None
        return list(names)

    def let_go(self, name: str) -> None:
        """Let a thread go on that is held."""
        self._do("threads")
        thread = self._found(rf"\)(\w+) +{re.escape(name)} .*at breakpoint")
        self._do(f"resume {thread[1]}")

    def _do(self, command: str) -> None:
        assert self._jdb.stdin is not None
        self._jdb.stdin.write(f"{command}\n".encode())
        self._jdb.stdin.flush()

    def _found(self, pattern: str) -> re.Match[str]:
        matches: list[re.Match[str]] = []

        def is_found() -> bool:
            matches.extend(re.finditer(pattern, self._output.read_text(errors="replace")))
            return bool(matches)

        if not wait_until(is_found, PATIENCE, every=0.1):
            raise KwalkError(f"The debugger did not write {pattern!r} within {PATIENCE:.0f} s: see {self._output}.")
        return matches[-1]
