"""What Python does in the corners of its language: all meanings agree on it, or lifting refuses it."""

from __future__ import annotations

import pytest

from kwalk.model.language import LiftError, Model, Scenario, UsageError, nested, optional, subset
from kwalk.model.language.lift import lift
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.differential import disagreements
from tests.agreement.written import action_text, model_of, property_text, written
from tests.states import random_states

AGREEING = {
    # Conditions that share their parts: lifting takes as long as there are parts, not paths to them.
    "thirty conditions of conditions": "x = w.f\n"
    + "x = (x or w.n > 2) and (x or w.c == 1) and (x or w.g)\n" * 15
    + "x = (x or w.n > 1) and (x or w.c == 2) and (x or w.f)\n" * 15
    + "if x < w.n <= w.m:\n    w.out = 1",
    # Queues, lists and others as truth values.
    "a queue in if": "if w.q:\n    w.out = 1",
    "a queue under not": "w.f = not w.q",
    "a queue in require": "require(w.q)\nw.q.pop()",
    "a queue in bool": "w.f = bool(w.q)",
    "queues in any and all": "w.f = any((w.q, w.r))\nw.g = all([w.q, w.r])",
    "a queue in and, or": "w.f = bool(w.q and w.r)\nw.g = bool(w.q or w.r)",
    "a number or a queue in a condition": "if w.n or w.q:\n    w.out = 1\nw.f = not (w.s and w.light and w.o)",
    "a queue in a conditional expression": "w.out = 1 if w.q else 2",
    "a queue in an assertion": "assert w.q",
    "a queue in a comprehension": "w.out = len({n for n in CELLS if w.q})",
    "a tuple and a list as truth values": "w.f = not (0,)\nw.g = bool([]) or bool([0])",
    "numbers, members and sets as truth values": "w.f = bool(w.n) and not w.light\nw.g = bool(w.s) or bool(w.o)",
    # Sums of lists and tuples are new ones.
    "a sum of lists": "x = [w.n] + [1, w.c]\nw.out = sum(x) + len(x) + x[-1]\nw.f = x == [w.n, 1, w.c]",
    "a sum of lists whose length depends on the state": (
        "x = [n for n in w.r if n > 0]\ny = x + [w.c] + x\nw.out = sum(y) - 2 * len(x)\nw.f = y == [w.c]\nw.r = x + [1]"
    ),
    "a sum of tuples whose length depends on the state": (
        "x = tuple(n for n in w.r if n > 0)\nw.out = len((w.c,) + x) + sum(x + (w.n,))\nw.g = x + (1,) == (1,) + x"
    ),
    "a sum of lists leaves both as they were": (
        "x = [w.n]\ny = x\ny = y + [w.c]\nx[0] = 7\nw.out = x[0] + sum(y)\nw.f = len(x) == 1 and x != y"
    ),
    "a sum of lists shares their elements": "x = [[w.n]]\ny = x + [[2]]\nx[0][0] = 1\nw.out = y[0][0]",
    "a list that a condition decides, in a sum": "x = [w.n] if w.f else [w.c]\nw.out = sum(x + [2] + x)",
    "a sum of lists in a loop": "x = [w.n]\nfor i in CELLS:\n    x = x + [i]\nw.out = sum(x) + len(x)",
    # Bounds and flags as values.
    "a bound that is stored": "w.n = LIM",
    "a negated bound": "w.n = -LIM + abs(-LIM) + +LIM",
    "the greatest of bounds": "w.n = max(LIM, w.m)\nw.m = min(LIM, TWO)",
    "a set with a bound": "w.f = {LIM} == {2}\nw.g = w.n in {LIM, 0}\nw.s = {LIM - 1}",
    "an index that is a bound": "w.out = w.a[LIM - 1] + (7, 8, 9)[LIM]\nw.a[TWO - LIM] = LIM",
    "a bound in a queue": "w.q.push(LIM)",
    "a bound in a record": "w.sure = Note(n=LIM)\nw.note = evolve(w.sure, n=TWO - 1)",
    "a bound as a default of a parameter": "w.out = by_default()",
    "bounds that are compared": "w.f = LIM == TWO\nw.g = LIM != w.n and w.n < LIM <= TWO",
    "a bound in a range": "w.out = sum(range(LIM)) + len(range(LIM, 5))",
    "a product and quotients of a bound": "w.out = LIM * w.n + w.n // LIM + w.n % LIM + 7 // LIM",
    "a bound as a member": "w.f = LIM in WIDE and LIM in (2, 3) and LIM in range(3)",
    "a bound in a tuple of the module": "w.out = LIMITS[0] + sum(LIMITS)\nw.g = w.n in LIMITS and LIMITS == (w.n, 0)",
    "a bound in a sum": "w.out = sum([LIM, w.n, True])",
    "constant powers and shifts": "w.out = 2 ** LIM + (1 << LIM) + (5 & 3) + (5 | 3) + (5 ^ 3) + (-7 >> 1)",
    "a flag that is stored": "w.f = ON\nw.g = w.f and OFF",
    "a flag as a number": "w.out = ON + 1 - OFF",
    "a flag that is compared": "w.f = ON == w.f\nw.g = ON != OFF",
    # Locals without a value.
    "a local of one branch": "if w.f:\n    x = 1\nw.out = x",
    "a local of one branch that is used in the same case": "if w.f:\n    x = 1\nif w.f:\n    w.out = x",
    "a local of a branch in a loop": "for n in CELLS:\n    if w.c == n:\n        x = n\nw.out = x",
    "a loop's variable after the loop": "for x in w.q:\n    w.out = 0\nw.out = x",
    "a local of a try block": "try:\n    if w.f:\n        raise Stop\n    x = 1\nexcept Stop:\n    pass\nw.out = x",
    "a local of a helper's branch": "w.out = half(w)",
    # None.
    "abs of None": "w.out = abs(w.o)",
    "arithmetic on None": "w.out = w.o + 1 - w.o * 2",
    "an order with None": "w.f = w.o < 2",
    "a negated None": "w.out = -w.o",
    "an int of None": "w.out = int(w.o)",
    "a sum of None": "w.out = sum((w.o, 1))",
    "an extreme of None": "w.out = max(w.o, 1)",
    "a remainder of None": "w.out = w.o % 2",
    "an index that is None": "w.out = (1, 2, 3)[w.o]",
    "an index of an Array that is None": "w.out = w.a[w.o]",
    # Indexes.
    "a negative index of a tuple": "w.out = (1, 2, 3)[w.n]",
    "a negative index of a list": "w.out = [1, 2, 3][w.m]",
    "a negative index of a comprehension": "w.out = [n + 1 for n in CELLS][w.n]",
    "a constant negative index": "w.out = (1, 2)[-1] + [1, 2][-2]",
    "a negative index of a list that is written": "x = [1, 2, 3]\nx[w.m] = 5\nw.out = x[0] + 2 * x[1] + 4 * x[2]",
    "a negative index of an Array": "w.out = w.a[w.n]",
    "an index past the end": "w.out = (1, 2)[w.n + 1]",
    "a constant index past the end": "w.out = (1, 2)[5]",
    "a slice": "w.out = sum((1, 2, 3)[-2:]) + sum((1, 2, 3)[::-2])",
    # Arithmetic.
    "negative divisors": "w.out = w.n // -2 + 3 * (w.n % -2) + 9 * (w.m // -3) + 27 * (w.m % -3)",
    "constant division": "w.out = -7 // 2 + -7 % 3 + 7 // -2 + 7 % -3",
    "division by 0": "w.out = w.n // 0",
    "truth values in arithmetic": "w.out = w.f + w.g - True + -w.f + abs(w.g) + (w.f < w.g)",
    "truth values that are equal to numbers": "w.f = w.n in (True, False) or 1 == w.f",
    # Loops over what changes.
    "a loop over an Array that is written": "for x in w.a:\n    w.a[1] = 3\n    w.out = x",
    "a loop over a list that is written": "x = [1, 2]\nfor y in x:\n    x[1] = w.n\n    w.out = y",
    "enumerate of an Array that is written": "for i, x in enumerate(w.a):\n    w.a[1] = 3\n    w.out = x + i",
    "zip of an Array that is written": "for x, y in zip(w.a, reversed(w.a)):\n    w.a[1] = 3\n    w.out = x + 5 * y",
    "a loop over a queue that is pushed": "for x in w.q:\n    if len(w.q) < 2:\n        w.q.push(1)\n    w.out = x",
    "an empty range": "for x in range(3, 1):\n    w.out = x",
    "a generator that is kept": "g = (x for x in w.a if x > 0)\nw.out = max(g, default=0)",
    # Queues as sequences.
    "an element of a queue": "w.out = w.q[0] + 4 * w.r[1]",
    "an element at an index of the state": "w.out = w.r[w.n]",
    "the last element": "w.out = w.r[-1]\nw.f = w.notes[-1].f",
    "an index that may be None": "w.out = w.r[w.o]",
    "a bound as an index": "w.out = w.r[LIM]",
    "an element that is written": "w.r[w.n] = w.c + 1\nw.out = sum(w.r)",
    "an element that leaves its domain": "w.q[w.m] = w.n",
    "an element that is added to": "w.r[-1] += 1\nw.r[0] -= w.n",
    "an element of a part that is written": "x = w.r[1:]\nx[0] = 3\nw.out = sum(x) * 10 + sum(w.r)",
    "parts by constants": "w.r = w.r[1:]\nw.q = w.q[:1]\nw.out = len(w.notes[-1:])",
    "parts by the state": "w.r = w.r[w.m:w.n]",
    "parts of parts": "w.r = w.r[w.c:][: w.n]",
    "a part up to a bound": "w.r = w.r[:LIM]",
    "a copy is no alias": "x = w.r[:]\nx.pop()\nw.out = len(w.r) - len(x)",
    "an alias is one": "x = w.r\nx.pop()\nw.out = len(w.r) - len(x)",
    "a part that is compared": "w.f = w.r[:1] == w.r[1:2]\nw.g = w.q == w.r[: len(w.q)]",
    "a part and a list": "w.f = w.r[:1] == [1] or w.r == (1,)",
    "a part as a truth value": "w.f = not w.r[1:]\nw.out = 1 if w.r[w.n:] else 2",
    "a part that is looped over": "for x in w.r[1:]:\n    w.out += x",
    "a part in a comprehension": "w.out = sum(x for n in CELLS for x in w.r[n:])",
    "a part of a record's queue": "w.notes = w.notes[1:]\nw.out = sum(x.n for x in w.notes[w.n:])",
    "a sum of queues": "w.r = w.r + w.r[:1]",
    "a sum of unlike queues": "w.r = w.q + w.r",
    "a sum of unlike queues that fits the other": "w.q = w.r[:1] + w.q[1:]\nw.out = len(w.r + w.q)",
    "a sum with a list": "w.r = [w.n] + w.r\nw.q = w.q + [1, w.c]",
    "a sum with a tuple": "w.r = (w.n, w.m) + w.r[1:] + ()",
    "a queue that is added to": "w.r += [w.n]\nx = w.q\nx += (1,)\nw.out = len(x) - len(w.q)",
    "an element that is removed": "w.r = w.r[: w.c] + w.r[w.c + 1 :]",
    "an element that is inserted": "w.r = w.r[: w.n] + [w.c] + w.r[w.n :]",
    "an element that a domain refuses": "w.q = w.q[1:] + [w.n]",
    "records that are added": "w.notes = [w.sure] + w.notes[1:]\nw.notes = w.notes + [w.note]",
    "a list that is stored": "w.r = [w.n, w.m, 1]",
    "a tuple that is stored": "w.q = (1, w.c)\nw.r = ()",
    "a longer list than fits": "w.q = [1, 2, 3]",
    "an empty list that is stored": "w.q = []",
    "a queue that is stored in a larger one": "w.r = w.q",
    "a queue that is stored in a smaller one": "w.q = w.r",
    "enumerate of a queue": "for i, x in enumerate(w.r, 1):\n    w.out += i * x",
    "enumerate of a queue in any": "w.f = any(x == i for i, x in enumerate(w.r))",
    "zip of queues": "for x, y in zip(w.q, w.r):\n    w.out += x * 4 + y",
    "zip of a queue and an Array": "w.f = all(x == y for x, y in zip(w.r, w.a))",
    "zip of a tuple and a queue": "w.out = len({i + 1 for i, x in zip((1, 2), w.r)})",
    "neighbours": "w.f = all(x <= y for x, y in zip(w.r, w.r[1:]))",
    "reversed of a queue": "for x in reversed(w.r):\n    w.out = 4 * w.out + x\n    if w.out > 9:\n        break",
    "enumerate of reversed": "w.out = sum(i * x for i, x in enumerate(reversed(w.r)))",
    "reversed of a queue that is written": "for x in reversed(w.r):\n    w.r[0] = 2\n    w.out = x",
    "the first that fits": "w.out = next((i for i, x in enumerate(w.r) if x == w.n), -1)",
    "extremes of a queue": "w.out = max(w.r) - min(w.r[1:], default=0)",
    "a queue of one branch": "x = w.r if w.f else w.r[1:]\nw.out = x[0] if x else 7",
    "a queue that is compared with a list": "w.f = w.q == [] or w.r == [w.n, 1]\nw.g = (w.n, w.c) != w.q",
    "a queue that is compared with a list of varying length": "w.f = w.r == [x for x in w.q if x] != range(2)",
    "an Array that is compared with a list": "w.f = w.a == [n % 2 for n in CELLS]\nw.g = w.a == (1,) or w.a == w.r",
    "the position of an element": "w.out = w.r.index(w.n)",
    "the first of some without a default": "w.out = next(n for n in CELLS if w.a[n] == w.n)",
    "the greatest of one that does not exist": "w.out = max(next(n for n in CELLS if n > 9) for m in CELLS if m == 1)",
    "sums from a start": "w.out = sum((x for x in w.q if x), LIM) + sum([1, 2], w.f)",
    "sets that are no frozensets": "w.s = set(w.s) | set((1,))\nw.f = not set() and set() == frozenset()",
    "extremes of filtered negative numbers": "w.out = min(w.a[n] - 4 for n in CELLS if w.a[n]) + max(-x for x in w.r)",
    "the element with the least key": "w.out = min(CELLS, key=lambda n: w.a[n])",
    "the element with the greatest key": "w.out = max((x for x in w.r if x), key=lambda x: x % 2, default=7)",
    "a key that is a function": "w.out = max(sorted(w.s), key=opposite)\nw.n = min(w.c, 1, key=opposite)",
    "a key whose name is that of a local": "n = 2\nw.out = max(CELLS, key=lambda n: w.a[n]) + n",
    "a set of Enum members": "w.f = w.light in {Light.RED, w.maybe}\nw.out = len({w.light, w.maybe, Light.DARK})",
    "a set of tuples": "w.f = (w.n, 1) in {(w.c, w.m), (1, 1)}\nw.out = len({(x, x == w.n) for x in w.r})",
    "a constant set of pairs": "w.f = (w.n, w.c) in EDGES\nw.out = len({b for a, b in EDGES if a == w.c})",
    "pairs in order": "for a, b in sorted(EDGES):\n    w.out = 3 * w.out + a - b",
    "a constant set of sets": "w.f = w.s in QUORUMS or {w.c} in QUORUMS\nw.g = any(q <= w.s for q in QUORUMS)",
    "a tuple with a record in a set": "w.f = (w.note, w.c) in {(Note(n=2), 1), (None, w.n), (w.sure, 0)}",
    "a set of tuples that is stored": "w.s = {(w.n, 1), 1} - {(1, 1)}",
    "an index behind a test": "w.f = len(w.r) > 1 and w.r[1] == w.n",
    "a list without some elements": "w.r = [x for x in w.r if x != w.n]",
    "a list of elements that are changed": "w.q = [x + w.c for x in w.q]\nw.r = tuple(3 - x for x in w.r if x)",
    "a list of some members": "w.r = [n for n in WIDE if n != w.o]\nw.out = len([n for n in CELLS if n in w.s])",
    "a list of some records": "w.notes = [x for x in w.notes if x.f or x.n == w.c]",
    "a list with more elements than fit": "w.q = [n for n in WIDE if n >= w.n]",
    "a list of unlike queues": "w.q = [x for y in (w.q, w.r) for x in y if x > w.c]",
    "a sorted set that is stored": "w.r = sorted(w.s)\nw.q = w.q[:1] + sorted(w.s)",
    "enumerate of a list of varying length": "w.out = sum(i * (x + 1) for i, x in enumerate(sorted(w.s), 1))",
    "enumerate of a set of records": "w.out = sum(i * (x.n + 2 * x.f) for i, x in enumerate(w.mail, 1))",
    "zip of sets of records": "w.f = all(x == y for x, y in zip(w.mail, w.few))",
    "a list of some records of a set": "w.notes = [x for x in w.mail if x.f]\nw.out = len(list(w.few))",
    "zip of a list of varying length": "w.out = sum(i * 4 + x for i, x in zip([y for y in w.r if y], w.a))",
    "reversed of a list of varying length": "for n in reversed(sorted(w.s)):\n    w.out = w.out + n + 1\n    break",
    "a list of varying length as a condition": "w.f = not [x for x in w.r if x == w.n]\nw.g = w.c in tuple(w.q)",
    "extremes of a list of varying length": "w.out = max([x for x in w.r if x != 1], default=7)",
    "a loop over a list of varying length": "for x in [x for x in w.r if x != w.c]:\n    w.r[-1] = 0\n    w.out += x",
    "lists of varying length that are compared": "w.f = [x for x in w.r if x] == [1, 2]\nw.g = sorted(w.s) == [w.c]",
    "an element of a list of varying length that is read": (
        "x = [y for y in w.r if y != w.c]\nw.out = x[w.n] if len(x) > w.n else x[-1] if x else 7\nw.f = x[:1] == [1]"
    ),
    "an element outside of a list of varying length": "w.out = [x for x in w.r if x][w.n - 1]",
    "an element by a position that can be None": "w.out = list(w.r)[w.o]",
    "an index into a list that is empty": "w.out = [n for n in CELLS if n > 9][w.n] + [n for n in w.r if n > 9][w.c]",
    "a record of a list of varying length": "x = [y for y in w.notes if y.f]\nw.out = x[0].n + 4 * x[-1].n if x else 9",
    "an object of a list of varying length": (
        "x = [y for y in w.boxes if y.n != w.n]\nif x:\n    x[-1].n = 3\n    w.out = x[0].n"
    ),
    "a list in a list of varying length": "x = [y for y in [[w.n], [w.c]] if y[0] > 0]\nw.out = x[0][0] if x else 7",
    "members in order": "w.out = sorted(w.s)[0] if w.s else 7\nw.f = len(w.s) > 1 and sorted(w.s)[1] == w.c",
    "an element of a range of the state": "w.out = range(w.m, w.n)[w.c] + range(4)[w.n]\nw.f = range(w.n)[-1] == 1",
    "a list of varying length or another": (
        "x = [y for y in w.r if y] if w.f else [w.n, w.c][w.m :]\nw.out = x[-1] + 4 * len(x) if x else 0\nw.q = x[:1]"
    ),
    "a list of varying length or none": (
        "x = []\nif w.f:\n    x = [y for y in w.r if y != w.c]\nw.out = sum(x)\nw.g = x == [] or x[0] == w.n"
    ),
    "a list of varying length that grows in a loop": (
        "x = [y for y in w.r if y]\nfor n in WIDE:\n    if n != w.n:\n        x = x + [n]\n"
        "w.out = sum(i * y for i, y in enumerate(x))"
    ),
    "a tuple of one length or another": (
        "x = (w.n, 1) if w.f else (w.c,) if w.g else ()\nw.out = len(x)\nw.q = x\nw.f = x == (1,) or x == ()"
    ),
    "an element of a tuple of tuples": "w.q = ((1,), (2, w.n), ())[w.n]\nw.out = ((1,), (2, w.n))[w.c][-1]",
    "a tuple that a loop makes longer": "x = ()\nfor n in WIDE:\n    if n < w.n:\n        x = x + (n,)\nw.r = x",
    "a tuple of one length or another is true": "x = (w.f and (w.n,)) or ()\nw.g = bool(x)",
    "a new list of one length or another": (
        "w.r = [w.n, 1] if w.f else []\nx = [y for y in CELLS] if w.g else [w.n] + [w.c, 2]\nw.out = x[-1] + sum(x)"
    ),
    "a new list of objects of one length or another": (
        "x = [w.boxes[w.c]] if w.f else [y for y in w.boxes][:2]\nx[-1].n = 2\nw.boxes[0].f = x[0].n == 2"
    ),
    "a new list or one of varying length": "w.out = sum([w.n] if w.f else [y for y in w.r if y] if w.g else [1, 2, 3])",
    "a part of a list": "x = [w.n, w.c, 2]\ny = x[: w.n]\nx[0] = 9\nw.out = sum(y) + 4 * len(x[w.c - 2 :])",
    "a part of a list with constant ends is a new one": "x = [w.n, 1]\ny = x[:1]\ny[0] = 5\nw.out = x[0] + 4 * y[0]",
    "a part of a list shares its elements": "x = [[w.n], [1]]\ny = x[1:]\ny[0][0] = w.c\nw.out = x[1][0]",
    "a part of a list of varying length": (
        "x = [y for y in w.r if y != w.c]\nw.q = x[w.m :][:2]\nw.out = sum(x[:-1]) + 8 * len(x[w.c - 1 : w.n])"
    ),
    "a part of a tuple": "w.f = (w.n, 1, w.c)[w.m :] == (1, w.c)\nw.out = len(tuple(w.q)[: w.n] + (0, 1, 2)[w.n :])",
    "a part of a range": "w.out = sum(range(4)[w.n :]) + sum(range(w.n)[1:])\nw.f = range(w.n)[:1] == range(1)",
    "a part of an Array as a list": "w.r = list(w.a)[w.n :] + [1]\nw.out = sum(list(w.a)[: w.c])",
    "a part of what a condition decides": "x = [w.n, 2] if w.f else [w.c, 1]\nw.out = sum(x[w.m :])",
    "a part from None": "w.out = sum([w.n, 1, 2][None:2]) + len(sorted(w.s)[None:])",
    "tuples of varying length that are compared": "w.f = tuple(w.q) == tuple(w.r) != w.q\nw.g = tuple(w.q) == (w.n, 1)",
    "ranges that are compared": "w.f = range(w.n) == range(2)\nw.g = range(w.m, w.n) != range(w.c)",
    "records of varying lists": "w.f = [x for x in w.notes if x.f] == list(w.notes)",
    "positions of a queue": "for i in range(len(w.r)):\n    w.out += (i + 1) * w.r[i]",
    "positions of a queue that is popped": "for i in range(len(w.r)):\n    w.out = w.out + w.r.pop() + i",
    "positions of two queues": "w.f = all(w.q[i] == w.r[i] for i in range(min(len(w.q), len(w.r))))",
    "positions but the first": "w.f = any(w.r[i - 1] > w.r[i] for i in range(1, len(w.r)))",
    "a range of the state": "w.out = sum(range(w.m, w.n)) + len(range(w.n))\nw.f = w.c in range(w.n)",
    "a domain that is reversed": "for n in reversed(CELLS):\n    w.out += n + 1\n    if n == w.c:\n        break",
    "a range that is reversed": "for i in reversed(range(w.n)):\n    w.out = 4 * w.out + i",
    "a range that is stored as a list": "w.r = list(range(w.n))",
    "a queue from a helper": "w.r = without(w.r, w.c)",
    # None in sets.
    "a set of what may be None": "w.f = {w.o} == {None}\nw.g = None in {w.o, w.c}\nw.out = len({w.o, w.c, 1})",
    "a set without None": "w.s = {w.o if w.f else w.c} - {None}\nw.out = len({w.o, w.n} - {None})",
    "a set that may hold None is stored": "w.s = {w.o}",
    "a set with and without None": "w.f = {w.o} <= {None, 1}\nw.g = bool({w.o} & {None}) or {None} < {w.o, w.n}",
    "members that are None": "w.out = sum(1 for x in {w.o, w.c} if x is None) + sum({w.o, 1} - {None})",
    "a sum of a set with None": "w.out = sum({w.o, 1})",
    "extremes without None": "w.out = max({w.o, w.c} - {None}) + min({w.o} - {None}, default=5)",
    "a sorted set without None": "for x in sorted({w.o, w.n} - {None}):\n    w.out = 4 * w.out + x",
    "a comprehension without None": "w.s = {x for x in (w.o, w.c) if x is not None and x < 2}",
    # Equality.
    "queues of unlike capacity": "w.f = w.q == w.r",
    "a list and an Array": "w.f = [w.a[0], w.a[1]] == w.a\nw.g = [w.n, w.m] == [w.m, w.n]",
    "a tuple and a list": "w.f = (1,) == [1]",
    "a record and None": "w.f = w.note == w.sure\nw.g = w.note != None",
    "a member and None": "w.f = w.maybe == w.light\nw.g = w.maybe is w.light",
    "two values that can be None": "w.f = w.o == w.maybe\nw.g = w.note != w.o",
    "an alias of a member": "w.f = w.light is Light.BLACK\nw.g = Light.BLACK == Light.DARK",
    "a constant set of members": "w.f = w.light in WARM and w.maybe not in WARM",
    "a mode": 'w.f = MODE == "new"\nw.g = "old" != MODE',
    "attributes of a member's own": "w.f = Planet.MARS.is_far and not Planet.EARTH.is_far\nw.out = Planet.EARTH.weight",
    "private names of a class": "w.out = Tool.doubled(w.n)",
    "a caught abort": "try:\n    raise Stopped\nexcept Stop:\n    w.out = 1",
}
"""Bodies of an action in which every meaning agrees."""
IN_A_BRANCH_THAT_IS_OFF = (
    "del LIM",
    "import LIM",
    "from ast import parse as LIM",
    "class LIM: pass",
    "def LIM(): pass",
    "match w.n:\n        case LIM: pass",
    "x = [(LIM := y) for y in w.a]",
)
"""What makes a name local to the whole function, executed or not."""
REFUSED = {
    **{
        f"a name of the module beside `{text}`": (f"if OFF:\n    {text}\nw.out = LIM", "the name 'LIM' has no value")
        for text in IN_A_BRANCH_THAT_IS_OFF
    },
    "global in a branch that is off": ("if OFF:\n    global LIM\nw.out = 1", "`global LIM`. Instead: a field"),
    "a yield in a branch that is off": ("lazily(w)", "`(yield)`. Instead: a list or tuple"),
    "the docstring of a class": (
        "w.f = Box.__doc__ == Note.__doc__",
        "attribute '__doc__', which Python defines. Instead: a constant",
    ),
    "a property with another way to be read": ("w.out = Early().answer", "of the class Later"),
    "an abort that does more than to be raised": ("raise Turned", "a raise of Turned, which has an `__init__` or"),
    "objects that change places": ("w.boxes[0], w.boxes[1] = w.boxes[1], w.boxes[0]", "several objects at once"),
    "an object to a field, one to a name": (
        "w.box, x = w.boxes[0], w.box\nw.out = x.n",
        "several objects at once",
    ),
    "an Array as a truth value": ("if w.a:\n    w.out = 1", "an Array as a truth value"),
    "a Fresh as a truth value": ("w.f = not w.ids", "a Fresh as a truth value"),
    "an object as a truth value": ("w.f = bool(w.box)", "a Box as a truth value"),
    "a generator as a truth value": ("w.f = bool(n for n in CELLS)", "an iterator as a truth value"),
    "a tuple with a list in a set": ("w.f = (1, [w.n]) in EDGES", "a tuple with a list in a set"),
    "a set of sets": ("w.f = {w.s} == {w.s}", "a set that holds a set"),
    "a sum of nothing from a truth value": ("w.out = sum((x for x in w.q if x), w.f)", "sum with this start"),
    "a sum of nothing from None": ("w.out = sum([], w.o)", "sum with this start"),
    "an empty set in a tuple of a set": ("w.f = (w.n, set()) in {(1, set())}", "a tuple with a set in a set"),
    "a set of a frozenset in a tuple": ("w.f = (1, set(frozenset())) in {(1,)}", "a tuple with a set in a set"),
    "an attribute of a queue that is called": ("w.f = w.q.is_empty()", "a call of a truth value"),
    "a head that is called": ("w.out = w.q.head()", "a call of a number"),
    "a key over a set": ("w.out = min(w.s, key=opposite)", "a loop over a set"),
    "a key with two parameters": ("w.out = min(CELLS, key=lambda a, b=1: a)", "a key with these parameters"),
    "a lambda elsewhere": ("w.out = max(w.r, default=lambda: 1)", "only the `key` of min or max"),
    "a number beyond 64 bits": ("w.f = w.n * 2**40 * 2**40 > 0", "a number that can be beyond"),
    "a function as a truth value": ("w.f = bool(half)", "as a truth value"),
    "a name without a value": ("w.out = x\nx = 1", "the name 'x' has no value here"),
    "a local that hides a global": ("w.out = LIM\nLIM = 1", "the name 'LIM' has no value here"),
    "a comprehension's variable after it": ("w.out = sum(i for i in CELLS) + i", "the name 'i' has no value here"),
    "a comprehension's own variable": ("x = (0,)\nw.out = sum(x for y in x for x in x)", "the name 'x' has no value"),
    "require without a condition": ("require()", "require with these arguments"),
    "require with two conditions": ("require(w.f, w.g)", "require with these arguments"),
    "premise in an action": ("premise(w.f)", "`premise` in an action"),
    "push without an element": ("w.q.push()", "push with these arguments"),
    "pop of a position": ("w.q.pop(0)", "pop with these arguments"),
    "a step of 0": ("w.out = sum(range(1, 5, 0))", "range with these arguments"),
    "range without arguments": ("w.out = sum(range())", "range with these arguments"),
    "a large number": ("w.out = 10**30", "the number 1,000,000"),
    "a number that grows beyond": ("w.out = w.n * 2**61", "a number that can be beyond"),
    "nesting": ("w.f = " + "not " * 900 + "w.f", "nested too deeply"),
    "is between truth values": ("w.f = w.f is True", "`is` between a truth value and a truth value"),
    "is between numbers": ("w.f = w.n is 2", "`is` between a number and a number"),
    "a float": ("w.f = w.n == 1.0", "of the class float"),
    "a decimal": ("w.f = w.n == DECIMAL", "of the class Decimal"),
    "a list of the module": ("w.out = PACES[0]", "a list that is no part of the state, and can change"),
    "a set of the module": ("w.f = w.n in CHOSEN", "a set that is no part of the state, and can change"),
    "a dict of the module": ("w.out = TABLE[0]", "a dict that is no part of the state, and can change"),
    "a mutable default": ("w.out = appending()", "a list that is no part of the state, and can change"),
    "an object of the module": ("w.out = BOX.n", "a Box that is no part of the state, and can change"),
    "members that are ints": ("w.f = Level.LOW == 1", "the Enum Level, whose members also behave as other values"),
    "members that are flags": ("w.f = bool(Right.READ)", "the Enum Right, whose members"),
    "members with a truth of their own": ("w.f = bool(Odd.ONE)", "the Enum Odd, whose members"),
    "an order of members": ("w.f = w.light < Light.DARK", "a Light compared by size with a Light"),
    "an int of a member": ("w.out = int(w.light)", "int of a Light"),
    "arithmetic on a member": ("w.out = w.light + 1", "+ of a Light and a number"),
    "an extreme of members": ("w.light = min(w.light, Light.DARK)", "min or max of a Light"),
    "a range with a step": ("w.out = sum(range(0, w.n, 2))", "a range of other things than numbers, or with a step"),
    "a range to None": ("w.out = sum(range(w.o))", "a range of other things than numbers"),
    "a range that is stored": ("w.r = range(w.n)", "a range in place of elements of a Fifo"),
    "a large range": ("w.out = len(range(w.n * 1000))", "a range of 3,000 numbers, from 0 to 3000"),
    "an index of a list of varying length that is a truth value": (
        "w.out = sorted(w.s)[w.f]",
        "a list of varying length indexed with a truth value",
    ),
    "a slice of a list with a step": ("w.out = len([w.n, 1][::2])", "a slice. Instead: a slice of a Fifo, list, tuple"),
    "a slice of a list of varying length with a step": ("w.out = len([x for x in w.r if x][::-1])", "a slice. Instead"),
    "a slice of a list to what may be None": ("w.r = [w.n, 1][: w.o]", "a number as the end of a slice"),
    "a slice of a list to a truth value": ("w.r = [w.n, 1][: w.f]", "a truth value as the end of a slice"),
    "a list that can change or another": (
        "x = [w.n]\ny = x\nif w.f:\n    y = [z for z in w.r if z]\nx[0] = 2\nw.out = len(y)",
        "holds values of different types",
    ),
    "a list that has a name or a new one": (
        "x = [w.n]\ny = x if w.f else [1, 2]\nx[0] = 2\nw.out = len(y)",
        "holds values of different types",
    ),
    "lists of one length or another by statements": (
        "x = [w.n]\nif w.f:\n    x = [1, 2]\nw.out = len(x)",
        "tuples in place of lists of unlike length",
    ),
    "a list or a tuple of varying length": (
        "x = [y for y in w.r if y] if w.f else tuple(y for y in w.r if y)\nw.out = len(x)",
        "holds values of different types",
    ),
    "a list that is appended to": ("x = [1]\nx.append(w.n)", "has no attribute 'append'. Instead: `x = x + [y]`"),
    "the index of a list": ("w.out = [1, w.n].index(1)", "has no attribute 'index'. Instead: `next(n for"),
    "the index of a tuple": ("w.out = (1, w.n).index(1)", "an attribute of a tuple. Instead: `next(n for n, y in"),
    "a list times a number": ("w.r = [w.n] * 2", "* of a list and a number. Instead: `[x for _ in range(n)]`"),
    "a product of iterators": (
        "w.out = len([x for x in itertools.product(CELLS, CELLS)])",
        "a call of product. Instead: several `for`",
    ),
    "a slice of an Array": ("w.r = w.a[1:]", "a slice. Instead: a slice of a Fifo, list, tuple or range"),
    "an element of a list of varying length": ("x = list(w.r)\nx[0] = 1", "an element of a list of varying"),
    "a slice with a step": ("w.r = w.r[::-1]", "a slice of a Fifo with a step"),
    "a slice that is written": ("w.r[0:1] = w.r", "a write to a slice"),
    "a slice to None": ("w.r = w.r[: w.o]", "a number as the end of a slice"),
    "append": ("w.r.append(1)", "a Fifo has no attribute 'append'. Instead: `q.push(x)`"),
    "last": ("w.out = w.r.last", "a Fifo has no attribute 'last'. Instead: `q[-1]`"),
    "a Fifo indexed with a truth value": ("w.out = w.r[w.f]", "a Fifo indexed with a truth value"),
    "a sum from None": ("w.out = sum((1, 2), w.maybe)", "sum of a Light"),
    "a decorator": ("w.f = contrary(w)", "is wrapped by a decorator"),
    "a cached function": ("w.out = remembered(1)", "of the class _lru_cache_wrapper"),
    "a change in place of a set": ("x = {1}\ny = x\ny |= {0}\nw.s = x", "a change in place of the set 'y'"),
    "a change in place of a list": ("x = [1]\ny = x\ny += [0]\nw.out = len(x)", "a change in place of the list 'y'"),
    "a change in place of a list of varying length": (
        "x = [n for n in w.r if n]\nx += [0]",
        "a change in place of the list 'x'",
    ),
    "a list that grows by a queue in place": ("x = [1]\nx += w.r\nw.out = len(x)", "a change in place of the list 'x'"),
    "a change in place of a list in a list": ("x = [[1]]\nx[0] += [2]", "a change in place of the list 'x[0]'"),
    "a sum of a list and a tuple": ("w.out = len([1] + (2,))", "+ of a list and a tuple"),
    "a sum of a list of varying length and a tuple": (
        "w.out = len([n for n in w.r if n] + (2,))",
        "+ of a list of varying length and a tuple",
    ),
    "a sum of a range and a list": ("w.out = len(range(w.n) + [2])", "+ of a range of varying length and a list"),
    "a generator after a write": (
        "g = (x for x in w.a if x > 0)\nw.a[0] = 1\nw.out = max(g, default=0)",
        "a generator expression that is used",
    ),
    "a generator that is used twice": (
        "g = (x > 0 for x in w.a)\nw.f = any(g)\nw.g = any(g)",
        "an iterator that is used twice",
    ),
    "a loop over a generator": ("for x in (y for y in w.a):\n    w.out = x", "a loop over a generator expression"),
    "a text's method": ('w.f = "a".isalpha()', "an attribute of a text"),
    "a length of enumerate": ("w.out = len(enumerate(w.a))", "len of an iterator"),
    "a single None": ("w.f = max((w.o,)) is None", "min or max of what may be a single None"),
    "true division": ("w.out = w.n / 2", "the operator Div. Instead: `//`"),
    "a call of a property": ("w.f = w.sure.is_large()", "a call of a truth value"),
    "a symbolic divisor": ("w.out = 7 // (w.n + 2)", "// by a number that the state decides"),
    "a symbolic power": ("w.out = w.n ** 2", "** of a number that the state decides"),
    "a symbolic shift": ("w.out = 1 << w.c", "<< of a number that the state decides"),
}
"""Bodies of an action that are refused, and words of the refusal."""
HELPERS = """
import itertools

PACES = [1, 2]
CHOSEN = {1, 2}
TABLE = {0: 1}
BOX = Box()
DECIMAL = Decimal(1)
EDGES = frozenset({(0, 1), (1, 2), (2, 1), (1, 0)})
QUORUMS = frozenset({frozenset({0, 1}), frozenset({1}), frozenset()})


def opposite(n):
    return -n


class Level(IntEnum):
    LOW = 1


class Right(IntFlag):
    READ = 1


class Odd(Enum):
    ONE = 1

    def __bool__(self):
        return False


class Later(property):
    def __get__(self, owner, cls=None):
        return 2


@value
class Early(Note):
    @Later
    def answer(self):
        return 1


class Turned(Stop):
    def __new__(cls):
        return Stopped()


class Planet(Enum):
    EARTH = 1
    MARS = 2
    is_far = enum.nonmember(False)

    def __init__(self, place):
        self.weight = place + 3
        if place > 1:
            self.is_far = True


class Tool:
    __rate = 2

    @staticmethod
    def doubled(n):
        return n * Tool.__rate + __rate


__rate, _Tool__rate = 7, 1


def lazily(w):
    if OFF:
        yield
    w.f = True


def without(queue, n):
    if n >= len(queue):
        return queue
    return queue[:n] + queue[n + 1 :]


def by_default(n=LIM):
    return n + 1


def appending(found=[]):
    return len(found)


def put(w, array):
    w.a = array


def put_if(w, wanted):
    if not wanted:
        return
    w.a[0] = 1


def fill(array):
    array[0] = 3


def half(w: World) -> int:
    if w.f:
        x = 3
    return x


def reverse(function):
    @wraps(function)
    def inner(w):
        return not function(w)

    return inner


@reverse
def contrary(w: World) -> bool:
    return w.f


@cache
def remembered(n):
    return n


"""
PROPERTIES = {
    "a queue": ("return not w.q", None),
    "a flag": ("return w.f and ON", None),
    "a local of one branch": ("if w.f:\n    x = True\nreturn x", None),
    "an error that Python does not reach": ("return w.o is None or w.o + 1 > 0", None),
    "nothing on one path": ("if w.f:\n    return True", "on the branch taken. Instead: return True"),
    "nothing": ("w.f", "the property returns None. Instead: return True or False"),
    "a number": ("return w.n", "the property returns a number"),
    "a set": ("return w.s", "the property returns a set"),
    "a record or None": ("return w.note", "the property returns a Note"),
    "require": ("require(w.f)\nreturn w.g", "`require` in a property"),
    "an abort": ("if w.f:\n    raise Stop\nreturn w.g", "an abort leaves the property"),
}
"""Bodies of a property, and words of the refusal, if it is one."""

NAMES = {
    "an array of which an element is written": "x = w.a\nw.a[w.c] = 2\nw.f = w.a != x",
    "an array that is replaced": "x = w.a\nw.a = [1, 2]\nw.out = x[0]",
    "a record that is replaced": "x = w.box\nw.box = Box(n=1)\nw.out = x.n",
    "a record in an array that may be replaced": "x = w.boxes[w.c]\nw.boxes[0] = w.box\nw.out = x.n",
    "an array of records of which one is replaced": "x = w.boxes\nw.boxes[0] = w.box\nw.out = x[0].n",
    "a queue that is pushed": "x = w.q\nw.q.push(1)\nw.out = len(x)",
    "a queue that is popped": "x = w.q\nw.q.pop()\nw.out = len(x)",
    "a queue of which an element is written": "x = w.q\nw.q[0] = 1\nw.out = x[0]",
    "a queue that is replaced": "x = w.q\nw.q = w.q + [1]\nw.out = len(x)",
    "a set of records that grows": "x = w.mail\nw.mail.add(w.sure)\nw.out = len(x)",
    "a set of records that is replaced": "x = w.few\nw.few = set()\nw.out = len(x)",
    "a source of ids": "x = w.ids\nw.ids.take()\nw.out = x.take()",
    "a change on one path": "x = w.a\nif w.f:\n    w.a[0] = 1\nw.out = x[0]",
    "a change in a helper": "x = w.a\nput(w, [1, 1])\nw.out = x[0]",
    "a change in a helper that may return before": "x = w.a\nput_if(w, w.f)\nw.out = x[0]",
    "a change through a parameter": "x = w.a\nfill(w.a)\nw.out = x[0]",
    "an array in a tuple": "x = (w.a, 1)\nw.a[0] = 2\nw.out = x[0][0]",
    "an array in a list": "x = [w.a, w.a]\nw.a[0] = 2\nw.out = x[0][0]",
    "records that are chosen": "x = [b for b in w.boxes if b.f]\nw.boxes = [w.box, w.box]\nw.out = len(x)",
    "one of two queues": "x = w.q if w.f else w.q\nw.q.clear()\nw.out = len(x)",
    "a loop's variable": "for x in w.boxes:\n    w.boxes[1] = w.box\n    w.out = x.n",
}
"""A name that is read after what it refers to was changed under another one."""
KEPT_NAMES = {
    "a change through the name": "x = w.a\nx[0] = 2\nw.out = x[0]",
    "a change of a part through the name": "x = w.boxes\nx[0] = w.box\nw.out = x[0].n",
    "a change through a parameter that has the name": "x = w.a\nfill(x)\nw.out = x[0]",
    "a copy": "x = tuple(w.a)\nw.a[0] = 2\ny = w.q[:]\nw.q.clear()\nw.out = x[0] + len(y)",
    "a change of a record's field": "x = w.box\nw.box.n = 2\nw.out = x.n",
    "a name that is assigned again": "x = w.a\nw.a[0] = 2\nx = w.a\nw.out = x[0]",
    "a change of another queue": "x = w.q\nw.r.clear()\nw.out = len(x)",
    "what is stored where it is": "x = w.a\nw.a = x\nw.out = x[0]",
    "a name that is not read any more": "x = w.a\nw.a[0] = 2\nw.out = 1",
    "numbers that change places": "w.a[0], w.a[1] = w.a[1], w.a[0]",
    "an object and a name at once": "w.box, x = w.boxes[0], w.n\nw.n, y = 1, w.boxes[1]\nw.out = x + y.n",
}


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    model = model_of(written(tmp_path_factory.mktemp("states"), action_text("pass")))
    return random_states(model, 150, seed=7)


def assert_agreement(model, states):
    lifted = lift(model)
    kernel = fast_kernel_for(model, lifted)
    for found in (
        disagreements(model, states, kernel=kernel, lifted=lifted),
        disagreements(model, states[:25], lifted=lifted, with_z3=True),
    ):
        different = next(found, None)
        assert different is None


@pytest.mark.parametrize("case", AGREEING)
def test_python_terms_kernel_and_z3_agree_on(case, states, tmp_path):
    assert_agreement(model_of(written(tmp_path, HELPERS + action_text(AGREEING[case]))), states)


@pytest.mark.parametrize("case", REFUSED)
def test_lifting_refuses(case, tmp_path):
    body, words = REFUSED[case]
    module = written(tmp_path, HELPERS + action_text(body))
    with pytest.raises(LiftError) as refusal:
        lift(model_of(module))
    assert str(refusal.value).startswith(f"{tmp_path}")
    assert "cannot translate this: " in str(refusal.value) and "Instead: " in str(refusal.value)
    assert words in str(refusal.value)


@pytest.mark.parametrize("case", NAMES)
def test_lifting_refuses_a_name_for_what_has_changed_under_another(case, tmp_path):
    with pytest.raises(LiftError, match="'x' is read here, and what it refers to was changed under another name"):
        lift(model_of(written(tmp_path, HELPERS + action_text(NAMES[case]))))


@pytest.mark.parametrize("case", KEPT_NAMES)
def test_a_name_is_kept_and_all_meanings_agree_on(case, states, tmp_path):
    assert_agreement(model_of(written(tmp_path, HELPERS + action_text(KEPT_NAMES[case]))), states)


@pytest.mark.parametrize("case", PROPERTIES)
def test_a_property_that_returns(case, states, tmp_path):
    body, words = PROPERTIES[case]
    model = model_of(written(tmp_path, property_text(body)))
    if words is None:
        assert_agreement(model, states)
    else:
        with pytest.raises(LiftError, match="Instead: ") as refusal:
            lift(model)
        assert words in str(refusal.value)


@pytest.mark.parametrize("method", ["__bool__", "__eq__", "__len__", "__attrs_post_init__", "__getattr__", "__init__"])
@pytest.mark.parametrize("kind", ["state", "value"])
def test_a_class_with_a_special_method_is_refused(kind, method, tmp_path):
    text = f"@{kind}\nclass Odd:\n    n: int = number(0, 2)\n    def {method}(self, *more):\n        pass\n"
    with pytest.raises(LiftError, match=f"Odd has a method {method}, which Python calls by itself"):
        written(tmp_path, text)


INHERITING = {
    "a call": ("s.n = int(Note(1) == Note(2))", "a call of Note"),
    "a constant": ("s.n = int(NOTE == Base(2))", "of the class Note"),
    "a test of its class": ("s.n = int(isinstance(s.base, Note))", "isinstance of the class Note"),
}
"""Uses of a class that inherits from a record class and has no decorator of its own, and words of their refusal."""


@pytest.mark.parametrize("use", INHERITING)
def test_a_class_that_only_inherits_from_a_record_class_is_no_record_class(use, tmp_path):
    """Its special methods have not been looked at."""
    body, words = INHERITING[use]
    module = written(
        tmp_path,
        "@value\nclass Base:\n    n: int = number(0, 2)\n\n\n"
        "class Note(Base):\n    def __eq__(self, other):\n        return True\n\n\nNOTE = Note(1)\n\n\n"
        "@state\nclass Pot:\n    n: int = number(0, 2)\n    base: Base = nested(Base)\n\n\n"
        f"@action(by=ANY)\ndef go(s: Pot) -> None:\n    {body}\n",
    )
    with pytest.raises(LiftError, match=words):
        lift(Model(Scenario("pot", "", module.Pot, [module.go])))
    for declaration in (nested, optional, subset):
        with pytest.raises(LiftError):
            declaration(module.Note)
    with pytest.raises(UsageError, match="`state` must be a class declared with @state"):
        Scenario("note", "", type("Bare", (module.Pot,), {}), [module.go])


ODD_ENUMS = {
    "ints": "class Odd(IntEnum):\n    ONE = 0\n",
    "flags": "class Odd(IntFlag):\n    ONE = 1\n",
    "texts": "class Odd(str, Enum):\n    ONE = ''\n",
    "a truth of their own": "class Odd(Enum):\n    ONE = 1\n\n    def __bool__(self):\n        return False\n",
    "a metaclass of their own": "class M(enum.EnumType):\n    pass\n\n\nclass Odd(Enum, metaclass=M):\n    ONE = 1\n",
}
"""Enums whose members mean more to Python than distinct constants."""


@pytest.mark.parametrize("field", ["choice(Odd)", "optional(Odd)", "array(CELLS, Odd)"])
@pytest.mark.parametrize("members", ODD_ENUMS)
def test_a_field_of_members_that_are_also_something_else_is_refused(members, field, tmp_path):
    """`if jar.x:` and `jar.x == 0` would otherwise mean one thing to Python and another to lifting."""
    with pytest.raises(LiftError, match="A field cannot hold members of Odd, which are more than constants to Python"):
        written(tmp_path, f"{ODD_ENUMS[members]}\n\n@value\nclass Jar:\n    x: Odd = {field}\n")


def test_declarations_compute_with_bounds(tmp_path):
    """Sizes, limits on both sides, capacities and defaults follow from bounds; a hit names the first bound."""
    text = (
        'MANY = Domain("many", size=2 ** CELLS.bound)\nFEW = Domain("few", size=LIM - 1)\n\n\n'
        "@state\nclass Jar:\n    n: int = number(-LIM, ROOM * 2 - LIM, default=1 - LIM)\n"
        "    m: int = member(MANY, default=LIM + 1)\n"
        "    s: frozenset[int] = subset(MANY, default=lambda: range(LIM))\n"
        "    t: frozenset[int] = subset(MANY, default=(LIM + 1, 0))\n"
        "    ids: Fresh = fresh(FEW)\n\n\n"
        "@action(by=ANY)\ndef empty(jar: Jar) -> None:\n    jar.n -= 1\n\n\n"
        "@action(by=ANY)\ndef fill(jar: Jar) -> None:\n    jar.n += 1\n\n\n"
        "@action(by=ANY)\ndef take(jar: Jar) -> None:\n    jar.ids.take()\n\n\n"
    )
    module = written(tmp_path, text)
    actions = [module.empty, module.fill, module.take]
    model = Model(Scenario("jar", "", module.Jar, actions, [], bounds={"lim": 2, "room": 3, "cells": 2}))
    assert model.initial == ((-1, 3, 1, 1, 0, 0, 1, 0, 0, 1, 0),)
    states = [(n, m, *(1,) * 8, taken) for n in range(-2, 5) for m in range(4) for taken in (0, 1)]
    assert_agreement(model, states)
    for key, number, bound in (("empty()", -2, "lim"), ("fill()", 4, "room"), ("take()", 0, "lim")):
        assert model.attempt(model.instance(key), (number, 0, *(0,) * 8, 1)).bound == bound


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        ("fifo(CELLS, ROOM - 3)", "a queue for -1 elements"),
        ("optional(number(LIM - 3, 2))", "an optional number that is at least -1"),
        ("subset(CELLS, default={2})", "must be a set of members of cells"),
        ("member(CELLS, default=LIM)", "the default 2 and the values 0 … 1"),
        ("number(0, 2 ** (LIM * 20))", "give smaller bounds"),
        ("number(0, LIM // (ROOM - 2))", "has no value under these bounds"),
        ("number(0, LIM ** (ROOM - 3))", "which is no int"),
        ('member(Domain("none", size=LIM - 2))', "must have 1 member or more"),
    ],
)
def test_a_declaration_without_meaning_under_the_bounds_is_refused(declaration, problem, tmp_path):
    module = written(tmp_path, f"@state\nclass Jar:\n    x: object = {declaration}\n\n\n")
    with pytest.raises(UsageError, match=problem):
        Model(Scenario("jar", "", module.Jar, [module.idle], [], bounds={"lim": 2, "room": 2, "cells": 2}))


def test_a_declaration_names_a_bound_plus_one(tmp_path):
    text = (
        "@state\nclass Jar:\n    n: int = number(0, LIM + 1, default=LIM)\n"
        "    q: Fifo[int] = fifo(CELLS, ROOM - 1)\n\n\n"
        "@action(by=ANY)\ndef fill(jar: Jar) -> None:\n    jar.n += 1\n\n\n"
        "@action(by=ANY)\ndef put(jar: Jar) -> None:\n    jar.q.push(0)\n\n\n"
    )
    module = written(tmp_path, text)
    sizes = {"lim": 2, "room": 2, "cells": 2}
    scenario = Scenario("jar", "", module.Jar, [module.fill, module.put], [], bounds=sizes)
    model = Model(scenario)
    assert model.initial == ((2, 0, 0),)
    states = [(n, full, 0) for n in range(4) for full in range(2)]
    assert_agreement(model, states)
    assert model.attempt(model.instance("fill()"), (3, 0, 0)).bound == "lim"
    assert model.attempt(model.instance("put()"), (3, 1, 0)).bound == "room"
