"""Some groups of a release, drawn at random, as a release of their own: for attacks that would take too long on all.

Whole groups are taken, as they are, and numbered anew; so is every row, where rows have numbers. What an attacker finds
in them he can find in the whole release, which has more to learn from: a sample says less, never more. The people of a
sample are, of each look, as many as it has such rows, drawn from those of the truth who hold a value that the groups of
these rows do: where people look alike, some of them may be of groups that were not drawn.
Cost: the files once, and the sample's rows x values of their groups.
Claim: a_sample_has_whole_groups — each as the release has it, and the people of the sample fit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from discreet.audit.belongs import fitting, looks
from discreet.audit.files import read_tables
from discreet.release import Release
from discreet.release.files import digest
from discreet.release.groups import PUBLICATIONS
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import named
from discreet.release.manifest import Manifest, Promise
from discreet.release.relations import loaded

Ints = npt.NDArray[np.int64]


def can_be_sampled(release: Release) -> bool:
    """Whether a release shows whole rows beside the values of their group."""
    return release.promise.publication in PUBLICATIONS


def sampled(release: Release, rows: int, to: Path, random: np.random.Generator) -> Release:
    """Write groups of at least so many rows in all, or all of them, into an empty folder."""
    promise, layout = release.promise, layout_of(release.promise)
    with loaded(release) as engine:
        tables = {name: engine.run(exp.select("*").from_(named(f"{name} file"))) for name in layout.files(promise)}
    groups = _of_rows(tables, promise)
    sizes = np.bincount(groups)
    order = random.permutation(np.flatnonzero(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), rows)) + 1
    chosen = np.zeros(sizes.size, np.bool_)
    chosen[order[:enough]] = True
    kept = {name: _kept(table, chosen, groups, promise) for name, table in tables.items()}
    return Release(to, _written(kept, release.manifest, to, int(chosen.sum()), int(sizes[chosen].sum())))


def people_of(sample: Release, truth: pa.Table, random: np.random.Generator) -> pa.Table:
    """The people of the truth who may be those of a sample."""
    tables, promise = read_tables(sample), sample.promise
    found = looks(tables, truth, promise.quasi)
    rows, persons = found[: len(tables.qit)], found[len(tables.qit) :]
    may = np.flatnonzero(fitting(tables, sample, truth, rows, persons)[1])
    may = may[random.permutation(may.size)]
    may = may[np.argsort(persons[may], kind="stable")]  # by look, inside it by chance
    own = persons[may]
    place = np.arange(may.size) - np.searchsorted(own, own)
    return truth.take(pa.array(np.sort(may[place < np.bincount(rows, minlength=int(found.max()) + 1)[own]])))


def _of_rows(tables: Mapping[str, pa.Table], promise: Promise) -> Ints:
    """The group of every row, in the order of the files."""
    file = "qit" if "qit" in tables else "mapping"
    return np.asarray(tables[file][promise.group].cast(pa.int64()))


def _kept(table: pa.Table, chosen: npt.NDArray[np.bool_], groups: Ints, promise: Promise) -> pa.Table:
    """What a file has of some groups, its groups and rows numbered anew."""
    own = np.asarray(table[promise.group].cast(pa.int64())) if promise.group in table.column_names else groups
    found = table.filter(pa.array(chosen[own]))
    numbers = {promise.group: np.cumsum(chosen)[own[chosen[own]]], promise.row: np.arange(1, len(found) + 1)}
    for name, new in numbers.items():
        if name in found.column_names:
            at = found.column_names.index(name)
            found = found.set_column(at, name, pa.array(new).cast(found.schema.field(at).type))
    return found


def _written(tables: Mapping[str, pa.Table], manifest: Manifest, to: Path, groups: int, rows: int) -> Manifest:
    """The files of a sample, and what its manifest says of them."""
    resources = []
    for name, table in tables.items():
        path = to / f"{name}.parquet"
        pq.write_table(table, path)
        of = manifest.resource(name)
        resources.append(
            of.model_copy(update={"path": path.name, "format": "parquet", "bytes": None, "hash": digest(path)})
        )
    changes = {"rows": rows, "groups": groups, "cells": None, "plausible": None, "estimator": None}
    promise = manifest.discreet.model_copy(update=changes)
    return manifest.model_copy(update={"resources": tuple(resources), "discreet": promise})
