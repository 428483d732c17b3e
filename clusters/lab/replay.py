"""Replays: drive a real cluster along a trace of the Kafka model, and compare what it shows after each step.

Words: a *gate* is a hold of the proxies for one way of one broker to ZooKeeper, or for one kind of request to one
broker. All gates are closed; a step opens what its hand says (`hands.HANDS`). What a step leaves visible is compared by
the projection of `kwalk diagnose --explain`: a snapshot's facts, each a condition on the state of the model. A step
*departs* if a fact is false for as long as `PATIENCE`; a step *cannot be forced* if there is no hand for its action.
A *remark* says where the order could not be kept: frames on one connection never change their order.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from itertools import takewhile
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from kwalk.clusters.lab.cluster import CLIENT_ONLY, Lab, LabOptions, text_from
from kwalk.clusters.lab.hands import (
    ANY,
    HANDS,
    NOT_FORCED,
    STATES,
    TAKES_EVENT,
    TOPIC,
    Doing,
    Hand,
    Way,
    controller_epoch_of,
    on_way,
    way_of,
)
from kwalk.clusters.lab.lock import RELEASES
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, Hold, ProxiedFrame, matching
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import new_topic_id
from kwalk.model.kafka.actors import CONTROLLER
from kwalk.model.kafka.assignment import assignment
from kwalk.model.kafka.controller.controller_context import EventKind, EventProgress
from kwalk.model.kafka.snapshots.capture import Capture, read_capture
from kwalk.model.kafka.snapshots.projection import Numbering, facts_of
from kwalk.model.kafka.snapshots.scope import Scope
from kwalk.model.kafka.snapshots.series import shown_ids
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions import flags_of
from kwalk.model.language import KwalkError, Model, UsageError, Vector
from kwalk.model.language.errors import one_of
from kwalk.model.language.model import ActionInstance
from kwalk.search.base.atomic_files import save
from kwalk.search.base.progress import Progress, Report, silent
from kwalk.search.results.trace import ReplayError, Trace, run

REQUESTS = (Api.LEADER_AND_ISR, Api.STOP_REPLICA, Api.UPDATE_METADATA)
UNSEEN = frozenset({"FETCH", "METADATA", "API_VERSIONS", "PRODUCE", "UNKNOWN", "OFFSET_FOR_LEADER_EPOCH"})
"""Frames that come all the time, and are not recorded."""
LOGS_ARE_CLOSED = "Shutdown complete. (kafka.log.LogManager)"
PATIENCE = 10.0
"""Seconds in which a frame must come, or a snapshot must show what the model says."""
UNBLOCK = 3.0
"""Seconds after which frames that are in the way of what must come are let through."""
QUIET = 0.15
"""Seconds without a frame after which a step counts as done."""
LONGEST_LAG = 60_000
SHORT_LAG = 4_000
"""replica.lag.time.max.ms of a trace without and with an ISR that shrinks."""
RESULT = "result.json"
Announce = Callable[[str], None]
"""What receives a line of text, to print it or not."""


class ReplayAnswer(Enum):
    """What a replay found; the value is what `--json` prints as `answer`."""

    REPRODUCED = "reproduced"
    DEPARTS = "departs"
    NOT_FORCED = "cannot be forced"

    @property
    def exit_code(self) -> int:
        """The command's exit code: 0, 12 (the real cluster does something else), or 3 (undecided)."""
        return {"reproduced": 0, "departs": 12, "cannot be forced": 3}[self.value]


@frozen
class Departure:
    """A fact in which a snapshot differs from the model's state."""

    field: str
    model: str
    cluster: str


@frozen
class ReplayedStep:
    """A step: its action, what was done, how long it took, and remarks about what could not be kept."""

    number: int
    action: str
    how: str
    seconds: float
    remarks: tuple[str, ...] = ()
    differences: tuple[Departure, ...] = ()


@frozen
class LabReplay:
    """The result of a replay; `step` is where it ended if it was not reproduced, 0 for the first state."""

    answer: ReplayAnswer
    steps: tuple[ReplayedStep, ...]
    release: str
    folder: Path
    seconds: float
    step: int | None = None
    why: str = ""

    @property
    def headline(self) -> str:
        """The answer in one line."""
        if self.answer is ReplayAnswer.REPRODUCED:
            remarks = sum(len(step.remarks) for step in self.steps)
            return f"reproduced: {len(self.steps) - 1} steps" + (f", {remarks} remarks" if remarks else "")
        if self.answer is ReplayAnswer.DEPARTS:
            return f"departs at step {self.step}, field {self.why}"
        return f"step {self.step} cannot be forced: {self.why}"


# Which traces can be replayed.


def lab_release(variant: str) -> str:
    """Return the released version that a variant stands for; UsageError if the lab has no brokers of it."""
    release = variant if variant.count(".") == 2 else f"{variant}.0"
    known = [name for name in RELEASES if name not in CLIENT_ONLY]
    if release not in known:
        raise UsageError(f"The lab has no brokers of version {release}. {one_of(known)}")
    return release


def check_replayable(model: Model, trace: Trace) -> None:
    """Raise UsageError if a trace is not about a real cluster of a released version with one topic."""
    if model.scenario.state is not Cluster:
        raise UsageError(
            f"The trace is of scenario {trace.scenario!r}, which is no model of a Kafka cluster. Allowed: traces of "
            "scenarios such as 'old-client-expansion'; `kwalk replay` replays this one in the model."
        )
    changed = sorted(name for name in model.flag_overrides if name in flags_of(model.variant))
    if changed:
        raise UsageError(
            f"The trace has {', '.join(changed)} changed, so that it is of no released version. Allowed: traces of a "
            "variant as it is."
        )
    if model.binding.bounds["topics"] != 1:
        raise UsageError(f"The trace has {model.binding.bounds['topics']} topics. Allowed: traces with one.")
    lab_release(trace.variant)


def lab_for(model: Model, trace: Trace) -> LabOptions:
    """Return the cluster that a trace needs."""
    bounds, flags = model.binding.bounds, model.binding.flags
    lag = SHORT_LAG if any(action.startswith("shrink_isr(") for action in trace.actions) else LONGEST_LAG
    settings = {
        "replica.lag.time.max.ms": lag,
        "controller.socket.timeout.ms": 600_000,
        "request.timeout.ms": 600_000,
        "unclean.leader.election.enable": str(bool(flags["unclean_election"])).lower(),
        "delete.topic.enable": str(bool(flags["delete_topic_enable"])).lower(),
    }
    brokers = bounds["brokers"]
    older = range(brokers - bounds["old_protocol_brokers"] + 1, brokers + 1)
    return LabOptions(
        release=lab_release(trace.variant),
        brokers=brokers,
        settings=settings,
        proxied=True,
        own_settings={number: {"inter.broker.protocol.version": "2.7"} for number in older},
    )


# The first state.


def _scope(model: Model) -> Scope:
    """Return what is compared: all that the model distinguishes."""
    flags, bounds = model.binding.flags, model.binding.bounds
    brokers = tuple(range(1, bounds["brokers"] + 1))
    return Scope(
        topic=TOPIC,
        brokers=brokers,
        lives=(0,),
        deletion=bool(flags["deletion"]),
        reassignment=bool(flags["reassignment"]),
        sessions=bool(flags["sessions"]),
        stepwise=False,
        moves=True,
        lists=False,
        orders=(brokers,) * bounds["partitions"],
        factor=bounds["replication_factor"],
    )


@frozen
class TopicHistory:
    """What snapshots have shown so far: the real topic ids by the model's numbers, and the topic's present life."""

    ids: Mapping[int, str] = field(factory=dict)
    created: int | None = None
    life: int = 0

    def with_capture(self, capture: Capture, state: Cluster) -> TopicHistory:
        """Return what is known with one more snapshot, which shows this state if the model is right.

        A new id is that of the model's znode if the real znode has it; else the first one that was not seen yet.
        """
        ids = dict(self.ids)
        topic, expected = capture.topics.get(TOPIC), state.zookeeper.topics[0].topic_id
        if topic is not None and topic.topic_id not in (None, *ids.values()) and expected not in (None, *ids):
            ids[expected] = topic.topic_id  # type: ignore[index, assignment]
        for identity in shown_ids(capture, TOPIC):
            if identity not in ids.values():
                ids[next(number for number in range(len(ids) + 1) if number not in ids)] = identity
        if topic is None or topic.created == self.created:
            return TopicHistory(ids, self.created, self.life)
        return TopicHistory(ids, topic.created, self.life + (self.created is not None))


def in_forcible_order(model: Model, trace: Trace) -> tuple[Trace, tuple[str, ...]]:
    """Return the trace with some steps in another order that leads to the same last state, and what was moved.

    A broker that handles a request may read a configuration over the connection on which its controller is held. So
    the handling of a request is moved before steps of the same broker's controller, if more of those follow. What a
    client or an operator does is moved to just before a request that does not wait for it in the controller's queue:
    the request is sent the later.
    """
    order = _Order(model, list(trace.actions), list(trace.states))
    for place in reversed(range(len(order.actions))):
        if order.hand(place).waits:
            for earlier in reversed(range(place)):
                if not model.instance(order.actions[earlier]).action.by.system:
                    order.move_up_to(earlier, place)
    for place in range(len(order.actions)):
        if order.hand(place).lets is not None:
            order.move_before_controller(place)
    states = tuple(order.states)
    return evolve(trace, actions=tuple(order.actions), states=states), tuple(order.moved)


@frozen
class _Order:
    """Steps in an order that changes, with the states between them."""

    model: Model
    actions: list[str]
    states: list[Vector]
    moved: list[str] = field(factory=list)

    def hand(self, place: int) -> Hand:
        """Return the hand of a step; one that does nothing if there is none."""
        return HANDS.get(self.model.instance(self.actions[place]).action.name, NOTHING)

    def swap(self, place: int) -> bool:
        """Take the step at a place after the next one, if they commute; return whether they do."""
        first, second = self.actions[place : place + 2]
        middle = _swapped(self.model, self.states[place], first, second, self.states[place + 2])
        if middle is None:
            return False
        self.actions[place : place + 2] = reversed(self.actions[place : place + 2])
        self.states[place + 1] = middle
        return True

    def move_before_controller(self, place: int) -> None:
        """Move a request's handling before as many steps of the broker's own controller as possible."""
        instance, at, target = self.model.instance(self.actions[place]), place, place
        if not any(self._is_controller(later, instance) for later in range(place + 1, len(self.actions))):
            return
        while at > 0 and self.swap(at - 1):
            at -= 1
            if self._is_controller(at + 1, instance):
                target = at
        while at < target:  # what was crossed for nothing
            self.swap(at)
            at += 1
        self._note(place, target)

    def _is_controller(self, place: int, instance: ActionInstance) -> bool:
        """Whether a step is of the controller of the broker that another step is about."""
        step = self.model.instance(self.actions[place])
        return step.action.by.name == CONTROLLER.name and step.args[0] == instance.args[0]

    def move_up_to(self, place: int, before: int) -> None:
        """Move a step to just before another one, unless the last state would be another one."""
        if place == before - 1:
            return
        moved = [*self.actions[:place], *self.actions[place + 1 : before], self.actions[place], *self.actions[before:]]
        with suppress(ReplayError):
            states = run(self.model, self.states[0], tuple(moved))
            if states[-1] == self.states[-1]:
                self.actions[:], self.states[:] = moved, states
                self._note(place, before - 1)

    def _note(self, was: int, place: int) -> None:
        if was != place:
            text = f"{self.actions[place]} is step {place + 1} and not {was + 1}: the last state is the same"
            self.moved.append(text)


def _swapped(model: Model, start: Vector, first: str, second: str, end: Vector) -> Vector | None:
    """Return the state between two steps in the other order, if that leads to the same end."""
    middle = model.attempt(model.instance(second), start).after
    if middle is None or model.attempt(model.instance(first), middle).after != end:
        return None
    return middle


NOTHING = Hand("")


def sent_before(model: Model, trace: Trace) -> dict[int, int]:
    """Return when requests are sent that are handled before events of a controller's queue.

    The queue is FIFO, and the model puts a request there and handles it in one step: it was sent before the oldest
    event that still waits was put there. ControllerChange is no such event: it has no effect at a controller that is
    still elected, and may as well be handled first.

    Returns:
        For each step that handles such a request, the step before which it is sent; both count from 1. A request whose
        own write puts an event there is sent before that step, before the next one.
    """
    sent: dict[int, int] = {}
    with model.active():
        states = [model.state(vector) for vector in trace.states]
        put = [[0] * len(_queue(states[0], broker)) for broker in range(model.binding.bounds["brokers"])]
        for number, key in enumerate(trace.actions, start=1):
            instance, before, after = model.instance(key), states[number - 1], states[number]
            hand = HANDS.get(instance.action.name, NOTHING)
            args = dict(zip((p.name for p in instance.action.parameters), instance.args, strict=True))
            if hand.waits:
                waiting = zip(put[args[hand.at]], _queue(before, args[hand.at]), strict=True)
                places = [step for step, event in waiting if event.kind is not EventKind.CONTROLLER_CHANGE]
                if places:
                    place = max(1, places[0])
                    itself = HANDS.get(model.instance(trace.actions[place - 1]).action.name, NOTHING)
                    sent |= {place: place} if itself.waits and place not in sent else {}
                    sent[number] = place
            for broker, steps in enumerate(put):
                takes = instance.action.name in TAKES_EVENT and instance.args[0] == broker
                put[broker] = _put_by(steps, _queue(before, broker), _queue(after, broker), number, takes=takes)
    return sent


def signalled_before(model: Model, trace: Trace, number: int, place: int) -> int:
    """Return when a broker is stopped so that its request for a controlled shutdown can be there at a step.

    It looks for the controller first, in 2.8 over the connection on which its own controller may be held.

    Args:
        model: The model of the trace.
        trace: A behaviour of it.
        number: The step that handles the request.
        place: The step before which it is to be in the controller's queue.

    Returns:
        The last step until then before which the controller is elected and has nothing to do, or else `place`.
    """
    instance = model.instance(trace.actions[number - 1])
    args = dict(zip((p.name for p in instance.action.parameters), instance.args, strict=True))
    controller = args["controller"]
    with model.active():
        for step in range(place, 0, -1):
            state = model.state(trace.states[step - 1])
            module = state.brokers[controller].controller
            if not state.is_up(args["broker"]):
                break
            is_free = module.step is EventProgress.IDLE and not _queue(state, controller)
            if is_free and state.zookeeper.controller == controller:
                return step
    return place


def _queue(state: Any, broker: int) -> list[Any]:
    """Return the events in the queue of a broker's controller module, and those on the way there."""
    controller = state.brokers[broker].controller
    return [*controller.events, *controller.notifications]


def _put_by(steps: list[int], before: list[Any], after: list[Any], number: int, *, takes: bool) -> list[int]:
    """Return for each event that waits after a step which step put it there."""
    for taken in (1, 0) if takes else (0, 1):
        left = before[taken:]
        if taken <= len(before) and after[: len(left)] == left:
            return [*steps[taken:], *[number] * (len(after) - len(left))]
    return [number] * len(after)


@frozen
class _Shutdown:
    """A broker that was stopped: its request and the answer are held; `mark` is where its log ended then."""

    request: Hold
    answer: Hold
    mark: int


class TraceReplay:
    """One replay of a trace on one cluster."""

    def __init__(self, model: Model, trace: Trace, folder: Path, report: Report, announce: Announce) -> None:
        check_replayable(model, trace)
        self.model, self.folder, self.report, self.announce = model, folder, report, announce
        self.trace, self.moved = in_forcible_order(model, trace)
        self.scope, self.history, self.earlier_epochs = _scope(model), TopicHistory(), 0
        self.paths = [leaf.path for leaf in model.leaves]
        self.ways: dict[tuple[int, Way], Hold] = {}
        self.notices: dict[int, Hold] = {}
        self.unread = 0
        self.sent_before = sent_before(model, self.trace)
        self.signalled_before = {
            number: signalled_before(model, self.trace, number, place)
            for number, place in self.sent_before.items()
            if HANDS[model.instance(self.trace.actions[number - 1]).action.name].ends
        }
        self.sent: set[int] = set()
        self.shutdowns: dict[int, _Shutdown] = {}
        self.leaving: dict[int, tuple[_Shutdown, int]] = {}
        self.started, self.recorded_since = time.monotonic(), time.time()
        self.lab: Lab
        self.remarks: list[str] = []

    def run(self) -> LabReplay:
        """Start the cluster, make the first state, take the steps; leave the evidence in the folder."""
        options = lab_for(self.model, self.trace)
        self.report(Progress("replay", 0, "steps", 0.0, self.trace.length, None, "starting the cluster"))
        with Lab(self.folder / "cluster", options, report=self.report) as lab:
            self.lab = lab
            self.recorded_since = time.time()
            lab.rules.record(lambda frame: not frame.is_ping and (frame.kind not in UNSEEN))
            try:
                result = self._replayed(options.release)
            except KwalkError as error:
                result = self._result([], ReplayAnswer.NOT_FORCED, options.release, 0, f"the lab failed: {error}")
            self._save(result)
        return result

    def _replayed(self, release: str) -> LabReplay:
        steps: list[ReplayedStep] = []
        begun = time.monotonic()
        differences = tuple(self._make_first_state())
        steps.append(ReplayedStep(0, "the first state", "made", time.monotonic() - begun, self.moved, differences))
        self.announce(_line(steps[-1]))
        if differences:
            return self._result(steps, ReplayAnswer.NOT_FORCED, release, 0, _text(differences[0]))
        for number, key in enumerate(self.trace.actions, start=1):
            instance = self.model.instance(key)
            name = instance.action.name
            if name not in HANDS:
                why = f"{key}: {NOT_FORCED.get(name, 'there is no hand for it')}"
                return self._result(steps, ReplayAnswer.NOT_FORCED, release, number, why)
            if (reason := self._is_in_the_way(number, HANDS[name])) is not None:
                return self._result(steps, ReplayAnswer.NOT_FORCED, release, number, f"{key}: {reason}")
            self.remarks = []
            for later in sorted(step for step, place in self.signalled_before.items() if place == number):
                doing = self._doing(later)[1]
                self.shutdowns[later] = self._signal(doing)
                self._shut(doing.broker())
            for later in sorted(step for step, place in self.sent_before.items() if place == number):
                self._send(later)
            steps.append(self._step(number, key))
            self.announce(_line(steps[-1]))
            spent = time.monotonic() - self.started
            self.report(Progress("replay", number, "steps", spent, self.trace.length, None, key))
            if steps[-1].differences:
                return self._result(steps, ReplayAnswer.DEPARTS, release, number, _text(steps[-1].differences[0]))
        self._let_it_rest()
        return self._result(steps, ReplayAnswer.REPRODUCED, release, None, "")

    def _is_in_the_way(self, number: int, hand: Hand) -> str | None:
        """Return why a broker cannot answer a client now: its controller is held on the same connection."""
        if not hand.through or not any(map(self.model.binding.flags.get, ("broker_checks", "cache_checks"))):
            return None
        controller = self._state(number - 1).zookeeper.controller
        held = [p.frame for p in self.lab.rules.waiting_passages() if p.frame.broker - 1 == controller and p.frame.ops]
        ways = [way for frame in held if (way := way_of(frame)) is not None]
        if not ways:
            return None
        return (
            f"broker {held[0].broker} answers the client over the connection to ZooKeeper on which its controller "
            f"is held ({ways[0].value})"
        )

    def _result(
        self, steps: list[ReplayedStep], answer: ReplayAnswer, release: str, step: int | None, why: str
    ) -> LabReplay:
        spent = time.monotonic() - self.started
        return LabReplay(answer, tuple(steps), release, self.folder, spent, step, why)

    def _state(self, number: int) -> Any:
        return self.model.state(self.trace.states[number])

    def _make_first_state(self) -> list[Departure]:
        """Create the topic if the trace begins with one, elect the trace's controller, close all gates."""
        with self.model.active():
            state = self._state(0)
            znode = state.zookeeper.topics[0]
            wanted = state.zookeeper.controller
        if wanted is None:
            raise UsageError("The trace begins without a controller; the lab begins with one.")
        self._elect(wanted + 1)
        if znode.partition_count:
            replicas = {p: self._replicas(state, p) for p in range(znode.partition_count)}
            self.lab.admin().create_topic(TOPIC, replicas)
            self.lab.wait_for_leaders(TOPIC, znode.partition_count)
            self._age(state, wanted + 1)
        self.earlier_epochs = self.lab.controller_epoch() - state.zookeeper.controller_epoch
        self._wait_until_quiet(2.0)
        self._close_gates()
        differences, _ = self._compare(0, lambda: None)
        return differences

    def _age(self, state: Any, controller: int) -> None:
        """Let brokers write partition.metadata, in 2.8 at the next LeaderAndIsr; write a second id if wanted."""
        files = {r.file_topic_id for b in state.brokers for r in b.replicas[0]} - {None}
        if not files:
            return
        self._elect(controller, again=True)
        time.sleep(2)
        if state.zookeeper.topics[0].topic_id not in files:
            topic = self.lab.topic(TOPIC) or {}
            self.history = TopicHistory({min(files): topic["topic_id"]})
            self.lab.zk.do(self.lab.topic_id_write(TOPIC, new_topic_id()))
            self._elect(controller, again=True)
            time.sleep(1)

    def _elect(self, controller: int, *, again: bool = False) -> None:
        """Make a broker the controller, by holding the others back; `again` also if it is the controller."""
        while again or self.lab.controller() != controller:
            others = [number for number in self.lab.brokers if number != controller]
            holds = [self.lab.rules.hold(on_way(Way.CONTROLLER, number)) for number in others]
            self.lab.delete_controller()
            for hold in holds:
                self.lab.rules.drop(hold)
            again = False
            self._wait_until_quiet(1.0)

    def _close_gates(self) -> None:
        rules = self.lab.rules
        for number in self.lab.brokers:
            self.notices[number] = rules.hold(matching(broker=number, direction=Direction.NOTIFICATION))
            for way in Way:
                if way is not Way.CONNECT:
                    self.ways[number, way] = rules.hold(on_way(way, number))
        if self.model.binding.flags["sessions"]:
            for number in self.lab.brokers:
                self.ways[number, Way.CONNECT] = rules.hold(on_way(Way.CONNECT, number))
        rules.hold(matching(*REQUESTS, Api.ALTER_PARTITION))

    # One step.

    def _doing(self, number: int) -> tuple[Hand, Doing]:
        instance = self.model.instance(self.trace.actions[number - 1])
        args = dict(zip((p.name for p in instance.action.parameters), instance.args, strict=True))
        with self.model.active():
            before, after = self._state(number - 1), self._state(number)
        return HANDS[instance.action.name], Doing(
            lab=self.lab,
            args=args,
            before=before,
            after=after,
            replicas=self._replicas,
            old_admins=self.model.binding.bounds["old_admins"],
            through_brokers=any(map(self.model.binding.flags.get, ("broker_checks", "cache_checks"))),
            id_of=lambda identity: None if identity is None else self.history.ids.get(identity),
        )

    def _send(self, number: int) -> None:
        """Send the request of a later step: the next step puts an event into the queue that is handled after it.

        What is before it in the queue must be there as well.
        """
        hand, doing = self._doing(number)
        controller = doing.broker(hand.at)
        self._open(controller, {})
        self._wait_until_quiet(QUIET)
        self.sent.add(number)
        if hand.ends:
            self._pass(self.shutdowns[number])
        elif hand.do is not None:
            hand.do(doing)
            time.sleep(2 * QUIET)
        self._wait_until_quiet(QUIET)
        self._shut(controller)
        self.remarks.append(f"before this step the request of step {number} is sent: it waits in the queue")

    def _step(self, number: int, key: str) -> ReplayedStep:
        begun = time.monotonic()
        hand, doing = self._doing(number)
        before = doing.before
        acting = self._acting(hand, doing.args, before) if doing.through_brokers or not hand.through else None
        opened = self._opened(hand, number)
        counts = {way: self.ways[acting, way].passed for way in Way if (acting, way) in self.ways} if acting else {}
        if acting is not None:
            self._open(acting, opened, notices=not hand.waits and hand.lets is None)
        if hand.starts:
            self._open(doing.broker(), {way: ANY for way in Way if way not in (Way.LOOK_AT_CONTROLLER, Way.CONTROLLER)})
        if hand.ends and number not in self.sent:
            self.shutdowns[number] = self._signal(doing)
            self._pass(self.shutdowns[number])
        if hand.do is not None and number not in self.sent:
            hand.do(doing)
        self._let_happen(hand, doing, acting, counts, number=number)
        differences, capture = self._compare(number, lambda: self._unblock_one(hand, doing))
        if hand.through and Way.READ_TOPIC in opened and acting is not None:
            self.unread = int(self.ways[acting, Way.READ_TOPIC].passed == counts[Way.READ_TOPIC])
        self._shut(acting)
        if hand.starts or hand.ends or hand.lets:
            self._shut(doing.broker())
        if doing.answers:
            self.remarks.append("answered: " + "; ".join(doing.answers))
        if hand.instead:
            self.remarks.append(hand.instead)
        save(self.folder / "snapshots" / f"{number:02}-{_slug(key)}.json", json.dumps(capture, indent=1).encode())
        seconds = time.monotonic() - begun
        return ReplayedStep(number, key, hand.how, seconds, tuple(self.remarks), tuple(differences))

    def _acting(self, hand: Hand, args: Mapping[str, int], before: Any) -> int | None:
        """Return the real broker whose ways to ZooKeeper are opened."""
        if hand.at:
            return args[hand.at] + 1 if hand.at in args else None
        controller = before.zookeeper.controller
        return None if controller is None else int(controller) + 1

    def _opened(self, hand: Hand, number: int) -> dict[Way, float]:
        """Return the ways of a step, with those that its visible changes need.

        A broker that has created a topic for a client reads its id; if that comes behind the controller's own request,
        it is let through with the controller's read.
        """
        opened = dict(hand.opens)
        if Way.LIST_TOPICS in opened and Way.READ_TOPIC in opened:
            opened[Way.READ_TOPIC] += self.unread
            self.unread = 0
        if hand.needs is not None and hand.only_if and not self._changes(number, hand.only_if):
            del opened[hand.needs]  # it would serve a request that waits
        is_awaited = any(place <= number < step for step, place in self.sent_before.items())
        if is_awaited and Way.WRITE_STATES in opened and not self._changes(number, "zookeeper.topics[0].states"):
            opened = {way: frames for way, frames in opened.items() if way not in STATES}
        if hand.alters or (hand.needs is Way.WRITE_TOPIC and not hand.only_if):
            if self._changes(number, "zookeeper.topics[0].assignments"):
                opened[Way.WRITE_TOPIC] = opened.get(Way.WRITE_TOPIC, ANY)
            if self._changes(number, "zookeeper.topics[0].states"):
                opened |= {Way.READ_STATES: ANY, Way.WRITE_STATES: ANY}
        return opened

    def _changes(self, number: int, path: str) -> bool:
        """Whether a step changes a leaf of the model below a path."""
        pairs = zip(self.paths, self.trace.states[number - 1], self.trace.states[number], strict=True)
        return any(old != new for leaf, old, new in pairs if leaf.startswith(path))

    def _let_happen(
        self, hand: Hand, doing: Doing, acting: int | None, counts: Mapping[Way, int], *, number: int
    ) -> None:
        """Wait for the frames of the step, and until no other one comes."""
        if hand.lets is not None:
            self._let(hand.lets, doing)
        if hand.alters:
            self._free_first(lambda frame: frame.kind == Api.ALTER_PARTITION.name, "AlterPartition", 2 * PATIENCE)
        if hand.ends:
            shutdown, controller = self.shutdowns[number], doing.broker("controller")
            self._let_answer(doing.broker(), controller, shutdown)
            if self.model.binding.flags["stepwise_shutdown"]:
                self.leaving[doing.broker()] = shutdown, controller
            else:
                self._let_end(doing.broker(), controller, shutdown)
        if hand.leaves:
            shutdown, controller = self.leaving.pop(doing.broker())
            self._let_end(doing.broker(), controller, shutdown)
        if acting is not None and hand.waits and not hand.ends:
            self._wait_for_request(acting)
            self._open(acting, {})
        if hand.needs is not None and acting is not None and self._is_due(hand, doing, acting, number):
            self._wait_for_way(acting, hand.needs, counts[hand.needs])
        self._wait_until_quiet(QUIET)

    def _wait_for_request(self, broker: int, is_done: Callable[[], bool] = lambda: False) -> None:
        """Wait until a controller begins with what it is asked: until it asks ZooKeeper for something, or is done."""
        begun = time.time() - QUIET

        def has_asked() -> bool:
            if is_done():
                return True
            with self.lab.rules.changed:
                frames = reversed(self.lab.rules.frames)
                new = takewhile(lambda each: each[0] > begun, frames)
                return any(f.broker == broker and f.ops and f.direction is Direction.REQUEST for _, f in new) or any(
                    p.frame.broker == broker and p.frame.ops for p in self.lab.rules.waiting
                )

        wait_until(has_asked, 3.0)
        time.sleep(QUIET)

    def _is_due(self, hand: Hand, doing: Doing, acting: int, number: int) -> bool:
        """Whether the step needs its request: controllers that are not active ask nothing but who is."""
        is_active = doing.before.brokers[acting - 1].controller.is_active
        if not is_active and hand.needs not in (Way.LOOK_AT_CONTROLLER, Way.CONNECT):
            return False
        return not hand.only_if or self._changes(number, hand.only_if)

    def _wait_for_way(self, broker: int, way: Way, before: int) -> None:
        """Wait until one more request of a way has passed; let through what is in its way."""
        gate, begun = self.ways[broker, way], time.monotonic()
        while not self.lab.rules.wait_for(gate, before + 1, UNBLOCK, passed=True):
            if time.monotonic() - begun > PATIENCE:
                self.remarks.append(f"broker {broker} did not do within {PATIENCE:.0f} s: {way.value}")
                return
            self._unblock(broker)

    def _unblock(self, broker: int) -> None:
        """Let the first frame from a broker to ZooKeeper pass, whatever holds it."""
        for passage in self.lab.rules.waiting_passages():
            way = way_of(passage.frame) if passage.frame.ops or passage.frame.kind == "CONNECT" else None
            if passage.frame.broker == broker and way is not None:
                self.remarks.append(
                    f"earlier than in the trace, as it came before on the same connection: broker {broker} {way.value}"
                )
                self.lab.rules.free(passage)
                return

    def _unblock_one(self, hand: Hand, doing: Doing) -> None:
        """Let pass what a broker asks of ZooKeeper before it can handle a request; or one more request for an ISR.

        A leader asks again if the controller that it has asked is no longer active, and answers so. The next controller
        answers after the events that are before the request in its queue.
        """
        if hand.lets is not None:
            self._unblock(doing.broker())
        if hand.lets is Api.STOP_REPLICA:
            self._free_another_stop_replica(doing.broker())
        if hand.alters:
            controller = doing.before.zookeeper.controller
            self._let_deposed_controllers_answer(controller)
            if controller is not None:
                self._unblock(controller + 1)
            self._free_first(lambda frame: frame.kind == Api.ALTER_PARTITION.name, "AlterPartition", UNBLOCK)

    def _free_another_stop_replica(self, broker: int) -> None:
        """Let one more StopReplica pass: of the two that end a replica's reassignment, the model has the second one."""
        for passage in self.lab.rules.waiting_passages():
            frame = passage.frame
            if frame.kind == Api.STOP_REPLICA.name and frame.broker == broker and frame.direction is Direction.REQUEST:
                self.remarks.append("one more StopReplica: the one before it does not delete")
                self.lab.rules.free(passage)
                return

    def _let_deposed_controllers_answer(self, controller: int | None) -> None:
        """Open all ways of brokers that are not the controller: what they still write is refused."""
        for broker in self.lab.brokers:
            if broker - 1 != controller and any(p.frame.broker == broker for p in self.lab.rules.waiting_passages()):
                self._open(broker, dict.fromkeys(Way, ANY))
                self.remarks.append(f"earlier than in the trace: broker {broker} learns that it is not the controller")
                time.sleep(1.0)
                self._shut(broker)

    def _let(self, api: Api, doing: Doing) -> None:
        """Give a broker the next request of a kind, from the controller that the model says."""
        broker = doing.broker()
        epoch = doing.before.brokers[broker - 1].requests.headers.head.controller_epoch + self.earlier_epochs
        answered = self.lab.rules.watch(matching(api, broker=broker, direction=Direction.RESPONSE))
        log = self.lab.brokers[broker].log("state-change")
        size = log.stat().st_size if log.exists() else 0

        def is_handled(seconds: float) -> bool:
            """Whether there is an answer; one to a controller that has ended is seen in the log only."""
            return self.lab.rules.wait_for(answered, 1, seconds) or "Finished LeaderAndIsr" in text_from(log, size)

        def matches(frame: ProxiedFrame) -> bool:
            return frame.kind == api.name and frame.broker == broker and controller_epoch_of(frame) == epoch

        what = f"{api.name} of controller epoch {epoch} to broker {broker}"
        if self._free_first(matches, what, PATIENCE, doing.before):
            end = time.monotonic() + PATIENCE
            if not is_handled(1.0):
                self._open(broker, {})  # it may wait for an answer of ZooKeeper behind a notification
                is_handled(1.0)
            while not is_handled(UNBLOCK) and time.monotonic() < end:
                self._unblock(broker)
        self.lab.rules.drop(answered)

    def _pass_metadata(self, state: Any) -> None:
        """Let UpdateMetadata pass where a broker has no request of an earlier controller left: it would refuse that."""
        for passage in self.lab.rules.waiting_passages():
            frame = passage.frame
            if frame.kind != Api.UPDATE_METADATA.name or frame.direction is not Direction.REQUEST:
                continue
            queue = state.brokers[frame.broker - 1].requests.headers
            earliest = min((header.controller_epoch for header in queue), default=None)
            epoch = (controller_epoch_of(frame) or 0) - self.earlier_epochs
            if earliest is None or earliest >= epoch:
                self.lab.rules.free(passage)

    def _free_first(
        self, matches: Callable[[ProxiedFrame], bool], what: str, seconds: float, state: Any = None
    ) -> bool:
        """Let the oldest waiting frame of some kind pass; wait for it if there is none."""

        def free() -> bool:
            if state is not None:
                self._pass_metadata(state)
            for passage in self.lab.rules.waiting_passages():
                if passage.frame.direction is Direction.REQUEST and matches(passage.frame):
                    self.lab.rules.free(passage)
                    return True
            return False

        if wait_until(free, seconds):
            return True
        self.remarks.append(f"did not come within {seconds:.0f} s: {what}")
        return False

    def _signal(self, doing: Doing) -> _Shutdown:
        """Stop a broker, which asks for its controlled shutdown; hold its request and the answer."""
        broker, controller, rules = doing.broker(), doing.broker("controller"), self.lab.rules
        self._open(broker, {Way.CONTROLLER: ANY}, notices=False)  # it looks for the controller
        request = rules.hold(matching(Api.CONTROLLED_SHUTDOWN, broker=controller))
        answer = rules.hold(matching(Api.CONTROLLED_SHUTDOWN, broker=controller, direction=Direction.RESPONSE))
        process, log = self.lab.brokers[broker].process, self.lab.brokers[broker].log("server")
        mark = log.stat().st_size
        assert process is not None
        doing.lab.note(f"broker {broker}: SIGTERM")
        process.send(signal.SIGTERM)
        if not rules.wait_for(request, 1, PATIENCE):
            what = f"the request of broker {broker} for its shutdown"
            self.remarks.append(f"did not come within {PATIENCE:.0f} s: {what}")
        return _Shutdown(request, answer, mark)

    def _pass(self, shutdown: _Shutdown) -> None:
        """Let the request of a broker that was stopped reach the controller."""
        self.lab.rules.release(shutdown.request)
        self.lab.rules.wait_for(shutdown.request, 1, UNBLOCK, passed=True)
        self.lab.rules.drop(shutdown.request)

    def _let_answer(self, broker: int, controller: int, shutdown: _Shutdown) -> None:
        """Let the controller handle a controlled shutdown; its answer is held."""
        process, end = self.lab.brokers[broker].process, time.monotonic() + 40
        assert process is not None
        self._wait_for_request(controller, lambda: shutdown.answer.arrived > 0)
        self._open(controller, {})
        while time.monotonic() < end and process.runs and not self.lab.rules.wait_for(shutdown.answer, 1, 1.0):
            self._unblock(controller)

    def _let_end(self, broker: int, controller: int, shutdown: _Shutdown) -> None:
        """Let the answer to a controlled shutdown pass, and the broker end.

        A broker whose own controller still waits for ZooKeeper would not end: it is killed when its logs are closed.
        """
        rules = self.lab.rules
        process, log = self.lab.brokers[broker].process, self.lab.brokers[broker].log("server")
        assert process is not None
        rules.release(shutdown.answer)
        end = time.monotonic() + 40
        while time.monotonic() < end and process.runs and not rules.wait_for(shutdown.answer, 1, 1.0, passed=True):
            self._unblock(controller)
        rules.drop(shutdown.answer)

        def has_closed() -> bool:
            return not process.runs or LOGS_ARE_CLOSED in text_from(log, shutdown.mark)

        wait_until(has_closed, max(5.0, end - time.monotonic()), every=0.1)
        if not process.wait(1.0):
            if not any(p.frame.broker == broker and p.frame.ops for p in rules.waiting_passages()):
                process.wait(10.0)
            if process.runs:
                self.lab.kill(broker)
                self.lab.expire_session(broker)

    def _open(self, broker: int, ways: Mapping[Way, float], *, notices: bool = True) -> None:
        """Open ways of a broker to ZooKeeper, and let the notifications come that it has not got yet."""
        if notices and broker in self.notices:
            self.lab.rules.release(self.notices[broker])
        for way, frames in ways.items():
            if (broker, way) in self.ways:
                self.lab.rules.release(self.ways[broker, way], None if frames == ANY else int(frames))

    def _shut(self, broker: int | None) -> None:
        if broker in self.notices:
            self.lab.rules.close(self.notices[broker])
        for (number, _), hold in self.ways.items():
            if number == broker:
                self.lab.rules.close(hold)

    def _wait_until_quiet(self, seconds: float) -> None:
        wait_until(lambda: self._since_last_frame() > seconds, 5.0 + seconds, every=0.02)

    def _since_last_frame(self) -> float:
        with self.lab.rules.changed:
            last = self.lab.rules.frames[-1][0] if self.lab.rules.frames else 0.0
        return time.time() - max(last, self.recorded_since)

    def _replicas(self, state: Any, partition: int) -> list[int]:
        """Return the real replicas of a partition, the preferred one first."""
        with self.model.active():
            order = assignment(partition)
            if not self.model.binding.flags["reassignment"]:
                return [number + 1 for number in order]
            held = state.zookeeper.topics[0].assignments[partition]
            first = [number for number in order if number == held.preferred] if hasattr(held, "preferred") else []
            return [number + 1 for number in dict.fromkeys([*first, *order]) if number in held.replicas]

    # Comparing.

    def _compare(self, number: int, unblock: Callable[[], None]) -> tuple[list[Departure], dict[str, Any]]:
        """Return in what snapshots differ from a state, once they do not differ or the patience ends."""
        vector, begun, unblocked = self.trace.states[number], time.monotonic(), 0
        with self.model.active():
            state = self.model.state(vector)
        while True:
            self._pass_metadata(state)
            differences, history, taken = self._differences(number, vector)
            if not differences:
                self.history = history
                return [], taken
            spent = time.monotonic() - begun
            if spent > PATIENCE:
                return differences, taken
            if spent > UNBLOCK * (unblocked + 1):
                unblocked += 1
                unblock()
            time.sleep(0.1)

    def _differences(self, number: int, vector: Vector) -> tuple[list[Departure], TopicHistory, dict[str, Any]]:
        held = {frame.broker for frame in self.lab.rules.held()}
        taken = self.lab.capture(f"step {number}", without=held | self._starting())
        capture = read_capture(json.dumps(taken).encode())
        values = dict(zip(self.paths, vector, strict=True))
        with self.model.active():
            state = self.model.state(vector)
            history = self.history.with_capture(capture, state)
            numbering = self._numbering(history)
            life = min(history.life, self.model.binding.bounds["incarnations"])
            facts = sorted(facts_of(capture, numbering, life), key=lambda fact: -fact.weight)
            wrong = [
                Departure(fact.name, fact.look(state), fact.value)
                for fact in facts
                if not all(any(values[path] in numbers for path, numbers in clause) for clause in fact.clauses)
            ]
        return wrong, history, taken

    def _starting(self) -> set[int]:
        """Return the brokers that are not asked, as they may not serve yet."""
        registered = set(self.lab.zk.children("/brokers/ids"))
        return {number for number in self.lab.brokers if str(number) not in registered}

    def _numbering(self, topic_history: TopicHistory) -> Numbering:
        most = max(topic_history.ids, default=-1) + 1
        ids = tuple(topic_history.ids.get(number, f"(id {number + 1})") for number in range(most))
        bounds = self.model.binding.bounds
        return Numbering(
            topic=TOPIC,
            brokers=self.scope.brokers,
            partitions=bounds["partitions"],
            ids=ids,
            earlier_epochs=self.earlier_epochs,
            most=bounds["leader_epochs"],
            scope=self.scope,
        )

    # Evidence.

    def _let_it_rest(self) -> None:
        """Open all gates after the last step, wait until the cluster is at rest, and save a snapshot with probes."""
        for rule in list(self.lab.rules.rules):
            self.lab.rules.drop(rule)
        self._wait_until_quiet(1.0)
        time.sleep(2)
        probes: Mapping[str, Any] = {}
        try:
            probes = self.lab.probe(TOPIC)
        except (KwalkError, OSError) as error:
            self.lab.note(f"no probe: {error}")
        taken = self.lab.capture("all gates opened, at rest", {"rw": probes})
        save(self.folder / "snapshots" / "at-rest.json", json.dumps(taken, indent=1).encode())

    def _save(self, result: LabReplay) -> None:
        save(self.folder / RESULT, (json.dumps(replay_object(result, self.trace), indent=1) + "\n").encode())
        save(self.folder / "events.txt", "".join(f"{event}\n" for event in self.lab.events).encode())
        save(self.folder / "frames.txt", "".join(_frame_lines(self.lab)).encode())
        held = "".join(f"{frame}\n" for frame in self.lab.rules.held())
        save(self.folder / "held.txt", held.encode())


def _frame_lines(lab: Lab) -> Iterator[str]:
    for at, frame in lab.rules.frames:
        clock = time.strftime("%H:%M:%S", time.localtime(at)) + f".{int(at * 1000) % 1000:03d}"
        about = " ".join(filter(None, [frame.client and f"of {frame.client}", *frame.paths]))
        yield f"{clock} broker {frame.broker} {frame.direction.value} {frame.kind} {about}\n"


def _slug(key: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")


def _text(departure: Departure) -> str:
    return f"{departure.field}: the model has {departure.model}, the cluster {departure.cluster}"


def _line(step: ReplayedStep) -> str:
    """Return a step as a line, with its remarks below."""
    wrong = f"  DEPARTS: {_text(step.differences[0])}" if step.differences else ""
    lines = [f"{step.number:>4}  {step.action:<42} {step.how} ({step.seconds:.1f} s){wrong}"]
    return "\n".join([*lines, *(f"{'':>6}remark: {remark}" for remark in step.remarks)])


def replay_object(result: LabReplay, trace: Trace) -> dict[str, Any]:
    """Return the result as a JSON object."""
    return {
        "answer": result.answer.value,
        "exit_code": result.answer.exit_code,
        "headline": result.headline,
        "scenario": trace.scenario,
        "variant": trace.variant,
        "property": trace.prop,
        "release": result.release,
        "step": result.step,
        "why": result.why,
        "seconds": round(result.seconds, 1),
        "evidence": str(result.folder),
        "steps": [
            {
                "step": step.number,
                "action": step.action,
                "how": step.how,
                "seconds": round(step.seconds, 2),
                "remarks": list(step.remarks),
                "differences": [
                    {"field": one.field, "model": one.model, "cluster": one.cluster} for one in step.differences
                ],
            }
            for step in result.steps
        ],
        "machine": {"cores": os.cpu_count(), "load": [round(load, 1) for load in os.getloadavg()]},
    }


def replay_on_lab(
    model: Model, trace: Trace, folder: Path, *, report: Report = silent, announce: Announce = lambda _: None
) -> LabReplay:
    """Drive a real cluster along a trace.

    Args:
        model: The model of the trace, as `open_trace` finds it.
        trace: A behaviour of it.
        folder: The folder of the evidence: snapshots after each step, frames, events, logs, `result.json`.
        report: Receives the progress.
        announce: Receives a line for each step.

    Returns:
        Whether the cluster has shown every state of the trace, or where not.

    Raises:
        UsageError: The trace is not about a released version, or about no Kafka cluster.
    """
    return TraceReplay(model, trace, folder, report, announce).run()
