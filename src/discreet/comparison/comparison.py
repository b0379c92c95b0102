"""What a comparison found: for each method errors, widths, loss and time, as a table and as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.comparison.attacked import Attacked

NOTE = "These are statistics of the private table: they are for its steward, and not to be published."
UNATTACKED = "no attack was made, which does not mean that the risk is low: leave --no-attack (attack=False) out"
COLUMNS = (
    *("method", "estimator", "median error", "90 %", "worst", "within 2 stderr", "exact", "width", "loss", "groups"),
    *("publish", "per query"),
)
ATTACKER = "worst attacker"  # a column beside the errors, where releases were attacked
AFTER = COLUMNS.index("worst") + 1  # where it stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one method came to, asked by one `estimator`, or why it was `refused`.

    Of the questions that it `answered`, `exact` had equal bounds; the rest are what errors are about: `error` is the
    median of |estimate - truth| relative to the truth or to ten people (see `workload`), `error_90` their 90th
    percentile, `worst` the largest, `errors` the median for each kind of question; `coverage` the share of truths that
    lie within two standard errors, where there is one; `width` the mean of high - low on the same scale; `best` the
    smallest error. `outside` counts truths outside the bounds: there must be none. `vague` is the share of counts,
    not exact, whose low is 0. `loss` is the normalised certainty penalty as a share; `dm` the discernibility;
    `share` the largest that one sensitive value has of a group. Times are in seconds: to publish, and the median to
    answer a question. `unanswered` says why questions had no answer. `attacked` is the worst attacker, if asked for.
    """

    method: str
    estimator: str | None = None
    refused: str | None = None
    answered: int = 0
    unanswered: str | None = None
    exact: int = 0
    error: float | None = None
    error_90: float | None = None
    worst: float | None = None
    best: float | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    coverage: float | None = None
    width: float | None = None
    outside: int = 0
    vague: float | None = None
    loss: float | None = None
    dm: float | None = None
    share: float | None = None
    groups: int | None = None
    suppressed: int = 0
    publish_seconds: float | None = None
    query_seconds: float | None = None
    attacked: Attacked | None = None

    @property
    def name(self) -> str:
        """The method, and its estimator if it has another beside `even`."""
        return self.method if self.estimator in {None, "even"} else f"{self.method}, {self.estimator}"

    def cells(self, *, attacked: bool = False) -> list[str]:
        """The outcome as people read it, in the order of `COLUMNS`; with the worst attacker if `attacked`."""
        found = self._cells()
        if attacked:
            found.insert(AFTER, "–" if self.attacked is None else self.attacked.cell())
        return found

    def _cells(self) -> list[str]:
        if self.refused is not None:
            return [self.method, "–", "refused", *["–"] * (len(COLUMNS) - 3)]
        errors = [_shown(value, "{:,.1%}") for value in (self.error, self.error_90, self.worst)]
        held = [_shown(self.coverage, "{:.0%}"), f"{self.exact:,} of {self.answered:,}"]
        sizes = [_shown(value, "{:,.1%}") for value in (self.width, self.loss)]
        per_query = None if self.query_seconds is None else 1000 * self.query_seconds
        times = [_shown(self.publish_seconds, "{:,.2f} s"), _shown(per_query, "{:,.1f} ms")]
        return [self.method, self.estimator or "–", *errors, *held, *sizes, _shown(self.groups, "{:,.0f}"), *times]

    @property
    def useless(self) -> str | None:
        """Why the release would be of no use, if it would."""
        if self.best is not None and self.best >= 1:
            return "no estimate is within 100% of the truth"
        if self.vague == 1:
            return "every low of a count is 0"
        return None

    def remarks(self) -> list[str]:
        """What the figures do not say."""
        found = []
        if self.refused is not None:
            found.append(f"refused: {self.refused}")
        if self.unanswered is not None:
            found.append(f"not answered: {self.unanswered}")
        if self.suppressed:
            found.append(f"{self.suppressed:,} rows were suppressed")
        if self.outside:
            found.append(f"{self.outside:,} of {self.answered:,} truths lie outside the bounds: a mistake of ours")
        if self.useless is not None:
            found.append(f"of no use for such questions: {self.useless}")
        told = [] if self.attacked is None else [f"{self.method}: {self.attacked.told()}"]  # whichever the estimator
        return [*told, *(f"{self.name}: {remark}" for remark in found)]


@dataclass(frozen=True)
class Comparison:
    """The outcomes of several methods at the same guarantee, on the same table and questions."""

    table: str
    rows: int
    guarantee: Mapping[str, float]
    queries: int
    outcomes: tuple[Outcome, ...]
    limit: int | None = None  # the largest l that the sensitive column allows, if that of the guarantee is close to it

    @property
    def title(self) -> str:
        promises = ", ".join(f"{name} = {threshold:,}" for name, threshold in self.guarantee.items())
        return f"{self.table}: {self.rows:,} rows, {promises}, {self.queries:,} questions about the sensitive column"

    @property
    def attacked(self) -> bool:
        """Whether releases were attacked."""
        return any(outcome.attacked is not None for outcome in self.outcomes)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*COLUMNS[:AFTER], *([ATTACKER] if self.attacked else []), *COLUMNS[AFTER:])

    def cells(self) -> list[list[str]]:
        return [outcome.cells(attacked=self.attacked) for outcome in self.outcomes]

    def remarks(self) -> list[str]:
        """Why methods were refused, and what else the figures do not say."""
        near = []
        if self.limit is not None:
            l, less = self.guarantee["l"], max(2, round(self.limit / 2))
            told = f"l = {l:,} is close to the largest that the sensitive column allows, {self.limit:,}"
            near.append(f"{told}: a smaller l may tell much more; try --sweep l={less},{l}")
        remarks = dict.fromkeys(remark for outcome in self.outcomes for remark in outcome.remarks())
        return [*remarks, *attackers(self.outcomes), *near]

    def chart(self, path: str | Path) -> Path:
        """Draw errors, widths and losses into a PNG or SVG file; needs the extra `charts`."""
        from discreet.comparison.chart import draw

        return draw(self, Path(path))

    def __repr__(self) -> str:
        lines = [list(self.columns), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(
                f"{cell:<{w}}" if i < 2 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in lines
        ]
        return "\n".join([self.title, *table, *self.remarks(), NOTE])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.cells())
        rest = "".join(f"<p>{escape(line)}</p>" for line in (*self.remarks(), NOTE))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(self.title)}</p>{table}{rest}"


def attackers(outcomes: Sequence[Outcome]) -> list[str]:
    """What is to be said of all attacks together."""
    from discreet.comparison.attacked import TOLD

    made = [outcome.attacked for outcome in outcomes if outcome.attacked is not None]
    if not made:
        return [UNATTACKED] if any(outcome.refused is None for outcome in outcomes) else []
    return [TOLD] if any(each.quick for each in made) else []


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
