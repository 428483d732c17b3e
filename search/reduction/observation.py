"""What random walks meet of the relations between cases, before Z3 is asked about the rest."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.language import Model
from search.kernel import Kernel
from search.loops.observing import EVERY, Watch, meetings, observe
from search.reduction.cases import Case
from search.reduction.code import NAME, loaded, words_for
from search.reduction.relations import Seen

STEPS = 100_000
LONGEST = 150
"""Steps of one walk."""
MOST_MET = 300_000
"""Meetings of two cases that are kept, at most."""
SEED = 88_172_645_463_325_252


def observed(model: Model, kernel: Kernel, cases: Sequence[Case], atoms: int, code: Sequence[bytes]) -> Seen:
    """What STEPS steps of walks show; the same for every run."""
    machine, count = loaded(code), len(cases)
    words, case_words, atom_words = kernel.words, words_for(count), words_for(atoms)
    instances = np.array([case.instance for case in cases], np.int64)
    clashes = np.zeros((count, case_words), np.uint64)
    raises = np.zeros((count, atom_words), np.uint64)
    after, spare = np.zeros(words * count, np.uint64), np.zeros(2 * words, np.uint64)
    rows = np.zeros((count + 1) * (atom_words + case_words), np.uint64)
    kept = np.zeros((-(-STEPS // EVERY), words), np.uint64)
    arrays = (instances, clashes, raises, after, rows, spare, kept)
    watch = Watch(
        words, count, case_words, atom_words, kernel.apply, machine.addresses[NAME],
        *(array.ctypes.data for array in arrays),
    )  # fmt: skip
    starts = kernel.pack(np.array(model.initial, np.int64).reshape(len(model.initial), -1))
    observe(watch, starts, starts[0].copy(), (STEPS, LONGEST, SEED))
    met = np.zeros((MOST_MET, 4), np.int32)
    count = meetings(watch, kept, met)
    states = np.vstack([starts, kept])
    met[:, 0] += len(starts)
    return Seen(_masks(clashes), _masks(raises), states, met[:count].copy())


def _masks(rows: np.ndarray) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in rows]
