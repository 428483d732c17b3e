"""From a loop to bitcode, by Numba. Words: see `loops`. Imported only where a loop has to be compiled."""

from __future__ import annotations

import dis
import gc
import inspect
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
from numba.core.registry import cpu_target
from numba.extending import intrinsic as numba_intrinsic
from numba.np.arrayobj import make_array, populate_array

from kwalk.search.native.loops import (
    BLOCK_ARGUMENTS,
    BLOCK_RESULT,
    ENTRY,
    UNKNOWN,
    ArrayLayout,
    CompiledLoop,
    Intrinsic,
    LoopPart,
    TupleLayout,
    Word,
    described,
    global_names,
    globals_of,
)

_TYPES = {int: types.int64, Word: types.uint64, bool: types.boolean, None: types.none}
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
"""No wrappers for Python, which saves a third of the time; and no counts of references, as loops allocate nothing."""
_LOCK = RLock()
"""Numba compiles one function at a time."""


def bitcode_of(loop: CompiledLoop) -> bytes:
    """Return the module of a loop, with the function ENTRY, optimized for the CPU that Numba compiles for.

    Raises:
        TypeError: The loop, or a part that it calls, reads a global name with a value that its key does not cover.
    """
    with _LOCK:
        functions: set[Any] = set()
        _require_known_globals(loop.function, functions)
        entry = _entry_of(loop)
        with _compiled_once({function.__qualname__ for function in functions}, entry.py_func.__qualname__):
            entry.compile((types.int64,))
        (compiled,) = entry.overloads.values()
        name = compiled.fndesc.llvm_func_name
        with llvm.parse_bitcode(compiled.library._final_module.as_bitcode(), llvm.create_context()) as module:
            return bytes(_with_one_entry(module, name).as_bitcode())


@contextmanager
def _compiled_once(parts: Collection[str], entry: str) -> Iterator[None]:
    """Let Numba optimize the functions of these names as parts of the entry only, and emit machine code for none.

    Numba optimizes the module of each function together with all that the function calls: an inner part once for each
    call above it. It also emits machine code for each module, which nobody calls here. Without both, large loops
    compile in a third of the time, and are as fast. The garbage collector rests meanwhile, as it would find little.
    """
    optimize, finalize = CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module
    set_environment, collects = JITCPUCodegen.set_env, gc.isenabled()

    def optimize_unless_part(library: CPUCodeLibrary) -> None:
        if library.name not in parts:
            optimize(library)

    def finalize_unless_named(library: CPUCodeLibrary) -> None:
        if library.name in parts or library.name == entry:
            library._finalized = True
        else:
            finalize(library)

    def set_environment_if_emitted(codegen: JITCPUCodegen, name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            set_environment(codegen, name, environment)

    CPUCodeLibrary._optimize_final_module = optimize_unless_part
    CPUCodeLibrary._finalize_final_module = finalize_unless_named
    JITCPUCodegen.set_env = set_environment_if_emitted
    gc.disable()
    try:
        yield
    finally:
        CPUCodeLibrary._optimize_final_module, CPUCodeLibrary._finalize_final_module = optimize, finalize
        JITCPUCodegen.set_env = set_environment
        if collects:
            gc.enable()


def _with_one_entry(module: llvm.ModuleRef, name: str) -> llvm.ModuleRef:
    """Return the module with the function of that name as its only entry, ENTRY."""
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            raise TypeError(f"A loop cannot call {function.name}: only intrinsics, parts, loops and addresses.")
        if not function.is_declaration:
            function.linkage = llvm.Linkage.external if function.name == name else llvm.Linkage.internal
    module.get_function(name).name = ENTRY
    module.verify()
    return module


def _entry_of(loop: CompiledLoop) -> Any:
    """Return Numba's dispatcher of a function of the address of a block that calls the loop."""
    names: dict[str, Any] = {
        "loop": loop,
        "load": _load,
        "store": _store,
        "load_word": _load_word,
        "array": _array,
    }
    places = iter(range(BLOCK_ARGUMENTS, 1 << 16))
    arguments = ", ".join(_expression(layout, places, names) for layout in loop._layouts)
    has_result = inspect.signature(loop.function).return_annotation not in (None, "None")
    call = f"store(block, {BLOCK_RESULT}, loop({arguments}))" if has_result else f"loop({arguments})"
    exec(f"def entry(block):\n    {call}\n", names)
    return njit(**_OPTIONS)(names["entry"])


def _expression(layout: Any, places: Iterator[int], names: dict[str, Any]) -> str:
    """Return the expression of an argument, from the words of the block at the next places."""
    if isinstance(layout, TupleLayout):
        items = "".join(f"{_expression(item, places, names)}, " for item in layout.items)
        return f"({items})" if layout.kind is tuple else f"{_name(layout.kind, names)}({items})"
    if isinstance(layout, ArrayLayout):
        at, *lengths = (next(places) for _ in range(1 + layout.dimensions))
        shape = "".join(f"load(block, {length}), " for length in lengths)
        return f"array(load(block, {at}), ({shape}), {_name(layout.items, names)})"
    return f"{'load' if layout is int else 'load_word'}(block, {next(places)})"


def _name(thing: type[Any], names: dict[str, Any]) -> str:
    """Return a name for a class in the entry."""
    name = f"class_{len(names)}"
    names[name] = thing
    return name


@numba_intrinsic
def _load(typing: Any, block: Any, place: Any) -> Any:
    return types.int64(types.int64, types.int64), _loads


@numba_intrinsic
def _load_word(typing: Any, block: Any, place: Any) -> Any:
    return types.uint64(types.int64, types.int64), _loads


@numba_intrinsic
def _store(typing: Any, block: Any, place: Any, value: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        word = context.cast(builder, values[2], signature.args[2], types.int64)
        builder.store(word, _word_at(builder, values))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, value), generate


@numba_intrinsic
def _array(typing: Any, address: Any, shape: Any, items: Any) -> Any:
    """Return the contiguous array at an address. Nothing owns it, so it has no count of references."""
    kind = types.Array(items.instance_type, len(shape), "C")

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        made = make_array(kind)(context, builder)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        lengths, strides = [builder.extract_value(values[1], k) for k in range(kind.ndim)], [size]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(values[0], made.data.type)
        populate_array(made, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
        return made._getvalue()

    return kind(types.int64, shape, items), generate


def _loads(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
    return builder.load(_word_at(builder, values))


def _word_at(builder: ir.IRBuilder, values: Sequence[Any]) -> Any:
    return builder.gep(builder.inttoptr(values[0], ir.IntType(64).as_pointer()), [values[1]])


def type_of_part(part: LoopPart) -> Any:
    """Return Numba's type of a part."""
    if part.of_numba is None:
        part.of_numba = njit(**_OPTIONS, forceinline=True)(part.function)
    return types.Dispatcher(part.of_numba)


def type_of_loop(loop: CompiledLoop) -> Any:
    """Return Numba's type of a loop that another one calls."""
    if loop.of_numba is None:
        loop.of_numba = njit(**_OPTIONS)(loop.function)
    return types.Dispatcher(loop.of_numba)


def type_of_intrinsic(intrinsic: Intrinsic) -> Any:
    """Return Numba's type of an intrinsic."""
    if intrinsic.of_numba is None:
        intrinsic.of_numba = numba_intrinsic(_definition_of(intrinsic))
        cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(intrinsic.of_numba)


def _definition_of(intrinsic: Intrinsic) -> Any:
    """Return the function of types that Numba makes an intrinsic of."""

    def definition(typing: Any, *actuals: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            made = intrinsic.function(builder, *values)
            return context.get_dummy_value() if intrinsic.result is None else made

        arguments = [
            actual if hint is tuple else _TYPES[hint] for hint, actual in zip(intrinsic.arguments, actuals, strict=True)
        ]
        return _TYPES[intrinsic.result](*arguments), generate

    kind, first = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.signature(_load._defn).parameters["typing"]
    names = [*inspect.signature(intrinsic.function).parameters][1:]
    parameters = [first, *(inspect.Parameter(name, kind) for name in names)]
    definition.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    definition.__name__ = intrinsic.function.__name__
    return definition


def _require_known_globals(function: Any, visited: set[Any]) -> None:
    """Raise TypeError if a function, or one that it calls, reads a value that no key covers (see `described`)."""
    if function in visited:
        return
    visited.add(function)
    read = {each.argval for each in dis.get_instructions(function) if each.opname == "LOAD_GLOBAL"}
    if not read <= global_names(function.__code__):
        raise RuntimeError(f"The globals of {function.__qualname__} are not all known in Python {sys.version}.")
    for name, value in globals_of(function).items():
        if isinstance(value, CompiledLoop | LoopPart | FunctionType):
            _require_known_globals(value if isinstance(value, FunctionType) else value.function, visited)
        elif described(value).startswith(UNKNOWN):
            raise TypeError(
                f"{function.__qualname__} reads {name}, which is {value!r}. A loop can read numbers, texts, tuples, "
                "enums, NamedTuples, modules, functions and parts: pass anything else as an argument."
            )
