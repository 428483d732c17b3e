"""The text of a trace as the command writes it."""
from __future__ import annotations

from reports.nightly.watching import Watcher

trace_text = Watcher(lambda moment: None).trace_text
