"""The least that an estimate without bias can be off by, if groups were made without looking at quasi-identifiers.

    python bench/bound.py [--questions 1000] [--tables OCC SAL …]

Of groups of l rows with different values the eigenvalues of what they tell (docs/answers.md) have one mean, however
groups are made. A plan that told all contrasts alike would be the best on average. Printed is how far it would be from
the truth, times `even` on a table without a relation; and the mean error that it would have for the questions of
`bench/estimates.py`, given how the answers of each value spread. Beside it what `mixed` comes to by its eigenvalues.
"""

from __future__ import annotations

import argparse
from math import pi, sqrt

import numpy as np
import numpy.typing as npt

from asked import DIMENSIONS, Question, questions
from census import SOURCES, Private, private
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.values.random import RandomSource
from estimates import SEED
from targets import FORMS

MOST = 2000  # values: beyond, `design` takes neighbours together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000, help="of each kind")
    parser.add_argument("--tables", nargs="+", choices=SOURCES, default=[*SOURCES])
    given = parser.parse_args()
    for name in given.tables:
        table = private(name)
        values, l = len(table.domains[-1]), table.source.l
        mean = (values - l) / (l * (values - 1))
        told = f"times even without a relation: at least {1 / sqrt(mean):.2f}"
        if values <= MOST:
            rest = eigenvalues(table)
            told += f", mixed {sqrt((1 / rest - 1).mean() / (1 - rest).mean()):.2f} (their mean is {rest.mean():.4f})"
        print(f"\n{name}: l = {l}, {values:,} values, eigenvalues of {mean:.4f} on average; {told}")
        for form in FORMS:
            found = [least(table, questions(table, form, of, given.questions, SEED), mean) for of in DIMENSIONS]
            told = "  ".join(f"{of}: {error:.2%}" for of, error in zip(DIMENSIONS, found, strict=True))
            print(f"  mean error of {form}, by conditions on quasi-identifiers: {told}", flush=True)


def eigenvalues(table: Private) -> npt.NDArray[np.float64]:
    """Those of a release by `mixed`, without the one that is 1 for what all groups have alike."""
    sensitive = table.codes[-1].astype(np.int32)
    guarantee = Guarantee.of({"l": table.source.l})
    groups = PARTITIONS["mixed"].assign([], sensitive, guarantee, RandomSource(SEED), {})
    counts = np.zeros((int(groups.max()) + 1, len(table.domains[-1])))
    np.add.at(counts, (groups, sensitive), 1)
    scaled = counts / np.sqrt(counts.sum(axis=1))[:, None] / np.sqrt(counts.sum(axis=0))
    return np.linalg.eigvalsh(scaled.T @ scaled)[:-1]


def least(table: Private, asked: list[Question], mean: float) -> float:
    """The mean error of a normal one with the variance v · (1 / mean - 1) · n · q · (1 - q), relative to the truth.

    A question takes the share q of the n rows by their values; v is how the condition on quasi-identifiers spreads
    among rows with one value, on average over rows.
    """
    codes, people = table.different
    looks, of = np.unique(codes[:-1], axis=1, return_inverse=True)
    held, found = np.bincount(codes[-1], people), []
    for question in asked:
        meets = question.meeting(looks)[of.ravel()]
        share = np.bincount(codes[-1][meets], people[meets], held.size) / held
        spread = (held * share * (1 - share)).sum() / table.rows
        taken = held[question.inside].sum() / table.rows
        variance = spread * (1 / mean - 1) * table.rows * taken * (1 - taken)
        found.append(sqrt(2 / pi * variance) / question.truth)
    return float(np.mean(found))


if __name__ == "__main__":
    main()
