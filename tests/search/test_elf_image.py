"""Object code is loaded without LLVM, and does what it does where LLVM loads it; anything else is left to LLVM."""

from __future__ import annotations

import ctypes
import gc
import platform
import struct
import sys

import llvmlite.binding as llvm
import pytest

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import compile_model
from kwalk.search.kernel.compile.slices import compile_slices
from kwalk.search.native import processor
from kwalk.search.native.compile_all import loop_names
from kwalk.search.native.elf_image import Image, NotLinked
from kwalk.search.native.loops import LOOPS
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.object_code import LinkedByLlvm, object_code
from kwalk.search.native.processor import cpu, host

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="elsewhere LLVM loads all code"
)

CASES = " ".join(f"i64 {n}, label %c{n}" for n in range(12))
TABLE_OF_JUMPS = "\n".join(
    [
        "define i64 @callee(i64 %n) nounwind {",
        "entry:",
        f"  switch i64 %n, label %none [ {CASES} ]",
        *(line for n in range(12) for line in (f"c{n}:", f"  %r{n} = mul i64 %n, {n * n + 3}", f"  ret i64 %r{n}")),
        "none:",
        "  ret i64 -1",
        "}",
    ]
)
CALLER = """
declare i64 @callee(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@half = private constant [3 x double] [double 1.5, double 2.5, double 4.5]
define i64 @caller(i64 %n) nounwind {
  %room = alloca [4000 x i8], align 16
  call void @llvm.memset.p0.i64(ptr %room, i8 3, i64 4000, i1 0)
  %at = getelementptr i8, ptr %room, i64 %n
  %byte = load i8, ptr %at
  %three = zext i8 %byte to i64
  %place = urem i64 %n, 3
  %half = getelementptr [3 x double], ptr @half, i64 0, i64 %place
  %number = load double, ptr %half
  %whole = fptoui double %number to i64
  %r = call i64 @callee(i64 %n)
  %s = mul i64 %r, %three
  %t = add i64 %s, %whole
  ret i64 %t
}
"""
ONE = "define i64 @one(i64 %n) nounwind {\n  ret i64 1\n}\n"
WRITABLE = """
@count = global i64 5
define i64 @one(i64 %n) nounwind {
  %old = load i64, ptr @count
  %new = add i64 %old, %n
  store i64 %new, ptr @count
  ret i64 %new
}
"""
OF_MATHEMATICS = """
declare double @tgamma(double)
define i64 @one(i64 %n) nounwind {
  %x = uitofp i64 %n to double
  %y = call double @tgamma(double %x)
  %z = fptoui double %y to i64
  ret i64 %z
}
"""


def emitted(text, **options):
    return object_code([text], **options)[0]


def numbers(code, name, count=14):
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.addresses[name])
    return [function(n) for n in range(count)]


def pages(address):
    """What may be done with the page at an address."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            if first <= address < last:
                return line.split()[1]
    return None


@pytest.mark.parametrize("unoptimized", [True, False])
def test_calls_between_files_jumps_constants_and_functions_of_c_are_linked_as_by_llvm(unoptimized):
    objects = [emitted(text, unoptimized=unoptimized) for text in (CALLER, TABLE_OF_JUMPS)]
    image = Image(objects, ["caller", "callee"])
    found = numbers(image, "caller")
    assert found == numbers(LinkedByLlvm(objects, ["caller"]), "caller")
    assert found == [3 * (n * (n * n + 3) if n < 12 else -1) + (1, 2, 4)[n % 3] for n in range(14)]


def test_every_loop_and_kernel_is_loaded_without_llvm():
    names = loop_names()
    kept = [each for each in LOOPS if (each.__module__, each.__name__) in names]
    assert len(kept) > 30
    for each in kept:
        each.load()
        assert isinstance(each._code.image, Image), each.__name__
    model = Model(find_scenario("lost-update"))
    optimized, quick = compile_model(model).objects, compile_model(model, unoptimized=True).objects
    for objects in (optimized, quick, compile_slices(model).objects):
        assert isinstance(LoadedCode(objects, ()).image, Image)


def test_code_can_be_run_and_not_written_and_is_freed():
    code = LoadedCode([emitted(ONE)], ["one"])
    address = code.addresses["one"]
    assert pages(address) == "r-xp"
    with_constants = Image([emitted(text) for text in (CALLER, TABLE_OF_JUMPS)], ["caller"])
    assert pages(with_constants.addresses["caller"]) == "r-xp"
    del code, with_constants
    gc.collect()
    assert pages(address) != "r-xp"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(WRITABLE, [5, 6, 8, 11]), (OF_MATHEMATICS, None), (ONE.replace("define", "define weak"), [1] * 4)],
)
def test_what_is_not_known_here_is_linked_by_llvm(text, expected):
    objects = [emitted(text)]
    with pytest.raises(NotLinked):
        Image(objects, ["one"])
    code = LoadedCode(objects, ["one"]) if expected else None
    assert code is None or (isinstance(code.image, LinkedByLlvm) and numbers(code, "one", 4) == expected)


def test_relative_addresses_are_not_known_here():
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(opt=0, reloc="static", codemodel="small")
    with llvm.parse_assembly(CALLER) as module, llvm.parse_assembly(TABLE_OF_JUMPS) as other:
        objects = [machine.emit_object(module), machine.emit_object(other)]
    with pytest.raises(NotLinked, match="relocation"):
        Image(objects, ["caller"])


def test_two_definitions_and_missing_functions_are_refused():
    one = emitted(ONE)
    with pytest.raises(NotLinked, match="two definitions"):
        Image([one, one], ["one"])
    with pytest.raises(NotLinked, match="two"):
        Image([one], ["two"])
    with pytest.raises(NotLinked, match="relocation"):
        Image([emitted(CALLER)], ["caller"])


def test_damaged_files_are_refused():
    content = emitted(CALLER)
    other = emitted(TABLE_OF_JUMPS)
    for length in range(0, len(content), 7):
        with pytest.raises(NotLinked):
            Image([content[:length], other], ["caller"])
    for place, byte in ((0, 0), (4, 1), (5, 2), (16, 2), (18, 183), (58, 65)):
        with pytest.raises(NotLinked):
            Image([content[:place] + bytes([byte]) + content[place + 1 :], other], ["caller"])


def test_a_relocation_outside_of_its_section_is_refused():
    content, other = bytearray(emitted(CALLER)), emitted(TABLE_OF_JUMPS)
    start, count = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<H", content, 60)[0]
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, start + 64 * number) for number in range(count)]
    offset = next(header[4] for header in headers if header[1] == 4)
    struct.pack_into("<Q", content, offset, 1 << 40)
    with pytest.raises(NotLinked, match="relocation"):
        Image([bytes(content), other], ["caller"])


# Which machine this is.


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A new cache, and files that describe the machine."""
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "cache"))
    boot, processors = tmp_path / "boot", tmp_path / "cpuinfo"
    boot.write_text("a start\n")
    processors.write_text("processor : 0\nflags : sse2 avx2\ncpu MHz : 1\n\nprocessor : 1\nflags : sse2\n")
    monkeypatch.setattr(processor, "BOOT", boot)
    monkeypatch.setattr(processor, "PROCESSORS", processors)
    asked = []
    monkeypatch.setattr("kwalk.search.native.processor.host", lambda: asked.append("LLVM") or f"line {len(asked)}")
    return boot, processors


def described():
    cpu.cache_clear()
    return cpu()


@pytest.fixture(autouse=True)
def kept_line():
    yield
    cpu.cache_clear()


def test_this_machine_is_described_as_by_llvm():
    assert described() == host() == described()


def test_llvm_describes_a_machine_once_until_it_is_started_again(machine):
    boot, processors = machine
    assert [described(), described()] == ["line 1", "line 1"]
    processors.write_text(processors.read_text().replace("MHz : 1", "MHz : 2"))
    assert described() == "line 1"
    processors.write_text(processors.read_text().replace("avx2", "avx"))
    assert [described(), described()] == ["line 2", "line 2"]
    boot.write_text("another start\n")
    assert [described(), described()] == ["line 3", "line 3"]


def test_llvm_describes_a_machine_each_time_that_does_not_tell_its_start(machine):
    boot, _ = machine
    boot.unlink()
    assert [described(), described()] == ["line 1", "line 2"]
