"""Installed distributions are read as `importlib.metadata` reads them, without its import."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib import metadata

import pytest

from kwalk.model.language.distributions import commit, entry_points, kwalk_version, version
from tests.structure.rooms import ROOT

REGISTERED = "# of two groups\n[shapes]\nround = kettle.shapes:Round.made [extra]\n\n[other]\nsquare = kettle.shapes\n"


def by_name(found):
    return sorted((each.name, each.value) for each in found)


def installed(folder, name, number, registered=REGISTERED):
    """Write what an installer leaves of a distribution."""
    info = folder / f"{name}-{number}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n\nVersion: of the text\n")
    (info / "entry_points.txt").write_text(registered)
    return folder


@pytest.mark.parametrize("group", ["kwalk.scenarios", "kwalk.display", "pytest11", "console_scripts", "no.such.group"])
def test_the_entry_points_of_this_environment_are_those_of_the_standard_library(group):
    found = entry_points(group)
    assert by_name(found) == by_name(metadata.entry_points(group=group))
    assert bool(found) == (group != "no.such.group")


def test_every_version_in_this_environment_is_that_of_the_standard_library():
    versions = {name: metadata.version(name) for name in (each.metadata["Name"] for each in metadata.distributions())}
    assert len(versions) > 20 and {name: version(name) for name in versions} == versions
    assert version("no-such-distribution") is None and kwalk_version() == metadata.version("kwalk")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the project is no checkout")
def test_the_commit_of_a_checkout_is_that_of_git():
    ran = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert commit() == ran.stdout.strip() != ""


def test_the_first_of_two_distributions_of_one_name_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(installed(tmp_path / "late", "Ket_tle", "1.0", "[shapes]\nlate = kettle\n"))
    monkeypatch.syspath_prepend(installed(tmp_path / "early", "ket.tle", "2.0"))
    assert by_name(entry_points("shapes")) == [("round", "kettle.shapes:Round.made [extra]")]
    assert version("KET-tle") == "2.0" == metadata.version("KET-tle")


def test_an_entry_point_is_a_module_or_a_thing_in_it(tmp_path, monkeypatch):
    package = tmp_path / "kettle"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "shapes.py").write_text("class Round:\n    made = 7\n")
    monkeypatch.syspath_prepend(installed(tmp_path, "kettle", "1.0"))
    (made,), (module,) = entry_points("shapes"), entry_points("other")
    assert made.load() == 7 and module.load().Round.made == 7
    for name in ("kettle", "kettle.shapes"):
        monkeypatch.delitem(sys.modules, name)


def test_distributions_in_archives_are_found(tmp_path, monkeypatch):
    folder, archive = installed(tmp_path / "folder", "kettle", "3.0"), tmp_path / "kettle.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for path in folder.rglob("*"):
            made.write(path, str(path.relative_to(folder)))
    monkeypatch.syspath_prepend(archive)
    assert version("kettle") == "3.0" and [each.name for each in entry_points("shapes")] == ["round"]


def test_a_finder_of_another_package_is_asked(monkeypatch):
    class Finder:
        @staticmethod
        def find_spec(*_):
            return None

        @staticmethod
        def find_distributions(context):
            return iter(())

    assert "importlib.metadata" in sys.modules
    asked = []
    monkeypatch.setattr(metadata, "entry_points", lambda group: asked.append(group) or [])
    assert entry_points("pytest11") and not asked
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert not entry_points("pytest11") and asked == ["pytest11"]
