"""Answers for who has lost a broker, a disk, or records: what is left to do, and what it gives up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from attrs import evolve

from kwalk.invariants import records
from kwalk.invariants.reading.carried_out_plans import MOVE
from kwalk.invariants.reading.claims import FITS, OF_DISKS
from kwalk.invariants.reading.conditions import joined, of_unseen, premise_of
from kwalk.invariants.reading.finding_kinds import (
    DELETION_PENDING,
    DOWN_WITH_ANOTHER_ID,
    DOWN_WITH_ANOTHER_LOG,
    OFFLINE_REPLICA,
)
from kwalk.model.kafka.snapshots.at_rest import Observed
from kwalk.model.kafka.snapshots.capture import Capture, Directory, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, listed
from kwalk.model.kafka.snapshots.lineage import (
    end_of,
    is_seen,
    latest_logs,
    may_be_cleaned,
    missed_by_members,
)
from kwalk.model.kafka.snapshots.procedures import (
    ELECT,
    ELECT_AFTER,
    LOSSY,
    MOST_SINGLY,
    REPAIR_DISK,
    REPLACE_DISK,
    START_BROKER,
    START_EMPTY,
    START_IN_TURN,
    WITHOUT_FILES,
)
from kwalk.model.kafka.snapshots.worlds import ClusterPart
from kwalk.model.kafka.state import Cluster
from kwalk.model.language.model import PropertyInstance, Vector
from kwalk.model.language.recovery import Problem, Procedure, World

WITH_OWN_DISK = (START_IN_TURN, WITHOUT_FILES, MOVE, "put-back ", ELECT_AFTER)
"""How the names of steps begin that start brokers with their own disks, beside those that start one as it was."""
WITH_LOSSES = "acknowledged records may be lost"
"""How the condition of an answer ends that may lose records."""
OWN_ONLY = "no record of another topic comes in"
SHOWN_AGAIN = "if another snapshot, a minute later, shows the same"
"""The condition of an answer for a system in which nothing happens by itself any more."""
LOST = frozenset(prop.name for prop in (records.committed_records_are_kept, records.last_copies_are_kept))
"""The names of the claims that acknowledged records are kept."""
OF_DOWN_LOGS = (DOWN_WITH_ANOTHER_ID.name, DOWN_WITH_ANOTHER_LOG.name)
"""The kinds of damage of brokers that are down, and may not start with the log that they have."""
EMPTY: Mapping[str, str] = {START_BROKER: START_EMPTY, REPAIR_DISK: REPLACE_DISK}
"""How the names of the steps begin that put an empty disk in the place of what is gone."""


def for_good(capture: Capture, first: Problem, parts: Sequence[ClusterPart], common: str) -> Iterator[Problem]:
    """Yield the problem without a broker that starts again, or a disk that is repaired, as it is gone for good.

    Of several, one may be gone and the others not: the operator who misses one needs no empty brokers for the others.
    """
    for begin, given_up in _given_up(first):
        left = evolve(first, procedures=_without_gone(first, begin, given_up), what_ifs=(), notes=())
        gone = _gone_brokers(begin, given_up)
        premise = joined(common, premise_of(parts), of_unseen(capture, parts, gone), GONE[begin](given_up))
        left = _without_last_copies(_without_logs(left, parts, gone), parts, gone)
        yield evolve(left, premise=premise, instead_of=given_up)


def with_losses(
    capture: Capture, first: Problem, settled: Sequence[Sequence[World]], parts: Sequence[ClusterPart], common: str
) -> Iterator[Problem]:
    """Yield the problem of an operator who gives up what cannot be kept: acknowledged records may be lost.

    A broker that is down and has them would save them: then only the operator for whom it is gone for good asks, and
    only then an empty one takes its place. What other brokers have is given up only where no plan keeps it.

    Args:
        capture: The capture.
        first: The problem of an operator who gives nothing up.
        settled: The worlds in which nothing happens by itself any more, where that is asked.
        parts: The parts that are to be repaired.
        common: The premise of all answers.
    """
    if any(one.name.startswith(LOSSY) for one in first.procedures):
        members = {b for part in parts for b in part.observed.isr}
        saving = {f"{START_BROKER}{b}" for b in members}  # others may be elected, as what these have is given up
        unsaved = saving - {f"{START_BROKER}{b}" for b in members if _saves_all(capture, parts, b)}
        empty = {name.replace(START_BROKER, START_EMPTY) for name in _named(first, START_BROKER)}
        worse = _outdone(capture, parts)
        kept = tuple(one for one in first.procedures if one.name not in empty and not _does(one, unsaved | worse))
        out = {f"{START_BROKER}{b}" for b in _kept_down(capture, parts)} - {one.name for one in kept}
        kept = tuple(one for one in kept if not _starts_gone(one, out))
        left = _losing(evolve(first, procedures=_starting_more(kept), what_ifs=(), notes=()), parts)
        unseen = of_unseen(capture, parts, _gone_brokers(START_BROKER, out))
        premise = f"{_gone(out)}, and {WITH_LOSSES}" if out else f"if {WITH_LOSSES}"
        premise = joined(common, premise_of(parts), unseen, premise)
        yield evolve(_without_bare_starts(left, parts), premise=premise)
        for begin, given_up in _given_up(first, saving):
            gone = {int(name.removeprefix(begin)) for name in given_up}
            saved = {part.name for part in parts if {*part.lineages.isr} - gone}
            harmful = _outdone(capture, parts, gone, saved)
            procedures = tuple(one for one in _without_gone(first, begin, given_up) if not _does(one, harmful))
            left = evolve(first, procedures=_starting_more(procedures), what_ifs=(), notes=())
            missed = _gone_brokers(begin, given_up)
            unseen = of_unseen(capture, parts, missed)
            premise = joined(common, premise_of(parts), unseen, f"{GONE[begin](given_up)}, and {WITH_LOSSES}")
            at_rest = [(evolve(left, worlds=tuple(worlds)), joined(premise, SHOWN_AGAIN)) for worlds in settled]
            losing = [(_losing_only(one, parts, saved, begin, gone), text) for one, text in ((left, premise), *at_rest)]
            for one, text in (*losing, (_losing(left, parts, saved), premise)):
                one = _without_last_copies(_without_logs(one, parts, missed), parts, missed)
                yield evolve(_without_bare_starts(one, parts), premise=text, instead_of=given_up)


def _does(one: Procedure, names: Collection[str]) -> bool:
    """Whether a step is one of some that start a broker as it was, or starts that one with others, or without files."""
    others = one.starts if one.name.startswith((START_IN_TURN, WITHOUT_FILES)) else ()
    return one.name in names or any(f"{START_BROKER}{b}" in names for b in others)


def _saves_all(capture: Capture, parts: Sequence[ClusterPart], broker: int) -> bool:
    """Whether a broker has what was acknowledged in each part whose ISR it is in, and another part may lose records.

    Where no ISR member is known to have it, the log that no other one is known to end after may, if it has records and
    has lost none that others have.
    """
    own = [part for part in parts if broker in part.observed.isr]
    if any(broker in missed_by_members(capture, part.topic, part.partitions[0]) for part in own):
        return False
    sure = [part for part in own if broker in part.lineages.isr]
    return len(sure) < len(parts) and all(part in sure or _ends_last(part, broker) for part in own)


def _ends_last(part: ClusterPart, broker: int) -> bool:
    """Whether no ISR member is known to have what was acknowledged, and no log to end after that of a broker."""
    hosts = (*part.topic.partitions.get(part.partitions[0], ()), *part.observed.isr)
    logs = {b: log for b, log in part.lineages.logs.items() if b in hosts}
    is_filled = broker in logs and logs[broker].is_empty is False
    on_failed_disk = any(one.offline for one in part.observed.situation.brokers)  # once repaired, it may end later
    return not (part.lineages.isr or on_failed_disk) and is_filled and broker in latest_logs(logs)


def _kept_down(capture: Capture, parts: Iterable[ClusterPart]) -> set[int]:
    """Return the brokers that are down, and would lead a partition without a live ISR member with all that was kept."""
    return {
        b
        for part in parts
        if not any(one.in_isr and one.alive for one in part.observed.situation.brokers)
        for b in part.observed.isr
        if b in part.lineages.isr and not capture.brokers[b].alive
    }


def _outdone(
    capture: Capture, parts: Iterable[ClusterPart], gone: Collection[int] = (), saved: Collection[str] | None = None
) -> set[str]:
    """Return the steps that start a replica which must not lead in the place of an ISR: another one's log ends later.

    Args:
        capture: The capture.
        parts: The parts of which records may be lost.
        gone: The brokers that are gone for good.
        saved: The names of the parts of which an ISR member is left; all, if None.
    """
    found = set[int]()
    for part in parts:
        known, number, isr = part.observed.situation.brokers, part.partitions[0], part.observed.isr
        if not any(one.in_isr and one.alive for one in known):
            left = ({*part.topic.partitions.get(number, ()), *isr} & {*part.choice.keeps}) - {*gone}
            left -= {*isr} if saved is None or part.name in saved else set()
            logs = {b: log for b in left if (log := capture.directory(b, part.topic.name, number))}
            found |= logs.keys() - {*_last_of(logs)}
    return {f"{START_BROKER}{b}" for b in found}


def _last_of(logs: Mapping[int, Directory]) -> list[int]:
    """Return the brokers whose logs no other ends after: the longest ones, where no checkpoint shows leader epochs."""
    last = latest_logs(logs)
    if may_be_cleaned(*(logs[b] for b in last)) or any(logs[b].last_epochs is not None for b in last):
        return list(last)
    return [b for b in last if end_of(logs[b]) == end_of(logs[last[0]])]


def _starting_more(procedures: Sequence[Procedure]) -> tuple[Procedure, ...]:
    """Return steps without elections that pass over a broker which is down, and has more records than the ISR."""
    topics = {one.name.split()[1] for one in procedures if one.name.startswith(ELECT_AFTER)}
    return tuple(one for one in procedures if not (one.name.startswith(ELECT) and one.name.split()[1] in topics))


def _losing(problem: Problem, parts: Iterable[ClusterPart], saved: Collection[str] = ()) -> Problem:
    """Return a problem whose plans may lose acknowledged records, and are asked for as a last resort.

    Those of the parts whose names are saved are kept: another broker has them than those that are gone. A broker with
    an empty disk would lead, and the others would lose all that they have: they are to lead before.
    """
    lost_disks = dict[str, set[int]]()
    procedures, uncovered = problem.procedures, problem.uncovered
    starting = {int(name.removeprefix(START_BROKER)) for name in _named(problem, START_BROKER)}
    electable = [p.observed for p in parts if p.name not in saved and _is_electable(p, starting)]
    if any(one.offline and one.in_isr for observed in electable for one in observed.situation.brokers):
        procedures = without_steps(problem, REPLACE_DISK)
        lost_disks = _lost_disks(problem, parts)
        if any(lost_disks.values()):
            uncovered = (*uncovered, OFFLINE_REPLICA.name)
    leading = {f"{START_EMPTY}{b}" for observed in electable for b in observed.isr or observed.brokers}
    bare = {str(b) for observed in electable for b in _bare_members(observed)}
    procedures = tuple(one for one in procedures if one.name not in leading and bare.isdisjoint(one.starts))
    waiting = [world for world in problem.worlds if leading and world.success]  # for the empty broker: let it wait
    uncovered = (*uncovered, *(DELETION_PENDING.name for _ in waiting[:1]))

    def claims(world: World) -> Iterator[PropertyInstance]:
        left, disks = set() if world.name in saved else LOST, lost_disks.get(world.name, set())
        known = (one for one in world.claims if world not in waiting and one.declaration.name not in left)
        yield from (one for one in known if one.declaration.name != OF_DISKS[0].name or one.args[0] not in disks)

    worlds = tuple(evolve(world, claims=tuple(claims(world))) for world in problem.worlds)
    keeps = f"{OWN_ONLY}, and acknowledged ones{_of_others(parts, saved)} may be lost,"
    left = evolve(problem, worlds=worlds, procedures=procedures, uncovered=uncovered)
    return evolve(left, is_last_resort=True, keeps=keeps)


def _losing_only(
    problem: Problem, parts: Iterable[ClusterPart], saved: Collection[str], begin: str, gone: Collection[int]
) -> Problem:
    """Return a problem whose plans may lose the acknowledged records that are nowhere but on what is gone.

    Args:
        problem: The problem.
        parts: The parts.
        saved: The names of the parts of which nothing is lost.
        begin: How the names of the steps begin that would bring back what is gone: brokers, or disks.
        gone: The brokers that are gone, or whose disks are.
    """
    losing = _losing(problem, parts, saved)
    numbers = {
        part.name: {
            number
            for number, (b, one) in enumerate(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
            if b in gone and (one.offline or begin == START_BROKER)
        }
        for part in parts
    }
    worlds = tuple(
        evolve(
            world,
            initial=tuple(_with_records_left(world, vector, numbers[world.name]) for vector in world.initial),
            claims=tuple(c for c in whole.claims if c in world.claims or c.declaration.name in LOST),
        )
        for world, whole in zip(losing.worlds, problem.worlds, strict=True)
    )
    keeps = f"{OWN_ONLY}, and no acknowledged one{_of_others(parts, saved)} is lost that another broker has,"
    return evolve(losing, worlds=worlds, keeps=keeps)


def _of_others(parts: Iterable[ClusterPart], saved: Collection[str]) -> str:
    return f" of {listed([part.name for part in parts if part.name not in saved])}" if saved else ""


def _with_records_left(world: World, vector: Vector, gone: Collection[int]) -> Vector:
    """Return an initial state in which the records are to be kept that other brokers have than those that are gone."""
    cluster: Cluster = world.model.state(vector)
    with world.model.active():
        logs = [cluster.replica_of(b, 0, 0).log for b in range(len(cluster.brokers)) if b not in gone]
        left = {record for log in logs for record in log.records}
        commits, originals = cluster.commits[0][0], cluster.originals[0][0]
        for commit in [commits.pop() for _ in range(len(commits))]:
            if commit.record in left:
                commits.push(commit)
        for record in [originals.pop() for _ in range(len(originals))]:
            if record in left:
                originals.push(record)
    return world.model.vector(cluster)


def _lost_disks(problem: Problem, parts: Iterable[ClusterPart]) -> dict[str, set[int]]:
    """Return the numbers of the brokers in each part whose failed disk no step repairs."""
    repaired = {int(name.removeprefix(REPAIR_DISK)) for name in _named(problem, REPAIR_DISK)}
    return {
        part.name: {
            number
            for number, (b, one) in enumerate(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
            if one.offline and b not in repaired
        }
        for part in parts
    }


def _is_electable(part: ClusterPart, starting: Collection[int]) -> bool:
    """Whether a replica that is live, or starts, may have records to keep of a partition without a live ISR member."""
    known = dict(zip(part.observed.brokers, part.observed.situation.brokers, strict=True))
    if any(one.in_isr and one.alive for one in known.values()):
        return False
    logs = part.lineages.logs
    filled = {b for b, log in logs.items() if not is_seen(log) or (b in part.choice.keeps and not log.is_empty)}
    filled |= {*known} - logs.keys()
    return any(
        one.replica and one.directory and (one.alive or b in starting) for b, one in known.items() if b in filled
    )


def _bare_members(observed: Observed) -> list[int]:
    """Return the members of the ISR that are down and have no log."""
    known = zip(observed.brokers, observed.situation.brokers, strict=True)
    return [b for b, one in known if one.in_isr and not one.alive and not one.directory]


def _named(problem: Problem, begin: str) -> frozenset[str]:
    """Return the names of the steps that begin so."""
    return frozenset(one.name for one in problem.procedures if one.name.startswith(begin))


def without_steps(problem: Problem, *begins: str) -> tuple[Procedure, ...]:
    """Return the steps of a problem but those whose names begin in some way."""
    return tuple(one for one in problem.procedures if not one.name.startswith(begins))


def _without_gone(problem: Problem, begin: str, given_up: Collection[str]) -> tuple[Procedure, ...]:
    """Return the steps without those that need what is gone, and without empty disks in the place of what is not.

    Args:
        problem: The problem.
        begin: How the names begin of the steps that bring a broker, or a disk, back.
        given_up: The names of those that cannot be done.
    """
    kept = {name.replace(begin, EMPTY[begin]) for name in _named(problem, begin) - {*given_up}}
    return tuple(
        one for one in problem.procedures if one.name not in {*given_up, *kept} and not _starts_gone(one, given_up)
    )


def _starts_gone(one: Procedure, given_up: Iterable[str]) -> bool:
    """Whether a step starts a broker that is gone for good with its own disk, beside its mere start."""
    return one.name.startswith(WITH_OWN_DISK) and any(f"{START_BROKER}{b}" in given_up for b in one.starts)


def _without_bare_starts(problem: Problem, parts: Iterable[ClusterPart]) -> Problem:
    """Return a problem that gives records up without the steps that start a replica without its log, which might lead.

    Another replica has a log, and no ISR member lives: an unclean election might take the empty one. Once another one
    leads, it follows.
    """
    starting = {int(name.removeprefix(START_BROKER)) for name in _named(problem, START_BROKER)}
    bare = dict[str, set[int]]()
    for part in parts:
        known = zip(part.observed.brokers, part.observed.situation.brokers, strict=True)
        if _is_electable(part, starting):
            bare.setdefault(topic_label(part.topic.name), set()).update(
                b for b, one in known if one.replica and not one.alive
            )

    def is_bare(one: Procedure) -> bool:
        begin, *names = one.name.split()
        return begin.startswith(MOVE) and any(int(b) in bare.get(name, ()) for b in one.starts for name in names)

    procedures = tuple(one for one in problem.procedures if not is_bare(one))
    left = {int(b) for one in problem.procedures if one not in procedures for b in one.starts}
    return _without_logs(evolve(problem, procedures=procedures), parts, left)


def _gone(starts: Iterable[str]) -> str:
    gone = sorted(int(name.removeprefix(START_BROKER)) for name in starts)
    return f"if {brokers(gone)} {'is' if len(gone) == 1 else 'are'} gone for good"


def _unreadable(repairs: Iterable[str]) -> str:
    owners = sorted(int(name.removeprefix(REPAIR_DISK)) for name in repairs)
    return f"if the failed disk{'s' * (len(owners) > 1)} of {brokers(owners)} cannot be read"


GONE: Mapping[str, Callable[[Iterable[str]], str]] = {START_BROKER: _gone, REPAIR_DISK: _unreadable}
"""The condition under which steps, by the beginning of their names, cannot be done."""


def _gone_brokers(begin: str, given_up: Iterable[str]) -> list[int]:
    """Return the brokers that are gone for good if steps cannot be done: of failed disks, none."""
    return [int(name.removeprefix(begin)) for name in given_up] if begin == START_BROKER else []


def _without_logs(problem: Problem, parts: Iterable[ClusterPart], gone: Collection[int]) -> Problem:
    """Return a problem in which the logs of brokers that are gone for good need not be the topic's.

    No process takes them up any more; an inspection finds them still, as it does not know that they are gone.
    """
    numbers = {part.name: {part.number(b) for b in gone} for part in parts}
    worlds = tuple(
        evolve(one, claims=tuple(c for c in one.claims if c.declaration.name != FITS or c.args[0] not in own))
        for one in problem.worlds
        for own in (numbers[one.name],)
    )
    left = [
        kind.name
        for kind, places in problem.inspection.by_kind().items()
        if kind.name in OF_DOWN_LOGS and any(int(one.fields["brokers"]) in gone for one in places)
    ]
    return evolve(problem, worlds=worlds, uncovered=(*problem.uncovered, *left))


def _without_last_copies(problem: Problem, parts: Iterable[ClusterPart], gone: Collection[int]) -> Problem:
    """Return a problem in which no records of other topics are kept that only brokers have which are gone for good."""
    lost = {
        part.name
        for part in parts
        for others in ({*part.lineages.logs} - {*part.choice.keeps},)
        if others and others <= {*gone}
    }
    name = records.last_copies_are_kept.name
    worlds = tuple(
        evolve(one, claims=tuple(c for c in one.claims if c.declaration.name != name)) if one.name in lost else one
        for one in problem.worlds
    )
    return evolve(problem, worlds=worlds)


def _given_up(first: Problem, together: Iterable[str] = ()) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what may be gone: how the names of the steps begin that bring it back, and these names; fewer first.

    Args:
        first: The problem.
        together: The names of steps without all of which something is lost, though others can be done.
    """
    for begin in GONE:
        named = _named(first, begin)
        several = (frozenset(together) & named, named)
        ordered = sorted(named, key=lambda name: int(name.removeprefix(begin))) if len(named) <= MOST_SINGLY else []
        singly = (frozenset({name}) for name in ordered)  # of more, another snapshot shows which ones do not start
        for given_up in dict.fromkeys((*singly, *several)):
            if given_up:
                yield begin, given_up
