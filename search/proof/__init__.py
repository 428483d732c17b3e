"""Proofs by Z3: bounded checking, k-induction, supporting invariants, and counterexamples to induction."""
