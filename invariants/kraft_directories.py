"""Properties of a replica of a broker in KRaft mode, whose log directories fail, and whose topic is created again."""

from __future__ import annotations

from kwalk.model.kafka.server.kraft_directories import DIRECTORIES, Directory, KraftReplica, is_led
from kwalk.model.kafka.server.versions import STRAYS_GO_FIRST
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="a topic is served, and empty: its last records are on a failed disk",
    log="Created log for partition … in … with properties …",
)
def served_log_has_what_was_written(replica: KraftReplica) -> bool:
    """A log that is served has all records that were acknowledged."""
    premise(is_led(replica) and replica.hosted is not None)
    return any(replica.hosted == d and replica.directories[d].records >= replica.written for d in DIRECTORIES)


@always(
    symptom="a broker does not start: after a failed directory works again, or after a crash as a topic was created",
    log="Duplicate log directories for … are found in both … and …; Error starting LogManager",
)
def broker_starts(replica: KraftReplica) -> bool:
    """A broker starts whatever its directories have."""
    return not replica.has_failed_to_start


@always(
    symptom="a topic is served, and empty: its records are in a folder that ends in -future",
    log="Created log for partition … in … with properties …",
)
def copy_is_in_another_directory(replica: KraftReplica, directory: Directory) -> bool:
    """A future log is not beside the log that is served."""
    premise(replica.hosted == directory)
    return not replica.directories[directory].has_future


@always(
    symptom="a log directory goes offline although its disk works, with all replicas in it",
    log="Stopping serving replicas in dir …",
)
def directory_fails_with_its_disk(replica: KraftReplica, directory: Directory) -> bool:
    """A directory is offline only if its disk has failed."""
    premise(replica.is_up and not replica.directories[directory].is_online)
    return replica.directories[directory].is_broken


@when_quiescent(
    symptom="a replica of a topic that was created again is missing until its partition changes or its broker starts",
    log="state-change.log: Unable to start fetching … with topic ID … due to …",
)
def replica_of_the_image_is_there(replica: KraftReplica) -> bool:
    """A running broker whose directories work serves a log of the topic that is in the image."""
    premise(replica.is_up and replica.disk_failures == 0)
    return any(replica.hosted == d and replica.directories[d].log_id == replica.topic_id for d in DIRECTORIES)


@always(symptom="a topic has records of an earlier one", log="none")
def served_log_is_of_the_topic(replica: KraftReplica, directory: Directory) -> bool:
    """A log that is served is one of the image's topic, in a directory that is online."""
    premise(replica.hosted == directory)
    there = replica.directories[directory]
    is_there = replica.is_up and there.is_online and there.has_log
    return is_there and there.log_id == replica.topic_id and not replica.is_offline


@always(symptom="records are there that nobody has written", log="none")
def log_has_no_more_than_was_written(replica: KraftReplica, directory: Directory) -> bool:
    """A log of the topic has no more records than were written, and neither has its copy; a record is behind its id."""
    there = replica.directories[directory]
    premise(there.has_log and there.log_id == replica.topic_id)
    is_identified = there.records == 0 or there.is_flushed
    return there.records <= replica.written and there.future_records <= replica.written and is_identified


@step(symptom="records are lost, or are there twice", log="none")
def records_are_appended_moved_or_deleted(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """A log gets a record while it is led, or all that its copy has; it loses them with its topic, or by a move."""
    was, now = before.directories[directory], after.directories[directory]
    premise(was.records != now.records)
    if after.written > before.written:
        return is_led(before) and after.hosted == directory and now.records == was.records + 1 and now.is_flushed
    if was.has_future and not now.has_future and now.records > 0:
        return now.records == was.future_records and after.assigned == directory
    has_other = any(d != directory and before.directories[d].has_future for d in DIRECTORIES)
    is_other = after.topic_id != before.topic_id or was.log_id != before.topic_id
    return not was.is_broken and now.records == 0 and (is_other or has_other)


@step(symptom="a log goes without a deletion, or comes back", log="none")
def log_is_created_for_the_image(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """A log is created where it is served, with the image's id, in a directory that is online; none of it is left."""
    was, now = before.directories[directory], after.directories[directory]
    premise(was.has_log != now.has_log)
    if not now.has_log:
        has_other = any(d != directory and before.directories[d].has_future for d in DIRECTORIES)
        is_stray = after.topic_id != before.topic_id or was.log_id != before.topic_id
        is_empty = now.log_id is None and now.records == 0 and not now.is_flushed
        return not was.is_broken and is_empty and (is_stray or has_other)
    is_whole = now.records == (was.future_records if was.has_future and not now.has_future else 0)
    return after.hosted == directory and now.is_online and now.log_id == after.topic_id and is_whole


@step(symptom="a move is forgotten, or copies the wrong log", log="none")
def future_log_is_copied(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """A future log begins empty, beside the served log; it is copied, and goes as it takes over, or with its topic."""
    was, now = before.directories[directory], after.directories[directory]
    premise(was.has_future != now.has_future or was.future_records != now.future_records)
    if not now.has_future:
        is_current = now.has_log and after.hosted == directory and after.assigned == directory
        return now.future_records == 0 and (is_current or after.topic_id != before.topic_id)
    is_beside = before.is_up and now.is_online and before.hosted is not None
    if not was.has_future:
        return is_beside and after.moves == before.moves + 1 and before.hosted != directory
    is_copy = any(before.hosted == d and now.future_records == before.directories[d].records for d in DIRECTORIES)
    return is_beside and is_copy and now.future_records > was.future_records


@step(symptom="the controller has a wrong directory for a replica, and lets a broker lead without its log", log="none")
def directory_is_assigned_where_the_log_is(before: KraftReplica, after: KraftReplica) -> bool:
    """The image gets the directory of the log, or while a move is under way that of a future log with all records."""
    premise(before.assigned != after.assigned)
    is_moved = before.is_up and before.topic_id == after.topic_id
    has_all = any(
        after.assigned == d
        and after.directories[d].has_future
        and after.directories[d].is_online
        and any(
            after.hosted == e and after.directories[d].future_records >= after.directories[e].records
            for e in DIRECTORIES
        )
        for d in DIRECTORIES
    )
    is_where_it_is = after.assigned == after.hosted and (after.hosted is not None or not is_moved)
    return is_where_it_is or (is_moved and has_all)


@step(symptom="a broker that starts uses a directory that does not work, or misses one that does", log="none")
def start_uses_what_works(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """A start takes the directories whose disks work, and serves a log where the image has it."""
    premise(after.starts > before.starts)
    there = after.directories[directory]
    is_served = after.hosted == directory or not there.is_online or not there.has_log or after.has_failed_to_start
    return there.is_online != there.is_broken and is_served and (after.hosted is None or after.assigned == after.hosted)


@step(symptom="a replica is not there after a start, although its directory works", log="none")
def replica_is_created_at_a_start(before: KraftReplica, after: KraftReplica) -> bool:
    """A broker that starts serves a log, if the directory works that the image has, or has none for it.

    Before 3.7 a log of an earlier topic refuses that, and goes.
    """
    premise(after.is_up and not before.is_up)
    works = before.assigned is None or any(
        before.assigned == d and not before.directories[d].is_broken for d in DIRECTORIES
    )
    is_of_another = any(
        before.directories[d].log_id is not None and before.directories[d].log_id != before.topic_id
        for d in DIRECTORIES
    )
    if is_of_another and not STRAYS_GO_FIRST:
        return after.hosted is None and after.assigned is None and not after.directories[0].has_log
    return (not works or after.hosted is not None) and (after.hosted is None or after.assigned == after.hosted)


@step(symptom="a broker that cannot start runs", log="none")
def failed_start_is_one_of_logs(before: KraftReplica, after: KraftReplica) -> bool:
    """A start fails only of two logs of the partition, or of one without an id; the broker is down then."""
    premise(after.has_failed_to_start and not before.has_failed_to_start)
    logs = [before.directories[d].has_log and not before.directories[d].is_broken for d in DIRECTORIES]
    has_no_id = any(before.directories[d].has_log and before.directories[d].log_id is None for d in DIRECTORIES)
    return not before.is_up and not after.is_up and (all(logs) or has_no_id)


@step(symptom="a crash loses what was on the disk", log="none")
def crash_loses_what_was_not_flushed(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """A crash loses an id that was not flushed, and nothing else; it ends a broker that runs."""
    premise(before.is_up and not after.is_up)
    was, now = before.directories[directory], after.directories[directory]
    has_id = now.log_id == was.log_id if was.is_flushed or was.is_broken else now.log_id is None
    return has_id and now.records == was.records and now.has_log == was.has_log and after.hosted is None


@step(symptom="a disk fails, or is repaired, unasked", log="none")
def disk_fails_and_is_repaired(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """A disk fails once, under a broker that has not failed itself; it is repaired while the broker is down."""
    was, now = before.directories[directory], after.directories[directory]
    premise(was.is_broken != now.is_broken)
    is_repair = not before.is_up and not after.is_up and after.disk_failures == before.disk_failures
    is_due = after.disk_failures == before.disk_failures + 1 if now.is_broken else is_repair
    return is_due and not before.has_failed_to_start


@step(symptom="a topic is created again, and not served", log="none")
def created_topic_is_served_at_once(before: KraftReplica, after: KraftReplica) -> bool:
    """A running broker serves a topic that is created again, in a directory that works."""
    premise(after.topic_id > before.topic_id)
    is_empty = all(after.hosted != d or after.directories[d].records == 0 for d in DIRECTORIES)
    is_due = before.is_up and (STRAYS_GO_FIRST or not before.is_offline)
    is_served = after.hosted is not None if is_due else after.hosted is None
    return after.written == 0 and is_empty and is_served and after.assigned == after.hosted


@step(symptom="partition.metadata is written for another log", log="none")
def served_log_gets_its_file(before: KraftReplica, after: KraftReplica, directory: Directory) -> bool:
    """partition.metadata of the served log is written, with the first record at the latest; a move takes it along."""
    was, now = before.directories[directory], after.directories[directory]
    premise(now.is_flushed and not was.is_flushed)
    return after.is_up and after.hosted == directory and now.is_online


@reachable()
def record_is_moved(replica: KraftReplica) -> bool:
    """A record has moved to the second directory."""
    second = replica.directories[1]
    return replica.hosted == 1 and replica.assigned == 1 and second.records > 0 and not replica.directories[0].has_log


@reachable()
def record_is_there_after_a_repair(replica: KraftReplica) -> bool:
    """A record is served whose disk had failed."""
    works = not any(replica.directories[d].is_broken for d in DIRECTORIES)
    return is_led(replica) and replica.disk_failures > 0 and works and replica.written > 0


@reachable()
def topic_is_served_again(replica: KraftReplica) -> bool:
    """The topic that was created again is served after a start."""
    return is_led(replica) and replica.topic_id > 0 and replica.starts > 0 and replica.hosted is not None
