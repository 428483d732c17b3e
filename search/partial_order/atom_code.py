"""Machine code that evaluates the atoms of a state, and which transition groups are enabled there."""

from __future__ import annotations

from collections.abc import Sequence

from kwalk.model.language import Model
from kwalk.model.language.lift import Term
from kwalk.search.kernel.compile.emitter import Emitter
from kwalk.search.kernel.compile.layout import WORD, layout_of
from kwalk.search.native.machine_code import LoadedCode

FUNCTION = "atoms"


def atom_code(model: Model, atoms: Sequence[Term], groups: Sequence[Sequence[int]]) -> tuple[bytes, ...]:
    """Return object code of the function `atoms(state, row)`.

    It writes the row of true atoms, and behind it the row of enabled groups.

    Args:
        model: The model.
        atoms: The atoms, in the order of their bits.
        groups: Per group, the numbers of its atoms.
    """
    from kwalk.search.native.object_code import object_code

    e = Emitter(layout_of(model.leaves), ["%state"])
    names = e.values(atoms)
    _store(e, names, 0)
    _store(e, [_all(e, [names[atom] for atom in group]) for group in groups], words_for(len(atoms)))
    e.do("ret void")
    head = f"define void @{FUNCTION}(ptr noalias readonly %state, ptr noalias %row) nounwind"
    return tuple(object_code([f"{head} {{\nentry:\n" + "\n".join(e.lines) + "\n}\n"], large=True))


def load_atom_code(code: Sequence[bytes]) -> LoadedCode:
    """Return the code in memory; it is valid as long as the result lives."""
    return LoadedCode(code, [FUNCTION])


def words_for(bits: int) -> int:
    """Return the words of a bit row; at least one."""
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
