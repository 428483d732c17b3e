"""What is known to come eventually in famous algorithms, and what is known to need more than weak fairness.

Sources: the properties `Liveness` of tlaplus/Examples' EWD840.tla and LamportMutex.tla; L. Lamport, "Specifying
Systems" (2002), on the alternating bit, which needs strong fairness of both receive actions, as a lossy channel
disables them again and again; lemmy/BlockingQueue, whose later steps are about a thread that starves.
"""

from __future__ import annotations

from attrs import evolve

from kwalk.model.examples.alternating_bit import ALTERNATING_BIT, Line
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE, Queue, Thread
from kwalk.model.examples.lamport_mutex import LAMPORT_MUTEX, Network, Process
from kwalk.model.language import eventually, premise


@eventually()
def value_arrives(line: Line) -> bool:
    """What was sent is acknowledged."""
    premise(line.sender.acknowledged != line.sender.bit)
    return line.sender.acknowledged == line.sender.bit


@eventually()
def request_is_granted(network: Network, process: Process) -> bool:
    """Who asks gets in."""
    premise(network.peers[process].request[process] > 0)
    return process in network.critical


@eventually()
def sleeper_wakes(queue: Queue, thread: Thread) -> bool:
    """Who waits runs again."""
    premise(thread in queue.waiting)
    return thread not in queue.waiting


LOSSY = evolve(ALTERNATING_BIT, properties=(value_arrives,))
RELIABLE = evolve(LOSSY, actions=tuple(action for action in LOSSY.actions if action.by.system))
MUTEX = evolve(LAMPORT_MUTEX, properties=(request_is_granted,))
SLEEPERS = evolve(BLOCKING_QUEUE, properties=(sleeper_wakes,))
