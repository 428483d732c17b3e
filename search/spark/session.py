"""Starting Spark inside this process: on this machine's cores, on a cluster, or under `spark-submit`.

Java's output goes to a log file in a temporary folder, never to the terminal; its last lines are shown only if Spark
does not start.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kwalk.model.language import UsageError
from kwalk.search.base.signals import interrupts_restored
from kwalk.search.spark.java import java_home

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "2",
    # The work is in our kernels, not in Spark's queries: a Java that optimizes little starts in half the time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
LOOPBACK = ("spark.driver.host", "spark.driver.bindAddress")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
"""Hosts of a master whose executors are on this machine."""
TRIES = 3
"""How often a Spark task is tried; after its Python process has died, another one does it."""
REMOVED_VARIABLES = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_DRIVER_PYTHON", "SPARK_REMOTE")
"""Environment variables that would make ours use another installation of Spark."""


@contextmanager
def spark_session(workers: int | None = None, master: str | None = None) -> Iterator[SparkSession]:
    """Start a session, and stop it at the end; a session that is running already is used, and left running.

    Args:
        workers: the number of cores; None for all.
        master: the URL of a cluster's master (`spark://host:port`), whose executors do the work instead.

    Raises:
        UsageError: there is no Java, or Spark does not start.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
    elif "PYSPARK_GATEWAY_PORT" in os.environ:
        yield SparkSession.builder.appName("kwalk").getOrCreate()
    else:
        with interrupts_restored(), _scratch() as scratch:
            session = _embedded(workers, master, scratch)
            try:
                yield session
            finally:
                session.stop()


def _embedded(workers: int | None, master: str | None, scratch: Path) -> SparkSession:
    conf = SparkConf(loadDefaults=False).setMaster(master or f"local[{workers or '*'},{TRIES}]").setAppName("kwalk")
    places = {"spark.sql.warehouse.dir": str(scratch / "warehouse"), "spark.local.dir": str(scratch)}
    here = master is None or master.startswith("local") or urlsplit(master).hostname in LOCAL_HOSTS
    left_out = () if here else LOOPBACK  # executors elsewhere find the driver at the address that Spark gives it
    conf.setAll([(name, value) for name, value in {**SETTINGS, **places}.items() if name not in left_out])
    if master is not None and workers is not None:
        conf.set("spark.cores.max", str(workers))
    log = scratch / "java.log"
    with _environment(java_home(), here=here), log.open("w", encoding="utf-8") as stream:
        try:
            if SparkContext._gateway is None:  # one Java serves all sessions of a process
                SparkContext._ensure_initialized(gateway=launch_gateway(conf, {"stdout": stream, "stderr": stream}))
            return SparkSession(SparkContext(conf=conf))
        except (PySparkException, Py4JError, OSError) as error:
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
            raise UsageError(
                f"Spark did not start ({type(error).__name__}). Java's last lines: {' / '.join(lines) or 'none'}. "
                "Set JAVA_HOME to a Java of 17 or newer, or search without Spark (see --help)."
            ) from error


@contextmanager
def _environment(home: Path, *, here: bool) -> Iterator[None]:
    """Set the variables that Spark's launcher reads, for the time of the launch."""
    wanted: Mapping[str, str] = {
        "JAVA_HOME": str(home),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYSPARK_PYTHON": sys.executable,
        **({"SPARK_LOCAL_IP": "127.0.0.1"} if here else {}),
    }
    before = dict(os.environ)
    for name in REMOVED_VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="kwalk-spark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
