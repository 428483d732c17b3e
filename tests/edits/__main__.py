"""Edit random projects of users at random, and compare what kwalk answers before and after with what is expected.

    python -m tests.edits --edits 2000 --seed 1

All projects share one cache. A child process is forked for each command, which has not imported the project; a part of
the commands run as new processes, and a part of the edits happen within a process, by loading modules again, by
assigning to what a module has, or by calling a factory again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path
from types import FunctionType
from typing import Any

import kwalk
import kwalk.model.language.lift
import kwalk.search.analyses.mutation.mutate as mutation
import kwalk.search.exhaustive.checkpoint
import kwalk.search.exhaustive.search
import kwalk.search.kernel.compile.compiler
import kwalk.search.proof.prove
import kwalk.search.simulation.walk
from kwalk.model.language import Model, UsageError
from kwalk.model.language.fix import Trial
from kwalk.search.base.journal import Journal
from kwalk.search.base.options import CheckpointOptions
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.kernel.model_digest import cache_key
from tests.edits.project import POKES, ROUTES, Project, random_edit, random_project

Answer = list[Any]
PROJECT_MODULES = ("main", "dep", "far", "pkg", "pkg.sub", "stars", "records", "base", "others", "turtle")


class Difference(AssertionError):
    """kwalk does not answer what is expected."""


def write(project: Project, folder: Path) -> None:
    """Write the files of a project, and set the environment."""
    shutil.rmtree(folder, ignore_errors=True)
    files = project.files()
    for name, lines in files.texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    os.environ.update(files.environment)


def in_child(work: Callable[[], Any]) -> Any:
    """Return what a function returns in a forked process, as JSON has it."""
    read, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = work()
        except BaseException as error:
            result = [f"{type(error).__name__}: {error}"[:600]]
        os.write(send, json.dumps(result).encode())
        os._exit(0)
    os.close(send)
    with open(read, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return json.loads(content)


def loaded(folder: Path) -> Any:
    """Return the main module of a project, as its files are now."""
    names = [name for name in sys.modules if name in PROJECT_MODULES or name.startswith(("alternative", "maker_"))]
    for name in names:
        del sys.modules[name]
    if sys.path[0] != str(folder):
        sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    return importlib.import_module("main")


def answer(verdict: Any) -> Answer:
    """Return the part of a verdict that is expected."""
    if verdict.counterexample is not None:
        return ["violated", verdict.counterexample.length]
    return [verdict.answer.value, verdict.distinct_states]


# Commands: each takes a project before and after an edit, and raises Difference.


def require(found: Answer, project: Project, what: str) -> None:
    """Raise Difference unless an answer is the expected one."""
    if found != list(project.expected):
        raise Difference(f"{what}: {found}, expected {list(project.expected)}")


def searched(folder: Path, **options: Any) -> Callable[[], Answer]:
    """Return the function that searches a project."""
    return lambda: answer(kwalk.search.exhaustive.search.exhaust(Model(loaded(folder).SC), **options))


def exhaust(before: Project, after: Project, name: str, folder: Path) -> None:
    """Search before and after in processes of their own."""
    for project in (before, after):
        write(project, folder)
        require(in_child(searched(folder)), project, "exhaust")


def reload(before: Project, after: Project, name: str, folder: Path) -> None:
    """Search, load the edited modules again, and search in the same process."""

    def work() -> list[Answer]:
        answers = []
        for project in (before, after):
            write(project, folder)
            answers.append(searched(folder)())
        return answers

    for project, found in zip((before, after), in_child(work), strict=True):
        require(found, project, "exhaust after loading again")


def poke(before: Project, after: Project, name: str, folder: Path) -> None:
    """Search, assign to what a module has (or call the factory again), and search in the same process."""
    statement = POKES.get(before.routes[name], "")
    if name not in before.arguments and not statement:
        return reload(before, after, name, folder)
    write(before, folder)

    def work() -> list[Answer]:
        main = loaded(folder)
        first = answer(kwalk.exhaust(main.SC))
        if name in before.arguments:
            scenario = main.build(**{name: after.knobs[name]})
        else:
            exec(statement.replace("NAME", name), {"K": after.knobs[name]})
            scenario = main.SC
        return [first, answer(kwalk.exhaust(scenario))]

    for project, found in zip((before, after), in_child(work), strict=True):
        require(found, project, f"exhaust after {statement or 'another call of the factory'}")
    return None


def hot(before: Project, after: Project, name: str, folder: Path) -> None:
    """Give functions that are in use the code of the edited files, as tools that load modules again do.

    What is then searched is what plain Python executes, which is neither of the projects if a class has changed.
    """
    write(before, folder)

    def work() -> list[Answer]:
        main = loaded(folder)
        kwalk.exhaust(main.SC)
        old = {name: dict(vars(module)) for name, module in sys.modules.items() if name in PROJECT_MODULES}
        write(after, folder)
        new = loaded(folder)
        for module, names in old.items():
            for name, thing in names.items():
                function = getattr(thing, "function", thing)
                other = getattr(sys.modules.get(module), name, None)
                other = getattr(other, "function", other)
                if not isinstance(function, FunctionType) or not isinstance(other, FunctionType):
                    continue
                if len(function.__closure__ or ()) == len(other.__closure__ or ()):
                    function.__code__, function.__defaults__ = other.__code__, other.__defaults__
        sys.modules["main"] = main
        model = Model(main.SC)
        plain = kwalk.search.exhaustive.search.exhaust(model, kernel=interpreted_kernel(model), compare=False)
        return [answer(plain), answer(kwalk.exhaust(main.SC)), answer(kwalk.exhaust(new.SC))]

    plain, found, again = in_child(work)
    require(again, after, "exhaust of modules that were loaded again")
    if plain != found:
        raise Difference(f"exhaust after functions got other code: {found}, in plain Python {plain}")


def command_line(before: Project, after: Project, name: str, folder: Path) -> None:
    """Search with the command line."""
    for project in (before, after):
        write(project, folder)
        command = [sys.executable, "-m", "kwalk.reports.command_line", "exhaust", "main:SC", "--json", "--out", "out"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ)
        try:
            said = json.loads(done.stdout)
        except ValueError:
            raise Difference(f"the command line prints {done.stdout!r} {done.stderr!r}") from None
        length = next((one["length"] for one in said["findings"]), None)
        found = ["violated", length] if said["verdict"] == "violated" else [said["verdict"], said["distinct_states"]]
        require(found, project, "kwalk exhaust")


def reduced(before: Project, after: Project, name: str, folder: Path) -> None:
    """Search with partial-order reduction, whose plan is cached."""
    for project in (before, after):
        write(project, folder)
        found = in_child(searched(folder, reduce=True))
        if found[0] != project.expected[0]:
            raise Difference(f"exhaust --reduce: {found}, expected {project.expected}")


def walked(before: Project, after: Project, name: str, folder: Path) -> None:
    """Walk at random: what a walk finds exists, and within 500 walks of small graphs it finds what exists."""
    for project in (before, after):
        write(project, folder)
        found = in_child(lambda: [kwalk.walk(loaded(folder).SC, walks=500, depth=60, seed=1).answer.value])
        if found[0] == "violated" != project.expected[0] or found[0] not in ("violated", "holds", "undecided"):
            raise Difference(f"walk: {found}, expected {project.expected}")


def proved(before: Project, after: Project, name: str, folder: Path) -> None:
    """Prove, or find the shortest counterexample."""

    def work() -> Answer:
        verdict = kwalk.prove(loaded(folder).SC, seconds=20)
        length = None if verdict.counterexample is None else verdict.counterexample.length
        return [verdict.answer.value, length]

    for project in (before, after):
        write(project, folder)
        found = in_child(work)
        kind, length = project.expected
        if found[0] not in (kind, "undecided") or (found[0] == "violated" and found[1] != length):
            raise Difference(f"prove: {found}, expected {project.expected}")


def resumed(before: Project, after: Project, name: str, folder: Path) -> None:
    """Stop a search, and resume it after the edit: it is refused, or answers what is expected."""
    saved = folder.with_name("saved")
    shutil.rmtree(saved, ignore_errors=True)
    write(before, folder)
    first = in_child(searched(folder, checkpoint=CheckpointOptions(saved), seconds=0.0))
    if not (saved / "manifest.json").exists():
        require(first, before, "exhaust with a checkpoint")
        return
    write(after, folder)

    def work() -> Answer:
        try:
            return searched(folder, checkpoint=CheckpointOptions(saved, resume=True))()
        except UsageError as error:
            return ["refused", str(error)]

    found = in_child(work)
    if found[0] == "refused" and "is of another search" in found[1] and before.expected != after.expected:
        return
    if found[0] == "refused" and before.knobs != after.knobs:
        return  # an edit that is not seen in the answer is a change all the same
    require(found, after, "exhaust --resume")


def mutated(before: Project, after: Project, name: str, folder: Path) -> None:
    """Mutate before the edit, and reuse the outcomes after it: they are those of a run that reuses nothing."""

    def outcomes(saved: Journal[Any] | None) -> dict[str, str]:
        baselines = mutation.baselines_of([Trial(loaded(folder).SC, ())])
        results = mutation.mutate(mutation.mutants_on(baselines)[:6], baselines, journal=saved)
        return {one.mutant.id: one.outcome.status.value for one in results if one.outcome}

    def work() -> list[dict[str, str]]:
        saved = mutation.mutation_journal(folder.parent)
        saved.cut(0)
        write(before, folder)
        outcomes(saved)
        write(after, folder)
        return [outcomes(saved), outcomes(None)]

    both = in_child(work)
    if len(both) != 2 or both[0] != both[1]:
        raise Difference(f"mutate: with saved outcomes {both[0]}, without {both[1:]}")


def identified(before: Project, after: Project, name: str, folder: Path) -> None:
    """Compare keys: they differ where answers do. Nightly folders, audits and plans have them."""
    keys = []
    for project in (before, after):
        write(project, folder)
        keys.append(in_child(lambda: [cache_key(Model(loaded(folder).SC))])[0])
    if (keys[0] == keys[1]) and before.expected != after.expected:
        raise Difference(f"both have the key {keys[0]}, expected {before.expected} and {after.expected}")


def without_meaning(before: Project, after: Project, name: str, folder: Path) -> None:
    """Edit comments and empty lines: the answer is the same, and nothing is compiled."""
    write(before, folder)
    require(in_child(searched(folder)), before, "exhaust")
    compiled = kernel_keys()
    write(before.with_noise(1 + hash(name) % 1000), folder)
    require(in_child(searched(folder)), before, "exhaust after an edit of comments")
    if kernel_keys() != compiled:
        raise Difference("an edit of comments compiles the model again")


def kernel_keys() -> set[str]:
    """Return the keys of the kernels in the cache; a slow search replaces one by a faster one of the same key."""
    return {path.name.partition("-")[0] for path in (Path(os.environ["KWALK_CACHE"]) / "kernels").iterdir()}


COMMANDS: dict[str, tuple[int, Callable[[Project, Project, str, Path], None]]] = {
    "exhaust": (25, exhaust),
    "reload": (15, reload),
    "poke": (15, poke),
    "hot": (5, hot),
    "resume": (10, resumed),
    "reduce": (5, reduced),
    "walk": (5, walked),
    "prove": (3, proved),
    "keys": (7, identified),
    "comments": (5, without_meaning),
    "mutate": (3, mutated),
    "command line": (2, command_line),
}
"""The commands by name, each with its weight."""


def fuzz(
    edits: int,
    seed: int,
    report: Callable[[str], None],
    *,
    seconds: float = inf,
    commands: tuple[str, ...] = (),
    stop: bool = False,
) -> tuple[Counter[str], list[str]]:
    """Make random edits.

    Args:
        edits: How many.
        seed: The seed.
        report: Receives differences, and progress after each hundred edits.
        seconds: The most seconds that it takes.
        commands: The names of the commands to use; empty for all.
        stop: Whether to stop at the first difference.

    Returns:
        How many edits of each command there were, and the differences.
    """
    done, different, began = Counter[str](), list[str](), time.monotonic()
    names = commands or tuple(COMMANDS)
    with tempfile.TemporaryDirectory() as place:
        os.environ["KWALK_CACHE"] = f"{place}/cache"
        folder = Path(place) / "project"
        while sum(done.values()) < edits and time.monotonic() - began < seconds and not (stop and different):
            number = sum(done.values())
            state = f"{seed}.{number}"
            chance = random.Random(state)
            name, before, after = random_edit(random_project(chance), chance, [*ROUTES][number % len(ROUTES)])
            command = chance.choices(names, [COMMANDS[each][0] for each in names])[0]
            try:
                COMMANDS[command][1](before, after, name, folder)
            except Difference as difference:
                different.append(
                    f"edit {state}, {command}: {name} ({before.routes[name]}, {before.style}) {before.knobs[name]} → "
                    f"{after.knobs[name]}: {difference}"
                )
                report(different[-1])
            done[command] += 1
            if number % 100 == 99:
                report(f"{number + 1} edits, {len(different)} differences, {time.monotonic() - began:.0f} s")
    return done, different


def main() -> int:
    """Run the fuzzer of edits; return 1 if there is a difference."""
    options = argparse.ArgumentParser(prog="python -m tests.edits", description=__doc__.splitlines()[0])
    options.add_argument("--edits", type=int, default=100, help="how many edits")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=3600.0, help="the most seconds that it takes")
    given = options.parse_args()
    done, different = fuzz(given.edits, given.seed, lambda line: print(line, flush=True), seconds=given.seconds)
    counts = ", ".join(f"{name} {count}" for name, count in done.most_common())
    print(f"{sum(done.values())} edits with seed {given.seed} ({counts}): {len(different)} differences.")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
