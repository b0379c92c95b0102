"""Combine results that were computed on several plausible tables into one, by Rubin's rules.

With M results q with variances u: the estimate is the mean of q; its variance is mean(u) + (1 + 1/M) · var(q), what a
complete table would leave open and what the tables disagree about. The interval is Student's, with
(M − 1)(1 + mean(u) / ((1 + 1/M) var(q)))² degrees of freedom, or with those of a complete table too, if they are given.
What is a fact of the table's own rows (a count, a mean, a share of these people) has u = 0.
Source: Rubin, "Multiple Imputation for Nonresponse in Surveys", 1987, section 3.1; degrees of freedom of small tables:
Barnard and Rubin, Biometrika 86, 1999, equation 3.
Claim: pool_follows_rubin — estimate, stderr, degrees of freedom and interval are those of the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InputError
from discreet.learn.student import quantile
from discreet.visible import in_a_line

Floats = npt.NDArray[np.float64]
FIGURES = ("estimate", "stderr", "df", "low", "high", "missing")
FORMS = (
    "give one result per table: a number, a pair (estimate, stderr), a dict of those, an array or pandas Series of"
    " estimates, a pair of them, or a pandas DataFrame with the columns `estimate` and `stderr`"
)


@dataclass(frozen=True)
class Pooled:
    """A result over several tables; numbers if the results were, else arrays beside `names`.

    `df` are the degrees of freedom, `low` to `high` the interval at `level`; `missing` is the share of the variance
    that comes from not knowing who holds what.
    """

    estimate: Any
    stderr: Any
    df: Any
    low: Any
    high: Any
    missing: Any
    tables: int
    level: float
    names: tuple[Any, ...] | None = None

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per estimate."""
        columns = [np.ravel(getattr(self, each)).tolist() for each in FIGURES]
        names = self.names or range(len(columns[0]))
        return [
            {"name": name, **dict(zip(FIGURES, row, strict=True))} for name, *row in zip(names, *columns, strict=True)
        ]

    def __repr__(self) -> str:
        lines = [f"pooled over {self.tables} tables"]
        for row in self.rows():
            name = f"{in_a_line(str(row['name']))}: " if np.ndim(self.estimate) else ""
            estimate, stderr, low, high = (_shown(row[each]) for each in ("estimate", "stderr", "low", "high"))
            lines.append(f"{name}{estimate} ± {stderr} ({self.level:.0%}: {low} to {high})")
        return "\n".join(lines)


def _shown(number: float) -> str:
    return f"{number:,.4g}" if abs(number) < 1000 else f"{number:,.1f}"


def pool(results: Iterable[Any], *, level: float = 0.95, complete_df: float | None = None) -> Pooled:
    """Combine the results of one analysis, one per plausible table.

    A result is a number, a pair (estimate, stderr), a dict of those, an array or pandas Series of estimates, a pair of
    them, or a pandas DataFrame with the columns `estimate` and `stderr`. Without a stderr it is taken as a fact of the
    table's own rows. `complete_df` are the degrees of freedom that the analysis would have on a complete table.
    """
    if not isinstance(level, Real) or not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, got {level!r}", hint="0.95 is the usual one")
    if complete_df is not None and not (isinstance(complete_df, Real) and complete_df > 0):
        raise InputError(f"degrees of freedom are above 0, got {complete_df!r}")
    if not isinstance(results, Iterable):
        raise InputError(
            f"expected the results of several tables, got one of the type `{type(results).__name__}`", hint=FORMS
        )
    read = [_read(result) for result in results]
    if len(read) < 2:
        raise InputError(f"expected the results of at least 2 tables, got {len(read)}", hint=FORMS)
    names = read[0].names
    if any(each.names != names or each.estimate.shape != read[0].estimate.shape for each in read):
        raise InputError("the results do not have the same names, or are not as many, in every table", hint=FORMS)
    estimates, variances = np.stack([each.estimate for each in read]), np.stack([each.variance for each in read])
    if not (np.isfinite(estimates).all() and np.isfinite(variances).all() and (variances >= 0).all()):
        raise InputError(
            "a result is missing or not finite, or a stderr is below 0",
            hint="leave out what cannot be computed in every table",
        )
    return _pooled(estimates, variances, level, complete_df, names)


def _pooled(
    estimates: Floats, variances: Floats, level: float, complete_df: float | None, names: tuple[Any, ...] | None
) -> Pooled:
    tables = len(estimates)
    within, between = variances.mean(axis=0), (1 + 1 / tables) * estimates.var(axis=0, ddof=1)
    total = within + between
    missing = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    df = np.divide(tables - 1, missing**2, out=np.full_like(total, inf), where=missing > 0)
    if complete_df is not None and isfinite(complete_df):
        observed = (complete_df + 1) / (complete_df + 3) * complete_df * (1 - missing)
        df = np.divide(1, 1 / df + np.divide(1, observed, out=np.full_like(df, inf), where=observed > 0))
        df = np.where(missing >= 1, tables - 1, df)  # nothing is left of what a complete table would have
    estimate, stderr = estimates.mean(axis=0), np.sqrt(total)
    flat = [quantile((1 + level) / 2, float(each)) for each in np.ravel(df)]
    reach = stderr * np.reshape(flat, df.shape)
    parts = (estimate, stderr, df, estimate - reach, estimate + reach, missing)
    figures = dict(zip(FIGURES, (part.item() if part.ndim == 0 else part for part in parts), strict=True))
    return Pooled(**figures, tables=tables, level=level, names=names)


@dataclass(frozen=True)
class _Result:
    estimate: Floats
    variance: Floats
    names: tuple[Any, ...] | None = None


def _read(result: Any) -> _Result:
    """One result in any of its forms."""
    if isinstance(result, Mapping):
        parts = [_read(each) for each in result.values()]
        if any(part.estimate.ndim for part in parts):
            raise InputError("a dict of results holds numbers or pairs (estimate, stderr)", hint=FORMS)
        estimates, variances = [part.estimate for part in parts], [part.variance for part in parts]
        return _Result(np.array(estimates), np.array(variances), tuple(result))
    if hasattr(result, "columns") and hasattr(result, "index"):
        if not {"estimate", "stderr"} <= {*result.columns}:
            raise InputError("a frame of results has the columns `estimate` and `stderr`", hint=FORMS)
        return _read((result["estimate"], result["stderr"]))
    if isinstance(result, tuple):
        if len(result) != 2:
            raise InputError(f"a pair is (estimate, stderr), got {len(result)} entries", hint=FORMS)
        estimate, stderr = _numbers(result[0]), _numbers(result[1])
        if estimate.shape != stderr.shape:
            raise InputError("there are not as many stderr as estimates", hint=FORMS)
        return _Result(estimate, np.where(stderr < 0, np.nan, stderr**2), _names(result[0]))
    estimate = _numbers(result)
    return _Result(estimate, np.zeros_like(estimate), _names(result))


def _names(result: Any) -> tuple[Any, ...] | None:
    """The names of a pandas Series."""
    return tuple(result.index) if hasattr(result, "index") and hasattr(result, "to_numpy") else None


def _numbers(result: Any) -> Floats:
    try:
        found = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a result of the type `{type(result).__name__}` cannot be pooled", hint=FORMS) from None
    return found
