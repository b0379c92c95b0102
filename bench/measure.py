"""Run acts in processes of their own and report their time and peak memory, side by side in one run."""

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


def cost(
    act: Callable[..., None], *arguments: object, times: int = 3, warm_up: tuple[object, ...] | None = None
) -> Cost:
    """The median time of an act, and the most memory that it ever took; each time in a fresh process."""
    spawn = multiprocessing.get_context("spawn")
    costs = []
    for _ in range(times):
        with spawn.Pool(1) as pool:
            costs.append(pool.apply(_run, (act, arguments, warm_up)))
    return Cost(statistics.median(c.seconds for c in costs), max(c.gigabytes for c in costs))


def _run(act: Callable[..., None], arguments: tuple[object, ...], warm_up: tuple[object, ...] | None) -> Cost:
    if warm_up is not None:
        act(*warm_up)
    start = time.perf_counter()
    act(*arguments)
    seconds = time.perf_counter() - start
    return Cost(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def verdict(measured: float, limit: float) -> str:
    return f"{measured:6.2f}  (limit {limit:g}: {'met' if measured <= limit else 'MISSED'})"
