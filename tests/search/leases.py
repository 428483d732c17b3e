"""Workers write a file under leases that can expire, and four fixes: one closes, one has a hole, one makes it worse.

Source: Kleppmann, "How to do distributed locking" (2016): a pause between the check of a lease and the write makes the
check useless; a storage that refuses older leases needs no check.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fix,
    Flag,
    Scenario,
    Trial,
    action,
    array,
    flag,
    number,
    optional,
    reachable,
    require,
    state,
    step,
)

WORKERS = Domain("workers", "workers that write the file")
LEASES = Bound("leases", "leases that can be granted")
FENCING = Flag("fencing", "whether the storage refuses a write under an older lease than it has seen")
CHECK = Flag("check", "when a worker asks whether its lease is still good", settings=("never", "before"))
AMNESIA = Flag("amnesia", "whether the storage can restart, and then knows no lease")
Worker = Annotated[int, WORKERS]

WORKER = Actor("worker", of=WORKERS)
CLOCK = Actor("clock", system=False)


@state
class Service:
    """The lock service, the workers, and the storage with the file."""

    holder: int | None = optional(WORKERS)
    granted: int = number(0, LEASES)
    lease: Array[int] = array(WORKERS, number(0, LEASES))
    checked: Array[bool] = array(WORKERS, flag())
    fence: int = number(0, LEASES)
    written_under: int = number(0, LEASES)


@action(by=WORKER, description="acquires a lease")
def acquire(service: Service, worker: Worker) -> None:
    """Leases are numbered."""
    require(service.holder is None and service.lease[worker] == 0)
    service.granted += 1
    service.holder = worker
    service.lease[worker] = service.granted


@action(by=CLOCK, description="the lease expires")
def expire(service: Service) -> None:
    """The worker is not informed."""
    require(service.holder is not None)
    service.holder = None


@action(by=WORKER, description="sees that its lease is good")
def check(service: Service, worker: Worker) -> None:
    """With the check only."""
    require(CHECK == "before" and service.lease[worker] > 0 and service.holder == worker)
    require(not service.checked[worker])
    service.checked[worker] = True


@action(by=WORKER, description="writes the file and releases its lease")
def write(service: Service, worker: Worker) -> None:
    """The storage may refuse."""
    require(service.lease[worker] > 0 and (CHECK == "never" or service.checked[worker]))
    lease = service.lease[worker]
    service.lease[worker], service.checked[worker] = 0, False
    if service.holder == worker:
        service.holder = None
    if FENCING and lease < service.fence:
        return
    service.fence = lease
    service.written_under = lease


@action(by=CLOCK, description="the storage restarts")
def restart(service: Service) -> None:
    """It forgets the newest lease."""
    require(AMNESIA and service.fence > 0)
    service.fence = 0


@step(symptom="an old version of the file comes back")
def writes_go_forward(before: Service, after: Service) -> bool:
    """A write under an older lease never replaces one under a newer lease."""
    return after.written_under >= before.written_under


@reachable()
def last_lease_is_used(service: Service) -> bool:
    """Every lease can lead to a write."""
    return service.written_under == LEASES


SCENARIO = Scenario(
    name="fenced-leases",
    story="Workers write a file under leases that can expire.",
    state=Service,
    actions=(acquire, expire, check, write, restart),
    properties=(writes_go_forward, last_lease_is_used),
    bounds={"workers": 2, "leases": 3},
    flags={"fencing": False, "check": "never", "amnesia": False},
    variants={"bare": {}, "fenced": {"fencing": True}},
)
FORWARD = ("writes_go_forward",)
FENCING_FIX = Fix(
    flag=FENCING,
    closes="The storage refuses writes under older leases.",
    source="Kleppmann 2016, fencing tokens",
    trials=(
        Trial(SCENARIO, FORWARD),
        Trial(SCENARIO, FORWARD, bounds={"leases": 1}, about="With one lease nothing can go wrong."),
        Trial(SCENARIO, FORWARD, flags={"amnesia": True}, about="The fence must survive a restart of the storage."),
    ),
)
CHECK_FIX = Fix(
    flag=CHECK,
    off="never",
    on="before",
    name="check-before-write",
    closes="A worker asks whether its lease is good before it writes.",
    trials=(Trial(SCENARIO, FORWARD, "bare"),),
)
AMNESIA_FIX = Fix(flag=AMNESIA, closes="A restart clears the storage.", trials=(Trial(SCENARIO, FORWARD, "fenced"),))
FIXES = (FENCING_FIX, CHECK_FIX, AMNESIA_FIX)
