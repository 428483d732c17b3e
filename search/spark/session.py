"""Starting Spark inside this process, quietly: on this machine's cores, on a cluster, or under `spark-submit`.

Words: the *session* is Spark's handle on its executors. What Java has to say goes to a log file in a temporary folder,
never to the terminal; it is shown only when Spark does not start.
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

from model.language import UsageError
from search.interrupts import interrupts_restored
from search.spark.java import java_home

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
HERE = ("localhost", "127.0.0.1", "::1")
"""Hosts of a master whose executors are on this machine."""
TRIES = 3
"""How often a piece of work is tried; one whose Python dies is done again by another."""
FOREIGN = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS", "PYSPARK_DRIVER_PYTHON", "SPARK_REMOTE")
"""Variables that point at another installation of Spark; ours must not follow them."""


@contextmanager
def spark_session(workers: int | None = None, master: str | None = None) -> Iterator[SparkSession]:
    """A session on `workers` cores (None: all), stopped at the end; the running one, left running, if there is one.

    `master` is the URL of a cluster's master (`spark://host:port`), whose executors do the work instead.
    UsageError if there is no Java, or if Spark does not start.
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
    here = master is None or master.startswith("local") or urlsplit(master).hostname in HERE
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
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
            raise UsageError(
                f"Spark did not start ({type(error).__name__}). Java's last words: {' / '.join(said) or 'none'}. "
                "Set JAVA_HOME to a Java of 17 or newer, or search without Spark (see --help)."
            ) from error


@contextmanager
def _environment(home: Path, *, here: bool) -> Iterator[None]:
    """The variables that Spark's launcher reads, set for as long as it takes to launch."""
    wanted: Mapping[str, str] = {
        "JAVA_HOME": str(home),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYSPARK_PYTHON": sys.executable,
        **({"SPARK_LOCAL_IP": "127.0.0.1"} if here else {}),
    }
    before = dict(os.environ)
    for name in FOREIGN:
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
