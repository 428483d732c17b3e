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

ENTRIES: Mapping[str, str] = {
    "check_liveness": "kwalk.search.liveness.search",
    "liveness_notes": "kwalk.search.liveness.search",
    "domain_violations": "kwalk.search.proof.induction",
    "prove": "kwalk.search.proof.prove",
    "Reduction": "kwalk.search.partial_order.reduction",
    "SymmetricExplorer": "kwalk.search.symmetry.explorer",
    "walk_on_spark": "kwalk.search.spark.walks",
}
"""By the name of a function or class, its module."""


def entry(name: str) -> Any:
    """Return a function or class of a component, which is imported when it is first asked for.

    Raises:
        UsageError: The component is not installed.
    """
    module = ENTRIES[name]
    package = module.rpartition(".")[0]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name not in (package, module):
            raise
        message = f"This needs {package}, which is not part of this installation. Install all of kwalk."
        raise UsageError(message) from error
