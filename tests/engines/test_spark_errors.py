"""What Spark says, in our words: an error of ours that an executor raised stays what it was, and no row is quoted."""

import pytest
from pyspark.errors import PythonException

from discreet.engines.spark.errors import translated, translating
from discreet.errors import EngineError, GuaranteeError, InternalError

TRACE = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/x/discreet/engines/spark/shuffle.py", line 50, in send
    raise {error}
{error}
"""


def told(error):
    return translated(PythonException(TRACE.format(error=error)))


def test_our_own_errors_stay_what_they_are():
    found = told("discreet.errors.GuaranteeError: a cell cannot keep it\nHint: ask for less")
    assert type(found) is GuaranteeError
    assert (found.message, found.hint) == ("a cell cannot keep it", "ask for less")
    found = told("discreet.errors.InternalError: rows were lost")
    assert type(found) is InternalError
    assert (found.message, found.hint) == ("rows were lost", "")


@pytest.mark.parametrize(
    ("said", "named", "hint"),
    [
        ("MemoryError", "want of memory", "memoryOverhead"),
        ("pyarrow.lib.ArrowMemoryError: malloc of size 99 failed", "want of memory", "memoryOverhead"),
        ("org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)", "want of memory", "Overhead"),
        ("PermissionError: [Errno 13] Permission denied: '/x/work/1.arrow'", "may not read or write", "same user"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/x'", "is not there", "under the same path"),
        (
            "Total size of results is bigger than spark.driver.maxResultSize (1024.0 MiB)",
            "more counts",
            "maxResultSize",
        ),
        ("ExecutorLostFailure (executor 3 exited)", "were lost", "logs"),
        ("ModuleNotFoundError: No module named 'discreet'", "have no `discreet`", "every executor"),
        (
            "AttributeError: Can't get attribute 'of' on <module 'discreet.engines.spark' from '/x'>",
            "another `discreet`",
            "as it is here",
        ),
        ("AttributeError: 'NoneType' object has no attribute 'size'", "cannot do that", ""),
        ("ValueError: 47 of Ada Lovelace", "cannot do that", ""),
    ],
)
def test_what_executors_say_is_named(said, named, hint):
    found = told(said)
    assert type(found) is EngineError
    assert named in found.message
    assert hint in found.hint
    assert "Lovelace" not in str(found)


def test_a_mistake_of_ours_is_no_stopped_session():
    with pytest.raises(AttributeError), translating():
        None.size  # noqa: B018


def test_a_state_that_java_tells_is_known():
    """Without adaptive queries the client tells of no state."""
    error = Exception("Job aborted: [CAST_INVALID_INPUT] The value 'Ada Lovelace' of the type … SQLSTATE: 22018 …")
    found = translated(error)
    assert "cannot be converted" in found.message
    assert "Lovelace" not in str(found)
