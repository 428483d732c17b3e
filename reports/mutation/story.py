"""The story of a mutant: the way to what kills it, or to the first state that tells a survivor from the model."""
from __future__ import annotations

from collections.abc import Sequence

from reports.story import Story, tell
from search.mutation import Evidence, Fate, Ground, Mutant, Outcome
from search.mutation.grounds import MutatedModel
from search.trace import Trace, run


def story_of(mutant: Mutant, outcome: Outcome, grounds: Sequence[Ground]) -> Story | None:
    """The story of an outcome with the steps of the mutant (a survivor: of the model); None if it has none."""
    ground = next((ground for ground in grounds if ground.name == outcome.ground), None)
    if ground is None or outcome.actions is None:
        return None
    alive = outcome.fate in (Fate.SURVIVED, Fate.RESTRICTED, Fate.UNDECIDED)
    model = ground.model if alive else MutatedModel(ground.model, mutant)
    states = run(model, ground.model.initial[outcome.start], outcome.actions)
    claim = outcome.claim if outcome.fate is Fate.KILLED else None
    trace = Trace(
        model.scenario.name, model.variant, model.binding.bounds, states, outcome.actions, claim=claim,
        loop=outcome.loop, labels=model.binding.labels, flags=model.asked_flags, found_by=outcome.evidence.value,
        shortest="exhaust" if outcome.evidence is Evidence.EXHAUSTIVE else None,
    )  # fmt: skip
    return tell(model, trace)
