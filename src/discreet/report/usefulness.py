"""The standard workload of `discreet compare`, asked of a release and held against the private table."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import numpy as np
import pyarrow as pa

from discreet.audit.utility.answered import answers, summed_up, valid
from discreet.audit.utility.workload import Asked, Field, workload
from discreet.engines import connect
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.manifest import Promise
from discreet.report.facts import Useful, Utility
from discreet.values.codes import encode
from discreet.values.columns import is_ordered

QUERIES = 200
SEED = 0  # the questions are the same again: two reports on a release can be compared
FIGURES = ("answered", "exact", "outside", "error", "error_90", "coverage", "width", "errors")


def measured(release: Release, truth: pa.Table) -> Utility | None:
    """Errors and coverage by each estimator that is valid; None if no question about the table can be asked.

    `learned` is asked only where the release carries the tables that it needs.
    """
    promise = release.promise
    with closing(connect(private=True)) as engine:
        truth = _kept(truth, promise)
        engine.load("truth", truth)
        fields = {name: _field(name, truth[name]) for name in promise.columns}
        sensitive = None if promise.sensitive is None else fields[promise.sensitive]
        table = Asked(engine, "truth", tuple(fields[name] for name in promise.quasi), sensitive)
        try:
            asked = workload(table, QUERIES, np.random.default_rng(SEED))
        except InputError:
            return None
    found = []
    for name in valid(release, learned=promise.plausible is not None):
        answered, _, why = answers(release, asked, name)
        told = {key: value for key, value in summed_up(answered).items() if key in FIGURES}
        found.append(Useful(estimator=name, unanswered=why, **told))
    return Utility(len(asked), dict(Counter(query.kind for query in asked)), tuple(found))


def _field(name: str, column: pa.ChunkedArray) -> Field:
    return Field(name, column.type, encode(column), is_ordered(column.type))


def _kept(truth: pa.Table, promise: Promise) -> pa.Table:
    """The rows that were published: those with a value, where others were withheld."""
    if promise.missing_sensitive != "withhold" or promise.sensitive is None:
        return truth
    return truth.filter(truth[promise.sensitive].is_valid())
