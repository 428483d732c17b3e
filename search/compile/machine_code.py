"""From LLVM text to machine code: optimize, emit object code, and load it."""
from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from model.language import KwalkError

FUNCTIONS = ("guards", "apply", "advance", "expand", "check", "check_step")
"""What a loaded kernel exports."""


@cache
def _ready() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def cpu() -> str:
    """This machine's CPU and the LLVM that knows it, as one line: object code is good for equal lines only."""
    _ready()
    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features} llvmlite {llvmlite.__version__}"


def _target(level: int, *, apart: bool = False, line: str = "") -> llvm.TargetMachine:
    """A machine, this one without its `line`, for code that LLVM takes so much care of.

    Units of code that is `apart` may lie anywhere in memory.
    """
    _ready()
    triple, name, features, *_ = (line or cpu()).split(" ")
    return _kind(triple).create_target_machine(
        cpu=name,
        features=features,
        opt=level,
        reloc="pic",
        codemodel="large" if apart else "small",
    )


def _kind(triple: str) -> llvm.Target:
    """The kind of machine of that triple; KwalkError if this LLVM makes no code for it."""
    if triple != llvm.get_process_triple():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    try:
        return llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise KwalkError(f"This machine cannot make code for {triple!r}: {error}") from error


def object_code(
    texts: Sequence[str], *, hurried: bool = False, large: bool = False, apart: bool = False, line: str = ""
) -> list[bytes]:
    """The object code of several units, compiled in parallel: for this machine, or for that of a `line` as `cpu` gives.

    One unit alone is a small model, unless it is said to be `large`, and gets all of -O2. Units of a large model were
    simplified as terms: passes over them cost as much again as making code, and gain nothing that was measurable. In a
    hurry, code is made without care. Units that were not compiled together may lie more than 2 GiB `apart`, and must be
    told so: else a call from one to another may not reach it.
    """
    if len(texts) == 1 and not large:
        return [_optimized(texts[0], line)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        level = 0 if hurried else 1
        targets = [_target(level, apart=apart, line=line) for _ in texts]
        return list(pool.map(lambda target, text: target.emit_object(_parsed(text, line)), targets, texts))


def _parsed(text: str, line: str) -> llvm.ModuleRef:
    triple = (line or cpu()).partition(" ")[0]
    return llvm.parse_assembly(f'target triple = "{triple}"\n{text}', context=llvm.create_context())


def _optimized(text: str, line: str) -> bytes:
    target, module = _target(2, line=line), _parsed(text, line)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)


class Loaded:
    """Machine code in memory, and the addresses of its functions, which are good as long as this object lives."""

    def __init__(self, objects: Sequence[bytes], functions: Sequence[str] = FUNCTIONS) -> None:
        _ready()
        self._jit = llvm.create_lljit_compiler(_target(1))
        library = llvm.JITLibraryBuilder()
        for image in objects:
            library = library.add_object_img(image)
        for name in functions:
            library = library.export_symbol(name)
        self._library = library.link(self._jit, "kernel")
        self.addresses = {name: int(self._library[name]) for name in functions}
