"""Compiling models: terms → LLVM → object code, cached on disk by content and CPU."""
