"""The templates of pages, and their compiled code in the cache: to compile them again would take longer than a page."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import jinja2

from kwalk.search.base.cache import cache_path, read_cache, write_cache


class CompiledTemplates(jinja2.BytecodeCache):
    """Keeps Python code of templates; a file of the cache fits one text of a template, and one version of Jinja2."""

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Load the code of a template if it is kept."""
        content = read_cache(_path(bucket)) if _is_usual(bucket) else None
        if content is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Keep the code of a template."""
        if _is_usual(bucket):
            write_cache(_path(bucket), bucket.bytecode_to_string())


def _is_usual(bucket: jinja2.bccache.Bucket) -> bool:
    """Return whether a template is compiled for `environment`, not for one that changes what is printed."""
    return bucket.environment.finalize is None


def _path(bucket: jinja2.bccache.Bucket) -> Path:
    about = f"{jinja2.__version__} {bucket.key}".encode() + Path(__file__).read_bytes()
    return cache_path("templates", hashlib.blake2b(about, digest_size=16).hexdigest())


@cache
def environment() -> jinja2.Environment:
    """Return the templates of all pages; values are escaped when they are printed."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("kwalk.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=CompiledTemplates(),
    )
