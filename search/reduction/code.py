"""The machine code that says which atoms are true in a state, and which cases are enabled."""
from __future__ import annotations

from collections.abc import Sequence

from model.language import Model
from model.language.lift import Term
from search.compile.emitter import Emitter
from search.compile.layout import WORD, layout_of
from search.compile.machine_code import Loaded, object_code

NAME = "atoms"


def code_of(model: Model, atoms: Sequence[Term], cases: Sequence[Sequence[int]]) -> tuple[bytes, ...]:
    """Object code of `atoms(state, row)`: the row of true atoms, and behind it the row of cases that have only such."""
    e = Emitter(layout_of(model.leaves), ["%state"])
    names = e.values(atoms)
    _store(e, names, 0)
    _store(e, [_all(e, [names[atom] for atom in case]) for case in cases], words_for(len(atoms)))
    e.do("ret void")
    head = f"define void @{NAME}(ptr noalias readonly %state, ptr noalias %row) nounwind"
    return tuple(object_code([f"{head} {{\nentry:\n" + "\n".join(e.lines) + "\n}\n"], large=True))


def loaded(code: Sequence[bytes]) -> Loaded:
    """The code in memory."""
    return Loaded(code, [NAME])


def words_for(bits: int) -> int:
    """The words of a bit row; at least one."""
    return max(1, -(-bits // WORD))


def _all(e: Emitter, names: Sequence[str]) -> str:
    result = "true"
    for name in names:
        result = name if result == "true" else e.op(f"and i1 {result}, {name}")
    return result


def _store(e: Emitter, names: Sequence[str], first: int) -> None:
    """Write truth values as the bits of words, from word `first` on."""
    for word in range(words_for(len(names))):
        value = "0"
        for bit, name in enumerate(names[word * WORD : (word + 1) * WORD]):
            wide = e.op(f"zext i1 {name} to i64")
            shifted = e.op(f"shl i64 {wide}, {bit}") if bit else wide
            value = e.op(f"or i64 {value}, {shifted}")
        at = e.op(f"getelementptr i64, ptr %row, i64 {first + word}")
        e.do(f"store i64 {value}, ptr {at}")
