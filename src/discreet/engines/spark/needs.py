"""What memory executors need: for each task, and for all that one executor runs at once."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from discreet.engines.spark.errors import translating
from discreet.engines.spark.session import is_connect

MEGABYTE = 1 << 20
LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?")  # where the driver is the one executor


@dataclass(frozen=True)
class Needs:
    """Megabytes that a task takes, and how many tasks an executor runs at once, where its session says so.

    The bytes themselves would tell how long the texts of a private table are.
    """

    task: int
    tasks_at_once: int | None

    @classmethod
    def of(cls, size: int, tasks_at_once: int | None) -> Needs:
        """Of a task that takes so many bytes."""
        return cls(-(-size // MEGABYTE), tasks_at_once)

    @property
    def executor(self) -> int | None:
        """Megabytes that all tasks of an executor take together."""
        return None if self.tasks_at_once is None else self.task * self.tasks_at_once

    def __str__(self) -> str:
        told = f"{self.task:,} MB for each task"
        if self.executor is None:
            return told
        return f"{told}, {self.executor:,} MB for each executor, which runs {self.tasks_at_once:,} at once"

    def members(self) -> dict[str, int | None]:
        """As JSON has it."""
        return {"task": self.task, "tasks_at_once": self.tasks_at_once, "executor": self.executor}


def at_once(session: Any) -> int | None:
    """How many tasks an executor runs at once; none where the session does not say it.

    Some clusters give an executor all cores of its machine unless `spark.executor.cores` is set.
    """
    with translating():
        master, cores, each = (
            session.conf.get(name, None) for name in ("spark.master", "spark.executor.cores", "spark.task.cpus")
        )
    if (local := LOCAL.fullmatch(master or "")) is not None:
        cores = local[1] or "1"
        if cores == "*":
            cores = None if is_connect(session) else str(os.cpu_count() or 1)
    if cores is None or not cores.isdecimal() or not (each or "1").isdecimal():
        return None
    return max(1, int(cores) // max(1, int(each or 1)))
