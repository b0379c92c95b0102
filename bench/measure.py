"""Time acts side by side in one run: in turns, or in processes of their own with their peak memory."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    seconds: float
    gigabytes: float
    processor: float  # seconds of it, on all cores: what a busy machine does not change much


def seconds(*acts: Callable[[], object], times: int = 3, warm_up: bool = False) -> list[float]:
    """The median time of each act; they take turns, so that a busy machine is busy for all of them."""
    taken: list[list[float]] = [[] for _ in acts]
    for turn in range(times + warm_up):
        for act, times_taken in zip(acts, taken, strict=True):
            start = time.perf_counter()
            act()
            if turn >= warm_up:
                times_taken.append(time.perf_counter() - start)
    return [statistics.median(times_taken) for times_taken in taken]


def cost(
    act: Callable[..., None], *arguments: object, times: int = 3, warm_up: tuple[object, ...] | None = None
) -> Cost:
    """The median time of an act, and the most memory that it ever took; each time in a fresh process."""
    spawn = multiprocessing.get_context("spawn")
    costs = []
    for _ in range(times):
        with spawn.Pool(1) as pool:
            costs.append(pool.apply(_run, (act, arguments, warm_up)))
    return Cost(
        statistics.median(c.seconds for c in costs),
        max(c.gigabytes for c in costs),
        statistics.median(c.processor for c in costs),
    )


def _run(act: Callable[..., None], arguments: tuple[object, ...], warm_up: tuple[object, ...] | None) -> Cost:
    if warm_up is not None:
        act(*warm_up)
    start = time.process_time()
    (taken,) = seconds(lambda: act(*arguments), times=1)
    processor = time.process_time() - start
    return Cost(taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, processor)


def verdict(measured: float, limit: float) -> str:
    return f"{measured:6.2f}  (limit {limit:g}: {'met' if measured <= limit else 'MISSED'})"
