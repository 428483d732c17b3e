"""Object code in memory without LLVM: the relocatable ELF files that LLVM emits here, linked into one image.

LLVM's own linker is in a library of 170 MB, which takes as long to load as a short search. The code that is loaded
here is emitted for the large code model (`object_code`), whose addresses are all absolute, of 64 bits: each relocation
adds a number to the address of a symbol and stores the sum (R_X86_64_64; System V ABI, AMD64 supplement, 4.4). Sections
are code and constants, which nothing writes to, and tables for unwinding, which nothing reads, because no exception
passes through this code. It calls functions of the C library only. Whatever else a file has is refused, and LLVM links
it.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from collections.abc import Sequence
from os import uname
from typing import NamedTuple

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
ADDRESS = struct.Struct("<Q")
IDENTITY = b"\x7fELF\x02\x01\x01"
"""The first bytes of a file of 64-bit, little-endian ELF, version 1."""
RELOCATABLE, X86_64 = 1, 62
CODE_OR_DATA, SYMBOLS, ADDITIONS = 1, 2, 4
"""Types of sections: PROGBITS, SYMTAB, RELA."""
UNUSED = frozenset({0, SYMBOLS, 3, 0x70000001})
"""Types of sections that are not loaded: NULL, the tables of symbols and of names, X86_64_UNWIND."""
WRITABLE, LOADED, EXECUTABLE, MERGED, NAMES, LARGE = 1, 2, 4, 0x10, 0x20, 0x10000000
KNOWN_FLAGS = LOADED | EXECUTABLE | MERGED | NAMES | LARGE
UNDEFINED, ABSOLUTE, COMMON, RESERVED = 0, 0xFFF1, 0xFFF2, 0xFF00
"""Sections of symbols: none, that of numbers, that of zeros (Numba declares such, which no code here uses), and the
first number that is no section's."""
LOCAL, GLOBAL = 0, 1
ABSOLUTE_64 = 1
"""R_X86_64_64, the only type of relocation."""
OF_C = frozenset({"memcpy", "memmove", "memset"})


class NotLinked(Exception):
    """A file has something that this linker does not know; LLVM links it."""


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class Image:
    """The code of files in memory, which is freed with this object.

    Args:
        objects: The contents of the files.
        functions: The names of the functions whose addresses are wanted.

    Raises:
        NotLinked: This linker does not know something in a file, or the machine is another one.
    """

    def __init__(self, objects: Sequence[bytes], functions: Sequence[str]) -> None:
        if sys.platform != "linux" or uname().machine != "x86_64" or sys.maxsize < 1 << 32:
            raise NotLinked("only Linux on x86-64")
        try:
            files = [_File(content) for content in objects]
            ends = [0, 0]
            for file in files:
                file.place(ends)
            code, constants = (-(-end // mmap.PAGESIZE) * mmap.PAGESIZE for end in ends)
            self._memory = mmap.mmap(-1, code + constants or mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
            defined: dict[str, int] = {}
            for file in files:
                file.define((base, base + code), defined)
            for file in files:
                file.write(self._memory, base, defined)
            self.addresses = {name: defined[name] for name in functions}
        except (struct.error, IndexError, KeyError, ValueError) as error:
            raise NotLinked(repr(error)) from error
        _protect(base, code, mmap.PROT_READ | mmap.PROT_EXEC)
        _protect(base + code, constants, mmap.PROT_READ)


class _File:
    """A relocatable file, whose sections get addresses, and then their content."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        identity, kind, machine, *rest = HEADER.unpack_from(content)
        if not identity.startswith(IDENTITY) or (kind, machine) != (RELOCATABLE, X86_64):
            raise NotLinked("no relocatable ELF file for x86-64")
        start, (size, count) = rest[3], rest[8:10]
        if size != SECTION.size:
            raise NotLinked(f"section headers of {size} bytes")
        self.sections = [_Section(*SECTION.unpack_from(content, start + number * size)) for number in range(count)]
        self.bases: dict[int, int] = {}
        """The addresses of the loaded sections by number; before `define`, relative to the code or to the constants."""
        self.symbols: list[int | str] = []
        """The address of each symbol, or the name of one that another file defines; -1 where it has no address."""

    def place(self, ends: list[int]) -> None:
        """Give each loaded section a place behind those of other files: `ends` are those of code and of constants."""
        for number, section in enumerate(self.sections):
            if section.type in UNUSED or not section.flags & LOADED:
                if section.type not in (CODE_OR_DATA, ADDITIONS, *UNUSED):
                    raise NotLinked(f"a section of type {section.type:#x}")
                continue
            if section.type != CODE_OR_DATA or section.flags & ~KNOWN_FLAGS or section.alignment > mmap.PAGESIZE:
                raise NotLinked(f"a section of type {section.type:#x} with flags {section.flags:#x}")
            end, step = ends[not section.flags & EXECUTABLE], max(1, section.alignment)
            self.bases[number] = -(-end // step) * step
            ends[not section.flags & EXECUTABLE] = self.bases[number] + section.size

    def define(self, starts: tuple[int, int], defined: dict[str, int]) -> None:
        """Find the addresses of symbols, with code and constants from these addresses on; add the global ones."""
        for number in self.bases:
            self.bases[number] += starts[not self.sections[number].flags & EXECUTABLE]
        table = next(section for section in self.sections if section.type == SYMBOLS)
        names = self.sections[table.link].offset
        for name, info, _, section, value, _ in SYMBOL.iter_unpack(self._bytes(table)):
            text = self._text(names + name)
            binding = info >> 4
            if binding not in (LOCAL, GLOBAL) or (section >= RESERVED and section not in (ABSOLUTE, COMMON)):
                raise NotLinked(f"the symbol {text} of binding {binding} in section {section:#x}")
            if section == UNDEFINED:
                self.symbols.append(text)
                continue
            address = value if section == ABSOLUTE else self.bases.get(section, -1 - value) + value
            self.symbols.append(address)
            if binding == GLOBAL and address >= 0:
                if text in defined:
                    raise NotLinked(f"two definitions of the symbol {text}")
                defined[text] = address

    def write(self, memory: mmap.mmap, base: int, defined: dict[str, int]) -> None:
        """Write the sections, and the addresses in them."""
        for number, address in self.bases.items():
            memory[address - base : address - base + self.sections[number].size] = self._bytes(self.sections[number])
        found = [_address(symbol, defined) for symbol in self.symbols]
        for section in self.sections:
            if section.type != ADDITIONS or section.info not in self.bases:
                continue
            start, size = self.bases[section.info] - base, self.sections[section.info].size
            for offset, info, addend in RELOCATION.iter_unpack(self._bytes(section)):
                address = found[info >> 32]
                if info & 0xFFFFFFFF != ABSOLUTE_64 or offset + ADDRESS.size > size or address < 0:
                    raise NotLinked(f"a relocation of type {info & 0xFFFFFFFF}, at {offset} of {size}")
                ADDRESS.pack_into(memory, start + offset, address + addend)

    def _bytes(self, section: _Section) -> memoryview:
        found = memoryview(self.content)[section.offset : section.offset + section.size]
        if len(found) != section.size:
            raise NotLinked("the file is cut off")
        return found

    def _text(self, start: int) -> str:
        return self.content[start : self.content.index(b"\0", start)].decode("ascii")


def _address(symbol: int | str, defined: dict[str, int]) -> int:
    """Return the address of a symbol: of a function of C if no file defines it; -1 if it has none."""
    if isinstance(symbol, int):
        return symbol
    if symbol in defined or symbol not in OF_C:
        return defined.get(symbol, -1)
    return ctypes.cast(getattr(ctypes.CDLL(None), symbol), ctypes.c_void_p).value or -1


def _protect(address: int, size: int, access: int) -> None:
    """Set what may be done with pages; NotLinked if the system does not allow it."""
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    if size and protect(ctypes.c_void_p(address), ctypes.c_size_t(size), access):
        raise NotLinked(f"mprotect fails with error {ctypes.get_errno()}")
