"""Which enabled instances a reduced search takes in a state: those of a stubborn set, worked out anew in every state.

Words: *cases*, *atoms* and what they have to do with each other are explained in `search.reduction`. A set of cases is
*closed* if it has, with each enabled case, all that *clash* with it, and with each disabled one, all that *cause* one
of its false atoms. A *goal* is a kind of state that must be found; it has atoms too, and a closed set must have all
that cause one false atom of each open goal. A state is *final* if no instance of a certain row has its guard true;
elsewhere a closed set must also have all that *stop* one of these.
"""
from __future__ import annotations

from search.loops.stubborn.choosing import expand_chosen
from search.loops.stubborn.relations import NOTHING, Stubborn
from search.loops.stubborn.room import room_words
from search.loops.stubborn.sleep_sets import SleepSets

__all__ = ["NOTHING", "SleepSets", "Stubborn", "expand_chosen", "room_words"]
