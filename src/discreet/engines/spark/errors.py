"""Our error for every one of Spark's: never with rows and values, which it likes to quote, nor with Java's stacks."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from discreet.errors import DiscreetError, EngineError, GuaranteeError, InputError, InternalError


class _Quiet(threading.local):
    """Whether a call of ours is under way in this thread: Spark logs each error with the rows and SQL that it has."""

    calls = 0

    def filter(self, _: logging.LogRecord) -> bool:
        return not self.calls


QUIET = _Quiet()
for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(QUIET)


@contextmanager
def translating() -> Iterator[None]:
    """Around every call of Spark."""
    QUIET.calls += 1
    try:
        yield
    except (PySparkException, Py4JError, Py4JNetworkError, ConnectionError, EOFError) as error:
        raise translated(error) from None
    except Exception as error:  # what Connect's client raises by itself: its library is no requirement of ours
        if isinstance(error, AttributeError) and _is_of_spark(error):  # a session that has ended is None in its parts
            raise EngineError(*STOPPED[:1], hint=STOPPED[1]) from None
        if type(error).__module__.partition(".")[0] not in {"grpc", "py4j", "pyspark"}:
            raise
        raise translated(error) from None
    finally:
        QUIET.calls -= 1


def _is_of_spark(error: Exception) -> bool:
    """Whether it was raised in the code of Spark's own client."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    module = at.tb_frame.f_globals.get("__name__", "") if at is not None else ""
    return str(module).partition(".")[0] in {"pyspark", "py4j"}


def translated(error: Exception) -> DiscreetError:
    """Words of Spark's are looked through and not repeated, but for those about a query that was not run.

    What we raised ourselves on an executor is raised here again: its words are ours.
    """
    text = str(error)
    if (own := _own(text)) is not None:
        return own
    for pattern, (what, hint) in WORDS.items():
        if re.search(pattern, text, re.MULTILINE):
            if not what:
                raise KeyboardInterrupt
            return EngineError(what, hint=hint)
    state = (error.getSqlState() if isinstance(error, PySparkException) else "") or ""
    told = re.search(r"SQLSTATE: (\w{5})", text)  # by Java alone, where Spark plans without adaptive queries
    for start, (what, hint) in STATES.items():
        if (state or (told[1] if told else "")).startswith(start):
            return EngineError(what, hint=hint)
    if state[:2] == "42":  # found before any row is read; what is in quotes are names and texts of the query
        wrong = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", next(iter(text.splitlines()), ""))
        return EngineError(re.sub(r"^\[[\w.]+\] | SQLSTATE: .*", "", wrong)[:200])
    if not isinstance(error, PySparkException):
        return EngineError(*ENDED[:1], hint=ENDED[1])
    return EngineError("Spark cannot do that")


def _own(text: str) -> DiscreetError | None:
    """Our own error at the end of a traceback of Python's on an executor."""
    found = re.search(r"^discreet\.errors\.(\w+): (.+)\n(?:Hint: (.+))?", text + "\n", re.MULTILINE)
    if found is None or found[1] not in RAISED:
        return None
    return RAISED[found[1]](found[2], hint=found[3] or "")


# Made of words alone.
RAISED: dict[str, type[DiscreetError]] = {
    each.__name__: each for each in (InternalError, InputError, GuaranteeError, EngineError)
}
STOPPED = ("the session of Spark was stopped", "start another, and run the same again with that")
ENDED = ("Spark has ended, or cannot be reached", "see whether its driver runs, and run the same command again")
# By what Spark says, since these have no state of their own.
WORDS: dict[str, tuple[str, str]] = {
    r"OPERATION_CANCELED|[Jj]ob \d+ cancelled|JOB_CANCELLED|cancelled (part of|as part of)|has been cancel": ("", ""),
    r"No module named '?discreet": (
        "the executors have no `discreet`",
        "install it in the Python of every executor, or send it there with `spark.addArtifacts`",
    ),
    r"^\S*(AttributeError: Can't get attribute|ImportError: cannot import name).*discreet": (
        "the executors have another `discreet` than this process",
        "install `discreet` in the Python of every executor as it is here",
    ),
    r"maxResultSize": (
        "more counts came to this process than Spark lets through",
        "raise `spark.driver.maxResultSize` where Spark is started, or make columns coarser",
    ),
    r"^MemoryError|ArrowMemoryError|Python worker exited unexpectedly|Python worker (process )?(terminated|crashed)": (
        "a Python process of an executor ended, most likely for want of memory",
        "give Python more beside Java (`spark.executor.memoryOverhead`), or an executor fewer cores",
    ),
    r"ExecutorLostFailure": (
        "executors of Spark were lost more often than it bears",
        "see in their logs why they end: most likely for want of memory (`spark.executor.memoryOverhead`)",
    ),
    r"OutOfMemoryError|OUT_OF_MEMORY|Cannot reserve": (
        "Spark ran out of memory",
        "give its executors more (`spark.executor.memory`), or `--memory-limit` where it was started here",
    ),
    r"PermissionError|Permission denied|AccessControlException|AccessDeniedException": (
        "the executors may not read or write a file that they need",
        "let them work as the same user of the system as this process, who alone may open its private folder",
    ),
    r"[Nn]o space left": ("a disk of Spark is full", "make room there, and run the same command again"),
    r"PATH_NOT_FOUND|FAILED_READ_FILE|FileNotFoundException|FileNotFoundError|CANNOT_READ_FILE": (
        "a file that Spark was to read is not there, or cannot be read",
        "every executor must see it under the same path: put it on a disk or store that all of them see",
    ),
    r"stopped SparkContext|SparkContext was shut down|SESSION_CLOSED": STOPPED,
    r"StatusCode.UNAVAILABLE|Connection refused|SESSION_NOT_FOUND|HANDLE_ABANDONED": ENDED,
    r"PYTHON_VERSION_MISMATCH|Python in worker has different version": (
        "the executors have another version of Python than this process",
        "set PYSPARK_PYTHON to the same version before Spark is started",
    ),
}
# By the beginning of SQLSTATE.
STATES: dict[str, tuple[str, str]] = {
    "22012": ("a number is divided by zero", ""),
    "22003": ("a number is too large, or not defined", ""),
    "22": ("a value cannot be converted to the type that was asked for", ""),
    "42501": ("the session has no right to do that", "ask whoever runs Spark for it"),
    "42601": ("the query is not SQL that Spark can read", ""),
    "53": ("Spark has too little of what it needs for this", "ask for less at a time, or give it more memory"),
    "08": ENDED,
}
