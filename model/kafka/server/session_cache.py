"""FetchSessionCache: which session of fetches goes when there is no room for another one (KIP-227).

A session that was not used for min.incremental.fetch.session.eviction.ms goes first. Its client begins another one, if
there is room, by a request with all partitions.

What the model leaves out, and why its story loses nothing by it: sizes of sessions, by which one goes that is in use;
and followers, whose sessions stay.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import FETCHES_TOUCH_SESSIONS
from kwalk.model.kafka.storage.domains import CONSUMER, TIME
from kwalk.model.language import Array, Bound, Domain, action, array, flag, number, require, state

CACHED = Domain("cached", "sessions that the cache has room for", default=2)
IDLE = Bound("idle", "min.incremental.fetch.session.eviction.ms", minimum=1)
Cached = Annotated[int, CACHED]


@state
class SessionCache:
    """For how long each session was `unused`, and for how long the cache takes it to be; and which one `went` last."""

    unused: Array[int] = array(CACHED, number(0, IDLE))
    cache_unused: Array[int] = array(CACHED, number(0, IDLE))
    went: Array[bool] = array(CACHED, flag())


@action(by=TIME, description="passes", source="FetchSession.lastUsedMs")
def pass_unused(cache: SessionCache) -> None:
    """What is longer than the limit is the same."""
    for each in CACHED:
        cache.unused[each] = min(cache.unused[each] + 1, IDLE)
        cache.cache_unused[each] = min(cache.cache_unused[each] + 1, IDLE)
        cache.went[each] = False


@action(
    by=CONSUMER, description="fetches in session {session}", source="FetchManager.newContext; FetchSessionCache.touch"
)
def use_session(cache: SessionCache, session: Cached) -> None:
    """Up to 2.4 only a session whose number of partitions changes was taken to be used."""
    cache.unused[session] = 0
    if FETCHES_TOUCH_SESSIONS:
        cache.cache_unused[session] = 0
    cache.went[session] = False


@action(by=CONSUMER, description="begins a session in place of {session}", source="FetchSessionCache.tryEvict")
def evict(cache: SessionCache, session: Cached) -> None:
    """The one that was not used for the longest time goes, if that is long enough."""
    require(cache.cache_unused[session] == IDLE and cache.cache_unused[1 - session] <= cache.cache_unused[session])
    cache.went[session] = cache.unused[session] < IDLE
    cache.unused[session] = cache.cache_unused[session] = 0
