"""The hot loops of exhaustive search and of walks: compiled once by Numba, cached on disk, shared by all models.

They call a model's `Kernel` by address, so no loop is compiled again for another model.
"""
