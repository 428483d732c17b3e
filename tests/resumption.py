"""`make test-all` takes hours: one that was killed goes on with what has not passed on the same sources."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


class PassedTests:
    """The file of the tests that have passed, one id on a line; its name is the digest of the sources."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"passed-{digest_of_sources()}.txt"
        self.before = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        self.unfit: set[str] = set()

    def pytest_configure_node(self, node) -> None:
        """Tell a worker what has passed: all of them leave out the same tests."""
        node.workerinput["passed"] = self.before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write down a test whose three phases have passed, or which was skipped."""
        if report.failed:
            self.unfit.add(report.nodeid)
        if report.when == "teardown" and report.nodeid not in self.unfit:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(report.nodeid + "\n")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Begin anew next time, if all have passed."""
        if exitstatus == pytest.ExitCode.OK:
            self.file.unlink(missing_ok=True)


def digest_of_sources() -> str:
    """Return 16 hexadecimal digits of the commit, and of what has changed since."""

    def git(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout

    others = git("ls-files", "-z", "--others", "--exclude-standard").decode().split("\0")
    untracked = [name for name in others if (ROOT / name).is_file()]
    parts = [git("rev-parse", "HEAD"), git("diff", "HEAD"), *((ROOT / name).read_bytes() for name in untracked)]
    return hashlib.blake2b(b"\0".join([*parts, *map(str.encode, untracked)]), digest_size=8).hexdigest()


def left(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that have not passed."""
    plugin = config.pluginmanager.get_plugin("passed-tests")
    passed = set(plugin.before if plugin else getattr(config, "workerinput", {}).get("passed", ()))
    deselected = [item for item in items if item.nodeid in passed]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
    return [item for item in items if item.nodeid not in passed]
