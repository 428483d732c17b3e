"""Small published models, which teach the language."""
