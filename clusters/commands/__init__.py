"""The commands about real clusters: a module for each, which declares it."""
