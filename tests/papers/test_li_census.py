"""How exact answers about the CENSUS table are after a full permutation: section 4.2 of Li et al. (2015)."""

import pytest

from discreet.audit.metrics import metrics
from discreet.experiments import bulk
from discreet.experiments.data import CENSUS, SENSITIVE, Data
from discreet.experiments.li import queries
from discreet.policy import Policy
from discreet.publication.publish import publish

QUASI, SALARY = list(CENSUS)[:5], SENSITIVE["SAL"]
ROWS, L = 300_000, 10
METHODS = {
    "anatomize + anatomy": {"partition": "anatomize"},
    "cluster + full_permutation": {
        "partition": "cluster",
        "publication": "full_permutation",
        "options": {"cuts": "fitted"},
    },
    "cluster as printed + full_permutation": {
        "partition": "cluster",
        "publication": "full_permutation",
        "options": {"cuts": "fitted", "boundary": "fixed"},
    },
    "local + anatomy": {"partition": "local", "options": {"cuts": "fitted"}},
    "local + full_permutation": {
        "partition": "local",
        "publication": "full_permutation",
        "options": {"cuts": "fitted"},
    },
}


@pytest.fixture(scope="module")
def census(real_data):
    table = Data(real_data).census("SAL", ROWS).select([*QUASI, SALARY])
    asked = [*queries(QUASI, SALARY, w=3, s=0.1, number=1_000)]
    return table, asked, bulk.truths(table, asked)


def measured(census, name, to):
    """The average relative error of all queries that anybody matches; some are asked in SQL too."""
    table, asked, true = census
    policy = Policy(quasi=QUASI, sensitive=SALARY, guarantee={"l": L}, **METHODS[name])
    with publish(table, policy, to=to, seed=1) as release:
        error = bulk.relative_error(bulk.estimates(release, asked), true)
        for question, actual in zip(asked[:20], true, strict=False):
            [answer] = release.ask(bulk.sql(question)).rows()
            assert answer["n_low"] <= actual <= answer["n_high"]
    presence = metrics(release).presence
    hidden = "" if presence is None else f", mean presence {presence.presence.mean:.2f}"
    print(f"{name}: average relative error {error:.2%}{hidden}")
    return error


def test_average_relative_error(census, tmp_path, record_property):
    errors = {}
    for name in METHODS:
        errors[name] = measured(census, name, tmp_path / name)
        record_property(name, errors[name])
    theirs = errors["anatomize + anatomy"]
    for name in ("cluster + full_permutation", "cluster as printed + full_permutation"):
        print(f"{name} against anatomize + anatomy: {errors[name] / theirs - 1:+.0%} (the paper: -25 %)")
        assert errors[name] < theirs
