"""Compiled code works wherever the system has room for its parts, also more than 2 GiB from each other."""

import subprocess
import sys

import pytest

SCRIPT = '''
import ctypes

from kwalk.search.native.object_code import LinkedByLlvm, object_code

CALLER = """
declare i64 @callee(i64)
define i64 @caller(i64 %n) nounwind {
entry:
  %r = call i64 @callee(i64 %n)
  ret i64 %r
}
"""
CASES = " ".join(f"i64 {n}, label %c{n}" for n in range(12))
CALLEE = "\\n".join([
    "define i64 @callee(i64 %n) nounwind {", "entry:", f"  switch i64 %n, label %none [ {CASES} ]",
    *(line for n in range(12) for line in (f"c{n}:", f"  %r{n} = mul i64 %n, {n * n + 3}", f"  ret i64 %r{n}")),
    "none:", "  ret i64 -1", "}",
])
PAGE, SPACE, NO_RESERVE_PRIVATE_ANONYMOUS = 4096, 3 << 30, 0x4022

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def reserve(size):
    return libc.mmap(None, size, 0, NO_RESERVE_PRIVATE_ANONYMOUS, -1, 0)


def pages_of_code():
    with open("/proc/self/maps") as maps:
        found = [line.split()[0].split("-") for line in maps if "r-xp 00000000 00:00 0" in line]
    return {int(first, 16) for first, _ in found}


objects = [object_code([text], unoptimized=level)[0] for text, level in ((CALLER, True), (CALLEE, LEVEL))]
before = pages_of_code()
spaces = [reserve(SPACE) for _ in range(24)]
while reserve(PAGE) > min(spaces):  # fills the gaps that are left above
    pass
for space in spaces:
    libc.munmap(space + SPACE // 2, PAGE)
code = LinkedByLlvm(objects, ("caller",))
pages = sorted(pages_of_code() - before)
assert pages[-1] - pages[0] > 2 << 30, pages
caller = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.addresses["caller"])
assert [caller(n) for n in range(13)] == [n * (n * n + 3) for n in range(12)] + [-1]
print("every case")
'''


def loaded(level: str) -> str:
    run = subprocess.run([sys.executable, "-c", SCRIPT.replace("LEVEL", level)], capture_output=True, text=True)
    return run.stdout + run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the script divides memory with the mmap of Linux")
def test_a_call_and_a_table_of_jumps_reach_what_is_more_than_two_gibibytes_away():
    assert loaded("True") == "every case\n"
    assert loaded("False") == "every case\n"
