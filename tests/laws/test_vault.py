"""Random growing tables and policies through a real vault: nobody who holds all its releases learns more than from one."""

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import Policy, Vault, audit, verify
from vault.steward import inspect

KINDS = {
    "whole": lambda chance, n: chance.integers(-5, 40, n),
    "real": lambda chance, n: pa.array(np.round(chance.normal(0, 3, n), 2), mask=chance.random(n) < 0.05),
    "day": lambda chance, n: pa.array(chance.integers(0, 900, n).astype("int32")).cast(pa.date32()),
    "flag": lambda chance, n: pa.array(chance.random(n) < 0.3),
    "text": lambda chance, n: pa.array([None if i == 9 else f"t{i}" for i in chance.zipf(1.6, n) % 10]),
}
GUARANTEES = [
    {"l": 2},
    {"l": 3},
    {"distinct_l": 2},
    {"distinct_l": 4},
    {"l": 2, "k": 8},
    {"distinct_l": 3, "k": 6},
    {"k": 7},
]


@st.composite
def worlds(draw):
    """A policy, how many sensitive values there are, and increments: their sizes, and whether a release follows."""
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=3, unique=True))
    insert = st.fixed_dictionaries({"growth": st.just("insert"), "withheld": st.sampled_from([0.02, 0.2, 1.0])})
    compact = st.sampled_from([{}, {"cuts": "fitted"}])
    partition, options = draw(
        st.one_of(
            st.just(("auto", {"growth": "settle"})),
            st.tuples(st.just("auto"), insert),
            st.tuples(st.just("compact"), compact),
        )
    )
    rules = Policy(
        identifiers=["id"],
        quasi=kinds,
        sensitive="s",
        guarantee=draw(st.sampled_from(GUARANTEES)),
        publication="generalization",
        partition=partition,
        options=options,
        accept={"looks": "nobody lives here"},
    )
    steps = st.tuples(st.integers(1, 60), st.booleans())
    return rules, draw(st.integers(2, 9)), draw(st.lists(steps, min_size=3, max_size=30)), draw(st.integers(0, 2**32))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_all_releases_together_tell_no_more_than_one(world):
    rules, values, steps, seed = world
    chance, names, releases = np.random.default_rng(seed), [], []
    # what is looked at is the sequence, from its files alone, once all of it is there
    with tempfile.TemporaryDirectory() as place, mock.patch("discreet.vault.release._audited"):
        with Vault.create(Path(place) / "vault", rules) as vault:
            for number, (rows, wanted) in enumerate(steps):
                new = [f"{number}-{i}" for i in range(rows)]
                columns = {kind: KINDS[kind](chance, rows) for kind in rules.quasi}
                vault.append(pa.table({"id": new, **columns, "s": np.minimum(chance.zipf(1.5, rows), values)}))
                names += new
                if wanted and vault.status().pending_groups:
                    releases.append(vault.release(Path(place) / f"{number}").path)
        inspect(Path(place) / "vault", names=names)
        if len(releases) > 1:
            found = audit(releases)
            assert found.chain.complete
            assert found.ok, found.channels
            assert verify(releases[-1]).ok
