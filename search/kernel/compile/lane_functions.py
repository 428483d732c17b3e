"""What walks that stay in their lanes need beside the functions of a model, as text of LLVM vectors.

Words: see `planes` and `transpose`. *Totals* are vectors of counts: each 64-bit word of a vector counts the bits of
the same word of a plane. A *flag* is an i64 for an instance or property, 0 or -1.

* `slice.draw(streams, again, randoms)` draws a random number in each lane; `streams` and `randoms` are columns. Lanes
  of the plane `again` draw the next number after their last one, and their stream stays.
* `slice.candidates(enabled, n, excluded, allowed, lanes, out, any)` writes the planes of the instances that may be
  taken in some lanes: enabled, not excluded, and allowed, which is a flag. The two planes of `any` are the lanes, of
  all, where an instance is enabled and not excluded, and the lanes where one may be taken.
* `slice.prefer(candidates, n, masks, stride, levels, randoms)` leaves the candidates of a random level, as `choose` in
  `walk_loops`. `masks` has `stride` planes for each level from 1 on; `levels` is the plane of the lanes that have
  levels.
* `slice.choose(candidates, n, randoms)` leaves one random candidate in each lane that has one.
* `slice.step(n, planes, chosen, results, bounds, excluded, totals, stride, bound_totals, ends)` takes the steps of the
  chosen instances. Lanes in which a bound disables an instance are added to its plane of `excluded`. `totals` count
  the steps of each instance and, `stride` vectors on, those that changed the state. The planes of `ends` are the lanes
  where a step was taken, where it left its domain, and where a bound disabled it.
* `slice.note(false, n, checked, lanes, known, open, hits, found)` leaves, for each property with the flag `checked`,
  the lanes where it is false and not known to be; it is known from then on, and counted. `found` is the plane of the
  lanes where this happened to a property that is open there.
* `slice.hash_rows(rows, n, out)` writes the hashes of bit rows of n words, and `slice.hash_states(states, out)` those
  of packed states, as `hash_row_word` and `hash_of` do one by one. All are columns.
* `slice.total(planes, n, lanes, totals)` counts planes in some lanes.
* `slice.blend(planes, n, other, lanes)` copies planes in some lanes, `slice.keep(planes, n, lanes)` clears all others.
* `slice.count_down(number, n, lanes)` subtracts 1 from a number of n bits in some lanes, and `slice.is_zero(number, n,
  out)` writes the plane of the lanes where it is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from kwalk.search.kernel.compile.layout import WORD
from kwalk.search.kernel.compile.vectors import VectorWriter, vector
from kwalk.search.kernel.interface import FIRST_BOUND
from kwalk.search.native.intrinsics import HASH_FACTORS
from kwalk.search.native.splitmix64 import FACTORS, GOLDEN, SHIFTS

EIGHTH = ((4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555))
"""The steps of a transposition of 8 × 8 bits in each byte of eight words, as in `transpose`."""


def lane_text(lanes: int, width: int, words: int) -> str:
    """Return the functions for planes of so many lanes.

    Args:
        lanes: The lanes of a plane.
        width: The bits of the number of instances.
        words: The words of a packed state.
    """
    kind, parameters = vector(lanes), "i64, ptr, ptr, ptr"
    functions: list[Callable[[VectorWriter], str]] = [
        _draw,
        _candidates,
        _prefer,
        lambda w: _choose(w, width),
        _step,
        _note,
        _hash_rows,
        lambda w: _hash_states(w, words),
        _total,
        _blend,
        _keep,
        _count_down,
        _is_zero,
    ]
    heads = f"declare {kind} @llvm.ctpop.v{lanes // WORD}i64({kind})\ndeclare void @slice.apply({parameters})\n"
    return heads + "\n".join(function(VectorWriter(lanes)) for function in functions)


def _draw(w: VectorWriter) -> str:
    again = w.load("%again")
    with w.loop(str(WORD)) as place:
        bit = w.binary("and", w.binary("lshr", again, w.spread(place)), w.all(1))
        repeats = w.op(f"icmp ne {w.kind} {bit}, zeroinitializer")
        stream, last = w.load("%streams", place), w.load("%randoms", place)

        def chosen(a: str, b: str) -> str:
            return w.op(f"select <{w.words} x i1> {repeats}, {w.kind} {a}, {w.kind} {b}")

        following = w.binary("add", stream, w.all(int(GOLDEN)))
        w.store(chosen(stream, following), "%streams", place)
        word = chosen(w.binary("add", last, w.all(int(GOLDEN))), following)
        for shift, factor in zip(SHIFTS, (*FACTORS, None), strict=True):
            word = w.binary("xor", word, w.binary("lshr", word, w.all(int(shift))))
            word = word if factor is None else w.binary("mul", word, w.all(int(factor)))
        w.store(word, "%randoms", place)
    return w.function("draw(ptr noalias %streams, ptr noalias %again, ptr noalias %randoms)")


def _candidates(w: VectorWriter) -> str:
    lanes, left, some = w.load("%lanes"), w.variable(), w.variable()
    with w.loop("%n") as instance:
        row = w.without(w.load("%enabled", instance), w.load("%excluded", instance))
        w.store(w.binary("or", w.load(left), row), left)
        row = w.binary("and", w.binary("and", row, lanes), w.spread(w.load("%allowed", instance, "i64")))
        w.store(w.binary("or", w.load(some), row), some)
        w.store(row, "%out", instance)
    w.store(w.load(left), "%any")
    w.store(w.load(some), "%any", 1)
    pointers = ("excluded", "allowed", "lanes", "out", "any")
    return w.function(f"candidates(ptr noalias %enabled, i64 %n, {', '.join(f'ptr noalias %{p}' for p in pointers)})")


def _prefer(w: VectorWriter) -> str:
    """The level is the highest two bits of the lower half of the random number, as walks have levels 0 to 3 or none."""
    bits = [w.variable(), w.variable()]
    with w.loop(str(WORD)) as place:
        random, shift = w.load("%randoms", place), w.spread(place)
        for number, bit in enumerate(bits):
            one = w.binary("and", w.binary("lshr", random, w.all(30 + number)), w.all(1))
            w.store(w.binary("or", w.load(bit), w.binary("shl", one, shift)), bit)
    low, high = (w.binary("and", w.load(bit), w.load("%levels")) for bit in bits)
    some = [w.variable() for _ in range(3)]
    strides = ["0", "%stride", w.op("shl i64 %stride, 1")]
    masks = [w.at("%masks", stride) for stride in strides]
    with w.loop("%n") as instance:
        row = w.load("%candidates", instance)
        for level, mask in zip(some, masks, strict=True):
            w.store(w.binary("or", w.load(level), w.binary("and", row, w.load(mask, instance))), level)
    reaches = [w.binary("or", low, high), high, w.binary("and", low, high)]
    one, two, three = (w.binary("and", w.load(level), reach) for level, reach in zip(some, reaches, strict=True))
    with w.loop("%n") as instance:
        mask = w.ones
        for preferred, of_level in zip((one, two, three), masks, strict=True):
            mask = w.select(preferred, w.load(of_level, instance), mask)
        w.store(w.binary("and", w.load("%candidates", instance), mask), "%candidates", instance)
    return w.function(
        "prefer(ptr noalias %candidates, i64 %n, ptr noalias %masks, i64 %stride, ptr noalias %levels, "
        "ptr noalias %randoms)"
    )


def _choose(w: VectorWriter, width: int) -> str:
    """Count the candidates of each lane, map its random number to a rank below that, and find it by counting down."""
    number = [w.variable() for _ in range(width)]
    with w.loop("%n") as instance:
        w.add_bit(number, w.load("%candidates", instance))
    rows = dict.fromkeys(range(8), "zeroinitializer") | {place: w.load(bit) for place, bit in enumerate(number)}
    w.exchange(rows, EIGHTH)
    table = w.variable("zeroinitializer", f"[8 x {w.kind}]")
    for place, row in rows.items():
        w.store(row, table, place)
    with w.loop("8") as turn:
        row, ranks = w.load(table, turn), "zeroinitializer"
        for byte in range(8):
            size = w.binary("and", w.binary("lshr", row, w.all(8 * byte)), w.all(255))
            random = w.load("%randoms", w.op(f"add i64 {turn}, {8 * byte}"))
            high = w.binary("mul", w.binary("lshr", random, w.all(32)), size)
            low = w.binary("mul", w.binary("and", random, w.all(2**32 - 1)), size)
            rank = w.binary("lshr", w.binary("add", high, w.binary("lshr", low, w.all(32))), w.all(32))
            ranks = w.binary("or", ranks, w.binary("shl", rank, w.all(8 * byte)))
        w.store(ranks, table, turn)
    planes = {place: w.load(table, place) for place in range(8)}
    w.exchange(planes, EIGHTH)
    for place, bit in enumerate(number):
        w.store(planes[place], bit)
    with w.loop("%n") as instance:  # a rank of 0 is passed by the candidate that it means, and wraps around
        w.store(w.add_bit(number, w.load("%candidates", instance), down=True), "%candidates", instance)
    return w.function("choose(ptr noalias %candidates, i64 %n, ptr noalias %randoms)")


def _step(w: VectorWriter) -> str:
    ends = [w.variable() for _ in range(3)]
    of_changes = w.at("%totals", "%stride")
    with w.loop("%n") as instance:
        chosen = w.load("%chosen", instance)
        with w.where_any(chosen):
            pointer = w.at("%chosen", instance)
            w.lines.append(f"  call void @slice.apply(i64 {instance}, ptr %planes, ptr {pointer}, ptr %results)")
            taken, failed, changed = (w.load("%results", place) for place in range(FIRST_BOUND))
            w.count("%totals", instance, taken)
            w.count(of_changes, instance, changed)
            w.store(w.binary("or", w.load(ends[0]), taken), ends[0])
            disabled = w.without(chosen, taken)
            with w.where_any(disabled):
                w.store(w.binary("or", w.load(ends[1]), failed), ends[1])
                blocked = w.without(disabled, failed)
                w.store(w.binary("or", w.load(ends[2]), blocked), ends[2])
                w.store(w.binary("or", w.load("%excluded", instance), blocked), "%excluded", instance)
                with w.loop("%bounds") as bound:
                    hit = w.load("%results", w.op(f"add i64 {bound}, {FIRST_BOUND}"))
                    w.count("%bound_totals", bound, hit)
    for place, end in enumerate(ends):
        w.store(w.load(end), "%ends", place)
    return w.function(
        "step(i64 %n, ptr %planes, ptr %chosen, ptr %results, i64 %bounds, ptr noalias %excluded, ptr noalias %totals, "
        "i64 %stride, ptr noalias %bound_totals, ptr noalias %ends)"
    )


def _note(w: VectorWriter) -> str:
    lanes, found = w.load("%lanes"), w.variable()
    with w.loop("%n") as prop:
        known, checked = w.load("%known", prop), w.spread(w.load("%checked", prop, "i64"))
        new = w.binary("and", w.binary("and", w.load("%false", prop), lanes), checked)
        new = w.without(new, known)
        w.store(new, "%false", prop)
        w.store(w.binary("or", known, new), "%known", prop)
        w.count("%hits", prop, new)
        w.store(w.binary("or", w.load(found), w.binary("and", new, w.load("%open", prop))), found)
    w.store(w.load(found), "%found")
    pointers = ("checked", "lanes", "known", "open", "hits", "found")
    return w.function(f"note(ptr noalias %false, i64 %n, {', '.join(f'ptr noalias %{p}' for p in pointers)})")


def _folded(w: VectorWriter, a: str, b: str) -> str:
    """Multiply two words, and return the exclusive or of the halves of the product, made of four smaller ones."""
    low = 2**32 - 1
    (al, ah), (bl, bh) = ((w.binary("and", x, w.all(low)), w.binary("lshr", x, w.all(32))) for x in (a, b))
    ll, lh, hl, hh = (w.binary("mul", x, y) for x in (al, ah) for y in (bl, bh))
    middle = w.binary("add", w.binary("and", lh, w.all(low)), w.binary("and", hl, w.all(low)))
    middle = w.binary("add", middle, w.binary("lshr", ll, w.all(32)))
    high = w.binary("add", hh, w.binary("lshr", middle, w.all(32)))
    for part in (lh, hl):
        high = w.binary("add", high, w.binary("lshr", part, w.all(32)))
    return w.binary("xor", high, w.binary("or", w.binary("and", ll, w.all(low)), w.binary("shl", middle, w.all(32))))


def _finalized(w: VectorWriter, word: str) -> str:
    return w.binary("mul", w.binary("xor", word, w.binary("lshr", word, w.all(32))), w.all(int(HASH_FACTORS[2])))


def _hash_rows(w: VectorWriter) -> str:
    first, second = (w.all(int(factor)) for factor in HASH_FACTORS[:2])
    with w.loop(str(WORD)) as place:
        compress = w.variable(first)
        with w.loop("%n") as word:
            column = w.op(f"shl i64 {word}, 6")
            row = w.load("%rows", w.op(f"add i64 {column}, {place}"))
            w.store(_folded(w, w.binary("xor", row, w.load(compress)), second), compress)
        w.store(_finalized(w, w.load(compress)), "%out", place)
    return w.function("hash_rows(ptr noalias %rows, i64 %n, ptr noalias %out)")


def _hash_states(w: VectorWriter, words: int) -> str:
    first, second = (w.all(int(factor)) for factor in HASH_FACTORS[:2])
    with w.loop(str(WORD)) as place:
        state = [w.load("%states", w.op(f"add i64 {place}, {WORD * word}")) for word in range(words)]
        if words == 2:
            compress = _folded(w, w.binary("xor", state[0], first), w.binary("xor", state[1], second))
        else:
            compress = second
            for one, other in zip(state[::2], state[1::2], strict=False):
                compress = _folded(w, w.binary("xor", one, compress), w.binary("xor", other, first))
            if words % 2:
                compress = _folded(w, w.binary("xor", state[-1], compress), first)
        w.store(_finalized(w, compress), "%out", place)
    return w.function("hash_states(ptr noalias %states, ptr noalias %out)")


def _total(w: VectorWriter) -> str:
    lanes = w.load("%lanes")
    with w.loop("%n") as place:
        w.count("%totals", place, w.binary("and", w.load("%planes", place), lanes))
    return w.function("total(ptr noalias %planes, i64 %n, ptr noalias %lanes, ptr noalias %totals)")


def _blend(w: VectorWriter) -> str:
    lanes = w.load("%lanes")
    with w.loop("%n") as place:
        w.store(w.select(lanes, w.load("%other", place), w.load("%planes", place)), "%planes", place)
    return w.function("blend(ptr noalias %planes, i64 %n, ptr noalias %other, ptr noalias %lanes)")


def _keep(w: VectorWriter) -> str:
    lanes = w.load("%lanes")
    with w.loop("%n") as place:
        w.store(w.binary("and", w.load("%planes", place), lanes), "%planes", place)
    return w.function("keep(ptr noalias %planes, i64 %n, ptr noalias %lanes)")


def _count_down(w: VectorWriter) -> str:
    borrow = w.variable(w.load("%lanes"))
    with w.loop("%n") as place:
        bit, before = w.load("%number", place), w.load(borrow)
        w.store(w.binary("xor", bit, before), "%number", place)
        w.store(w.without(before, bit), borrow)
    return w.function("count_down(ptr noalias %number, i64 %n, ptr noalias %lanes)")


def _is_zero(w: VectorWriter) -> str:
    some = w.variable()
    with w.loop("%n") as place:
        w.store(w.binary("or", w.load(some), w.load("%number", place)), some)
    w.store(w.without(w.ones, w.load(some)), "%out")
    return w.function("is_zero(ptr noalias %number, i64 %n, ptr noalias %out)")


__all__ = ["lane_text"]
