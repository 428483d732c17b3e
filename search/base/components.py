"""The components of `search/` that an installation can lack, and what others may ask of them.

Nothing but this table, the public functions (`kwalk.engines`) and the commands names a module of a component, so that
each can be taken out: whoever asks for it then reads which one is missing. `tests/structure/test_components.py` takes
each of them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from kwalk.model.language.errors import UsageError

EXTRAS: Mapping[str, str] = {
    **dict.fromkeys(("pyspark", "py4j", "pandas"), "spark"),
    "pyarrow": "parquet",
    "numba": "compile",
}
"""By the name of a package that is not always installed, the extra that has it."""
ENTRIES: Mapping[str, str] = {
    "check_liveness": "kwalk.search.liveness.search",
    "liveness_notes": "kwalk.search.liveness.search",
    "exhaust_symbolically": "kwalk.search.symbolic.search",
    "domain_violations": "kwalk.search.proof.induction",
    "prove": "kwalk.search.proof.prove",
    "Reduction": "kwalk.search.partial_order.reduction",
    "SymmetricExplorer": "kwalk.search.symmetry.explorer",
    "spark_place": "kwalk.search.spark.place",
}
"""By the name of a function or class, its module."""


def entry(name: str) -> Any:
    """Return a function or class of a component, which is imported when it is first asked for.

    Raises:
        UsageError: The component, or a package that it needs, is not installed.
    """
    module = ENTRIES[name]
    package = module.rpartition(".")[0]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if (missing := extra_missing(error)) is not None:
            raise missing from error
        if error.name not in (package, module):
            raise
        message = f"This needs {package}, which is not part of this installation. Install all of kwalk."
        raise UsageError(message) from error


def extra_missing(error: ModuleNotFoundError) -> UsageError | None:
    """Return what to say of a module that is not installed; None if no extra of kwalk has it."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return UsageError(
        f"This needs the package {package}, which is not installed. Install it: pip install 'kwalk[{EXTRAS[package]}]'."
    )
