"""`[tool.kwalk]` gives a project's options to commands that search; a shell completes commands and options."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from kwalk.reports.options.parser import commands, completed

SETTINGS = """
[tool.kwalk]
out = "build/kwalk"
bound = ["threads=3", "x=1"]
seconds = 5

[tool.kwalk.profiles.ci]
seconds = 300
strict = true
html = false
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder below that of the settings, as the present one."""
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("exhaust x", "exhaust --out=build/kwalk --bound=threads=3 --bound=x=1 --seconds=5 x"),
        (
            "exhaust x --profile ci",
            "exhaust --out=build/kwalk --bound=threads=3 --bound=x=1 --seconds=300 --strict x --profile ci",
        ),
        ("audit --profile=ci", "audit --out=build/kwalk --seconds=300 --profile=ci"),
        ("replay x", "replay x"),
        ("collect zk:1", "collect zk:1"),
        ("--help", "--help"),
    ],
)
def test_a_command_has_the_options_of_the_project_that_it_knows(project, words, expected):
    assert list(completed(words.split())) == expected.split()


def test_the_command_line_has_precedence_and_repeats_what_the_project_gave(project, kwalk, monkeypatch):
    monkeypatch.chdir(project)
    (project / "pyproject.toml").write_text('[tool.kwalk]\nout = "build/kwalk"\nvariant = "no-lock"\nseconds = 5\n')
    shown = kwalk("exhaust", "lost-update", "--variant", "lock", "--json").object
    assert (shown["variant"], shown["command"]) == ("lock", "kwalk exhaust lost-update --variant lock --seconds 5")
    found = kwalk("exhaust", "lost-update", "--json").object
    assert found["variant"] == "no-lock" and found["counterexample"]["trace_file"].startswith("build/kwalk/")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("[tool.kwalk]\nsecond = 5", (), "No option in [tool.kwalk] named 'second'. Did you mean 'seconds'?"),
        ("[tool.kwalk]\nseconds = 'x'", (), "'x' is not a number"),
        ("[tool.kwalk]\nseconds = true", (), "seconds = True. Allowed: a value"),
        ("[tool.kwalk]\nstrict = 1", (), "strict = 1. Allowed: true or false."),
        ("[tool.kwalk", (), "is no TOML"),
        (
            "[tool.kwalk.profiles.ci]",
            ("--profile", "dev"),
            "No profile in [tool.kwalk.profiles] of pyproject.toml named 'dev'",
        ),
        ("", ("--profile", "dev"), "No profile in [tool.kwalk.profiles] of pyproject.toml named 'dev'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(kwalk, tmp_path, text, words, message):
    (tmp_path / "pyproject.toml").write_text(text)
    ran = kwalk("exhaust", "die-hard", *words)
    assert ran.code == 2 and message in ran.err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash completes")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kwalk exh", {"exhaust"}),
        ("kwalk exhaust --symm", {"--symmetry"}),
        ("kwalk exhaust die --s", None),
        ("kwalk exhaust d", {"die-hard", "dining"}),
        ("kwalk hunt die-hard d", set()),
        ("kwalk collect d", set()),
        ("kwalk no --s", set()),
    ],
)
def test_bash_completes_commands_options_and_scenarios(kwalk, tmp_path, line, expected):
    (tmp_path / "kwalk.bash").write_text(kwalk("--completion").out)
    words = line.split()
    listed = 'kwalk() { printf "die-hard   Two jugs.\\n           dull\\ndining     Forks.\\n"; }'
    script = (
        f"{listed}; source kwalk.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _kwalk; echo ${{COMPREPLY[@]}}"
    )
    ran = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    if expected is None:
        expected = {word for word, _ in commands()["exhaust"].arguments if word.startswith("--s")}
    assert set(ran.stdout.split()) == expected
