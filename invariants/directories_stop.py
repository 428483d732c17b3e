"""Properties of the stop of logs in two directories."""

from __future__ import annotations

from kwalk.model.kafka.storage.directories_stop import DIRECTORIES, Job, StoppedDirectory, StoppingDirectories
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a start recovers the logs of a directory, beside one whose logs could not be closed",
    log="none: the directory has no file .kafka_cleanshutdown",
)
def closed_directory_is_clean(stop: StoppingDirectories, directory: StoppedDirectory) -> bool:
    """A directory is clean after a stop if its logs were closed, and only then."""
    premise(stop.jobs[directory] is not Job.OPEN and stop.has_ended)
    return stop.is_clean[directory] == (stop.jobs[directory] is Job.CLOSED)


@when_quiescent(
    symptom="records vanish before their retention time is over, as their time index ends with zeros: the disk was "
    "full as their broker stopped",
    log="Deleting segment … due to retention time …ms breach (3.9: due to log retention time …ms breach)",
)
def untrimmed_index_is_recovered(stop: StoppingDirectories, directory: StoppedDirectory) -> bool:
    """A directory with an index that has kept its room is not clean: the next start recovers its logs."""
    premise(stop.jobs[directory] is Job.UNTRIMMED)
    return not stop.is_clean[directory]


@when_quiescent(symptom="a stop does not end", log="none")
def stop_of_directories_ends(stop: StoppingDirectories) -> bool:
    """A stop ends when no log is open."""
    return stop.has_ended and not any(stop.jobs[each] is Job.OPEN for each in DIRECTORIES)


@step(symptom="a directory is clean whose logs are open", log="none")
def directory_becomes_clean_in_turn(
    before: StoppingDirectories, after: StoppingDirectories, directory: StoppedDirectory
) -> bool:
    """A directory is clean once its logs are closed, and it is the next one."""
    premise(before.is_clean[directory] != after.is_clean[directory])
    is_closed = before.jobs[directory] in (Job.CLOSED, Job.UNTRIMMED)
    return after.is_clean[directory] and is_closed and before.next_one == directory


@step(symptom="a log is closed twice", log="none")
def logs_are_closed_once(before: StoppingDirectories, after: StoppingDirectories) -> bool:
    """The logs of one directory are closed at a time, or fail."""
    premise(before.jobs != after.jobs)
    changed = [each for each in DIRECTORIES if before.jobs[each] is not after.jobs[each]]
    return len(changed) == 1 and before.jobs[changed[0]] is Job.OPEN


@reachable()
def second_directory_fails(stop: StoppingDirectories) -> bool:
    """The logs of the first directory are closed, and those of the second one are not."""
    return stop.is_clean[0] and stop.jobs[1] is Job.FAILED and stop.has_ended
