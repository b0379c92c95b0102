"""How much a question, and a release from anybody, may take: time, memory, and the length of what is asked.

A question is short, whoever wrote it; a release of few bytes gets little memory, whatever they unpack to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

from discreet.engines import Engine
from discreet.errors import InputError, QueryError
from discreet.release.release import Release

LEAST, TIMES = 1 << 30, 30  # bytes of memory that any release gets; or so many times the size of its files
AGAIN = 0.05  # seconds between two attempts to stop a query: the first may fall between two of them


def memory_of(release: Release) -> str | None:
    """What the engine may hold of a release: what it was opened with, or else in proportion to its files.

    Where that is more than half of the machine's memory, the engine knows better.
    """
    if release.memory_limit is not None:
        return release.memory_limit
    return f"{due(release) // 1_000_000}MB" if due(release) < _machine() // 2 else None


def due(release: Release) -> int:
    """The bytes of memory that the files of a release are worth."""
    return max(LEAST, TIMES * sum(release.bytes(resource.name) for resource in release.manifest.resources))


def unpacks(release: Release) -> bool:
    """Whether the rows of a release, as numbers, take far more memory than its files are worth."""
    return 8 * release.promise.rows * (len(release.promise.columns) + 2) > due(release)


def _machine() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_timeout(seconds: float | None) -> None:
    if seconds is not None and not seconds > 0:
        raise InputError(f"`{seconds}` is not a time limit", hint="give a number of seconds above 0")


@contextmanager
def within(
    engine: Engine, seconds: float | None, progress: Callable[[str], None] = lambda _: None
) -> Iterator[Callable[[str], None]]:
    """Stop what an engine does inside after so many seconds, if any are given, and say so.

    What is done beside the engine is stopped by calling what is yielded now and then, with a word for `progress`.
    """
    if seconds is None:
        yield progress
        return
    done, late = Event(), Event()
    deadline = monotonic() + seconds

    def watch() -> None:
        while not done.wait(AGAIN if late.is_set() else max(deadline - monotonic(), 0)):
            late.set()
            engine.interrupt()

    thread = Thread(target=watch, daemon=True)

    def hurry(word: str) -> None:
        if late.is_set():
            raise KeyboardInterrupt
        progress(word)

    thread.start()
    try:
        yield hurry
    except KeyboardInterrupt:
        if not late.is_set():
            raise
    finally:
        done.set()
        thread.join()
    if late.is_set():
        raise QueryError(
            f"the question was not answered within {seconds:g} seconds",
            hint="ask for less at a time, or give it longer with `timeout`",
        )


@contextmanager
def not_too_deep() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise QueryError("the question is nested too deeply", hint="use IN for long lists of values") from None
