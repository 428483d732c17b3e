"""The command `kwalk illustrate`: the diagrams of a document are drawn anew."""
from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from model.language import UsageError
from reports.escaping import visible
from reports.files import out_folder
from reports.illustrations import illustrated
from reports.streams import remark

STALE = 12
"""The exit code of `--check` where a diagram is not what its steps show."""


def illustrate(options: Namespace) -> int:
    """Draw the counterexamples of Markdown documents anew, or check that they are as drawn; the exit code."""
    stale = [document for document in options.documents if _is_new(Path(document), check=options.check)]
    for document in stale:
        remark(f"kwalk: {visible(document)} {'is not as kwalk draws it' if options.check else 'was written anew'}.")
    if not stale:
        sys.stdout.write("All diagrams are as kwalk draws them.\n")
    return STALE if stale and options.check else 0


def _is_new(document: Path, *, check: bool) -> bool:
    """Whether a document was otherwise than it is drawn now; it is written unless it is only checked."""
    try:
        before = document.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The document {visible(str(document))!r} cannot be read ({visible(str(error))}).") from error
    after = illustrated(before)
    if after != before and not check:
        with out_folder(document.parent) as folder:
            folder.write({document.name: after})
    return after != before
