"""The cache of compiled kernels: one zip file per fingerprint.

Deleting it costs one compilation per model. A file that cannot be read counts as absent. If the folder cannot be
written, kernels are compiled anew each time.
"""
from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from attrs import frozen

from search.kept_files import keep, place


@frozen
class Compiled:
    """Object code of a kernel, and the names of the bounds and errors that its functions return by number."""

    objects: tuple[bytes, ...]
    bounds: tuple[str, ...]
    errors: tuple[str, ...]
    hurried: bool = False
    """Whether LLVM took no care, so that the code was ready in half the time and runs at half the speed."""

    def pack(self) -> bytes:
        """All of it as the bytes of a zip file."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("names.json", json.dumps([self.bounds, self.errors, self.hurried]))
            for number, content in enumerate(self.objects):
                archive.writestr(f"{number}.o", content)
        return buffer.getvalue()


def unpack(content: bytes) -> Compiled:
    """What `Compiled.pack` packed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        bounds, errors, hurried = json.loads(archive.read("names.json"))
        objects = [archive.read(f"{number}.o") for number in range(len(archive.namelist()) - 1)]
    return Compiled(tuple(objects), tuple(bounds), tuple(errors), hurried)


def load(key: str) -> Compiled | None:
    """The kernel of that fingerprint, or None."""
    try:
        return unpack(_file(key).read_bytes())
    except Exception:  # no folder, no file, or a broken one: whatever it is, compiling anew is the remedy
        return None


def save(key: str, code: Compiled) -> None:
    """Keep a kernel for later; a folder that cannot be written is no error."""
    keep(_file(key), code.pack())


def _file(key: str) -> Path:
    return place("kernels", f"{key}.zip")
