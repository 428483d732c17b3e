"""LogManager.shutdown: the logs of two directories are closed, of which one cannot be.

Threads flush and close the logs. When those of a directory are closed, it gets its checkpoints, and a file that says
that the stop was clean: the next start does not recover its logs.

What the model leaves out, and why its story loses nothing by it: logs of a directory, whose jobs are one here; and what
a start makes of the file, which `log_loading` has.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.storage.domains import FAULT, LOG
from kwalk.model.kafka.storage.versions.recovery import CLOSING_ERRORS_ARE_SEEN, DIRECTORIES_STOP_EACH
from kwalk.model.language import Array, Domain, action, array, choice, flag, member, require, state

DIRECTORIES = Domain("directories", "log directories", default=2)
StoppedDirectory = Annotated[int, DIRECTORIES]


class Job(Enum):
    """What has become of the logs of a directory."""

    OPEN = "open"
    CLOSED = "closed"
    FAILED = "could not be closed"
    UNTRIMMED = "closed, but for an index that has kept its room"


@state
class StoppingDirectories:
    """The directories: which one the stop finishes next, which are clean, and whether the stop has ended."""

    jobs: Array[Job] = array(DIRECTORIES, choice(Job))
    is_clean: Array[bool] = array(DIRECTORIES, flag())
    next_one: int = member(DIRECTORIES)
    has_ended: bool = flag()


@action(by=LOG, description="closes the logs of directory {directory}", source="Log.close")
def close_logs(stop: StoppingDirectories, directory: StoppedDirectory) -> None:
    """A thread of the directory does it, after a flush."""
    require(stop.jobs[directory] is Job.OPEN)
    stop.jobs[directory] = Job.CLOSED


@action(by=FAULT, description="fails to close the logs of directory {directory}", source="Log.close")
def fail_to_close(stop: StoppingDirectories, directory: StoppedDirectory) -> None:
    """An error that is not one of the disk."""
    require(stop.jobs[directory] is Job.OPEN)
    stop.jobs[directory] = Job.FAILED


@action(by=FAULT, description="has no room on the disk of directory {directory}", source="AbstractIndex.close: resize")
def fail_to_trim(stop: StoppingDirectories, directory: StoppedDirectory) -> None:
    """An index is to get the size of its entries."""
    require(stop.jobs[directory] is Job.OPEN)
    stop.jobs[directory] = Job.UNTRIMMED


@action(by=LOG, description="finishes the next directory", source="LogManager.shutdown")
def finish_directory(stop: StoppingDirectories) -> None:
    """It waits for the jobs of one directory after another. Up to 2.7 the first error ended the stop.

    Until KAFKA-19221 an index that could not be closed was a warning only.
    """
    require(not stop.has_ended and stop.jobs[stop.next_one] is not Job.OPEN)
    job = stop.jobs[stop.next_one]
    is_closed = job is Job.CLOSED or (job is Job.UNTRIMMED and not CLOSING_ERRORS_ARE_SEEN)
    stop.is_clean[stop.next_one] = is_closed
    if stop.next_one == 1 or not (is_closed or bool(DIRECTORIES_STOP_EACH)):
        stop.has_ended = True
    else:
        stop.next_one = 1
