"""The post office, begun from a survey of a real street: a JSON file with the names of its houses and the dogs out."""

from __future__ import annotations

import json
from pathlib import Path

from attrs import evolve

from kwalk.model.language import Flag, Reading, UsageError
from kwalk.model.language.scenario import Steps
from tests.reports.post_office import POST_OFFICE, Street


def diagnose(steps: Steps | None) -> tuple[str, ...]:
    """What the postman knows."""
    return ("Dogs are no danger.",) if steps is None else (f"In danger: {steps[0][1]}.", "Tie it up.")


def read_survey(path: str) -> Reading:
    """The houses, and whose dog is out."""
    survey = json.loads(Path(path).read_text("utf-8"))
    if "houses" not in survey:
        raise UsageError(f"The survey {path!r} has no `houses`.")
    names = tuple(survey["houses"])

    def as_surveyed(street: Street) -> None:
        for house, name in enumerate(names):
            street.doors[house].dog_out = name in survey["dogs"]

    return Reading(
        bounds={"houses": len(names)},
        labels={"houses": names},
        initial=as_surveyed,
        facts=(f"A street with {len(names)} houses.",),
        properties=("no_card_stays",),
        diagnose=diagnose,
        flags=survey.get("flags", {}),
    )


MUZZLES = Flag("muzzles", "dogs wear them, which nobody asks for")
SURVEYED = evolve(POST_OFFICE, name="surveyed-post-office", flags={MUZZLES.name: False}, read_snapshot=read_survey)
