"""Properties of operations that wait, and of the threads that complete them."""

from __future__ import annotations

from kwalk.model.kafka.groups.delayed_operations import (
    HANDLERS,
    Group,
    OffsetsLeader,
    Stage,
    Thread,
    Waiting,
    has_group,
    has_operation,
    tries,
    waits_for,
)
from kwalk.model.language import always, premise, step


@always(
    symptom="members and commits of the groups time out, and threads of the broker hang until it is restarted",
    log="none: a thread dump has a Java-level deadlock, in which the lock of GroupMetadata is",
)
def requests_are_answered(broker: OffsetsLeader, thread: Thread, other: Thread) -> bool:
    """No two threads wait for each other's locks."""
    premise(thread < other)
    return not (waits_for(broker, thread, other) and waits_for(broker, other, thread))


@always(symptom="two requests change one group at a time", log="none")
def group_has_one_thread(broker: OffsetsLeader, thread: Thread, other: Thread, group: Group) -> bool:
    """The lock of a group, and that of its operation, have one thread at most."""
    premise(thread < other)
    has_both = has_group(broker, thread, group) and has_group(broker, other, group)
    return not has_both and not (has_operation(broker, thread, group) and has_operation(broker, other, group))


@always(symptom="threads change the list of what waits at a time", log="none")
def list_has_one_thread(broker: OffsetsLeader, thread: Thread, other: Thread) -> bool:
    """The lock of the list has one thread at most, which looks at an operation or completes one."""
    premise(thread < other)
    return not (broker.handlers[thread].has_list and broker.handlers[other].has_list)


@always(symptom="a thread keeps a lock that nobody gives back", log="none")
def idle_thread_has_no_lock(broker: OffsetsLeader, thread: Thread) -> bool:
    """A thread without a request has no lock; one that completes an operation is at one; the others append."""
    one = broker.handlers[thread]
    if one.stage is Stage.IDLE:
        return one.appends_for is None and one.operation_of is None and not one.has_list
    if one.stage is Stage.ADDING:
        return one.appends_for is not None and one.operation_of is None
    return one.stage is Stage.LOOKING or one.operation_of is not None


@step(symptom="a commit is answered before it is replicated, or twice", log="none")
def operation_is_completed_by_a_thread(before: OffsetsLeader, after: OffsetsLeader, group: Group) -> bool:
    """What waits for replicas is completed by a thread that has its lock, which then ends."""
    premise(before.waiting[group] is not Waiting.NONE and after.waiting[group] is not before.waiting[group])
    done = [
        before.handlers[t].stage is Stage.COMPLETING
        and before.handlers[t].operation_of == group
        and after.handlers[t].stage is Stage.IDLE
        for t in HANDLERS
    ]
    return after.waiting[group] is Waiting.NONE and any(done)


@step(symptom="a request goes on although another one changes its group", log="none")
def waiting_thread_waits(before: OffsetsLeader, after: OffsetsLeader, thread: Thread, other: Thread) -> bool:
    """A thread does nothing as long as another one has the lock that it is to take next."""
    premise(waits_for(before, thread, other))
    return after.handlers[thread] == before.handlers[thread]


@step(symptom="a lock is kept for good, or given back while its group is changed", log="none")
def thread_does_one_thing_after_the_other(before: OffsetsLeader, after: OffsetsLeader, thread: Thread) -> bool:
    """A thread looks at an operation that waits, takes its lock, and completes it; it has its locks to the end."""
    one, then = before.handlers[thread], after.handlers[thread]
    premise(one != then)
    if then.stage is Stage.IDLE:
        if one.stage is not Stage.LOOKING or one.operation_of is None:
            return True
        return tries(one) or before.waiting[one.operation_of] is Waiting.NONE
    if one.stage is Stage.IDLE:
        return then.operation_of is None and not then.has_list
    is_same = then.appends_for == one.appends_for and one.stage is Stage.LOOKING
    if one.operation_of is None:
        is_found = then.operation_of is not None and before.waiting[then.operation_of] is not Waiting.NONE
        return is_same and then.stage is Stage.LOOKING and is_found
    is_kept = then.operation_of == one.operation_of and then.has_list == one.has_list
    return (
        is_same and is_kept and then.stage is Stage.COMPLETING and before.waiting[one.operation_of] is not Waiting.NONE
    )
