"""The rules of a model as machine code, kept in the cache: lifting and compiling them takes seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

from attrs import asdict, frozen

from kwalk.model.language import Model
from kwalk.model.language.lift import lift
from kwalk.search.base.cache import cache_path, read_cache, write_cache
from kwalk.search.kernel.compile.cache import digest_of_compiler
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.model_digest import cache_key, digest_of_files
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.object_code import object_code
from kwalk.search.native.processor import cpu
from kwalk.search.partial_order import transition_groups
from kwalk.search.solver import terms
from kwalk.search.symbolic.conditions import StateSet, What, symbolic_terms
from kwalk.search.symbolic.engine import RuleCode, rule_code

UNIT = 200
"""The functions of a unit, which is compiled in parallel with the others."""


@frozen(eq=False)
class CompiledRules:
    """The rules of a model.

    Args:
        instances: The action instance of each rule that is a transition group; those come first.
        written: The numbers of the `step` properties, by transition group, that read what the group writes.
        sets: The sets of states, and the number of the rule of each.
        rules: All rules.
        objects: Their object code.
    """

    instances: tuple[int, ...]
    written: tuple[frozenset[int], ...]
    sets: tuple[tuple[StateSet, int], ...]
    rules: tuple[RuleCode, ...]
    objects: tuple[bytes, ...]

    def loaded(self) -> LoadedCode:
        """Return the code in memory."""
        names = {name for rule in self.rules for name, _ in rule.conditions} | {rule.effect for rule in self.rules}
        return LoadedCode(self.objects, sorted(names - {""}))


def compiled_rules(model: Model) -> CompiledRules:
    """Return the rules of a model, for all of its properties, from the cache or compiled.

    Raises:
        LiftError: The model cannot be lifted.
    """
    path = cache_path("symbolic", cache_key(model, cpu() + _sources()))
    content = read_cache(path)
    known = None if content is None else _read(content)
    if known is None:
        known = _compiled(model)
        write_cache(path, _written(known))
    return known


@cache
def _sources() -> str:
    """Return a digest of the sources that rules depend on: what makes their terms, and the compiler of kernels."""
    others = (Path(module.__file__ or "") for module in (transition_groups, terms))
    return digest_of_compiler() + digest_of_files([*Path(__file__).parent.glob("*.py"), *others])


def _compiled(model: Model) -> CompiledRules:
    known = symbolic_terms(lift(model), model.properties)
    rules, texts = rule_code(known.rules, layout_of(model.leaves))
    units = ["\n".join(texts[first : first + UNIT]) for first in range(0, len(texts), UNIT)]
    objects = object_code(units, large=True) if units else []
    return CompiledRules(known.instances, known.written, tuple(known.sets.items()), tuple(rules), tuple(objects))


def _written(code: CompiledRules) -> bytes:
    """Return the rules as bytes: a line of JSON, and the object code."""
    about = {
        "instances": code.instances,
        "written": [sorted(each) for each in code.written],
        "sets": [({**asdict(one), "what": one.what.value}, rule) for one, rule in code.sets],
        "rules": [asdict(rule) for rule in code.rules],
        "sizes": [len(each) for each in code.objects],
    }
    return json.dumps(about).encode() + b"\n" + b"".join(code.objects)


def _read(content: bytes) -> CompiledRules | None:
    """Return the rules; None if the content is broken."""
    head, _, code = content.partition(b"\n")
    try:
        about = json.loads(head)
        ends = [0, *accumulate(about["sizes"])]
        return CompiledRules(
            tuple(about["instances"]),
            tuple(map(frozenset, about["written"])),
            tuple((StateSet(**{**one, "what": What(one["what"])}), rule) for one, rule in about["sets"]),
            tuple(map(_rule, about["rules"])),
            tuple(code[first:last] for first, last in pairwise(ends)),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _rule(saved: Mapping[str, Sequence[object]]) -> RuleCode:
    conditions = tuple((str(name), tuple(leaves)) for name, leaves in saved["conditions"])  # type: ignore[misc, has-type]
    return RuleCode(conditions, str(saved["effect"]), tuple(saved["reads"]), tuple(saved["writes"]))  # type: ignore[arg-type]
