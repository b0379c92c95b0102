"""How exact answers about the CENSUS tables are: section 6.1 of Xiao and Tao (2006), beside groups of near people."""

import pytest

from discreet.experiments import bulk
from discreet.experiments.data import CENSUS, SENSITIVE, Data
from discreet.experiments.xiao import queries
from discreet.policy import Policy
from discreet.publication.publish import publish

QUASI = list(CENSUS)[:5]


@pytest.mark.parametrize(
    ("name", "rows", "partition", "limit"),
    [
        ("SAL", 300_000, "anatomize", 0.05),
        ("SAL", 300_000, "local", 0.010),
        ("OCC", 100_000, "anatomize", 0.09),
        ("OCC", 100_000, "local", 0.048),
    ],
)
def test_average_relative_error(real_data, name, rows, partition, limit, tmp_path, record_property):
    sensitive = SENSITIVE[name]
    table = Data(real_data).census(name, rows).select([*QUASI, sensitive])
    options = {"cuts": "fitted"} if partition == "local" else {}
    policy = Policy(quasi=QUASI, sensitive=sensitive, guarantee={"l": 10}, partition=partition, options=options)
    asked = [*queries(QUASI, sensitive, qd=2, s=0.05, number=1_000)]
    truth = bulk.truths(table, asked)
    with publish(table, policy, to=tmp_path / "release", seed=1) as release:
        error = bulk.relative_error(bulk.estimates(release, asked), truth)
        for question, actual in zip(asked[:20], truth, strict=False):
            [answer] = release.ask(bulk.sql(question)).rows()
            assert answer["n_low"] <= actual <= answer["n_high"]
    record_property("average relative error", error)
    print(f"{name} {partition}: average relative error {error:.2%}")
    assert error <= limit
