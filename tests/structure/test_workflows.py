"""The workflows: what they call is there, actions have versions, and a release is published without a password."""

from __future__ import annotations

import re

import pytest

from tests.structure.rooms import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def job(text: str, name: str) -> str:
    """The lines of a job."""
    (found,) = re.findall(rf"^  {name}:\n((?:    .*\n|\n)+)", text + "\n", re.MULTILINE)
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_has_a_version_and_every_workflow_that_is_called_is_there(path):
    used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    assert used
    for name in used:
        is_there = name.startswith("./") and (ROOT / name).is_file()
        assert is_there or re.fullmatch(r"[\w-]+/[\w./-]+@v\d+(\.\d+\.\d+)?", name), name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_only_and_each_of_its_jobs_has_what_a_job_needs(path):
    yaml = pytest.importorskip("yaml", reason="comes with the packages of the documentation")
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, each in workflow["jobs"].items():
        assert "uses" in each or {"runs-on", "steps", "timeout-minutes"} <= each.keys(), name
        assert each.get("needs", name) in workflow["jobs"]


def test_each_target_of_make_that_a_workflow_runs_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    run = {name for path in WORKFLOWS for name in re.findall(r"run: make ([a-z-]+)", path.read_text(encoding="utf-8"))}
    assert "wheel" in run <= targets


def test_a_release_is_published_by_trust_after_its_wheel_was_tried_and_attested():
    text = text_of("release.yml")
    assert "uses: ./.github/workflows/wheel.yml" in job(text, "wheel")
    attest, publish = job(text, "attest"), job(text, "publish")
    assert "needs: wheel" in attest and "needs: attest" in publish
    assert all("id-token: write" in each for each in (attest, publish))
    assert "actions/attest-build-provenance@" in attest and "actions/attest-sbom@" in attest and "cyclonedx" in attest
    assert "pypa/gh-action-pypi-publish@" in publish and "environment: pypi" in publish
    assert "secrets." not in text and "password" not in publish


def test_the_wheel_is_tried_on_the_oldest_and_the_newest_python():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    versions = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    for name in ("wheel.yml", "ci.yml"):
        (matrix,) = re.findall(r"python: \[(.*)\]", text_of(name))
        assert re.findall(r"[\d.]+", matrix) == [versions[0], versions[-1]]
