"""Proofs about large models: supporting facts that are guessed from examples, one counterexample at a time."""
from search.prove.lemmas.confirm import Confirmation
from search.prove.lemmas.goals import of_claim, of_domains
from search.prove.lemmas.graph import Goal, Met, ProofGraph

__all__ = ["Confirmation", "Goal", "Met", "ProofGraph", "of_claim", "of_domains"]
