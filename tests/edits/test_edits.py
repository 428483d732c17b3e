"""After any edit kwalk answers for the model as it is; the fuzzer of edits notices a key that leaves something out."""

from __future__ import annotations

import subprocess
import sys

import pytest

PLANTS = {
    "variables around functions": "meaning.DESCRIBED[types.CellType] = lambda walk, cell: ('cell',)",
    "values of globals": "meaning.mentioned_in = lambda code: frozenset()",
    "constants in code": "meaning.effect_of = lambda code: code.co_code",
    "defaults": "meaning.DESCRIBED[types.FunctionType] = without_defaults",
    "attributes of classes": "meaning._Walk._class = lambda walk, cls: (cls.__name__,)",
    "attributes of modules": "meaning._Walk._read_modules = lambda walk: None",
    "bounds and flags": "model_digest.meaning_key = lambda model: model_digest.digest_of(model.scenario.actions)",
}
"""What a key of caches leaves out, with the statement that makes it do so."""
PLANTED = """
import sys, types
from kwalk.search.kernel import meaning, model_digest
honest = meaning._Walk._function
def without_defaults(walk, function):
    left_out = (function.__defaults__, function.__kwdefaults__)
    walk.ref = lambda thing, ref=walk.ref: ref(None if thing in left_out else thing)
    try:
        yield from list(honest(walk, function))
    finally:
        del walk.ref
{plant}
from tests.edits.__main__ import fuzz
_, different = fuzz(400, 1, print, commands=("exhaust", "reload", "poke"), stop=True)
sys.exit(len(different))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=3600)


def test_no_answer_is_of_the_model_before_an_edit():
    done = run("-m", "tests.edits", "--edits", "6", "--seed", "7")
    assert done.returncode == 0 and "6 edits with seed 7" in done.stdout, done.stdout + done.stderr


@pytest.mark.thorough
def test_no_answer_is_of_the_model_before_one_of_many_edits():
    done = run("-m", "tests.edits", "--edits", "200", "--seed", "8")
    assert done.returncode == 0 and "200 edits with seed 8" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "left_out", [pytest.param(name, marks=[pytest.mark.thorough] * (number > 0)) for number, name in enumerate(PLANTS)]
)
def test_a_key_that_leaves_something_out_is_noticed(left_out):
    done = run("-c", PLANTED.replace("{plant}", PLANTS[left_out]))
    assert done.returncode == 1 and "expected" in done.stdout, done.stdout + done.stderr
