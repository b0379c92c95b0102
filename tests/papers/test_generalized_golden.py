"""The generalized tables that the papers print: how much they lose, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.publication.publish import publish_groups
from discreet.release import Release


def generalized(columns: Mapping[str, Any], groups: Sequence[int], to: Path, **policy: Any) -> Release:
    """A table published as boxes of the groups that a paper prints."""
    rules = discreet.Policy(publication="generalization", **policy)
    with discreet.read(pa.table(dict(columns))) as table:
        return publish_groups(table, rules, table.codes(rules.sensitive), np.array(groups, np.int32), to=to)


def boxes(release: Release, file: str) -> set[tuple[Any, ...]]:
    names = [name for side in release.promise.boxes for name in side.columns]
    return {tuple(row.values()) for row in pq.read_table(release.file(file)).select(names).to_pylist()}


# Sacharidis et al., figures 1, 2 and 5

MT = {"A": (1, 1), "B": (2, 2), "C": (1, 4), "D": (2, 3), "E": (3, 1), "F": (3, 2), "G": (5, 4)}
VALUES = ["v1", "v2", "v1", "v2", "v1", "v2", "v3"]
G1_G2 = {"G1": (5, 4), "G2": (5, 4)}
# Figure 5 has these three too; where in their boxes they lie is not in the text.
U_V_Y = {"U": (1, 2), "V": (2, 4), "Y": (3, 1)}


def placed(rows: Mapping[str, tuple[int, int]]) -> dict[str, list[Any]]:
    return {"id": list(rows), "qi1": [x for x, _ in rows.values()], "qi2": [y for _, y in rows.values()]}


def test_paper_2_ncp_62(tmp_path: Path) -> None:
    """Perimeters 8 and 10, of four and three rows."""
    table = {**placed(MT), "sa": VALUES}
    release = generalized(
        table,
        [0, 0, 0, 0, 1, 1, 1],
        tmp_path / "r",
        identifiers=["id"],
        quasi=["qi1", "qi2"],
        sensitive="sa",
        guarantee={"k": 3},
    )
    assert boxes(release, "generalized") == {(1, 2, 1, 4), (3, 5, 1, 4)}
    found = discreet.metrics(release)
    assert found.ncp == 8 * 4 + 10 * 3 == 62
    assert found.dm == 4 * 4 + 3 * 3
    assert found.c_avg == pytest.approx(7 / 2 / 3)


def join(to: Path, others: Mapping[str, tuple[int, int]], partition: str, variant: str) -> Release:
    table = pa.table({**placed(MT), "sa": VALUES})
    public = {name: place for name, place in MT.items() if name != "D"}  # D is in no public table
    policy = discreet.Policy(
        identifiers=["id"],
        quasi=["qi1", "qi2"],
        sensitive="sa",
        guarantee={"k": 3},
        publication="join",
        partition=partition,
        join="id",
        options={"variant": variant},
    )
    return discreet.publish(table, policy, to=to, public=pa.table(placed({**public, **others})), seed=1)


def test_paper_2_g_is_not_generalized_with_g1_and_g2(tmp_path: Path) -> None:
    release = join(tmp_path / "r", G1_G2, "topdown", "direct")
    assert (5, 5, 4, 4) in boxes(release, "joined")


@pytest.mark.parametrize("variant", ["refinement", "direct"])
@pytest.mark.parametrize("partition", ["mondrian", "topdown"])
def test_paper_2_figure_5(tmp_path: Path, partition: str, variant: str) -> None:
    """Four boxes, one of them the point where G lies."""
    release = join(tmp_path / "r", {**G1_G2, **U_V_Y}, partition, variant)
    assert boxes(release, "joined") == {(1, 2, 1, 2), (1, 2, 3, 4), (3, 3, 1, 2), (5, 5, 4, 4)}
    assert release.promise.groups == 4
    found = discreet.metrics(release)
    assert found.ncp is None if variant == "direct" else 0 < found.ncp < 62 / 2


# Li et al., tables 1 and 2

AGE = [65, 50, 70, 55, 90, 45, 50, 40, 10]
SEX = ["M", "M", "F", "F", "F", "M", "F", "F", "M"]
DISEASE = [
    *("Emphysema", "Cancer", "Flu", "Gastritic", "Dyspepsia"),
    *("Flu", "Pneumonia", "Gastritic", "Bronchitis"),
]


@pytest.fixture
def table_2_of_paper_4(tmp_path: Path) -> Release:
    """Age as a real number: the paper measures lengths, not whole years."""
    columns = {"age": pa.array(AGE, pa.float64()), "sex": SEX, "disease": DISEASE}
    groups = [0] * 5 + [1] * 4
    return generalized(columns, groups, tmp_path / "r", quasi=["age", "sex"], sensitive="disease", guarantee={"l": 4})


def test_paper_4_table_2(table_2_of_paper_4: Release) -> None:
    assert boxes(table_2_of_paper_4, "generalized") == {(50, 90, '["F", "M"]'), (10, 50, '["F", "M"]')}
    assert sorted(pq.read_table(table_2_of_paper_4.file("generalized"))["disease"].to_pylist()) == sorted(DISEASE)


def test_paper_4_ncp_13_and_a_half(table_2_of_paper_4: Release) -> None:
    """Half of all ages for nine people, and both sexes for nine."""
    found = discreet.metrics(table_2_of_paper_4)
    assert found.ncp_normalised == pytest.approx(40 / 80 * 5 + 40 / 80 * 4 + 2 / 2 * 9) == pytest.approx(13.5)
    assert found.ncp_share == pytest.approx(13.5 / 18)
    assert found.il == pytest.approx(1.5)


def test_paper_4_estimate_3_of_8(table_2_of_paper_4: Release) -> None:
    question = "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 40 AND 70 AND sex = 'F' AND disease = 'Flu'"
    [answer] = table_2_of_paper_4.ask(question).rows()
    assert answer["count"] == pytest.approx(1 / 4 + 1 / 8)
    assert (answer["count_low"], answer["count_high"]) == (0, 2)
    truth = zip(AGE, SEX, DISEASE, strict=True)
    assert sum(40 <= age <= 70 and (sex, ill) == ("F", "Flu") for age, sex, ill in truth) == 1


# Xiao and Tao, tables 1 and 2, and query A

TABLE_1 = {
    "Age": [23, 27, 35, 59, 61, 65, 65, 70],
    "Sex": ["M", "M", "M", "M", "F", "F", "F", "F"],
    "Zipcode": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
    "Disease": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
}
QUERY_A = """
    SELECT COUNT(*) FROM microdata
    WHERE Disease = 'pneumonia' AND Age <= 30 AND Zipcode BETWEEN 10001 AND 20000
"""


@pytest.fixture
def table_2_of_paper_5(tmp_path: Path) -> Release:
    return generalized(
        TABLE_1,
        [0, 0, 0, 0, 1, 1, 1, 1],
        tmp_path / "r",
        quasi=["Age", "Sex", "Zipcode"],
        sensitive="Disease",
        guarantee={"l": 2},
        hierarchies={
            "Age": {"intervals": [10, 40], "origin": 21},
            "Zipcode": {"intervals": [50_000], "origin": 10_001},
        },
    )


def test_paper_5_table_2(table_2_of_paper_5: Release) -> None:
    rows = [tuple(row.values()) for row in pq.read_table(table_2_of_paper_5.file("generalized")).to_pylist()]
    first, second = (21, 60, '["M"]', 10_001, 60_000, 1), (61, 70, '["F"]', 10_001, 60_000, 2)
    assert rows == [
        *((*first, ill) for ill in ("dyspepsia", "dyspepsia", "pneumonia", "pneumonia")),
        *((*second, ill) for ill in ("bronchitis", "flu", "flu", "gastritis")),
    ]
    assert table_2_of_paper_5.verify().ok


def test_paper_5_query_a(table_2_of_paper_5: Release) -> None:
    """Of group 1 a share of 10/40 x 10,000/50,000, and two of its people have pneumonia."""
    [answer] = table_2_of_paper_5.ask(QUERY_A).rows()
    assert answer["count"] == pytest.approx(0.1)
    assert (answer["count_low"], answer["count_high"]) == (0, 2)


def test_paper_5_what_it_loses(table_2_of_paper_5: Release) -> None:
    found = discreet.metrics(table_2_of_paper_5)
    assert found.ncp == pytest.approx(2 * (4 * 39 + 4 * 9 + 8 * 49_999))
    assert found.ncp_normalised == pytest.approx(4 * 39 / 49 + 4 * 9 / 49 + 8)
    # A row is spread evenly over the points of its box: 40 ages, 10 of the women, 50,000 zipcodes (equations 10 to 13).
    points = [40 * 50_000] * 4 + [10 * 50_000] * 4
    assert (
        found.rce == pytest.approx(sum(1 - 1 / held for held in points), abs=1e-12) == pytest.approx(7.99999, abs=1e-12)
    )
    assert found.value_rce == pytest.approx(4.5)
