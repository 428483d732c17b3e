"""The locks: exact versions with hashes for every dependency, from whatever registry the user's pip asks."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.structure.rooms import ROOT

LOCKS = tuple(sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "requirements").glob("*.lock")))


def entries(lock):
    """The entries of a lock: each a requirement and the hashes that follow it."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_an_exact_version_and_a_hash(lock):
    assert entries(lock)
    for requirement, *rest in entries(lock):
        assert re.fullmatch(r"[a-z0-9.-]+==[\w.]+", requirement)
        assert any(word.startswith("--hash=sha256:") for word in rest)


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_registry(lock):
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links|--trusted-host", (ROOT / lock).read_text())


def test_every_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = {
        "run": [*project["project"]["dependencies"], *extras["certificates"], *extras["compile"]],
        **project["dependency-groups"],
    }
    wanted["test"] = [*wanted["test"], *extras["spark"]]
    assert {f"requirements/{name}.lock" for name in wanted} == set(LOCKS)
    for name, requirements in wanted.items():
        locked = {requirement.split("==")[0] for requirement, *_ in entries(f"requirements/{name}.lock")}
        assert {re.match(r"[A-Za-z0-9-]+", each)[0] for each in requirements} <= locked


def test_what_a_user_sets_up_has_no_spark():
    """Spark and its packages are 800 MB, of which a hunt uses nothing."""
    assert not {"pyspark", "pandas", "pyarrow"} & {each.split("==")[0] for each, *_ in entries("requirements/run.lock")}


def test_packages_of_several_locks_have_one_version():
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for requirement, *rest in entries(lock):
            marker = " ".join(word for word in rest if not word.startswith("--hash"))
            if "python_full_version" not in marker:
                versions.setdefault(requirement.split("==")[0], set()).add(requirement)
    assert not {name: found for name, found in versions.items() if len(found) > 1}


def test_an_installation_can_read_the_bitcode_that_the_locked_numba_writes():
    """LLVM reads what an older one has written, not what a newer one has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    locked = dict(requirement.split("==") for requirement, *_ in entries("requirements/run.lock"))
    numba, llvmlite = (".".join(locked[name].split(".")[:2]) for name in ("numba", "llvmlite"))
    assert f"llvmlite>={llvmlite}" in project["project"]["dependencies"]
    assert any(each.startswith(f"numba>={numba},<") for each in project["build-system"]["requires"])
