"""Somebody's model with a mistake in it: the message names their file and line, what is wrong, and the remedy."""

from __future__ import annotations

from itertools import count

import pytest

from tests.bad_input.refusals import assert_refused, kwalk, left_in, process
from tests.reports.commands import Ran

__all__ = ["kwalk", "process"]
PRELUDE = """
from typing import Annotated
from kwalk.model.language import Actor, Domain, Scenario, action, always, number, optional, require, state
from kwalk.model.language import Bound, Flag, array, fifo

POTS = Domain("pots")
PLACES = Bound("places")
HOT = Flag("hot")
COOK = Actor("cook", system=False)

@state
class Pot:
    level: int = number(0, 3)
    spice: int | None = optional(number(0, 3))

@action(by=COOK)
def fill(pot: Pot) -> None:
    require(pot.level < 3)
    pot.level += 1

@always()
def low(pot: Pot) -> bool:
    return pot.level < 4

"""
FIRST = PRELUDE.count("\n") + 1
"""The line at which a case begins."""
DECLARED = """
from kwalk.model.language import Bound, array, choice, fifo, flag, fresh, member, subset, value
LAST = Bound("last")

@value
class Message:
    late: bool = flag()

@state
class Bad:
    field: object = {}
"""
USED = """
from enum import Enum
from kwalk.model.language import Bound, choice, fifo, flag, subset
Fire = Enum("Fire", "LOW HIGH")

@state
class Pan:
    held: frozenset = subset(POTS)
    queue: object = fifo(flag(), Bound("queue"))
    fire: Fire = choice(Fire)
    lid: bool = flag()

@action(by=COOK)
def use(pan: Pan) -> None:
    {}

S = Scenario("s", "", Pan, [use], [], bounds={{"pots": 2, "queue": 2}})
"""
NUMBERS = count(1)

ACTIONS = {
    "an unliftable construct": ("while pot.level < 3:\n        pot.level += 1", 0, "the statement While."),
    "a new state that is returned": (
        "return Pot(level=1)",
        -2,
        "a value that the action returns. Instead: a change of",
    ),
    "a guard after an effect": ("pot.level = 1\n    require(pot.level < 3)", 1, "a guard after an effect"),
    "a field that does not exist": ("pot.levle = 1", 0, "no field 'levle'"),
    "a name that does not exist": (
        "pot.level = pott.level",
        0,
        "the name 'pott' has no value here. Instead: pot, if that is what is meant.",
    ),
}


def model(body: str) -> str:
    return f"{PRELUDE}{body}\n"


def scenario(**changed: str) -> str:
    """The source of a scenario with some fields other than they should be."""
    fields = {"name": "'s'", "story": "''", "state": "Pot", "actions": "[fill]", "properties": "[low]"} | changed
    return model(f"S = Scenario({', '.join(f'{name}={value}' for name, value in fields.items())})")


def action(body: str, parameters: str = "", description: str = "''") -> str:
    head = f"@action(by=COOK, description={description})\ndef cook(pot: Pot{parameters}) -> None:\n    "
    return model(f"{head}{body}\n\nS = Scenario('s', '', Pot, [cook], [low], bounds={{'pots': 2}})")


@pytest.fixture
def explored(kwalk, tmp_path):
    """Explore a model from its source; how the command ended, and the file's name."""

    def explore(source: str, command: str = "exhaust", *options: str) -> tuple[Ran, str]:
        name = f"bad_model_{next(NUMBERS)}"
        file = tmp_path / f"{name}.py"
        file.write_text(source)
        ran = kwalk(command, f"{name}:S", *options)
        assert left_in(tmp_path) == {file.name}
        return ran, str(file)

    return explore


@pytest.mark.parametrize(("body", "line", "expected"), ACTIONS.values(), ids=ACTIONS)
def test_what_cannot_be_lifted_is_refused_with_its_line_and_what_to_write_instead(explored, body, line, expected):
    ran, file = explored(action(body))
    assert_refused(ran, f"{file}:{FIRST + 2 + line}: cannot translate this: ", "Instead: ", expected)


def test_a_call_of_what_is_no_model_is_refused_with_the_line_of_the_call(explored):
    ran, file = explored(action("pot.level = randint(0, 3)").replace("\nPOTS", "from random import randint\nPOTS"))
    assert_refused(ran, f"{file}:{FIRST + 2}: cannot translate this: ", "of the class Random. Instead: ")


@pytest.mark.parametrize("command", ["exhaust", "walk", "prove", "hunt"])
def test_an_out_of_domain_write_is_refused_with_the_steps_that_lead_there(explored, command):
    ran, _ = explored(action("pot.level += 1"), command)
    assert_refused(ran, "cook() leaves its domain: Pot.level must be an int in 0 … 3 (got 4)", "after 3 steps: cook()")


def test_none_used_as_a_number_is_refused_with_its_line(explored):
    ran, file = explored(action("pot.level = pot.spice + 1"))
    assert_refused(ran, f"cook() cannot be run: {file}:{FIRST + 2}: TypeError: ", "'NoneType'", "in an initial state")


@pytest.mark.parametrize("command", ["exhaust", "walk", "prove"])
def test_a_next_that_finds_nothing_is_refused_with_its_line_and_what_to_write(explored, command):
    ran, file = explored(action("pot.level = next(n for n in (1, 2, 3) if n == pot.spice)"), command)
    said = f"cook() cannot be run: {file}:{FIRST + 2}: next(…) finds no item, and has no default (StopIteration). "
    assert_refused(ran, said, "`next((x for x in …), None)`", "in an initial state")


def test_a_next_inside_a_generator_is_refused_alike(explored):
    ran, file = explored(action("require(all(next(n for n in POTS if n > m) > 0 for m in POTS))"))
    assert_refused(ran, f"cook() cannot be run: {file}:{FIRST + 2}: next(…) finds no item, and has no default")


def test_an_invariant_that_fails_to_say_yes_or_no_is_refused_with_its_line(explored):
    invariant = "@always()\ndef spicy(pot: Pot) -> bool:\n    return pot.spice + 1 > 0\n\n"
    ran, file = explored(model(f"{invariant}S = Scenario('s', '', Pot, [fill], [spicy])"))
    assert_refused(ran, f"spicy() cannot be run: {file}:{FIRST + 2}: TypeError: ")


def test_an_invariant_that_says_neither_in_a_later_state_only_is_refused_by_a_search_in_plain_python_too(explored):
    invariant = "@always()\ndef spicy(pot: Pot) -> bool:\n    return pot.level < 2 or pot.level\n\n"
    ran, file = explored(model(f"{invariant}S = Scenario('s', '', Pot, [fill], [spicy])"), "exhaust", "--interpreter")
    assert_refused(ran, f"spicy(): {file}:{FIRST}: the property returned 2; return True or False")


def test_an_invariant_that_returns_nothing_is_refused_with_its_line(explored):
    invariant = "@always()\ndef spicy(pot: Pot) -> bool:\n    pot.level > 0\n\n"
    ran, file = explored(model(f"{invariant}S = Scenario('s', '', Pot, [fill], [spicy])"))
    assert_refused(ran, f"{file}:{FIRST}: ", "spicy: the property returns None. Instead: return True or False.")


def test_an_invariant_that_changes_the_state_is_refused(explored):
    invariant = "@always()\ndef emptied(pot: Pot) -> bool:\n    pot.level = 0\n    return pot.level == 0\n\n"
    ran, file = explored(model(f"{invariant}S = Scenario('s', '', Pot, [fill], [emptied])"))
    assert_refused(ran, f"{file}:{FIRST}: ", "emptied changes the state", "Instead: ")


@pytest.mark.parametrize(
    "body, expected",
    [
        ("    require(False)", "has no initial state within its bounds: begin is not"),
        ("    pot.level = 9", "begin() leaves its domain: Pot.level must be an int in 0 … 3 (got 9)"),
        ("    return Pot(level=1)", "begin() cannot be run: TypeError: it returns a value; it changes the state that"),
        ("    pot.level = [][0]", "IndexError: list index out of range. Correct the model there"),
    ],
)
def test_a_beginning_that_does_not_work_is_refused(explored, body, expected):
    begin = f"def begin(pot: Pot) -> None:\n{body}\n\n"
    ran, _ = explored(model(f"{begin}S = Scenario('s', '', Pot, [fill], [low], initial=begin)"))
    assert_refused(ran, expected)


@pytest.mark.parametrize(
    "parameters, expected",
    [
        (", much: int", "parameter 'much' of cook has no domain (its annotation is <class 'int'>). Annotate it with"),
        (", much", "parameter 'much' of cook has no domain"),
        (", much: Annotated[list, array(POTS, fifo(POTS, PLACES))]", "cannot be a fifo in an array or fifo. A"),
        (", much: Annotated[list, array(POTS, array(POTS, Pot))]", "it cannot be a @state class. A parameter"),
        (", much: Annotated[int, number(0, 9, when=HOT)]", "it cannot be a field with when=. A parameter"),
        (", much: 'Annotated[int, PANS]'", "an annotation of cook has no meaning: name 'PANS' is not defined"),
    ],
)
def test_a_parameter_without_a_domain_is_refused_with_the_line_of_its_action(explored, parameters, expected):
    ran, file = explored(action("pot.level = 1", parameters))
    assert_refused(ran, f"{file}:{FIRST}: ", expected)


@pytest.mark.parametrize(
    "source, line, expected",
    [
        (model("S = Scenario("), 0, "SyntaxError: '(' was never closed"),
        (model("import no_such_package"), 0, "ModuleNotFoundError: No module named 'no_such_package'"),
        (model("from kwalk.model.language import acton"), 0, "ImportError: cannot import name 'acton'"),
        (model("\n1 / 0"), 1, "ZeroDivisionError: division by zero"),
        (model("raise SystemExit(0)"), 0, "SystemExit: 0"),
        (action("pot.level = 1", description="'adds {salt}'"), 0, "`description` of cook names {salt}, "),
        (action("pot.level = 1", description="'adds {'"), 0, "`description` of cook: "),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused_with_the_line_that_fails(explored, source, line, expected):
    ran, file = explored(source)
    assert_refused(ran, "Cannot import 'bad_model_", f"{file}:{FIRST + line}: ", expected)


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({"actions": "[fill, fill]"}, "lists the action 'fill' twice"),
        ({"properties": "[low, low]"}, "lists the property 'low' twice"),
        ({"actions": "[]"}, "`actions` must be one or more @action functions (got ())"),
        ({"actions": "fill"}, "`actions` must be one or more @action functions (got <action fill>)"),
        ({"actions": "[print]"}, "`actions` must be one or more @action functions"),
        ({"properties": "[3]"}, "`properties` must be functions declared as properties"),
        ({"state": "dict"}, "`state` must be a class declared with @state (got <class 'dict'>)"),
        ({"initial": "3"}, "`initial` must be a function of the state (got 3)"),
        ({"bounds": "[3]"}, "`bounds` must be a mapping (got [3])"),
        ({"bounds": "{'pots': -1}"}, "`bounds` must be a mapping of names to ints of 0 or more"),
        ({"variants": "{'2.8.2': 3}"}, "`variants` must be a mapping of names to mappings of flags"),
        ({"name": "3"}, "`name` must be a text that is not empty (got 3)"),
    ],
)
def test_a_scenario_with_a_field_of_the_wrong_kind_is_refused_where_it_is_declared(explored, changed, expected):
    ran, file = explored(scenario(**changed))
    assert_refused(ran, f"{file}:{FIRST}: Scenario ", expected)


def test_a_view_is_refused_with_what_serves_its_purposes(explored):
    ran, file = explored(scenario(view="low"))
    assert_refused(ran, f"{file}:{FIRST}: A Scenario has no argument 'view'. ", "`when=`", "--symmetry", "`aliases=`")


def test_an_argument_that_a_scenario_does_not_have_is_refused_with_the_nearest_one(explored):
    ran, file = explored(scenario(constraint="()"))
    said = f"{file}:{FIRST}: No argument of a Scenario named 'constraint'. Did you mean 'constraints'?"
    assert_refused(ran, said)


DECLARATIONS = {
    "a set of a class": ("subset(list)", "subset(…) takes a Domain (got list); a set can also hold records of @value"),
    "a set of records and ints": ("subset(Message, 3)", "subset(…) takes a Domain (got 3); declare one: "),
    "a set of records and members": ("subset(Message, POTS)", "subset(…) takes one Domain, or only @value classes; "),
    "a set of numbers": ("subset(number(0, 5))", "subset(…) takes a Domain (got a field); for numbers, declare"),
    "a member of an int": ("member(3)", "member(…) takes a Domain (got 3); declare one: "),
    "an array over a number": ("array(number(0, 2), flag())", "array(…) takes a Domain (got a field); for numbers"),
    "ids of an Enum": ("fresh(Message)", "fresh(…) takes a Domain (got Message)"),
    "a choice from a domain": ("choice(POTS)", "choice(…) takes an Enum class (got Domain('pots'))"),
    "a number up to a text": ("number(0, 'x')", "number(…): `most` must be an int or a Bound (got 'x')"),
    "a maximum of a bound": ("number(0, max(LAST, 2))", "bound 'last' has no value here", "number(0, LAST + 1)"),
    "a range without its default": ("number(0, 3, default=7)", "number(0, 3): the default 7 is not in the range"),
    "an empty range": ("number(3, 1)", "number(3, 1): the least value comes first"),
    "a number that is too large": ("number(0, 10**30)", "number(…): `most` is 1,000,000,000,000"),
    "a fifo of a fixed size": ("fifo(Message, 2)", "fifo(…, 2): the capacity is a Bound"),
}


@pytest.mark.parametrize("case", DECLARATIONS)
def test_a_field_that_cannot_be_declared_is_refused_with_its_line_and_what_to_write(explored, case):
    declared, *expected = DECLARATIONS[case]
    ran, file = explored(model(DECLARED.format(declared)))
    assert_refused(ran, f"{file}:{FIRST + DECLARED[: DECLARED.index('{}')].count(chr(10))}: ", *expected)


USES = {
    "an element of a queue by its number": ("pan.queue.pop(0)", "pop with these arguments. Instead: `pop()`"),
    "a text as an index": ("pan.lid = pan.queue['x']", "a Fifo indexed with a text. Instead: an Array, Fifo, list"),
    "an append to a queue": ("pan.queue.append(True)", "a Fifo has no attribute 'append'. Instead: `q.push(x)`"),
    "an addition to a set": ("pan.held.add(0)", "attribute 'add' of a set. Instead: `s = s | {x}`"),
    "a removal from a set": ("pan.held.discard(0)", "attribute 'discard' of a set. Instead: `s = s - {x}`"),
    "a method of a constant set": ("pan.held = frozenset().union({0})", "attribute 'union' of a set. Instead: `s | t`"),
    "a loop over a set": ("for n in pan.held: pan.lid = True", "Instead: loop over `sorted(…)` of it"),
    "a truth value as an index": ("pan.lid = sorted(pan.held)[pan.lid] > 0", "indexed with a truth value. Instead: "),
    "an order of sorted sets": ("pan.lid = sorted(pan.held) < [0]", "compared by size with a list. Instead: numbers"),
    "a key of an order": ("pan.lid = bool(sorted(pan.held, key=abs))", "sorted with these arguments. Instead: "),
}


def test_a_field_with_a_type_only_is_refused_also_after_declared_ones(explored):
    ran, _ = explored(model(DECLARED.format("flag()\n    much: int")))
    assert_refused(ran, "Bad.much has no bounded domain; declare it with")


@pytest.mark.parametrize(("decorator", "example"), [("action", "@action(by=CLERK)"), ("always", "@always()")])
def test_a_decorator_without_parentheses_is_refused_with_one_that_has_them(explored, decorator, example):
    ran, _ = explored(model(f"@{decorator}\ndef cook(pot):\n    pass"))
    assert_refused(ran, f"a decorator needs its parentheses, as in {example}")


@pytest.mark.parametrize("case", USES)
def test_what_containers_do_not_have_is_refused_with_what_they_have(explored, case):
    used, expected = USES[case]
    ran, file = explored(model(USED.format(used)))
    assert_refused(ran, f"{file}:{FIRST + USED[: USED.index('{}')].count(chr(10))}: cannot translate this: ", expected)


def test_two_actions_of_one_name_are_refused_with_the_places_of_both(explored):
    again = "\n\nfirst = fill\n\n@action(by=COOK)\ndef fill(pot: Pot) -> None:\n    pot.level = 1\n\n"
    ran, file = explored(model(f"{again}S = Scenario('s', '', Pot, [first, fill], [low])"))
    assert_refused(ran, "has two actions named 'fill': ", f"{file}:{FIRST + 4}. Traces", "rename one of them")


def test_a_bound_without_a_value_is_refused(explored):
    source = action("pot.level = much", ", much: Annotated[int, POTS]").replace("{'pots': 2}", "{}")
    assert_refused(explored(source)[0], "The scenario gives no value to the bound 'pots'; add it to `bounds`.")


def test_a_bound_that_is_misspelt_where_it_is_given_is_named(explored):
    source = action("pot.level = much", ", much: Annotated[int, POTS]").replace("{'pots': 2}", "{'pot': 2}")
    assert_refused(explored(source)[0], "No bound named 'pot'. Did you mean 'pots'?")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"flags": "{'hto': True}"}, "No flag named 'hto'. Did you mean 'hot'?"),
        ({"variants": "{'warm': {}, 'hot': {'hto': True}}"}, "No flag named 'hto'. Did you mean 'hot'?"),
        ({"flags": "{'hot': 'yes'}"}, "Flag 'hot' cannot be 'yes'. Allowed: False, True."),
        ({"flags": "{'hot': 1}"}, "Flag 'hot' cannot be 1. Allowed: False, True."),
    ],
)
def test_a_flag_that_no_module_declares_or_a_setting_that_it_does_not_have_is_refused(explored, given, message):
    """Nothing would read it, and the answer would be about another model than its author means."""
    assert_refused(explored(scenario(**given))[0], message)


def test_a_thing_of_another_kind_in_place_of_the_scenario_is_refused(explored):
    assert_refused(explored(model("S = 'a text'"))[0], "is no Scenario but of type 'str'")


def test_the_command_itself_refuses_a_model_of_the_present_folder_in_the_same_way(process, tmp_path):
    kitchen = tmp_path / "kitchen.py"
    kitchen.write_text(model("S = Scenario("))
    assert_refused(process("exhaust", "kitchen:S"), f"{kitchen}:{FIRST}: SyntaxError")
    kitchen.write_text(action("pot.level += 1"))
    assert_refused(process("exhaust", "kitchen:S"), "cook() leaves its domain")
    assert left_in(tmp_path) == {"kitchen.py"}
