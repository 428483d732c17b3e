"""Proofs by Z3: bounded checking, k-induction, supporting invariants, and counterexamples to induction."""
from __future__ import annotations

from model.language import Claim, Model
from model.language.lift import lift
from search.fairness import safety, without_liveness
from search.progress import Report, silent
from search.prove.attempt import DEPTH, Attempt, Wish
from search.prove.conclusion import Conclusion
from search.prove.induction import Escape, escapes, is_inductive
from search.verdict import Verdict

INDUCTION = 3
"""How many steps k-induction looks back unless asked otherwise."""


def prove(
    model: Model,
    *,
    claims: tuple[Claim, ...] | None = None,
    depth: int | None = None,
    induction: int | None = None,
    support: bool = True,
    seconds: float | None = None,
    report: Report = silent,
    command: str = "",
) -> Verdict:
    """Prove the claims for behaviours of any length, or find the shortest violation of any of them.

    k-induction looks back up to `induction` steps (0: there is none); with `support`, supporting invariants are
    searched for. What is not proved is checked up to `depth` steps. DomainError if an action leaves its domain within
    the depths looked at. HOLDS only if every claim is proved (a `reachable` one: if a witness is found). A violation is
    a shortest one where its trace says so: all smaller depths were refuted. UNDECIDED says of each claim why it is not
    known.
    """
    wanted = model.claims if claims is None else claims
    wish = Wish(
        safety(wanted), DEPTH if depth is None else depth,
        INDUCTION if induction is None else induction, support, seconds,
    )  # fmt: skip
    attempt = Attempt(model, lift(model), wish, report)
    try:
        attempt.run()
    except KeyboardInterrupt:
        attempt.stopped = "interrupted"
    return without_liveness(Conclusion(attempt, command).verdict(), wanted, "a proof")


__all__ = ["Escape", "escapes", "is_inductive", "prove"]
