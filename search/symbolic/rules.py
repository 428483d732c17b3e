"""What rules do to sets of states: projection to their classes, learning, successors, predecessors, and saturation.

A set of states of one mode is a diagram whose levels are the components but the first, whose value is the *mode*.

Sources: S. Blom and J. van de Pol (see `diagrams`) of projection and learning; G. Ciardo, R. Marmorstein and
R. Siminiceanu, "The saturation algorithm for symbolic state-space exploration", STTT 8 (2006), of saturation.
"""

from __future__ import annotations

from kwalk.search.native.intrinsics import call, call_void, enter, get, put
from kwalk.search.native.loops import BLOCK_ARGUMENTS, BLOCK_RESULT, loop, part
from kwalk.search.symbolic.diagrams import (
    BELOW,
    BESIDE,
    NOT_KEPT,
    QUESTION_IMAGE,
    QUESTION_PROJECT,
    QUESTION_SATURATE,
    VALUE,
    add_pair,
    begin_frame,
    call_minus,
    call_union,
    end_frame,
    item,
    keep,
    kept,
    make,
    question,
    sort_pairs,
    sort_words,
)
from kwalk.search.symbolic.layout import REFUSED, EngineBlock, RuleBlock, Stop
from kwalk.search.symbolic.tables import changed, class_of, number_of, put_initial, write

ANY_MODE = 0xFFFFFFF
"""In place of the mode, where it makes no difference."""
AFTER, WHERE = range(2)
"""What `image` computes, if there is no target."""


@part
def rule_at(engine: int, number: int) -> int:
    """Return the address of a rule."""
    return get(get(engine, EngineBlock.RULES), number)


@part
def child(engine: int, node: int, value: int) -> int:
    """Return the node below the node with a value in a list; 0 if there is none."""
    nodes = get(engine, EngineBlock.NODES)
    while node != 0 and item(node, nodes, VALUE) < value:
        node = item(node, nodes, BESIDE)
    return item(node, nodes, BELOW) if node != 0 and item(node, nodes, VALUE) == value else 0


@part
def _call(entry: int, frame: int, arguments: tuple[int, ...]) -> int:
    """Call a loop with some numbers, the engine first; `frame` is the address of a frame of the caller."""
    for k in range(len(arguments)):
        put(frame, BLOCK_ARGUMENTS + k, arguments[k])
    enter(entry, frame)
    return get(frame, BLOCK_RESULT)


@part
def _project(engine: int, frame: int, states: int, level: int, number: int) -> int:
    return _call(get(engine, EngineBlock.PROJECT), frame, (engine, states, level, number))


@part
def _image(engine: int, frame: int, states: int, pairs: int, at: tuple[int, int]) -> int:
    level, number = at
    return _call(get(engine, EngineBlock.IMAGE), frame, (engine, states, pairs, 1, level, number, AFTER))


@loop
def project(engine: int, states: int, level: int, number: int) -> int:
    """Return the vectors of classes, from a level on, that a rule can tell apart in a set, without refused ones."""
    if states == 0 or get(engine, EngineBlock.STOPPED) != 0:
        return 0
    rule = rule_at(engine, number)
    if level > get(rule, RuleBlock.LAST):
        return 1
    first, second = states, question(QUESTION_PROJECT, level, number)
    result = kept(engine, first, second)
    if result != NOT_KEPT:
        return result
    nodes, view, each = get(engine, EngineBlock.NODES), get(get(rule, RuleBlock.VIEWS), level), states
    frame = begin_frame(engine)
    if view == 0:
        result = 0
        while each != 0:
            below = _project(engine, frame, item(each, nodes, BELOW), level + 1, number)
            result = call_union(engine, frame, result, below)
            each = item(each, nodes, BESIDE)
        put(engine, EngineBlock.TOP, frame)
    else:
        while each != 0:
            found = class_of(engine, view, item(each, nodes, VALUE))
            if found != REFUSED:
                below = _project(engine, frame, item(each, nodes, BELOW), level + 1, number)
                if below != 0:
                    add_pair(engine, found, below)
            each = item(each, nodes, BESIDE)
        sort_pairs(engine, frame)
        result = end_frame(engine, frame)
    keep(engine, first, second, result)
    return result


@loop
def image(engine: int, states: int, pairs: int, target: int, at: tuple[int, int, int]) -> int:
    """Return the states after a rule, those where its conditions hold, or those that it leads into another set.

    Args:
        engine: The address of the engine.
        states: The set, from the level on.
        pairs: The pairs of the rule, from the level on.
        target: The other set, from the level on, which has one vector; 1 where there is none.
        at: The level, the number of the rule, and AFTER, WHERE, or another number for each target of a search.
    """
    level, number, what = at
    if states == 0 or pairs == 0 or target == 0 or get(engine, EngineBlock.STOPPED) != 0:
        return 0
    rule = rule_at(engine, number)
    if level > get(rule, RuleBlock.LAST):
        return states if what <= WHERE or target == 1 else _within(engine, states, target)
    first, second = states | pairs << 32, question(QUESTION_IMAGE, level, number) | what << 40
    result = kept(engine, first, second)
    if result != NOT_KEPT:
        return result
    nodes, view, each = get(engine, EngineBlock.NODES), get(get(rule, RuleBlock.VIEWS), level), states
    frame, entry, change = begin_frame(engine), get(engine, EngineBlock.IMAGE), get(get(rule, RuleBlock.CHANGES), level)
    while each != 0:
        value, below, into = item(each, nodes, VALUE), item(each, nodes, BELOW), 1
        if view == 0:
            if what > WHERE:
                into = child(engine, target, value)
            found = _call(entry, frame, (engine, below, pairs, into, level + 1, number, what))
            if found != 0:
                add_pair(engine, value, found)
        else:
            mine = class_of(engine, view, value)
            outcome = 0 if mine == REFUSED else child(engine, pairs, mine)
            while outcome != 0:
                after = value if what == WHERE else changed(engine, change, item(outcome, nodes, VALUE), value)
                if what > WHERE:
                    into = child(engine, target, after)
                found = _call(entry, frame, (engine, below, item(outcome, nodes, BELOW), into, level + 1, number, what))
                if found != 0:
                    add_pair(engine, after if what == AFTER else value, found)
                outcome = item(outcome, nodes, BESIDE)
        each = item(each, nodes, BESIDE)
    sort_pairs(engine, frame)
    result = end_frame(engine, frame)
    keep(engine, first, second, result)
    return result


@part
def _within(engine: int, states: int, vector: int) -> int:
    """Return the set of a single vector if it is in the set, otherwise the empty set."""
    nodes, here, there = get(engine, EngineBlock.NODES), states, vector
    while there > 1:
        here = child(engine, here, item(there, nodes, VALUE))
        there = item(there, nodes, BELOW)
    return vector if here == 1 else 0


# Learning.


@loop
def learn(engine: int, fresh: int, mode: int, number: int) -> None:
    """Evaluate a rule for vectors of classes, and add the pairs of those where its conditions hold.

    Args:
        engine: The address of the engine.
        fresh: The vectors, of the levels below the mode: none was evaluated in this class of the mode.
        mode: The class of the mode; 0 if the rule has no view of it.
        number: The number of the rule.
    """
    rule, nodes = rule_at(engine, number), get(engine, EngineBlock.NODES)
    views, last, frame = get(rule, RuleBlock.VIEWS), get(rule, RuleBlock.LAST), begin_frame(engine)
    put_initial(engine)
    if mode != 0:
        write(get(views, 0), mode - 1, get(engine, EngineBlock.STATE))
    path, width = get(engine, EngineBlock.TOP), last + 1  # for each level its node; then the rows, then their order
    rows, end = path + 8 * width, path + 8 * width
    put(path, 0, 0)
    level, node = 1, fresh
    while True:
        while level <= last and get(views, level) == 0:  # down to the next level of the rule, or to the end
            put(path, level, 0)
            level += 1
        if level <= last:
            put(path, level, node)
            write(get(views, level), item(node, nodes, VALUE) - 1, get(engine, EngineBlock.STATE))
            node = item(node, nodes, BELOW)
            level += 1
            continue
        if end + (end - rows) // width + 8 * (width + 64) > get(engine, EngineBlock.STACK_END):
            put(engine, EngineBlock.STOPPED, Stop.NO_TABLES)
            break
        if _evaluate(engine, rule):
            _write_row(engine, rule, path, mode, end)
            end += 8 * width
        level = last  # on to the next vector: back to the last level with another node
        while level > 0 and (get(path, level) == 0 or item(get(path, level), nodes, BESIDE) == 0):
            level -= 1
        if level == 0:
            break
        node = item(get(path, level), nodes, BESIDE)
    total = (end - rows) // (8 * width)
    put(engine, EngineBlock.TOP, end + 8 * total)
    pairs = call_union(engine, frame, get(rule, RuleBlock.PAIRS), _pairs_of(engine, rule, rows, end, total))
    now_seen = fresh if get(views, 0) == 0 else make(engine, mode, fresh, 0)
    seen = call_union(engine, frame, get(rule, RuleBlock.SEEN), now_seen)
    if get(engine, EngineBlock.STOPPED) == 0:
        put(rule, RuleBlock.PAIRS, pairs)
        put(rule, RuleBlock.SEEN, seen)
    put(engine, EngineBlock.TOP, frame)


@part
def _write_row(engine: int, rule: int, path: int, mode: int, row: int) -> None:
    """Write the pairs of class and change of the vector that was evaluated; `path` has its nodes by level."""
    views, changes, nodes = get(rule, RuleBlock.VIEWS), get(rule, RuleBlock.CHANGES), get(engine, EngineBlock.NODES)
    after = get(engine, EngineBlock.STATE)
    if get(rule, RuleBlock.EFFECT) != 0:
        after += 8 * get(engine, EngineBlock.WORDS)
    for k in range(get(rule, RuleBlock.LAST) + 1):
        pair = 0
        if get(views, k) != 0:
            mine = mode if k == 0 else item(get(path, k), nodes, VALUE)
            pair = mine << 32 | (0 if get(changes, k) == 0 else number_of(engine, get(changes, k), after) + 1)
        put(row, k, pair)


@part
def _evaluate(engine: int, rule: int) -> bool:
    """Return whether the conditions of a rule hold in the state to evaluate; write the state after its effect."""
    state = get(engine, EngineBlock.STATE)
    for k in range(get(rule, RuleBlock.CONDITION_COUNT)):
        if call(get(get(rule, RuleBlock.CONDITIONS), k), (state,)) == 0:
            return False
    if get(rule, RuleBlock.EFFECT) != 0:
        call_void(get(rule, RuleBlock.EFFECT), (state, state + 8 * get(engine, EngineBlock.WORDS)))
    return True


@part
def _pairs_of(engine: int, rule: int, rows: int, order: int, total: int) -> int:
    """Return the diagram of some rows of pairs: at each level of the rule the class, then the change.

    Args:
        engine: The address of the engine.
        rule: The address of the rule.
        rows: The address of the rows, int64[total, levels of the rule].
        order: The address of room for int64[total].
        total: The number of rows.
    """
    views, width = get(rule, RuleBlock.VIEWS), get(rule, RuleBlock.LAST) + 1
    for k in range(total):
        put(order, k, rows + 8 * width * k)
    sort_words(order, total, width)
    result = 0
    # From the last row to the first: `lists` has, for each digit, the nodes beside the one that is not yet made.
    frame = begin_frame(engine)
    lists = get(engine, EngineBlock.TOP)
    put(engine, EngineBlock.TOP, lists + 16 * (width + 1))
    for k in range(2 * width):
        put(lists, k, 0)
    for k in range(total - 1, -1, -1):
        row = get(order, k)
        same = 0  # the digits, two for each level, that the row has in common with the row before it
        if k > 0:
            before = get(order, k - 1)
            level = 0
            while level < width and get(row, level) == get(before, level):
                level += 1
            same = 2 * level
            if level < width and get(row, level) >> 32 == get(before, level) >> 32:
                same += 1
        below = 1
        digit = 2 * width - 1
        while digit >= 0 and digit >= same:
            pair = get(row, digit // 2)
            if get(views, digit // 2) != 0:
                value = pair & 0xFFFFFFFF if digit % 2 == 1 else pair >> 32
                below = make(engine, value, below, get(lists, digit))
                if digit > same:
                    put(lists, digit, 0)
            digit -= 1
        if k > 0:
            put(lists, same, below)
        else:
            result = below
    put(engine, EngineBlock.TOP, frame)
    return result if total > 0 else 0


@part
def prepare(engine: int, frame: int, states: int, at: tuple[int, int, int]) -> int:
    """Learn what a rule does to a set of states of a mode; return its pairs there, after the class of the mode.

    Where the rule has a view of the mode, the result is the list of its changes of the mode, with the pairs below each.
    `at` is the level, the mode and the number of the rule.
    """
    level, mode, number = at
    rule = rule_at(engine, number)
    view, mine = get(get(rule, RuleBlock.VIEWS), 0), 0
    if view != 0:
        mine = class_of(engine, view, mode)
        if mine == REFUSED:
            return 0
    learn_from(engine, frame, _project(engine, frame, states, level, number), (mine, number))
    return get(rule, RuleBlock.PAIRS) if view == 0 else child(engine, get(rule, RuleBlock.PAIRS), mine)


@part
def learn_from(engine: int, frame: int, vectors: int, at: tuple[int, int]) -> None:
    """Learn what a rule does to vectors of classes; `at` is the class of the mode, or 0, and the number of the rule."""
    mine, number = at
    seen = get(rule_at(engine, number), RuleBlock.SEEN)
    fresh = call_minus(engine, frame, vectors, seen if mine == 0 else child(engine, seen, mine))
    if fresh != 0 and get(engine, EngineBlock.STOPPED) == 0:
        _call(get(engine, EngineBlock.LEARN), frame, (engine, fresh, mine, number))


# Saturation.


@part
def _within_mode(engine: int, frame: int, states: int, at: tuple[int, int, int]) -> int:
    """Return the states of the same mode after a rule; `at` is the level, the mode and the number of the rule."""
    level, mode, number = at
    pairs, rule = prepare(engine, frame, states, at), rule_at(engine, number)
    if get(get(rule, RuleBlock.VIEWS), 0) == 0:
        return _image(engine, frame, states, pairs, (level, number))
    nodes, change, result = get(engine, EngineBlock.NODES), get(get(rule, RuleBlock.CHANGES), 0), 0
    while pairs != 0:
        if changed(engine, change, item(pairs, nodes, VALUE), mode) == mode:
            after = _image(engine, frame, states, item(pairs, nodes, BELOW), (level, number))
            result = call_union(engine, frame, result, after)
        pairs = item(pairs, nodes, BESIDE)
    return result


@loop
def saturate(engine: int, states: int, level: int, mode: int, levels: int) -> int:
    """Return all states that rules which begin at a level or below reach within a mode.

    Args:
        engine: The address of the engine.
        states: The states from which they are reached, from the level on.
        level: The level.
        mode: The mode.
        levels: The number of levels.
    """
    if states < 2 or level >= levels or get(engine, EngineBlock.STOPPED) != 0:
        return states
    known_by = mode if get(get(engine, EngineBlock.BY_MODE), level) != 0 else ANY_MODE
    first, second = states | known_by << 32, question(QUESTION_SATURATE, level, 0)
    result = kept(engine, first, second)
    if result != NOT_KEPT:
        return result
    nodes, starts = get(engine, EngineBlock.NODES), get(get(engine, EngineBlock.STARTS), level)
    outer = begin_frame(engine)
    result = states
    while get(engine, EngineBlock.STOPPED) == 0:
        before, each = result, result
        frame = begin_frame(engine)
        while each != 0:
            below = _call(
                get(engine, EngineBlock.SATURATE), frame, (engine, item(each, nodes, BELOW), level + 1, mode, levels)
            )
            add_pair(engine, item(each, nodes, VALUE), below)
            each = item(each, nodes, BESIDE)
        result = end_frame(engine, frame)
        for k in range(get(starts, 0)):
            more = _within_mode(engine, outer, result, (level, mode, get(starts, k + 1)))
            result = call_union(engine, outer, result, more)
        if result == before or get(starts, 0) == 0:
            break
    put(engine, EngineBlock.TOP, outer)
    keep(engine, first, second, result)
    keep(engine, result | known_by << 32, second, result)
    return result


@loop
def related(engine: int, states: int, mode: int, number: int, to: tuple[int, int, int, int]) -> int:
    """Write what `image` computes of a set of states of one mode, by modes; return how many sets there are.

    Args:
        engine: The address of the engine.
        states: The set.
        mode: Its mode.
        number: The number of the rule.
        to: The address of int64 pairs to write, of a mode, which can occur several times, and a set; AFTER, WHERE, or
            another number for each target of a search; the set of the target, and its mode.
    """
    into, what, target, target_mode = to
    frame, rule, entry, total = begin_frame(engine), rule_at(engine, number), get(engine, EngineBlock.IMAGE), 0
    pairs, nodes = prepare(engine, frame, states, (1, mode, number)), get(engine, EngineBlock.NODES)
    change, by_mode = get(get(rule, RuleBlock.CHANGES), 0), get(get(rule, RuleBlock.VIEWS), 0) != 0
    while pairs != 0:
        after, below = mode, pairs
        if by_mode:
            after, below = changed(engine, change, item(pairs, nodes, VALUE), mode), item(pairs, nodes, BELOW)
        if what <= WHERE or after == target_mode:
            put(into, 2 * total, after if what == AFTER else mode)
            put(into, 2 * total + 1, _call(entry, frame, (engine, states, below, target, 1, number, what)))
            total += 1
        pairs = item(pairs, nodes, BESIDE) if by_mode else 0
    put(engine, EngineBlock.TOP, frame)
    return total


@loop
def value_in(engine: int, component: int, state: int) -> int:
    """Return the number of the value that a component has in a packed state."""
    return number_of(engine, component, state)


@loop
def write_value(engine: int, component: int, number: int, state: int) -> None:
    """Write the value of a component into a packed state."""
    write(component, number, state)
