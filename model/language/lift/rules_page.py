"""The page of the reference that lists the rules of lifting, generated from the tables that lifting uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kwalk.model.language.lift.access import CONTAINER_OPERATIONS
from kwalk.model.language.lift.calls import BUILTINS
from kwalk.model.language.lift.expressions import EXPRESSIONS
from kwalk.model.language.lift.kinds import ValueKind
from kwalk.model.language.lift.rules import ARITHMETIC, DATA, REFUSALS, RULES, SCALARS, Operation
from kwalk.model.language.lift.statements import STATEMENTS

HEAD = """# Rules by operation

Each value has one kind, and each operation one rule for each kind of operand, or pair of kinds. Lifting refuses a
value of no kind listed here (a float, a dict, an IntEnum, …) and an operation without a rule. Where None is among the
kinds of an arithmetic operation, meeting None is an error of the model, as it is in Python. `//` and `%` need a
constant divisor, `*` a constant on one side.

`make docs` writes this page from the tables that lifting uses.
"""
GROUPS = (("*data*", DATA), ("*scalars*", SCALARS), ("*numbers*", ARITHMETIC))
"""Names of groups of kinds, the larger ones first."""


def page() -> str:
    """Return the text of the page."""
    lines = [
        HEAD,
        *(f"- {name}: {', '.join(kind.value for kind in kinds)}." for name, kinds in reversed(GROUPS)),
        "",
        "| operation | operands that have a rule | otherwise write |",
        "|---|---|---|",
        *map(_row, Operation),
        "",
        f"Builtins and functions of kwalk: {_code(builtin.__name__ for builtin in BUILTINS)}.",
        f"Operations of containers: {_code(name for names in CONTAINER_OPERATIONS.values() for name in names)}.",
        f"Syntax of statements: {_code(_public(STATEMENTS))}.",
        f"Syntax of expressions: {_code(_public(EXPRESSIONS))}.",
        "",
        "Refused for another reason than the kinds of operands (`…` stands for a name, a value or its kind):",
        "",
        *(f"- {topic}: {'; '.join(phrases)}.".replace("*", "\\*") for topic, phrases in REFUSALS.items()),
    ]
    return "\n".join(lines) + "\n"


def _public(table: Iterable[type]) -> Iterator[str]:
    return (cls.__name__ for cls in table if not cls.__name__.startswith("_"))


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _row(operation: Operation) -> str:
    code = operation.value.code.replace("|", "\\|")
    instead = operation.value.instead.replace("|", "\\|")
    return f"| `{code}` | {'; '.join(_operands(operation)) or 'none'} | {instead} |"


def _operands(operation: Operation) -> Iterator[str]:
    """Yield the kinds that have a rule: of one operand as a list, of two as pairs of lists."""
    combinations = RULES[operation]
    if not combinations or len(next(iter(combinations))) == 1:
        kinds = [kinds[0] for kinds in combinations]
        if kinds:
            yield _listed(kinds)
        return
    right_of: dict[ValueKind, frozenset[ValueKind]] = {}
    for left, right in combinations:
        right_of[left] = right_of.get(left, frozenset()) | {right}
    for rights in dict.fromkeys(right_of.values()):
        yield f"{_listed([kind for kind in right_of if right_of[kind] == rights])} with {_listed(rights)}"


def _listed(kinds: Iterable[ValueKind]) -> str:
    left = set(kinds)
    parts = []
    for name, group in GROUPS:
        if left >= set(group):
            parts.append(name)
            left -= set(group)
    return ", ".join([*parts, *(kind.value for kind in ValueKind if kind in left)])
