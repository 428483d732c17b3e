"""The parts of a verdict that all engines fill in alike."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from attrs import frozen

from kwalk.model.language import Kind, Model, PropertyInstance
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, ActionCount, Answer, Finding, Strength, Verdict


def answer_to(prop: PropertyInstance | None) -> Answer:
    """Return the answer that a violation of a property gives; None stands for deadlock freedom."""
    if prop is None:
        return Answer.DEADLOCK
    return Answer.BAD_STABLE_STATE if prop.kind is Kind.WHEN_QUIESCENT else Answer.VIOLATED


@frozen
class VerdictBuilder:
    """Builds the verdict of one run.

    Args:
        model: The model that was searched.
        properties: The property instances that were checked.
        engine: The name of the engine.
        command: The command line that reproduces the run.
    """

    model: Model
    properties: Sequence[PropertyInstance]
    engine: str
    command: str = ""

    def verdict(self, answer: Answer, strength: Strength, **fields: Any) -> Verdict:
        """Return the verdict; `fields` are the other fields of `Verdict`, as far as the engine has them."""
        model = self.model
        return Verdict(
            answer=answer,
            strength=strength,
            engine=self.engine,
            scenario=model.scenario.name,
            variant=model.variant,
            bounds=model.binding.bounds,
            flags=model.flag_overrides,
            command=self.command,
            properties=tuple(
                dict.fromkeys(prop.declaration.title for prop in self.properties if not prop.declaration.only_counts)
            ),
            **fields,
        )

    @staticmethod
    def finding(prop: PropertyInstance | None, count: int, trace: Trace | None = None) -> Finding:
        """Return the finding of a violated property; None stands for deadlock freedom."""
        return Finding(DEADLOCK if prop is None else prop.key, count, trace)

    @staticmethod
    def bounds_hit(bounds: Iterable[str], hits: Iterable[int]) -> dict[str, int]:
        """Return how often each bound disabled a step, without the bounds that never did."""
        return {name: int(count) for name, count in zip(bounds, hits, strict=False) if count}

    def action_counts(
        self, enabled: Iterable[int], taken: Iterable[int], changed: Iterable[int], left_out: Container[str] = ()
    ) -> dict[str, ActionCount]:
        """Return the counts by action instance, from three sequences in the order of the model's instances."""
        counts = zip(self.model.instances, enabled, taken, changed, strict=False)
        return {i.key: ActionCount(int(e), int(t), int(c)) for i, e, t, c in counts if i.key not in left_out}


def steps_by_action(model: Model, taken: Iterable[int]) -> dict[str, int]:
    """Return how often each action of a model was taken, from the counts of its instances in their order."""
    steps = {action.name: 0 for action in model.scenario.actions}
    for instance, count in zip(model.instances, taken, strict=False):
        steps[instance.action.name] += int(count)
    return steps


def error_notes(error: Exception | None) -> tuple[str, ...]:
    """Return the note of a verdict on an error of the model that was met as well."""
    return () if error is None else (f"The model has an error as well: {error}",)
