"""The fuzzer of the language: random models and snippets, compared with an independent oracle."""
