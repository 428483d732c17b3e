"""`kwalk nightly` as an application of Spark: `spark-submit --master URL FILE CONFIG`, with the same options.

The driver must be able to import kwalk: submit with the Python that has it, in client mode.
"""

from __future__ import annotations

import sys

from kwalk.reports.command_line import main

if __name__ == "__main__":
    sys.exit(main(["nightly", *sys.argv[1:]]))
