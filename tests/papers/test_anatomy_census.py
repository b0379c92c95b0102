"""How exact answers about the CENSUS tables are: section 6.1 of Xiao and Tao (2006)."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.policy import Policy
from discreet.publication.publish import publish
from papers.census import DOMAINS, queries, sample

QUASI = list(DOMAINS)[:5]


@pytest.mark.parametrize(
    ("file", "rows", "partition", "limit"),
    [
        ("sal500k", 300_000, "anatomize", 0.05),
        ("sal500k", 300_000, "local", 0.010),
        ("occ100k", 100_000, "anatomize", 0.09),
        ("occ100k", 100_000, "local", 0.048),
    ],
)
def test_average_relative_error(real_data, file, rows, partition, limit, tmp_path, record_property):
    whole = pq.read_table(real_data / "census-anatomy" / f"{file}.parquet")
    sensitive = whole.column_names[-1]
    table = sample(whole, rows, seed=1).select([*QUASI, sensitive])
    options = {"cuts": "fitted"} if partition == "local" else {}
    policy = Policy(quasi=QUASI, sensitive=sensitive, guarantee={"l": 10}, partition=partition, options=options)
    release = publish(table, policy, to=tmp_path / "release", seed=1)

    qit, st = pq.read_table(release.file("qit")), pq.read_table(release.file("st"))
    group, held_in = qit["group"].to_numpy() - 1, st["group"].to_numpy() - 1
    released = {name: qit[name].to_numpy() for name in QUASI}
    private = {name: table[name].to_numpy() for name in table.column_names}
    sizes = np.bincount(group)
    errors, asked = [], 0
    for query in queries(QUASI, sensitive, dimensions=2, selectivity=0.05, number=1_000, seed=2006):
        wanted = np.isin(private[sensitive], query.sensitive[1])
        actual = np.count_nonzero(query.hits(private, rows) & wanted)
        hits = np.bincount(group[query.hits(released, rows)], minlength=sizes.size)
        holders = np.isin(st[sensitive].to_numpy(), query.sensitive[1]) * st["count"].to_numpy()
        estimate = np.sum(hits * np.bincount(held_in, holders, sizes.size) / sizes)
        if actual:
            errors.append(abs(estimate - actual) / actual)
        if asked < 20:
            [answer] = release.ask(query.sql()).rows()
            assert answer["count"] == pytest.approx(estimate, rel=1e-9)
            assert answer["count_low"] <= actual <= answer["count_high"]
            asked += 1
    error = float(np.mean(errors))
    record_property("average relative error", error)
    print(f"{file} {partition}: average relative error {error:.2%} over {len(errors)} queries")
    assert error <= limit
