"""How much of a run was compared with plain Python; verdicts say so. Nothing here needs arrays."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class Compared:
    """How much was compared with plain Python, without a difference."""

    states: int = 0
    successors: int = 0
    properties: int = 0
    """Evaluations of properties in a state or on a step."""
    instances: frozenset[str] = field(default=frozenset(), repr=False)
    """The keys of the action instances that were compared on a step that they take."""

    def __add__(self, other: Compared) -> Compared:
        return Compared(
            self.states + other.states,
            self.successors + other.successors,
            self.properties + other.properties,
            self.instances | other.instances,
        )

    @property
    def counts(self) -> dict[str, int]:
        """How much was compared, as JSON has it."""
        return {"states": self.states, "successors": self.successors, "properties": self.properties}

    def __bool__(self) -> bool:
        return self.states > 0

    def __str__(self) -> str:
        if not self.states:
            return "Compared with plain Python: no state."
        counts = ((self.states, "state"), (self.successors, "successor"))
        figures = ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for count, name in counts)
        return f"Compared with plain Python: {figures}, no difference."


NOTHING_COMPARED = Compared()
