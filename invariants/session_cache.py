"""Properties of the cache of fetch sessions."""

from __future__ import annotations

from kwalk.model.kafka.server.session_cache import CACHED, IDLE, Cached, SessionCache
from kwalk.model.language import always, premise, reachable, step


@always(symptom="clients begin sessions of fetches all the time, with requests for all partitions", log="none")
def used_session_stays(cache: SessionCache, session: Cached) -> bool:
    """A session that is in use does not go for not being used."""
    return not cache.went[session]


@step(symptom="a session stays whose client is gone", log="none")
def unused_session_goes(before: SessionCache, after: SessionCache, session: Cached) -> bool:
    """A session is new, or used; else it is unused for one moment more, as the other one is."""
    premise(before.unused[session] != after.unused[session] and after.unused[session] > 0)
    is_later = all(after.unused[each] == min(before.unused[each] + 1, IDLE) for each in CACHED)
    return is_later and all(after.cache_unused[each] == min(before.cache_unused[each] + 1, IDLE) for each in CACHED)


@always(symptom="a session goes that was used", log="none")
def cache_knows_the_use(cache: SessionCache, session: Cached) -> bool:
    """A session is not taken to be used for less long than it is."""
    return cache.cache_unused[session] >= cache.unused[session]


@reachable()
def one_session_is_unused(cache: SessionCache) -> bool:
    """One session can go, and the other one is in use."""
    return cache.cache_unused[1] == IDLE and cache.cache_unused[0] == 0
