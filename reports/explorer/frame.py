"""The explorer in a notebook: its page in a frame of a cell, served by a thread of the notebook's process."""

from __future__ import annotations

import atexit
import threading
from html import escape
from pathlib import Path

from attrs import evolve

from kwalk.reports.explorer.server import ExplorerServer
from kwalk.reports.explorer.session import ExplorerSession
from kwalk.reports.files import OutFolder
from kwalk.search.analyses.distance import MEMORY, SECONDS, DistanceSearch
from kwalk.search.base.option_table import DEFAULT_OUT
from kwalk.search.base.query import Query
from kwalk.search.results.trace import Trace, reference_of

HEIGHT = 760
"""The height of the frame, in pixels."""


class ExplorerFrame:
    """The page of the explorer as the value of a notebook's cell; outside of a notebook, open its `address`.

    The page is served on the loopback interface, so the browser must run on the same machine, or reach it by a tunnel
    to the same port.

    Attributes:
        address: The address of the page.
    """

    def __init__(self, query: Query, trace: Trace | None = None) -> None:
        query.model.initial  # noqa: B018  an error of the initial states is one of the call
        reference, options = reference_of(query.model), query.options
        query = evolve(query, reference=reference, command=f"kwalk explore {reference}")
        seconds, memory = options["seconds"] or SECONDS, options["memory_bytes"] or MEMORY
        self._search = DistanceSearch(query.model, query.properties, seconds=seconds, memory=memory)
        try:
            session = ExplorerSession(query, OutFolder(Path(options["out"] or DEFAULT_OUT)), self._search, trace)
            self._server = ExplorerServer(session, options["port"] or 0, framed=True)
        except BaseException:
            self._search.close()
            raise
        self._thread = threading.Thread(target=self._serve, name="kwalk-explorer", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        self.address = self._server.address

    def _serve(self) -> None:
        """Serve until `close`, or until the page ends it."""
        self._server.serve_forever(poll_interval=0.1)
        self._server.server_close()
        self._search.close()

    def close(self) -> None:
        """End the server and its searches."""
        atexit.unregister(self.close)
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()

    def __repr__(self) -> str:
        state = "open" if self._thread.is_alive() else "ended"
        return f"<explorer of {self._server.exploration.model.scenario.name}, {state}: {self.address}>"

    def _repr_html_(self) -> str:
        if not self._thread.is_alive():
            return f"<p>{escape(repr(self))}</p>"
        address = escape(self.address)
        size = f'width="100%" height="{HEIGHT}" style="border:1px solid #8888"'
        return (
            f'<iframe src="{address}" title="kwalk explorer" {size}></iframe>'
            f'<p><a href="{address}" target="_blank" rel="noopener">Open in a tab of its own</a></p>'
        )
