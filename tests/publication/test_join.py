"""Joined releases: private rows hide among public ones, and the public ones only where they are needed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import DiscreetWarning, GuaranteeError, InputError, PolicyError
from discreet.guarantees import Guarantee, Histograms
from discreet.partition import PARTITIONS
from discreet.partition.spatial.join.join import join
from discreet.partition.spatial.space import Dimension
from discreet.release.files import digest
from discreet.release.manifest import NAME
from discreet.values.random import RandomSource

MICRODATA = {"A": (1, 1), "B": (2, 2), "C": (1, 4), "D": (2, 3), "E": (3, 1), "F": (3, 2), "G": (5, 4)}
PUBLIC = {name: point for name, point in MICRODATA.items() if name != "D"}
PUBLIC |= {"G1": (5, 4), "G2": (5, 4), "U": (2, 1), "V": (1, 3), "X": (4, 3), "Y": (4, 2)}


def table(points: dict[str, tuple[int, int]], **more: object) -> pa.Table:
    one, two = zip(*points.values(), strict=True)
    return pa.table({"id": list(points), "one": list(one), "two": list(two), **more})


def microdata() -> pa.Table:
    return table(MICRODATA, illness=["v1", "v2", "v1", "v2", "v1", "v2", "v3"])


def policy(**changes: object) -> discreet.Policy:
    values: dict[str, object] = {
        "identifiers": ["id"],
        "quasi": ["one", "two"],
        "sensitive": "illness",
        "guarantee": {"k": 3},
        "publication": "join",
        "join": "id",
    }
    return discreet.Policy(**{**values, **changes})  # type: ignore[arg-type]


VARIANTS = [(p, v) for p in ("mondrian", "topdown") for v in ("direct", "refinement")]


@pytest.mark.parametrize(("partition", "variant"), VARIANTS)
def test_the_papers_figure_1(partition: str, variant: str, tmp_path: Path) -> None:
    rules = policy(partition=partition, options={"variant": variant})
    release = discreet.publish(microdata(), rules, public=table(PUBLIC), to=tmp_path / "r", seed=1)
    assert discreet.verify(release.path).ok
    joined = duckdb.sql(f"FROM '{release.file('joined')}'")
    sizes = duckdb.sql('SELECT "group", COUNT(*) AS n FROM joined GROUP BY ALL').fetchall()
    assert min(n for _, n in sizes) >= 3
    values = duckdb.sql(f"SELECT illness, SUM(count) FROM '{release.file('si')}' GROUP BY ALL ORDER BY ALL").fetchall()
    assert values == [("v1", 3), ("v2", 3), ("v3", 1)]
    assert "id" not in joined.columns
    for path in release.path.iterdir():
        assert b"G1" not in path.read_bytes()


@pytest.mark.parametrize("variant", ["direct", "refinement"])
def test_g_needs_no_generalization(variant: str, tmp_path: Path) -> None:
    """With two public people at the same point, G's box is a point (paper 2, figure 5)."""
    rules = policy(options={"variant": variant})
    public = table({**PUBLIC, **{f"G{i}": (5, 4) for i in range(1, 5)}})
    release = discreet.publish(microdata(), rules, public=public, to=tmp_path / "r", seed=1)
    boxes = duckdb.sql(f"SELECT DISTINCT one_low, one_high, two_low, two_high FROM '{release.file('joined')}'")
    assert (5, 5, 4, 4) in boxes.fetchall()


@pytest.mark.parametrize(("partition", "variant"), VARIANTS)
@pytest.mark.parametrize("forms", ["ranges", "mixed"])
def test_every_joined_group_has_k_rows_and_a_private_one(partition: str, variant: str, forms: str) -> None:
    for seed in range(12):
        chance = np.random.default_rng(seed)
        private, rows = int(chance.integers(8, 60)), int(chance.integers(60, 400))
        space = [Dimension(chance.integers(0, 9, rows).astype(np.int32), 9, np.arange(9.0)) for _ in range(2)]
        if forms == "mixed":
            space.append(Dimension(chance.integers(0, 4, rows).astype(np.int32), 4))
            nodes = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
            space.append(Dimension(chance.integers(0, 4, rows).astype(np.int32), 4, levels=nodes))
        sensitive = (np.arange(private) % 4).astype(np.int32)
        guarantee = Guarantee.of({"k": 4, "l": 2})
        groups, parts = join(space, sensitive, guarantee, PARTITIONS[partition], {}, variant, RandomSource(seed))
        assert (groups[:private] >= 0).all()
        shown = groups >= 0
        assert np.bincount(groups[shown]).min() >= 4
        assert set(groups[:private]) == set(range(groups.max() + 1))
        assert guarantee.holds(Histograms.of(parts[:private], sensitive)).all()
        for group in range(groups.max() + 1):
            assert len(set(parts[groups == group])) == 1


def test_public_rows_that_are_not_needed_never_appear(tmp_path: Path) -> None:
    far = {f"far {i}": (900 + i, 900 + i) for i in range(50)}
    for variant in ("direct", "refinement"):
        rules = policy(options={"variant": variant})
        release = discreet.publish(microdata(), rules, public=table({**PUBLIC, **far}), to=tmp_path / variant, seed=1)
        most = duckdb.sql(f"SELECT MAX(one_high), MAX(two_high) FROM '{release.file('joined')}'").fetchall()
        assert most == [(5, 4)]


def test_a_first_pass_may_be_l_diverse(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    rows = 400
    private = pa.table(
        {
            "id": [f"p{i}" for i in range(rows)],
            "one": chance.integers(0, 50, rows),
            "two": chance.integers(0, 50, rows),
            "illness": chance.choice(["a", "b", "c", "d", "e", "f"], rows),
        }
    )
    public = pa.table(
        {"id": [f"x{i}" for i in range(4000)], "one": chance.integers(0, 50, 4000), "two": chance.integers(0, 50, 4000)}
    )
    rules = policy(guarantee={"k": 10, "l": 4})
    release = discreet.publish(private, rules, public=public, to=tmp_path / "r", seed=1)
    si = pq.read_table(release.file("si")).to_pandas().groupby("sensitive_group")["count"]
    assert (si.max() * 4 <= si.sum()).all()
    assert release.promise.join is not None
    assert release.promise.groups > release.promise.join.groups


def test_doubtful_public_tables_are_told(tmp_path: Path) -> None:
    public = pa.concat_tables([table(PUBLIC), table({"X": (4, 4), "A": (1, 2)})])
    with pytest.warns(DiscreetWarning) as found:
        discreet.publish(microdata(), policy(), public=public, to=tmp_path / "r", seed=1)
    assert ["twice" in str(w.message) for w in found] == [True]
    changed = table({**PUBLIC, "A": (1, 2)})
    with pytest.warns(DiscreetWarning, match="disagrees with the microdata about `two`"):
        discreet.publish(microdata(), policy(), public=changed, to=tmp_path / "s", seed=1)
    nameless = table(PUBLIC).set_column(0, "id", pa.array([None, *list(PUBLIC)[1:]]))
    with pytest.warns(DiscreetWarning, match="without `id`"):
        discreet.publish(microdata(), policy(), public=nameless, to=tmp_path / "t", seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discreet.publish(microdata(), policy(), public=table(PUBLIC), to=tmp_path / "u", seed=1)


BAD = {
    "no identifier": (table(PUBLIC).drop_columns(["id"]), "no column `id`, the identifier"),
    "no quasi-identifier": (table(PUBLIC).drop_columns(["two"]), "no column `two`, the quasi-identifier"),
    "another type": (
        table(PUBLIC).set_column(1, "one", pa.array(["x"] * len(PUBLIC))),
        "holds int64 in the microdata",
    ),
    "none": (None, "needs a public table"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_public_tables(case: str, tmp_path: Path) -> None:
    public, told = BAD[case]
    with pytest.raises(InputError, match=told):
        discreet.publish(microdata(), policy(), public=public, to=tmp_path / "r")
    assert not any(tmp_path.iterdir())


def test_a_person_has_one_row(tmp_path: Path) -> None:
    twice = pa.concat_tables([microdata(), microdata()])
    with pytest.raises(InputError, match="`id` repeats: 14 rows are of 7 people"):
        discreet.publish(twice, policy(), public=table(PUBLIC), to=tmp_path / "r")


def test_a_public_table_belongs_to_joins(tmp_path: Path) -> None:
    plain = policy(publication="generalization", join=None)
    with pytest.raises(InputError, match="only `join` uses a public table"):
        discreet.publish(microdata(), plain, public=table(PUBLIC), to=tmp_path / "r")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"join": None}, "is missing: the identifier"),
        ({"join": "one"}, "not among the `identifiers`"),
        ({"partition": "local"}, "`mondrian` or `topdown`"),
        ({"guarantee": {"l": 2}}, "promises k"),
        ({"options": {"variant": "indirect"}}, "did you mean `direct`"),
    ],
)
def test_bad_policies(changes: dict[str, object], told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        policy(**changes)


def tampered(release: discreet.release.Release, name: str, change: str, order: str) -> discreet.release.Report:
    """What verify says of a release, one file of which was changed and given its digest."""
    path = release.file(name)
    base = duckdb.connect()
    base.execute(f"CREATE TABLE t AS FROM '{path}'")
    base.execute(change).fetchall()
    base.execute(f"COPY (FROM t ORDER BY {order}) TO '{path}' (FORMAT parquet)")
    manifest = json.loads((release.path / NAME).read_text())
    for resource in manifest["resources"]:
        file = release.path / resource["path"]
        resource |= {"bytes": file.stat().st_size, "hash": digest(file)}
    (release.path / NAME).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return discreet.verify(release.path)


TAMPERED = {
    "marked rows": ("joined", "UPDATE t SET sensitive_group = NULL WHERE rowid % 3 = 0", '"group", sensitive_group'),
    "small boxes": ("joined", "DELETE FROM t WHERE rowid % 2 = 0", '"group", sensitive_group'),
    "too few values": ("si", "UPDATE t SET count = 1", "sensitive_group, illness"),
    "other groups": ("si", "UPDATE t SET sensitive_group = sensitive_group + 1", "sensitive_group, illness"),
}


@pytest.mark.parametrize("fault", TAMPERED)
def test_verify_finds_broken_joins(fault: str, tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    points = {f"p{i}": tuple(map(int, chance.integers(0, 9, 2))) for i in range(300)}
    mine = dict(list(points.items())[:60])
    private = table(mine, illness=chance.choice(["a", "b", "c"], 60))
    release = discreet.publish(private, policy(), public=table(points), to=tmp_path / "r", seed=1)
    assert discreet.verify(release.path).ok
    assert not tampered(release, *TAMPERED[fault]).ok


def test_values_of_rows_that_are_left_out_do_not_show(tmp_path: Path) -> None:
    private = pa.table(
        {
            "id": [f"p{i}" for i in range(10)],
            "zip": ["10115"] * 5 + ["20117"] * 5,
            "age": [30] * 10,
            "ill": list("abcdeabcde"),
        }
    )
    others = pa.table(
        {"id": [f"x{i}" for i in range(10)], "zip": ["77777"] * 10, "age": pa.array([None] * 10, pa.int64())}
    )
    public = pa.concat_tables([private.drop_columns(["ill"]), others])
    for variant in ("direct", "refinement"):
        rules = discreet.Policy(
            identifiers=["id"],
            quasi=["zip", "age"],
            sensitive="ill",
            guarantee={"k": 10},
            publication="join",
            join="id",
            partition="topdown",
            hierarchies={"zip": {"masks": [1, 2]}},
            options={"variant": variant},
        )
        release = discreet.publish(private, rules, public=public, to=tmp_path / variant, seed=1)
        assert "77777" not in pq.read_table(release.file("labels"))["value"].to_pylist()
        assert "age_missing" not in pq.read_schema(release.file("joined")).names


def test_a_public_table_of_nobody_else_is_told(tmp_path: Path) -> None:
    with pytest.warns(DiscreetWarning, match="nobody is hidden by it"):
        discreet.publish(microdata(), policy(), public=table(MICRODATA), to=tmp_path / "r", seed=1)


def test_identifiers_that_find_nobody(tmp_path: Path) -> None:
    odd = microdata().set_column(0, "id", pa.array([[i] for i in range(7)]))
    with pytest.raises(InputError, match="by which people cannot be looked up"):
        discreet.publish(odd, policy(), public=odd, to=tmp_path / "r")


def test_direct_needs_k_people_of_both_tables(tmp_path: Path) -> None:
    """Ten private rows and k = 40: the others are public."""
    chance = np.random.default_rng(4)
    points = {f"p{i}": tuple(map(int, chance.integers(0, 9, 2))) for i in range(300)}
    private = table(dict(list(points.items())[:10]), illness=list("abcdeabcde"))
    rules = policy(guarantee={"k": 40}, options={"variant": "direct"})
    assert discreet.verify(discreet.publish(private, rules, public=table(points), to=tmp_path / "r", seed=1).path).ok
    for variant, k in (("direct", 301), ("refinement", 40)):
        rules = policy(guarantee={"k": k}, options={"variant": variant})
        with pytest.raises(GuaranteeError, match=f"k = {k}"):
            discreet.publish(private, rules, public=table(points), to=tmp_path / "s")


def test_missing_values_are_boxes_of_their_own() -> None:
    """A group with a missing value does not reach over all larger ones."""
    codes = np.array([0, 1, 0, 4, 0, 1, 2, 3, 4, 4], np.int32)  # 4 is missing
    space = [Dimension(codes, 5, np.array([0.0, 1, 2, 3, 6]), missing=True)]
    parts = join(
        space, np.zeros(4, np.int32), Guarantee.of({"k": 4}), PARTITIONS["mondrian"], {}, "refinement", RandomSource(1)
    )[1]
    assert parts.tolist() == [0, 0, 0, 0, 0, 0, -1, -1, 0, 0]


def test_people_who_are_withheld_are_no_strangers(tmp_path: Path) -> None:
    chance = np.random.default_rng(6)
    points = {f"p{i}": (int(i), 0) for i in range(40)}
    illness = pa.array([None if i >= 30 else str(chance.integers(0, 3)) for i in range(40)])
    rules = policy(missing_sensitive="withhold", options={"variant": "direct"})
    with pytest.warns(DiscreetWarning, match="nobody is hidden"):
        release = discreet.publish(
            table(points, illness=illness), rules, public=table(points), to=tmp_path / "r", seed=1
        )
    assert (release.promise.rows, release.withheld) == (30, 10)
