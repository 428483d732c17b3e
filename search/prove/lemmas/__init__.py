"""Proofs about large models: supporting facts that are guessed from examples, one counterexample at a time."""
from search.prove.lemmas.examples import Examples
from search.prove.lemmas.graph import Goal, ProofGraph

__all__ = ["Examples", "Goal", "ProofGraph"]
