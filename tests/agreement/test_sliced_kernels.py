"""Bit-sliced machine code means what terms, plain Python and the kernel mean, and walks on it are the same walks."""

from __future__ import annotations

import random
from itertools import product

import pytest
from attrs import evolve

from kwalk.model.language import Model
from kwalk.model.language.lift import Terms, lift
from kwalk.model.language.lift.terms import evaluate_terms
from kwalk.search.kernel.compile import lane_functions, planes, transpose
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.compile.gates import COLUMNS, GateNetwork, TermGates, cover
from kwalk.search.kernel.compile.layout import Layout
from kwalk.search.kernel.compile.slices import _fixed_code, _lane_code, compile_slices, sliced_kernel_of
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.simulation.chunks import compare_sliced
from kwalk.search.simulation.options import SimulationOptions
from tests.agreement.sliced_execution import sliced_disagreements
from tests.agreement.zoo import ZOO
from tests.search.post_office import POST_OFFICE
from tests.states import random_states, reachable_states

# Terms and gates.

RANGES = ((0, 1), (0, 3), (-5, 2), (3, 9), (-1, 0), (0, 40), (-70, 70))
"""The ranges of the int leaves of random terms; the leaves after them are Booleans."""
BOOLEANS = 3


def random_layout() -> Layout:
    widths = [(high - low).bit_length() for low, high in RANGES] + [1] * BOOLEANS
    offsets = [sum(widths[:place]) for place in range(len(widths))]
    return Layout(1, tuple(offsets), tuple(widths), (*(low for low, _ in RANGES), *[0] * BOOLEANS))


def random_terms(chance: random.Random, count: int):
    """Terms of all operations over the leaves, those of Booleans and those of ints."""
    t = Terms()
    ints = [t.int_variable(number, low, high) for number, (low, high) in enumerate(RANGES)]
    ints += [t.integer(chance.randint(-9, 9)) for _ in range(3)]
    bools = [t.bool_variable(len(RANGES) + number) for number in range(BOOLEANS)]

    def a_bool():
        return chance.choice(bools)

    def an_int():
        return chance.choice(ints)

    ways = (
        lambda: t.negation(a_bool()),
        lambda: t.conjunction([a_bool() for _ in range(3)]),
        lambda: t.disjunction([a_bool() for _ in range(3)]),
        lambda: t.choose(a_bool(), a_bool(), a_bool()),
        lambda: t.equal(a_bool(), a_bool()),
        lambda: t.equal(an_int(), an_int()),
        lambda: t.less(an_int(), an_int()),
        lambda: t.choose(a_bool(), an_int(), an_int()),
        lambda: t.add(an_int(), an_int()),
        lambda: t.subtract(an_int(), an_int()),
        lambda: t.times(an_int(), chance.randint(-7, 7)),
        lambda: t.quotient(an_int(), chance.randint(1, 11)),
        lambda: t.remainder(an_int(), chance.randint(1, 11)),
    )
    for _ in range(count):
        term = chance.choice(ways)()
        if max(-term.low, term.high) < 2**20:
            (bools if term.is_bool else ints).append(term)
    return bools, ints


def value_of_tables(tables, network, inputs):
    """The values of gates by their tables, as the code computes them."""
    value = {0: 0} | {n: inputs[gate[1]] for n, gate in enumerate(network.gates) if gate[0] == 0 and gate[1] >= 0}
    for table in tables:
        row = sum(value[one] << place for one, place in zip(table.inputs, (2, 1, 0), strict=False))
        value[table.gate] = table.rows >> row & 1
    return value


def numbers_differ(seed: int) -> bool:
    """Whether gates and terms have different values in random states."""
    chance = random.Random(seed)
    layout = random_layout()
    bools, ints = random_terms(chance, 60)
    gates = TermGates(layout, 64)
    bits = [gates.bits(term) for term in (*bools, *ints)]
    tables = cover(gates.network, [literal for each in bits for literal in each])
    for _ in range(12):
        numbers = [chance.randint(low, high) for low, high in RANGES] + [chance.randint(0, 1) for _ in range(BOOLEANS)]
        packed = sum((n - low) << at for n, low, at in zip(numbers, layout.lows, layout.offsets, strict=True))
        value = value_of_tables(tables, gates.network, [packed >> place & 1 for place in range(64)])
        found = [sum((value[bit >> 1] ^ bit & 1) << place for place, bit in enumerate(each)) for each in bits]
        lows = [0 if term.is_bool else term.low for term in (*bools, *ints)]
        expected = evaluate_terms([*bools, *ints], numbers)
        if [n + low for n, low in zip(found, lows, strict=True)] != expected:
            return True
    return False


def test_gates_have_the_values_of_terms():
    assert not any(numbers_differ(seed) for seed in range(40))


NET = {name: getattr(GateNetwork, name) for name in ("less", "sum", "choice", "equal", "conjunction", "division")}
GATE_MISTAKES = {
    "< is >": ("less", lambda net, a, b: NET["less"](net, b, a)),
    "< is <=": ("less", lambda net, a, b: NET["less"](net, b, a) ^ 1),
    "= is !=": ("equal", lambda net, a, b: NET["equal"](net, a, b) ^ 1),
    "carries are lost": (
        "sum",
        lambda net, a, b, width, carry=0: [
            net.difference(x, y) for x, y in zip(planes_of(a, width), planes_of(b, width), strict=True)
        ],
    ),
    "the arms of a choice are swapped": ("choice", lambda net, c, a, b: NET["choice"](net, c, b, a)),
    "and is or": ("conjunction", lambda net, a, b: NET["conjunction"](net, a ^ 1, b ^ 1) ^ 1),
    "quotients are one too large where nothing is left": (
        "division",
        lambda net, a, d: (NET["division"](net, a, d)[0][::-1], NET["division"](net, a, d)[1]),
    ),
}


def planes_of(bits, width):
    return [*bits, *[0] * width][:width]


@pytest.mark.parametrize("name", GATE_MISTAKES)
def test_a_mistake_in_the_mapping_of_terms_to_gates_is_found(name, monkeypatch):
    method, wrong = GATE_MISTAKES[name]
    monkeypatch.setattr(GateNetwork, method, wrong)
    assert any(numbers_differ(seed) for seed in range(40))


def test_a_formula_computes_each_table():
    for rows, formula in planes.formulas().items():
        if formula is None:
            assert rows in (*COLUMNS, 0x00, 0xFF)
        else:
            name, a, b = formula
            assert rows == {"and": a & b, "or": a | b, "xor": a ^ b}[name]
    assert len(planes.formulas()) == 256


def test_gates_of_equal_meaning_are_one_gate():
    net = GateNetwork()
    a, b, c = map(net.input, range(3))
    assert net.conjunction(a, b) == net.conjunction(b, a) and net.difference(a ^ 1, b) == net.difference(a, b) ^ 1
    assert net.conjunction(a, net.conjunction(a, b)) == net.conjunction(a, b)
    assert net.choice(a ^ 1, b, c) == net.choice(a, c, b) and net.choice(a, b ^ 1, c ^ 1) == net.choice(a, b, c) ^ 1
    for x, y in product((0, 1), repeat=2):
        assert net.conjunction(x, y) == x & y and net.difference(x, y) == x ^ y


# Machine code.


def sliced(model: Model, lanes: int | None = None):
    lifted = lift(model)
    kernel = kernel_for(model, lifted)
    return evolve(kernel, sliced=sliced_kernel_of(model, compile_slices(model, lifted, lanes=lanes))), lifted


def compared_states(model: Model, count: int):
    return [*reachable_states(model, count, seed=1), *random_states(model, count, seed=2)]


def test_sliced_code_agrees_with_plain_python_on_every_construct():
    model = Model(ZOO)
    kernel, lifted = sliced(model)
    states = [*model.initial, *random_states(model, 100, seed=2)]
    assert next(sliced_disagreements(model, states, kernel=kernel, lifted=lifted), None) is None


@pytest.mark.parametrize("lanes", [128, 256, 512])
def test_planes_of_any_width_agree_with_plain_python(lanes):
    model = Model(POST_OFFICE)
    kernel, lifted = sliced(model, lanes)
    states = list(dict.fromkeys([*reachable_states(model, 50, seed=1), *random_states(model, lanes + 88, seed=2)]))
    assert len(states) > lanes and len(states) % lanes
    assert next(sliced_disagreements(model, states, kernel=kernel, lifted=lifted), None) is None


def test_code_of_many_short_basic_blocks_and_units_agrees_with_plain_python(monkeypatch):
    monkeypatch.setattr(planes, "BLOCK", 3)
    monkeypatch.setattr(planes, "UNIT", 20)
    model = Model(POST_OFFICE)
    kernel, lifted = sliced(model)
    assert next(sliced_disagreements(model, compared_states(model, 40), kernel=kernel, lifted=lifted), None) is None


def _formula(rows: int, wrong: tuple[str, int, int]):
    real = planes.formulas()
    return lambda patch: patch.setattr(planes, "formulas", lambda: {**real, rows: wrong})


CODE_MISTAKES = {
    "and is or in a table": _formula(0xC0, ("or", 0xF0, 0xCC)),
    "a transposition is one step short": lambda patch: patch.setattr(transpose, "STEPS", (32, 16, 8, 4, 2, 2)),
    "bounds are dropped": lambda patch: patch.setattr(planes, "ConditionKind", type("No", (), {"BOUND": None})),
    "quiescent properties count in every state": lambda patch: patch.setattr(
        planes, "Kind", type("No", (), {"STEP": planes.Kind.STEP, "WHEN_QUIESCENT": None})
    ),
    "step properties read the state after the step twice": lambda patch: patch.setattr(
        TermGates, "field", lambda self, variable, real=TermGates.field: real(self, variable % len(self.layout.offsets))
    ),
}


@pytest.fixture
def fresh_code():
    """Machine code that does not depend on the model is compiled in this test, and not kept."""
    _fixed_code.cache_clear()
    _lane_code.cache_clear()
    yield
    _fixed_code.cache_clear()
    _lane_code.cache_clear()


@pytest.mark.parametrize("name", CODE_MISTAKES)
def test_a_mistake_in_sliced_code_is_found(name, monkeypatch, fresh_code):
    model = Model(POST_OFFICE)
    CODE_MISTAKES[name](monkeypatch)
    kernel, lifted = sliced(model)
    plan = SimulationOptions(keep_going=True).plan(model, kernel)
    try:
        found = next(sliced_disagreements(model, compared_states(model, 100), kernel=kernel, lifted=lifted), None)
        compare_sliced(kernel, plan, range(200))
    except (AssertionError, EngineDisagreement) as error:
        found = error
    assert found is not None


LANE_MISTAKES = {
    "random numbers are mixed differently": ("SHIFTS", (30, 27, 30)),
    "the numbers of candidates are transposed one step short": ("EIGHTH", lane_functions.EIGHTH[:2]),
    **{
        f"{name} does nothing": (f"_{name}", name)
        for name in (
            "draw",
            "candidates",
            "prefer",
            "choose",
            "step",
            "note",
            "hash_rows",
            "hash_states",
            "total",
            "blend",
            "keep",
        )
    },
}


@pytest.mark.parametrize("name", LANE_MISTAKES)
def test_a_mistake_in_the_code_of_walks_that_stay_in_their_lanes_is_found(name, monkeypatch, fresh_code):
    attribute, wrong = LANE_MISTAKES[name]
    if attribute == f"_{wrong}":
        real = getattr(lane_functions, attribute)
        wrong = lambda *given: real(*given).partition("\n")[0] + "\n  ret void\n}\n"  # noqa: E731
    monkeypatch.setattr(lane_functions, attribute, wrong)
    kernel, _ = sliced(Model(POST_OFFICE))
    assert kernel.sliced.is_resident
    plan = SimulationOptions(keep_going=True, swarm=True, count_states=True).plan(Model(POST_OFFICE), kernel)
    with pytest.raises(EngineDisagreement):
        compare_sliced(kernel, plan, range(1000))
