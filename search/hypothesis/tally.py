"""The tally of a state machine: what its examples met, counted over all of them.

Words: an *example* is one behaviour that Hypothesis tries; those that it tries while it shrinks count too.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from attrs import Factory, define

from model.language import Instance, Model
from search.plain import Visit
from search.trace import Trace
from search.verdict import RuleCount


@define
class Tally:
    """What the examples of a machine met, counted over all of them."""

    on_example: Callable[[], None] = lambda: None
    """Called before each example; what it raises ends the run."""
    examples: int = 0
    steps: int = 0
    quiet: int = 0
    bounds_hit: Counter[str] = Factory(Counter)
    enabled: Counter[int] = Factory(Counter)
    taken: Counter[int] = Factory(Counter)
    changed: Counter[int] = Factory(Counter)
    premises: Counter[str] = Factory(Counter)
    witnessed: dict[str, Trace] = Factory(dict)
    found: dict[str | None, Trace] = Factory(dict)
    """The shortest trace so far for each violated claim, by key; for a deadlock by None."""
    times: Counter[str | None] = Factory(Counter)

    def begins(self) -> None:
        """Count an example."""
        self.on_example()
        self.examples += 1

    def finds(self, trace: Trace) -> None:
        """Keep a violating trace if it is the shortest of its claim."""
        self.times[trace.claim] += 1
        known = self.found.get(trace.claim)
        if known is None or trace.length < known.length:
            self.found[trace.claim] = trace

    def leaves(self, visit: Visit, taken: Instance | None) -> None:
        """Count what was seen of a state and of the steps out of it, and the one taken."""
        self.quiet += visit.is_known_quiet
        for number, tried in visit.tries.items():
            if tried.bound is not None:
                self.bounds_hit[tried.bound] += 1
            self.enabled[number] += tried.is_enabled
        if taken is not None:
            self.taken[taken.index] += 1
            self.changed[taken.index] += visit.after(taken) != visit.vector

    def rules(self, model: Model) -> dict[str, RuleCount]:
        """The counts of all action instances, also of those that never were enabled."""
        counters = (self.enabled, self.taken, self.changed)
        return {i.key: RuleCount(*(counter[i.index] for counter in counters)) for i in model.instances}
