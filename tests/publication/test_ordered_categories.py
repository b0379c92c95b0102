"""Ordered categories: groups form along their own order, and boxes show sets, since a text has no ends but by letters."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from discreet import Policy, publish, read, verify
from discreet.errors import InputError
from discreet.publication.axes import axis

LABELS = ["none", "primary", "middle", "high", "doctorate"]  # by letters: doctorate, high, middle, none, primary
KEYS = {"quasi": ["school"], "sensitive": "ill", "guarantee": {"l": 2}, "publication": "generalization"}


def people(rows=600):
    chance = np.random.default_rng(3)
    school = pd.Categorical(chance.choice(LABELS, rows), categories=LABELS, ordered=True)
    return pd.DataFrame({"school": school, "ill": chance.choice(list("abcdefgh"), rows)})


def neighbours(release, order):
    """Whether every label is a stretch of an order."""
    labels = set(pq.read_table(release.path / "generalized.parquet").column("school").to_pylist())
    at = [sorted(order.index(value) for value in json.loads(label)) for label in labels]
    return all(places == list(range(places[0], places[-1] + 1)) for places in at)


@pytest.mark.parametrize("source", ["pandas", "polars", "parquet"])
def test_the_order_of_a_category_is_kept(tmp_path, source):
    frame = people()
    if source == "polars":
        held = {"school": frame.school.astype(str).tolist(), "ill": frame.ill.tolist()}
        frame = pl.DataFrame(held, schema={"school": pl.Enum(LABELS), "ill": pl.String})
    elif source == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
        frame = tmp_path / "t.parquet"
    with read(frame) as table:
        assert table["school"].order == tuple(LABELS)
        found = axis(table, Policy(**KEYS), "school")
        rank = dict(zip(found.codes.domain.to_pylist(), found.order.tolist(), strict=True))
    assert rank == {label: i for i, label in enumerate(LABELS)}
    assert found.dimension.form == "range"


def test_boxes_are_stretches_of_the_order_and_verify(tmp_path):
    rules = Policy(**{**KEYS, "quasi": ["school"], "guarantee": {"k": 200}}, partition="mondrian")
    release = publish(people(), rules, to=tmp_path / "release", seed=1)
    assert verify(release.path).ok
    assert release.promise.groups > 1
    assert neighbours(release, LABELS)
    plain = publish(people().astype({"school": str}), rules, to=tmp_path / "plain", seed=1)
    assert verify(plain.path).ok


def test_a_category_without_an_order_is_text(tmp_path):
    frame = people().assign(school=lambda frame: frame.school.cat.as_unordered())
    with read(frame) as table:
        assert table["school"].order is None
        assert axis(table, Policy(**KEYS), "school").dimension.form == "set"


def test_full_domain_says_that_it_cannot_use_the_order(tmp_path):
    rules = Policy(**KEYS, partition="full_domain", ordered=["school"])
    with pytest.raises(
        InputError, match=r"`school` is an ordered category, whose order `full_domain` cannot use\nHint: give"
    ):
        publish(people(), rules, to=tmp_path / "release")
    publish(people().astype({"school": str}), rules, to=tmp_path / "release", seed=1)
