"""The whole report on a release, for the public and for the steward: time of each stage, memory, and size of the pages.

The steward gives all that can be given, so that every attack runs that suits the release: the private table, people who
were not in it, a public table, another release of the same people, a number of the population, and the policy, for
errors against l. Attacks that were not made are named. What the processors took, a busy machine does not change much.

python bench/report.py [ROWS]
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from data import QUASI, SENSITIVE, table
from discreet.audit.attacks.attack import Failed
from discreet.cli.report import swept
from measure import verdict

SECONDS, MEGABYTES, SMALL = 180, 3, 3_000
POPULATION = 10_000_000
KNOWN = [*QUASI[:4]]  # what a public table has
STEPS = {"verifying": "verify", "measuring risks": "risks", "asking table and release": "questions"}


@dataclass(frozen=True)
class Stage:
    name: str
    seconds: float
    processor: float


@dataclass(frozen=True)
class Given:
    """The release, and all that there is beside it."""

    release: Path
    other: Path
    policy: Path
    truth: Path
    holdout: Path
    public: Path


class Clock:
    """The time from each stage to the next; a report tells them as they start."""

    def __init__(self, *, told: bool) -> None:
        self.told, self.stages = told, list[Stage]()
        self.audience, self.name, self.start = "both", "start", self._now()

    def __call__(self, step: str) -> None:
        name = STEPS.get(step, step.partition(":")[0])
        if name == "risks":
            self.audience = "public" if self.audience == "both" else "private"
        elif name == "writing":
            self.audience = "both"
        self.to(f"{self.audience}: {name}")

    def to(self, name: str) -> None:
        """End the stage that runs, and start another."""
        seconds, processor = (now - then for now, then in zip(self._now(), self.start, strict=True))
        if name != self.name:
            self.stages.append(Stage(self.name, seconds, processor))
            if self.told:
                print(f"{self.name:32}{seconds:9.1f}{processor:12.1f}", flush=True)
            self.name, self.start = name, self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()


def prepared(rows: int, place: Path) -> Given:
    """Publish a table twice; a tenth of it was left out before, and half of a public table is in it."""
    place.mkdir()
    whole = pq.read_table(table(rows))
    held = rows // 10
    inside, outside = whole.slice(held), whole.slice(0, held)
    public = pa.concat_tables([inside.slice(0, held), outside]).select(KNOWN)
    tables = {"truth": inside, "holdout": outside, "public": public}
    for name, part in tables.items():
        pq.write_table(part, place / f"{name}.parquet")
    policy = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, guarantee={"l": 10})
    policy.save(place / "policy.toml")
    release, other = (discreet.publish(inside, policy, to=place / name).path for name in ("release", "other"))
    return Given(release, other, place / "policy.toml", *(place / f"{name}.parquet" for name in tables))


def reported(given: Given, to: Path, *, told: bool = True) -> tuple[list[Stage], list[str], float]:
    """The stages of a report, the attacks that the steward's was without, and the most memory in GB."""
    warnings.simplefilter("ignore")
    clock = Clock(told=told)
    if told:
        print(f"{'stage':32}{'seconds':>9}{'processors':>12}")
    clock.to("both: error against l")
    sweep = swept(given.truth, given.policy, lambda _: None)
    written = discreet.report(
        given.release,
        to=to,
        truth=given.truth,
        holdout=given.holdout,
        public=given.public,
        others=[given.other],
        population=POPULATION,
        sweep=sweep,
        progress=clock,
    )
    clock.to("end")
    lacking = [f"{each.name} {each.kind}: {each.why}" for each in written.private.attacks if isinstance(each, Failed)]
    return clock.stages[1:], lacking, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        few, all_ = prepared(SMALL, place / "few"), prepared(rows, place / "all")
        print(f"{rows - rows // 10:,} rows published, {rows // 10:,} left out\n", flush=True)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pool.apply(reported, (few, place / "first"), {"told": False})  # compiles
            stages, lacking, gigabytes = pool.apply(reported, (all_, place / "report"))
        pages = {path.name: path.stat().st_size / 2**20 for path in sorted((place / "report").glob("*.html"))}
    print(f"\nattacks that were not made: {'; '.join(lacking) or 'none'}")
    seconds, processor = sum(each.seconds for each in stages), sum(each.processor for each in stages)
    print(f"seconds {verdict(seconds, SECONDS)}, {processor:.0f} of the processors; peak {gigabytes:.1f} GB")
    for name, size in pages.items():
        print(f"{name}, MB {verdict(size, MEGABYTES)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
