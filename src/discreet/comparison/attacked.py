"""The worst attacker of a release: of all who need nothing but the release, the one who is right most often.

How often they are right is counted with the private table. `QUICK` attackers take about as long as publishing and
asking do, and attack some people of a large table; the others fit a model to the release, which takes
many times that, and all are made on all of it if they are asked for. Who is right only within a few per cent of a
number (`NEAR`) is no match for those who name it, and is told beside them.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.audit.attacks import run_attacks
from discreet.audit.attacks.attack import Failed, Given, Rate, Success
from discreet.audit.sampled import can_be_sampled, people_of, sampled
from discreet.release import Release
from discreet.scratch import workplace
from discreet.table import Table

QUICK = ("order", "minimality", "population")
NEAR = "proximity"
ALONE = ("learner", *QUICK, "background", NEAR)  # who need nothing beside the release and the private table
ROWS = 20_000  # people whom the quick ones attack
SEED = 0
TOLD = (
    f"attacked by {', '.join(f'`{name}`' for name in QUICK)} alone: with --attack (attack=True) also by those that"
    " fit a model to the release"
)


@dataclass(frozen=True, slots=True)
class Attacked:
    """The attack, how often it is right and how often a blind guess is; or why none was made.

    `near` is how often `NEAR` is right, and `near_blind` a blind guess within as much. If the attacks were `quick`,
    others were left out; of a large table they were made on so many people who were `drawn`.
    """

    name: str | None
    right: Rate | None = None
    blind: float | None = None
    why: str | None = None
    near: Rate | None = None
    near_blind: float | None = None
    quick: bool = False
    drawn: int | None = None

    def cell(self) -> str:
        """The attack and its share, as they stand in a table."""
        return "not attacked" if self.right is None else f"{self.name} {self.right.share:.1%}"

    def told(self) -> str:
        if self.right is None or self.blind is None:
            return f"not attacked, which does not mean that the risk is low: {self.why}"
        share = f"{self.right.share:.1%} of the people ({self.right.low:.1%} to {self.right.high:.1%})"
        text = f"the worst attacker, `{self.name}`, is right about {share}; a blind guess about {self.blind:.1%}"
        if self.near is not None:
            text += f"; within 5% of the value, `{NEAR}` is about {self.near.share:.1%}, blindly {self.near_blind:.1%}"
        return text if self.drawn is None else f"{text}; of {self.drawn:,} people drawn at random"


def worst_attacker(release: Release, table: Table, *, quick: bool = False) -> Attacked:
    """Attack a release of a table."""
    if release.promise.sensitive is None:
        return Attacked(None, why="there is no sensitive column")
    truth = table.engine.run(table.select(list(release.promise.columns)))
    with ExitStack() as opened:
        some = quick and len(truth) > ROWS
        if some:
            release, truth = _drawn(release, truth, opened)
        # no model of people without the release is needed here, and none is fitted
        given = Given(truth=truth, kept={"without": None})
        found = run_attacks(release, given, QUICK if quick else ALONE)
        return _worst(found, quick=quick, drawn=len(truth) if some else None)


def _drawn(release: Release, truth: pa.Table, opened: ExitStack) -> tuple[Release, pa.Table]:
    """Some groups of a release, and who may be in them; or all of it, and some people, where rows are not shown."""
    random = np.random.default_rng(SEED)
    if not can_be_sampled(release):
        return release, truth.take(pa.array(np.sort(random.permutation(len(truth))[:ROWS])))
    sample = sampled(release, ROWS, opened.enter_context(workplace()), random)
    return sample, people_of(sample, truth, random)


def _worst(found: list[Success | Failed], *, quick: bool, drawn: int | None) -> Attacked:
    made = {each.name: each for each in found if isinstance(each, Success)}
    near = made.pop(NEAR, None)
    if not made:
        lacking = "; ".join(f"{each.name}: {each.why}" for each in found if isinstance(each, Failed))
        return Attacked(None, why=lacking, quick=quick)
    worst = max(made.values(), key=lambda each: each.attacker.share)
    told = Attacked(worst.name, worst.attacker, worst.blind.share, quick=quick, drawn=drawn)
    return told if near is None else replace(told, near=near.attacker, near_blind=near.blind.share)
