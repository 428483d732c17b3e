"""The cache of plans: one file per model and CPU, written whole or not at all; a broken one counts as absent."""
from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path

import numpy as np
import z3
from attrs import astuple, fields

from model.language import Model
from search.compile.fingerprint import fingerprint
from search.compile.machine_code import cpu
from search.kept_files import keep, place
from search.kernel import Kernel
from search.progress import Report, silent
from search.prove import terms
from search.reduction.plan import Plan, Planner
from search.reduction.relations import PairCounts

NO_PART = ("__init__.py", "account.py", "cache.py")
"""Sources here that plans do not depend on: they use them."""
ARRAYS = tuple(f.name for f in fields(Plan) if f.name not in ("code", "pairs", "seconds"))


def plan_of(model: Model, kernel: Kernel, report: Report = silent) -> Plan:
    """The plan of a model, from the cache or worked out, which takes minutes for a large model."""
    path = place("reductions", f"{fingerprint(model, cpu() + _sources())}.npz")
    plan = _load(path)
    if plan is None:
        plan = Planner(model, kernel, report).plan()
        _save(path, plan)
    return plan


@cache
def _sources() -> str:
    """What plans depend on besides the model: the sources that make them, and Z3."""
    digest = hashlib.blake2b(z3.get_full_version().encode(), digest_size=16)
    here = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name not in NO_PART)
    for path in (*here, Path(__file__).parents[1] / "loops" / "observing.py", Path(terms.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _load(path: Path) -> Plan | None:
    try:
        with np.load(path, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in ARRAYS}
            code = tuple(kept[f"code{n}"].tobytes() for n in range(int(kept["codes"])))
            pairs = PairCounts(*(int(count) for count in kept["pairs"]))
            return Plan(**arrays, code=code, pairs=pairs, seconds=float(kept["seconds"]))
    except Exception:  # no folder, no file, or a broken one: whatever it is, working it out anew is the remedy
        return None


def _save(path: Path, plan: Plan) -> None:
    buffer = io.BytesIO()
    arrays = {name: getattr(plan, name) for name in ARRAYS}
    codes = {f"code{n}": np.frombuffer(code, np.uint8) for n, code in enumerate(plan.code)}
    counts = np.array(astuple(plan.pairs), np.int64)
    np.savez_compressed(buffer, **arrays, **codes, codes=len(plan.code), pairs=counts, seconds=plan.seconds)  # type: ignore[arg-type]
    keep(path, buffer.getvalue())
