"""Ports of published TLA+ specifications beside TLC on the originals: distinct states a second, and the same counts.

`python -m bench` measures them as the work `ports`; `python -m bench.ports NAME` is one run of kwalk, for a process of
its own. TLC's generated states are kwalk's and its bound hits and TLC's repetitions.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attrs import frozen

from bench import building, reading
from bench.kwalk_once import searched
from bench.measure import in_words
from bench.reference import PEERS, Reading
from bench.rounds import WrongCount
from bench.running import Failed, NotFinished, run
from bench.table import aligned
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import fast_kernel_for

ORIGINALS = PEERS / "tla" / "examples"
HEAD = ("port", "distinct", "kwalk: generated", "states/s", "TLC: generated", "states/s", "kwalk ÷ TLC")


@frozen
class Port:
    """A scenario and its original: the module that TLC reads, its configuration, and what TLC counts."""

    scenario: str
    bounds: Mapping[str, int]
    module: str
    configuration: str
    distinct: int
    generated: int
    """By kwalk: bound hits and repetitions are not among them."""
    by_tlc: int


PORTS = (
    Port(
        "ewd998",
        {"nodes": 3},
        "EWD998",
        "SPECIFICATION Spec\nCONSTANT N = 3\nCONSTRAINT StateConstraint\nINVARIANTS TerminationDetection Inv TypeOK\n",
        distinct=1_520_618,
        generated=8_900_621,
        by_tlc=11_238_019,
    ),
    Port(
        "checkpoint-lease",
        {"nodes": 3, "numbers": 2},
        "MCCheckpointCoordination",
        "SPECIFICATION Spec\nCONSTANTS\nNode = {n1, n2, n3}\nMajority = 2\nMaxLog = 2\nMaxNat = 5\nNat <- MCNat\n"
        "LogIndex <- MCLogIndex\nNoNode = NoNode\nNoCheckpointLease = NoCheckpointLease\nCONSTRAINT StateConstraint\n"
        "INVARIANTS TypeInvariant SafetyInvariant\n",
        distinct=204_224,
        generated=4_881_157,
        by_tlc=5_049_541,
    ),
)


def searched_once(port: Port) -> str:
    """A complete search by kwalk on one core, with all properties but liveness checked, as words."""
    model = Model(find_scenario(port.scenario), bounds=port.bounds)
    return searched(model, fast_kernel_for(model), 1, [p for p in model.properties if not p.kind.is_liveness])


def lines(rounds: int, seconds: float, report: Callable[[str], None]) -> Iterator[str]:
    """The section of the ports: a table with the medians of all rounds, or why there is none.

    Raises:
        WrongCount: kwalk or TLC counted other states than the port has.
    """
    yield from ("## Ports of TLA+ specifications, exhaustive, one core, distinct states/s", "")
    try:
        rows = [_row(port, rounds, seconds, report) for port in PORTS]
    except (building.Missing, NotFinished, Failed, reading.Unreadable) as absent:
        yield from (f"Left out: {absent}", "")
        return
    yield from aligned([HEAD, *rows])
    yield from ("", "Safety properties only; TLC's seconds are those of its process.", "")


def _row(port: Port, rounds: int, seconds: float, report: Callable[[str], None]) -> tuple[str, ...]:
    ways: dict[str, tuple[tuple[str, ...], Callable[..., Reading], int]] = {
        "kwalk": ((sys.executable, "-m", "bench.ports", port.scenario), reading.search, port.generated),
        "TLC": (tlc_command(port), reading.tlc_search, port.by_tlc),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name, (command, read, generated) in ways.items():
            found = read(run(command, seconds))
            if found.counts != (port.distinct, generated):
                raise WrongCount(f"{name} counted {found.counts} in {port.scenario}, not {port.distinct, generated}.")
            rates[name].append(found.rate)
            report(f"round {number + 1}: {name}, {port.scenario}: {found}")
    own, other = (statistics.median(rates[name]) for name in ways)
    counts = f"{port.distinct:,}", f"{port.generated:,}", in_words(own), f"{port.by_tlc:,}", in_words(other)
    return (port.scenario, *counts, f"{own / other:.3g}")


def tlc_command(port: Port) -> tuple[str, ...]:
    """The command that runs TLC on the original, with its modules and configuration in a folder of its own."""
    folder = building.BUILT / f"tlc-{port.module}"
    shutil.copytree(ORIGINALS, folder, dirs_exist_ok=True)
    configuration: Path = folder / f"{port.module}.cfg"
    configuration.write_text(port.configuration, encoding="utf-8")
    start = (*building.tlc_machine(), "-deadlock", "-workers", "1")
    return (*start, str(folder / f"{port.module}.tla"))


if __name__ == "__main__":
    (asked,) = sys.argv[1:]
    print(searched_once(next(port for port in PORTS if port.scenario == asked)))
