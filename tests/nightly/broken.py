"""A model with a mistake: its only action leaves the domain of a field, sooner or later."""

from __future__ import annotations

from kwalk.model.language import Actor, Scenario, action, always, number, require, state


@state
class Pipe:
    """A number that should stay small."""

    level: int = number(0, 3)


@action(by=Actor("tap"))
def fill(pipe: Pipe) -> None:
    """Looks at the wrong limit."""
    require(pipe.level <= 3)
    pipe.level += 1


@always()
def it_is_never_negative(pipe: Pipe) -> bool:
    return pipe.level >= 0


LEAKY = Scenario(
    name="leaky",
    story="A pipe that overflows.",
    state=Pipe,
    initial=lambda pipe: None,
    actions=(fill,),
    properties=(it_is_never_negative,),
)
