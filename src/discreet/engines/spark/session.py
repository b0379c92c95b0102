"""A session of Spark: the user's own, classic or Connect, or one that is started here; with settings answers rest on.

A session of the user's is left as it is. What is asked runs in a session beside it, which shares its executors and has
settings and names of its own. Where Spark has no such session (Connect before 4.3), or where a frame belongs to the
user's, settings are changed and put back.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from discreet.engines.spark.errors import translating
from discreet.errors import EngineError, InputError

if TYPE_CHECKING:
    from pyspark.conf import SparkConf

OLDEST = 17  # Java
INSTALL = "install Java 17 or later, such as Debian's `openjdk-17-jre-headless`, and let JAVA_HOME or PATH lead to it"
SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",  # what cannot be computed is an error, and not missing
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",  # Spark counts in microseconds: what is finer is read as a number
    "spark.sql.timeType.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
}
# Of a session that is started here: for one machine, silent, and reached by nobody else.
OWN: Mapping[str, str] = {
    "spark.master": "local[*]",
    "spark.app.name": "discreet",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2)),
    "spark.sql.catalogImplementation": "in-memory",
}
# While private rows are copied: dates and times are written as they are, whatever a session does elsewhere.
AS_THEY_ARE: Mapping[str, str] = {
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.writeLegacyFormat": "false",
}
STARTING = Lock()


def started(memory_limit: str | None = None) -> SparkSession:
    """The session that is active in this process, or the server that SPARK_REMOTE names, or else a Spark of our own.

    One that is started here takes at most `memory_limit` (like `8GB`), and stays until the process ends: to start takes
    seconds.
    """
    with STARTING:
        found = SparkSession.getActiveSession()
        if found is not None and not stopped(found):
            return found
        if os.environ.get("SPARK_REMOTE"):
            with translating():
                return SparkSession.builder.getOrCreate()
        check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return _started(_own(memory_limit))


def _own(memory_limit: str | None) -> SparkConf:
    """What a file of settings of the user's says comes first."""
    from pyspark.conf import SparkConf

    settings = dict(OWN)
    if memory_limit is not None:
        settings["spark.driver.memory"] = as_java_has_it(memory_limit)
    conf = SparkConf(loadDefaults=False)
    return conf.setAll(list(settings.items()))


def _started(conf: SparkConf) -> SparkSession:
    """Its log goes nowhere: Spark quotes rows in it."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    try:
        with translating():
            gateway = launch_gateway(conf, {"stderr": subprocess.DEVNULL})  # type: ignore[no-untyped-call]
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except EngineError:
        raise EngineError(
            "Spark could not be started",
            hint="run `pyspark` in a terminal: it says why. Java 17 or later is needed, and free memory",
        ) from None


def as_java_has_it(memory_limit: str) -> str:
    """A size such as `8GB` in Java's words."""
    found = re.fullmatch(r"(\d+)(?:\.\d+)? ?([KMGT])i?B", memory_limit)
    if found is None:
        raise InputError(f"`{memory_limit}` is not a memory limit", hint="write it like `4GB` or `500MB`")
    return "".join(found.groups()).lower()


def beside(session: SparkSession) -> SparkSession:
    """A session that shares the executors of another, and has the settings that answers rest on."""
    check_session(session)
    with translating():
        made = session.newSession()
        _settle(made)
    return made


@contextmanager
def settled(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """A session itself with other settings, which it has until the end; then its own again."""
    with translating():
        before = _settle(session, settings)
    try:
        yield
    finally:
        with suppress(Exception):  # a session that has ended has no settings
            for name, value in before.items():
                if value is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, value)


def _settle(session: SparkSession, settings: Mapping[str, str] = SETTINGS) -> dict[str, str | None]:
    """Change the settings that are otherwise, and return what they were; one that this Spark has not, it needs not."""
    before: dict[str, str | None] = {}
    for name, value in settings.items():
        with suppress(AnalysisException):
            found = session.conf.get(name, None)
            if found is None or found.lower() != value.lower():
                session.conf.set(name, value)
                before[name] = found
    return before


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect: a client of a server, without a Java of its own."""
    return "connect" in type(session).__module__


def is_session(thing: Any) -> bool:
    """Whether something is a session, classic or Connect."""
    return type(thing).__name__ == "SparkSession" and type(thing).__module__.startswith("pyspark.")


def stopped(session: Any) -> bool:
    """Whether a session has ended."""
    if is_connect(session):
        return bool(session.is_stopped)
    try:
        session.conf.get("spark.sql.ansi.enabled")
        session.newSession()
    except Exception:  # noqa: BLE001 - whatever Java or its absence raises
        return True
    return False


def check_session(session: Any) -> None:
    if not is_session(session):
        raise InputError("`spark` is no session of Spark", hint="give a `SparkSession`, classic or Connect")
    if stopped(session):
        raise EngineError("the session of Spark was stopped", hint="start another, and open the release with that")


def check_java() -> None:
    """Raise unless there is a Java that Spark can run on."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if program is None:
        where = "JAVA_HOME leads to none" if home else "none is found"
        raise EngineError(f"Spark needs Java, and {where}", hint=INSTALL)
    version = java_version(program)
    if version is None or version < OLDEST:
        which = "the Java here does not say its version" if version is None else f"the Java here is version {version}"
        raise EngineError(f"{which}, and Spark needs {OLDEST} or later", hint=INSTALL)


def java_version(program: str) -> int | None:
    """The first number of a Java's version; 8 and before call themselves 1.8 and so on."""
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(found[1]) if found else None
