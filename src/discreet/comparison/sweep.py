"""A sweep: the same methods and questions at several thresholds of a guarantee, risk against error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from discreet.comparison.comparison import ATTACKER, NOTE, Comparison, Outcome, attackers

COLUMNS = (
    "method",
    "estimator",
    "largest share",
    "median error",
    "90 %",
    "worst",
    "within 2 stderr",
    "exact",
    "groups",
)


@dataclass(frozen=True)
class Sweep:
    """A comparison for each threshold of the guarantee `name`, the weakest promise first."""

    name: str
    steps: tuple[Comparison, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        after = COLUMNS.index("worst") + 1
        return (self.name, *COLUMNS[:after], *([ATTACKER] if self.attacked else []), *COLUMNS[after:])

    @property
    def attacked(self) -> bool:
        """Whether releases were attacked."""
        return any(step.attacked for step in self.steps)

    @property
    def title(self) -> str:
        first = self.steps[0]
        tried = ", ".join(f"{threshold:,}" for threshold in self.thresholds)
        return f"{first.table}: {first.rows:,} rows, {self.name} = {tried}, {first.queries:,} questions"

    @property
    def thresholds(self) -> list[float]:
        return [step.guarantee[self.name] for step in self.steps]

    def cells(self) -> list[list[str]]:
        """One row for each method and threshold, as people read them."""
        found = []
        for step, outcome in self.outcomes():
            method, estimator, *figures = outcome.cells()
            share = "–" if outcome.share is None else f"{outcome.share:.1%}"
            median, high, worst, covered, exact = figures[:5]
            threshold = f"{step.guarantee[self.name]:,}"
            attacker = [] if not self.attacked else ["–" if outcome.attacked is None else outcome.attacked.cell()]
            errors = [median, high, worst, *attacker]
            found.append([threshold, method, estimator, share, *errors, covered, exact, figures[7]])
        return found

    def names(self) -> list[str]:
        """The methods, each with its estimators."""
        every = [outcome for step in self.steps for outcome in step.outcomes]
        methods = list(dict.fromkeys(outcome.method for outcome in every))
        return list(dict.fromkeys(each.name for each in sorted(every, key=lambda each: methods.index(each.method))))

    def outcomes(self) -> Iterator[tuple[Comparison, Outcome]]:
        """Every outcome, method by method, with its comparison."""
        for name in self.names():
            yield from ((step, each) for step in self.steps for each in step.outcomes if each.name == name)

    def remarks(self) -> list[str]:
        """What a smaller threshold would gain where one is close to the largest possible, and what is refused."""
        found = attackers([outcome for step in self.steps for outcome in step.outcomes])
        for step, outcome in self.outcomes():
            found += [f"{self.name} = {step.guarantee[self.name]:,}: {remark}" for remark in outcome.remarks()]
        for (weaker, before), (step, after) in pairwise(self.outcomes()):
            if before.name == after.name and step.limit is not None and after.refused is None:
                l, less = step.guarantee["l"], weaker.guarantee["l"]
                near = f"l = {l:,} is close to the largest that the sensitive column allows, {step.limit:,}"
                gained = f"{_told(before)} in place of {_told(after)}"
                found.append(f"{after.name}: {near}; l = {less:,} gives {gained}")
        return list(dict.fromkeys(found))

    def chart(self, path: str | Path) -> Path:
        """Draw risk against error into a PNG or SVG file; needs the extra `charts`."""
        from discreet.comparison.chart import draw_sweep

        return draw_sweep(self, Path(path))

    def __repr__(self) -> str:
        rows = [self.columns, *self.cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self.title, *lines, *self.remarks(), NOTE])


def _told(outcome: Outcome) -> str:
    """How good answers are, in words."""
    share = f"{outcome.exact:,} of {outcome.answered:,} exact"
    return share if outcome.error is None else f"a median error of {outcome.error:.1%} ({share})"
