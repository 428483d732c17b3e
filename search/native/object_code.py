"""LLVM: from its text to object code, optimized or not; and what this machine is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import llvmlite.binding as llvm

from kwalk.model.language import KwalkError
from kwalk.search.native.processor import cpu


@cache
def _ready() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target(level: int, *, target: str = "") -> llvm.TargetMachine:
    """Return LLVM's target machine, by default this one, for an optimization level from 0 to 3.

    Its code addresses everything by 64 bits: LLVM loads each section where the system has room, and in a process with
    large mappings that can be more than 2 GiB from the others, out of the reach of a shorter address.
    """
    _ready()
    triple, name, features, *_ = (target or cpu()).split(" ")
    return _kind(triple).create_target_machine(
        cpu=name,
        features=features,
        opt=level,
        reloc="static",
        codemodel="large",
    )


def _kind(triple: str) -> llvm.Target:
    """Return LLVM's target of a triple; KwalkError if this LLVM does not compile for it."""
    if triple != llvm.get_process_triple():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    try:
        return llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise KwalkError(f"This machine cannot compile code for {triple!r}: {error}") from error


def object_code(
    texts: Sequence[str], *, unoptimized: bool = False, large: bool = False, target: str = "", threads: int = 0
) -> list[bytes]:
    """Return the object code of several units of LLVM text, compiled in parallel.

    A single unit is optimized with -O2, as it is a small model. The units of a large model were simplified as terms:
    LLVM's optimization passes would double the time to compile, and their gain was not measurable. Without optimization
    a small model compiles ten times faster.

    Args:
        texts: The units.
        unoptimized: Whether the code generator is to be fast rather than its code.
        large: Whether a single unit is a large one.
        target: The machine to compile for, as `cpu()` describes it; "" for this machine.
        threads: How many units are compiled at a time; 0 for as many as there are cores.
    """
    if len(texts) == 1 and not large:
        (text,) = texts
        machine = _target(0 if unoptimized else 2, target=target)
        return [_emitted(machine, text, target, optimized=not unoptimized)]
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        level = 0 if unoptimized else 1
        machines = [_target(level, target=target) for _ in texts]
        return list(pool.map(lambda machine, text: _emitted(machine, text, target), machines, texts))


def _parsed(text: str, target: str) -> llvm.ModuleRef:
    triple = (target or cpu()).partition(" ")[0]
    return llvm.parse_assembly(f'target triple = "{triple}"\n{text}', context=llvm.create_context())


def _emitted(machine: llvm.TargetMachine, text: str, target: str, *, optimized: bool = False) -> bytes:
    """Return the object code of a unit.

    The module is closed here: where garbage collection finds a module together with its context, it may close the
    context first, and LLVM then crashes.
    """
    with _parsed(text, target) as module:
        if optimized:
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            with llvm.create_pass_builder(machine, options) as builder, builder.getModulePassManager() as passes:
                passes.run(module, builder)
        return bytes(machine.emit_object(module))


def emit_optimized(bitcode: bytes) -> bytes:
    """Return the object code, for this machine, of a module that is optimized already.

    Raises:
        RuntimeError: This LLVM cannot read it.
    """
    _ready()
    with llvm.parse_bitcode(bitcode, llvm.create_context()) as module:
        return bytes(_target(3).emit_object(module))


class LinkedByLlvm:
    """What `elf_image.Image` is, for any code that LLVM emits."""

    def __init__(self, objects: Sequence[bytes], functions: Sequence[str]) -> None:
        _ready()
        self._jit = llvm.create_lljit_compiler(_target(1))
        library = llvm.JITLibraryBuilder()
        for image in objects:
            library = library.add_object_img(image)
        for name in functions:
            library = library.export_symbol(name)
        self._library = library.link(self._jit, "kernel")
        self.addresses = {name: int(self._library[name]) for name in functions}
