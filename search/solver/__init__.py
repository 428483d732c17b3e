"""Z3 about the terms of a model, for whatever reasons about arbitrary states: proofs, reductions, examination."""
