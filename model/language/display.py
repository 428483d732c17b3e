"""How a notebook and `print` show the results of kwalk.

The text and the HTML come from whatever package announces them as an entry point of the group `kwalk.display`; kwalk's
own reports do. So a model and a verdict can be shown, and need not know the reports.
"""

from __future__ import annotations

from typing import Any

from kwalk.model.language.distributions import entry_points

GROUP = "kwalk.display"


class Displayed:
    """A mixin: an object that has a text for `print` and HTML for notebooks."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the text that a terminal shows."""
        return rendered(self, "text") or repr(self)

    def _repr_html_(self) -> str | None:
        """Return the HTML that a notebook shows."""
        return rendered(self, "html")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text, in IPython."""
        printer.text(repr(self) if cycle else str(self))


def rendered(value: object, form: str) -> str | None:
    """Return an object as `text` or `html`; None if no installed package can render it."""
    for entry in entry_points(GROUP):
        found: str | None = entry.load()(value) if entry.name == form else None
        if found is not None:
            return found
    return None
