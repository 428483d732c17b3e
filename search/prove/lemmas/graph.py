"""Proof graphs: a goal, the lemmas that it needs, those that these need, and so on, until nothing is missing.

Words: a *lemma* is a fact that is guessed from examples of reachable states, and still to be proved. A *goal* or lemma
*rests* on lemmas: while these hold, no step (of one instance) breaks it. A goal is proved when everything that it rests
on, directly or not, has been looked at: these lemmas are inductive together, however much they rest on each other.
Where a counterexample is reachable, the lemma was wrong; what rested on it is looked at again, with more examples.

So only what a goal needs is asked, one instance at a time, and a proof is a graph that people can follow from the goal
(inductive proof graphs: Schultz, Ashton, Howard and Tripakis, "Scalable, Interpretable Distributed Protocol
Verification by Inductive Proof Slicing", 2024). Guessing lemmas from examples is Houdini's idea turned round: facts are
guessed only where one is missing.
"""
from __future__ import annotations

import random
from collections.abc import Hashable, Mapping

from attrs import define, field, frozen

from model.language import Vector
from model.language.lift import Lifted, Term
from search.prove.cubes import Cube
from search.prove.lemmas.encoding import Encoding, Question, Questions
from search.prove.lemmas.examples import Examples
from search.prove.sampling import Found, Sample, Stepping
from search.prove.step import Effort

STATE = -1
"""In place of an instance's number: the state itself, without a step."""
WALKS, WANDER = 4, 25
"""Walks from a state that a lemma was wrong about, and their steps: what they pass are further examples."""


@frozen(eq=False)
class Goal:
    """What is to be excluded: for each instance, what must not be true before it is taken; or of states (`STATE`)."""

    name: str
    bad: Mapping[int, Term]
    action: str = ""
    """The instance whose domain it is about."""


@frozen
class Met:
    """The goal fails after these instances from an initial state; the last one is the step that it must not be."""

    start: Vector
    instances: tuple[int, ...]


@define(eq=False)
class Rest:
    """What a goal or lemma rests on: per instance that was looked at, lemmas."""

    waiting: list[int]
    on: dict[int, frozenset[Cube]] = field(factory=dict)

    def lemmas(self) -> frozenset[Cube]:
        """All of them."""
        return frozenset[Cube]().union(*self.on.values())


class ProofGraph:
    """The lemmas of one model. What one goal needed is there for the next one."""

    def __init__(self, lifted: Lifted, stepping: Stepping, sample: Sample) -> None:
        self.lifted, self.model, self.stepping, self.sample = lifted, lifted.model, stepping, sample
        self.examples = Examples(self.model, sample.vectors)
        self.effort = Effort()
        self.lemmas: dict[Cube, Rest] = {}
        self.wrong = 0
        self._encoding = Encoding(lifted)
        self._asked: dict[int, Questions] = {}
        possible = [action for action in lifted.actions if action.guard is not lifted.terms.false]
        self._actions = {action.instance.index: action for action in possible}
        self._users: dict[Cube, list[tuple[Hashable, int]]] = {}
        self._goals: dict[str, tuple[Goal, Rest]] = {}
        self._chance = random.Random(0)

    def prove(self, goal: Goal) -> frozenset[Cube] | Met:
        """Facts that are inductive together and exclude the goal's bad states and steps.

        A behaviour instead, if one was met that ends in such a state or step. OutOfEffort if `effort` ends first; what
        was found stays.
        """
        rest = self._goals.setdefault(goal.name, (goal, Rest(list(goal.bad))))[1]
        while True:
            while rest.waiting:
                instance = rest.waiting[-1]
                reachable = self._settle(goal.name, rest, instance, goal.bad[instance])
                if reachable is not None:
                    return self._met(reachable, instance)
            needed = self._needed(rest)
            waiting = [lemma for lemma in needed if self.lemmas[lemma].waiting]
            if not waiting:
                return frozenset(needed)
            for lemma in reversed(waiting):
                self._examine(lemma)

    @property
    def questions(self) -> int:
        """How many have been asked."""
        return self.effort.asked

    def _met(self, state: Vector, instance: int) -> Met:
        start, instances = self.sample.path_to(self.stepping.pack(state))
        vector = tuple(self.stepping.unpack([start])[0].tolist())
        return Met(vector, instances if instance == STATE else (*instances, instance))

    # Lemmas.

    def _needed(self, rest: Rest) -> list[Cube]:
        """The lemmas that something rests on, directly or not, in the order in which they are found."""
        found: dict[Cube, None] = {}
        waiting = list(rest.lemmas())
        while waiting:
            lemma = waiting.pop()
            if lemma not in found:
                found[lemma] = None
                waiting += self.lemmas[lemma].lemmas()
        return list(found)

    def _examine(self, lemma: Cube) -> None:
        """Find what a lemma rests on, for each instance that could break it; or that it is wrong."""
        while lemma in self.lemmas and (rest := self.lemmas[lemma]).waiting:
            instance = rest.waiting[-1]
            asked = self._questions(instance)
            asked.tell(lemma)
            reachable = self._settle(lemma, rest, instance, self._encoding.cube(lemma, asked.after))
            if reachable is not None:
                self._correct(reachable, instance)

    def _settle(self, what: Hashable, rest: Rest, instance: int, bad: Term) -> Vector | None:
        """Find lemmas that keep an instance from doing something bad; a reachable state from which it does."""
        asked = self._questions(instance)
        question = asked.question(bad)
        while (state := question.counterexample(self.lemmas.keys())) is not None:
            known = [lemma for lemma in self.lemmas if not asked.knows(lemma) and lemma.has_state(state)]
            if not known:
                reason = question.reason(state)
                example = self.examples.agreeing(state, reason)
                if example is not None:
                    question.close()
                    return example
                known = [self._guess(state, reason)]
            for lemma in known:
                asked.tell(lemma)
        self._note(what, rest, instance, question)
        return None

    def _guess(self, state: Vector, reason: list[int]) -> Cube:
        """A new lemma that excludes a state."""
        lemma = self.examples.guess(state, reason)
        writers = [n for n in self._actions if self._questions(n).writes & lemma.keys()]
        self.lemmas[lemma] = Rest(writers)
        return lemma

    def _note(self, what: Hashable, rest: Rest, instance: int, question: Question) -> None:
        rest.on[instance] = question.used()
        rest.waiting.remove(instance)
        question.close()
        for lemma in rest.on[instance]:
            self._users.setdefault(lemma, []).append((what, instance))

    def _questions(self, instance: int) -> Questions:
        if instance not in self._asked:
            self._asked[instance] = Questions(self._encoding, self._actions.get(instance), self.effort)
        self._asked[instance].effort = self.effort
        return self._asked[instance]

    # Lemmas that were wrong.

    def _correct(self, example: Vector, instance: int) -> None:
        """Drop the lemmas that are wrong about where an instance leads from an example, and about what comes after."""
        before = self.stepping.pack(example)
        first = self.stepping.stepper.step(instance, before)
        if first is None:
            raise AssertionError("Z3 takes a step from a reachable state that machine code does not; they contradict.")
        found: Found = {first: (before, instance)}
        for _ in range(WALKS):
            self._wander(first, found)
        new = self.sample.add(found, self.stepping)
        self.examples.add(new)
        table = Examples(self.model, new)
        for lemma in [lemma for lemma in self.lemmas if table.meets(lemma)]:
            self._drop(lemma)

    def _wander(self, state: bytes, found: Found) -> None:
        """Walk on, and note every successor of where the walk is."""
        for _ in range(WANDER):
            following = self.stepping.steps(state)
            if not following:
                return
            for instance, after in following:
                found.setdefault(after, (state, instance))
            state = self._chance.choice(following)[1]

    def _drop(self, lemma: Cube) -> None:
        self.wrong += 1
        del self.lemmas[lemma]
        for what, instance in self._users.pop(lemma, ()):
            rest = self.lemmas.get(what) if isinstance(what, Cube) else self._goals[str(what)][1]
            if rest is not None and lemma in rest.on.get(instance, ()):
                del rest.on[instance]
                rest.waiting.append(instance)
