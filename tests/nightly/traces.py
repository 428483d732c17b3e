"""The text of a trace as the command writes it."""

from __future__ import annotations

from kwalk.reports.nightly.result import Watcher

trace_text = Watcher(lambda event: None).trace_text
