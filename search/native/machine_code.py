"""Machine code in this process: loading object code. LLVM is imported if it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kwalk.search.native.elf_image import Image, NotLinked

if TYPE_CHECKING:
    from kwalk.search.native.object_code import LinkedByLlvm

FUNCTIONS = ("guards", "apply", "advance", "expand", "check", "check_step", "check_awaited")
"""The functions that a kernel exports."""


class LoadedCode:
    """Machine code in memory, and the addresses of its functions, which are valid as long as this object exists."""

    def __init__(self, objects: Sequence[bytes], functions: Sequence[str] = FUNCTIONS) -> None:
        self.image: Image | LinkedByLlvm
        try:
            self.image = Image(objects, functions)
        except NotLinked:
            from kwalk.search.native.object_code import LinkedByLlvm

            self.image = LinkedByLlvm(objects, functions)
        self.addresses = self.image.addresses
