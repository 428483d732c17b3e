"""Building the peers in build/bench, each by its own tools; what cannot be had is Missing, with the reason.

A peer is rebuilt when its source is newer than its program; cargo does that by itself.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.reference import PEERS, ROOT, Bounds
from bench.running import last_line

BUILT = ROOT / "build" / "bench"
JAR = "tla2tools.jar"
TLC_CONFIGURATION = """INIT Init
NEXT Next
CHECK_DEADLOCK FALSE
CONSTANTS B={} P={} MAXID={} K={} R={}
"""
SIZES = ("B", "P", "MAXID", "K", "R")
"""What the C source calls the bounds."""


PARTS = ("kwalk", "model", "invariants", "search", "clusters", "reports")
"""The folders of kwalk's own modules."""


class Missing(Exception):
    """A tool that this machine does not have, or that could not be built; the reason."""


def kwalk() -> None:
    """The byte code of kwalk itself, which an installation writes, and a run of a benchmark does not."""
    for part in PARTS:
        compileall.compile_dir(ROOT / part, quiet=1)


def c(bounds: Bounds, *, checked: bool) -> Path:
    """The C search and walker; `checked` has it evaluate both invariants in each state of a search."""
    compiler, source = _program("cc"), PEERS / "c" / "topicid.c"
    binary = BUILT / f"c-{bounds}-{'checked' if checked else 'unchecked'}"
    if _is_older(binary, source):
        defined = [f"-D{name}={value}" for name, value in zip(SIZES, bounds.words, strict=True)]
        options = ["-O3", "-march=native", "-mcx16", "-pthread", "-w", *defined, f"-DINV={int(checked)}"]
        _make([compiler, *options, str(source), "-o", str(binary)], BUILT)
    return binary


def stateright() -> Path:
    """The Stateright program, with the crates of its lock file."""
    cargo, target = _program("cargo"), BUILT / "stateright"
    manifest = PEERS / "stateright" / "Cargo.toml"
    _make(
        [
            cargo,
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--manifest-path",
            str(manifest),
            "--target-dir",
            str(target),
        ],
        BUILT,
    )
    return target / "release" / "topicid-core"


def pan(bounds: Bounds, invariant: str | None = None) -> Path:
    """The exact verifier that SPIN makes of the Promela text, without reduction.

    It searches depth first, or with an invariant, I1 or I2, for that, breadth first.
    """
    spin, compiler, generator = _program("spin"), _program("cc"), PEERS / "spin" / "gen.py"
    folder = BUILT / f"spin-{bounds}-{invariant or 'unchecked'}"
    extra, search = ((invariant, "bfs"), ["-DBFS"]) if invariant else ((), [])
    verifier = folder / "pan"
    if _is_older(verifier, generator):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.pml").write_text(_make([sys.executable, str(generator), *bounds.words, *extra], folder))
        _make([spin, "-a", "model.pml"], folder)
        options = ["-O2", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", "-w", "-Wno-int-conversion", *search]
        _make([compiler, *options, "-o", "pan", "pan.c"], folder)
    return verifier


def tlc(bounds: Bounds, invariant: str | None = None) -> tuple[list[str], Path]:
    """The start of a command that runs TLC, and the specification to name at its end, with its configuration."""
    folder = BUILT / f"tlc-{bounds}-{invariant or 'unchecked'}"
    folder.mkdir(parents=True, exist_ok=True)
    specification = Path(shutil.copy(PEERS / "tla" / "TopicIdCore.tla", folder))
    checked = f"INVARIANT {invariant}\n" if invariant else ""
    specification.with_suffix(".cfg").write_text(TLC_CONFIGURATION.format(*bounds.words) + checked)
    return tlc_machine(), specification


def tlc_machine() -> list[str]:
    """The start of a command that runs TLC, without a specification."""
    java, jar = _program("java"), tla2tools()
    machine = ["-XX:+UseParallelGC", "-Xmx3g", "-XX:MaxDirectMemorySize=2g"]
    return [java, *machine, "-cp", str(jar), "tlc2.TLC", "-metadir", "states"]


def tla2tools() -> Path:
    """TLC's archive: the one that TLA2TOOLS names, or the one in build/bench."""
    named = os.environ.get("TLA2TOOLS")
    jar = Path(named) if named else BUILT / JAR
    if not jar.is_file():
        where = f"TLA2TOOLS is {named}, which is no file" if named else f"no build/bench/{JAR}"
        raise Missing(f"{where}: name one (TLA2TOOLS=…/{JAR}), or build it with bench/peers/build_tlc.sh")
    return jar.resolve()


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Missing(f"no {name} on the path")
    return found


def _is_older(built: Path, source: Path) -> bool:
    return not built.exists() or built.stat().st_mtime < source.stat().st_mtime


def _make(command: Sequence[str], folder: Path) -> str:
    """Run a step of building and return what it printed; Missing if it fails."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"building: {Path(command[0]).name} for {folder.relative_to(ROOT)}", file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{Path(command[0]).name} failed: {last_line(done.stderr or done.stdout)}")
    return done.stdout
