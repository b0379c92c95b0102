"""Generalized releases: boxes as tight as their rows, labels explained, faults found, rows suppressed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import GuaranteeError, InputError, PolicyError
from discreet.publication import generalization
from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import NAME

DISEASES = {"any": {"lung": ["flu", "asthma"], "gut": ["gastritis", "ulcer"]}}


def people(rows: int = 200, seed: int = 1) -> pa.Table:
    chance = np.random.default_rng(seed)
    drawn = zip(chance.integers(18, 90, rows), chance.random(rows) < 0.1, strict=True)
    age = [None if hidden else int(years) for years, hidden in drawn]
    return pa.table(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": pa.array(age, pa.int32()),
            "when": pa.array(chance.integers(0, 4000, rows).astype("datetime64[D]")),
            "town": pa.array([None if i % 17 == 0 else f"town {n}" for i, n in enumerate(chance.integers(0, 5, rows))]),
            "illness": chance.choice(["flu", "asthma", "gastritis", "ulcer"], rows),
            "pay": chance.integers(1, 9, rows),
        }
    )


def policy(**changes: object) -> discreet.Policy:
    values: dict[str, object] = {
        "identifiers": ["name"],
        "quasi": ["age", "when", "town", "illness"],
        "sensitive": "pay",
        "guarantee": {"k": 4},
        "publication": "generalization",
        "hierarchies": {"illness": {"tree": DISEASES}},
    }
    return discreet.Policy(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("partition", ["mondrian", "topdown", "local"])
def test_boxes_hold_their_rows(partition: str, tmp_path: Path) -> None:
    table = people()
    release = discreet.publish(table, policy(partition=partition), to=tmp_path / "r", seed=3)
    assert discreet.verify(release.path).ok
    shown = pq.read_table(release.file("generalized"))
    assert len(shown) == len(table)
    assert shown.column_names == [
        *("age_low", "age_high", "age_missing", "when_low", "when_high"),
        *("town", "illness", "group", "pay"),
    ]
    labels = pq.read_table(release.file("labels")).to_pylist()
    meaning: dict[tuple[str, str], set[str | None]] = {}
    for row in labels:
        meaning.setdefault((row["column"], row["label"]), set()).add(row["value"])
    by_group: dict[int, list[dict[str, object]]] = {}
    for row in shown.to_pylist():
        by_group.setdefault(row["group"], []).append(row)
    # Every person's values lie in some box that also shows their pay.
    for person in table.to_pylist():
        assert any(
            person["pay"] in {row["pay"] for row in rows} and inside(person, rows[0], meaning)
            for rows in by_group.values()
        )
    for rows in by_group.values():
        assert len(rows) >= 4
        box = {name: rows[0][name] for name in shown.column_names if name != "pay"}
        assert all({name: row[name] for name in box} == box for row in rows)


def inside(person: dict, box: dict, meaning: dict) -> bool:
    age = (
        box["age_missing"]
        if person["age"] is None
        else (box["age_low"] or 0) <= person["age"] <= (box["age_high"] or -1)
    )
    when = box["when_low"] <= person["when"] <= box["when_high"]
    town = person["town"] is None if box["town"] is None else person["town"] in meaning["town", box["town"]]
    return bool(age and when and town and person["illness"] in meaning["illness", box["illness"]])


def test_boxes_are_tight(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 8, 9], "c": ["x", "y", "z", "z"], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(
        quasi=["a", "c"], sensitive="s", guarantee={"k": 2}, publication="generalization", partition="mondrian"
    )
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    rows = duckdb.sql(f"SELECT DISTINCT a_low, a_high, c FROM '{release.file('generalized')}' ORDER BY ALL").fetchall()
    assert rows == [(1, 2, '["x", "y"]'), (8, 9, '["z"]')]


@pytest.mark.parametrize("hierarchies", [{}, {"c": {"tree": {"any": ["x", "y"]}}}], ids=["set", "tree"])
def test_a_group_of_missing_values_has_no_label(hierarchies: dict[str, object], tmp_path: Path) -> None:
    table = pa.table({"c": ["x", "x", None, None, "y", "y"], "a": [1, 1, 5, 5, None, None], "s": [1, 2, 3, 4, 5, 6]})
    values = {"quasi": ["c", "a"], "sensitive": "s", "guarantee": {"k": 2}, "publication": "generalization"}
    release = discreet.publish(table, discreet.Policy(**values, hierarchies=hierarchies), to=tmp_path / "r", seed=1)
    rows = duckdb.sql(
        f"SELECT DISTINCT a_low, a_missing, c FROM '{release.file('generalized')}' ORDER BY ALL"
    ).fetchall()
    x, y = ("x", "y") if hierarchies else ('["x"]', '["y"]')
    assert rows == [(1, False, x), (5, False, None), (None, True, y)]


def test_intervals_snap(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 8, 9, 31, 32], "s": [1, 2, 3, 4, 5, 6]})
    rules = discreet.Policy(
        quasi=["a"],
        sensitive="s",
        guarantee={"k": 2},
        publication="generalization",
        partition="full_domain",
        hierarchies={"a": {"intervals": [5, 10]}},
    )
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    rows = duckdb.sql(f"SELECT DISTINCT a_low, a_high FROM '{release.file('generalized')}' ORDER BY ALL").fetchall()
    assert rows == [(0, 4), (5, 9), (30, 34)]


@pytest.mark.parametrize("name", LABELS)
def test_a_column_may_be_called_as_one_of_labels(name: str, tmp_path: Path) -> None:
    table = pa.table({name: ["x", "y", "z"] * 4, "pay": range(12)})
    policy = discreet.Policy(quasi=[name], sensitive="pay", guarantee={"k": 3}, publication="generalization")
    assert discreet.verify(discreet.publish(table, policy, to=tmp_path / "r", seed=1).path).ok


def test_suppressed_rows_are_absent_and_counted(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 1, 1, 2, 2, 2, 77], "s": [1, 2, 3, 4, 5, 6, 7]})
    values = {
        "quasi": ["a"],
        "sensitive": "s",
        "guarantee": {"k": 3},
        "partition": "full_domain",
        "ordered": ["a"],
        "options": {"suppression": 0.2},
    }
    for publication in ("generalization", "anatomy"):
        rules = discreet.Policy(publication=publication, **values)  # type: ignore[arg-type]
        release = discreet.publish(table, rules, to=tmp_path / publication, seed=1)
        assert (release.suppressed, release.withheld, release.promise.rows) == (1, 0, 6)
        assert "suppressed" not in (release.path / NAME).read_text()
        assert release.promise.suppression == 0.2
        answer = release.ask("SELECT COUNT(*) FROM microdata WHERE a = 1")
        assert answer.notes[0].startswith("up to 1 of the table's rows may have been left out")
        assert answer.rows()[0]["count_high"] == 4
        assert discreet.verify(release.path).ok
    rows = duckdb.sql(f"SELECT DISTINCT a_low, a_high FROM '{tmp_path}/generalization/generalized.parquet' ORDER BY 1")
    assert rows.fetchall() == [(1, 1), (2, 2)]


FAULTS = {
    "a box for one row": ("generalized", "UPDATE t SET age_low = 0 WHERE rowid = 0", "different boxes"),
    "ends turned": ("generalized", "UPDATE t SET when_low = when_high, when_high = when_low - 1", "low above high"),
    "half an end": ("generalized", "UPDATE t SET when_low = NULL", "only one of the two"),
    "unexplained": ("labels", "DELETE FROM t WHERE \"column\" = 'illness'", "is not in `labels`"),
    "too much": ("labels", "INSERT INTO t VALUES ('illness', 'zzz', 'plague')", "a label that no box of"),
    "stranger": ("labels", "INSERT INTO t VALUES ('pay', 'zzz', '3')", "not shown by labels"),
    "another value of a set": (
        "labels",
        "UPDATE t SET value = 'nowhere' WHERE \"column\" = 'town' AND value = (SELECT MIN(value) FROM t WHERE \"column\" = 'town')",
        "has others in `labels`",
    ),
    "a quote more in each value": (
        "labels",
        "UPDATE t SET value = CONCAT(value, '\"') WHERE \"column\" = 'town'",
        "has others in `labels`",
    ),
    "fewer values of a set": (
        "labels",
        "DELETE FROM t WHERE \"column\" = 'town' AND rowid = (SELECT MIN(rowid) FROM t WHERE label LIKE '[%,%]')",
        "has others in `labels`",
    ),
    "small": (
        "generalized",
        'UPDATE t SET "group" = (SELECT MAX("group") FROM t) + 1 WHERE rowid = (SELECT MAX(rowid) FROM t)',
        "counts other rows",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_verify_finds_broken_boxes(fault: str, tmp_path: Path) -> None:
    release = discreet.publish(people(), policy(), to=tmp_path / "r", seed=3)
    name, change, told = FAULTS[fault]
    path = release.file(name)
    base = duckdb.connect()
    base.execute(f"CREATE TABLE t AS FROM '{path}'")
    base.execute(change).fetchall()
    base.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    redigest(release.path)
    report = discreet.verify(release.path)
    assert any(told in check.detail for check in report.failures), report.failures


@pytest.mark.parametrize("hierarchy", [None, {"tree": {"all": ['["x"]', '["y", "z"]', "w"]}}], ids=["set", "tree"])
def test_values_may_look_like_lists(hierarchy: dict[str, object] | None, tmp_path: Path) -> None:
    table = pa.table({"a": ['["x"]'] * 4 + ['["y", "z"]'] * 4 + ["w"] * 3, "s": [*range(11)]})
    rules = discreet.Policy(
        quasi=["a"],
        sensitive="s",
        guarantee={"k": 4},
        publication="generalization",
        hierarchies={} if hierarchy is None else {"a": hierarchy},
    )
    assert discreet.verify(discreet.publish(table, rules, to=tmp_path / "r", seed=1).path).ok


def redigest(folder: Path) -> None:
    from discreet.release.files import digest

    manifest = json.loads((folder / NAME).read_text())
    for resource in manifest["resources"]:
        path = folder / resource["path"]
        resource["hash"] = digest(path)
    (folder / NAME).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_same_seed_same_release(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("r")
    rows, seed = data.draw(st.integers(4, 40)), data.draw(st.integers(0, 99))
    partition = data.draw(st.sampled_from(["mondrian", "topdown"]))
    table = people(rows, seed)
    made = [discreet.publish(table, policy(partition=partition), to=folder / n, seed=seed) for n in ("a", "b")]
    assert made[0].file("generalized").read_bytes() == made[1].file("generalized").read_bytes()
    assert all(discreet.verify(r.path).ok for r in made)
    shutil.rmtree(folder)


BAD = {
    "suppression of 2": ({"options": {"suppression": 2}, "partition": "full_domain"}, "a share from 0 to 1"),
    "negative": ({"options": {"suppression": -0.1}, "partition": "full_domain"}, "a share from 0 to 1"),
    "unknown option": ({"options": {"dimensions": "widest"}}, "did you mean `dimension`"),
    "unknown word": ({"options": {"median": "loose"}}, "`strict`"),
    "hierarchy of nothing": ({"hierarchies": {"ages": {"intervals": [5]}}}, "no quasi-identifier"),
    "no hierarchy": ({"partition": "full_domain"}, "`town` has none"),
    "a number": ({"hierarchies": {"age": 5}}, "expected a file or a table"),
    "both": ({"ordered": ["illness"]}, "has a hierarchy, which decides"),
    "join alone": ({"join": "name"}, "belongs to the publication `join`"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_policies_are_told(case: str) -> None:
    changes, told = BAD[case]
    with pytest.raises(PolicyError) as error:
        policy(**changes)
    assert told in str(error.value)


def test_k_larger_than_the_table(tmp_path: Path) -> None:
    with pytest.raises(GuaranteeError, match="k = 500"):
        discreet.publish(people(), policy(guarantee={"k": 500}), to=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_value_without_a_path_is_told(tmp_path: Path) -> None:
    tree = {"any": {"lung": ["flu", "asthma"], "gut": ["gastritis"]}}
    with pytest.raises(
        InputError, match="1 of the 4 values of the column `illness` has no path to the root"
    ) as refused:
        discreet.publish(people(), policy(hierarchies={"illness": {"tree": tree}}), to=tmp_path / "r")
    assert "ulcer" not in str(refused.value)
    assert not (tmp_path / "r").exists()


def test_infinite_values_have_no_box(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, float("inf")], "s": [1, 2, 3]})
    rules = discreet.Policy(quasi=["a"], sensitive="s", guarantee={"k": 2}, publication="generalization")
    with pytest.raises(InputError, match="`a` holds infinite values"):
        discreet.publish(table, rules, to=tmp_path / "r")


def test_values_of_suppressed_rows_do_not_show(tmp_path: Path) -> None:
    table = pa.table(
        {"zip": ["10115"] * 5 + ["20117"] * 5 + ["99999"], "age": [30] * 10 + [None], "s": list(range(11))}
    )
    rules = discreet.Policy(
        quasi=["zip", "age"],
        sensitive="s",
        guarantee={"k": 10},
        publication="generalization",
        partition="full_domain",
        hierarchies={"zip": {"masks": [1, 2, 3]}},
        ordered=["age"],
        options={"suppression": 0.1},
    )
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    assert release.suppressed == 1
    assert "99999" not in pq.read_table(release.file("labels"))["value"].to_pylist()
    assert "age_missing" not in pq.read_schema(release.file("generalized")).names


def test_verify_finds_ends_that_are_no_numbers(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(quasi=["a"], sensitive="s", guarantee={"k": 2}, publication="generalization")
    for value in ("nan", "infinity"):
        release = discreet.publish(table, rules, to=tmp_path / value, seed=1)
        base = duckdb.connect()
        base.execute(f"CREATE TABLE t AS FROM '{release.file('generalized')}'")
        base.execute(f"UPDATE t SET a_high = CAST('{value}' AS DOUBLE)").fetchall()
        base.execute(f"COPY t TO '{release.file('generalized')}' (FORMAT parquet)")
        redigest(release.path)
        assert [check.name for check in discreet.verify(release.path).failures] == ["boxes"]


def test_labels_of_blocks_are_merged_as_one_table_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, sorted, a missing value last; however blocks share them, and however few wait to be merged."""
    whole = [("a", f"[{i % 7}, null]", value) for i in range(40) for value in (str(i % 7), None)]
    whole += [("b", "any", f"town {i % 5}") for i in range(30)]
    parts = [whole[i::3] for i in range(3)]
    tables = [
        pa.table({name: list(column) for name, column in zip(LABELS, zip(*part, strict=True), strict=True)})
        for part in parts
    ]
    expected = sorted(set(whole), key=lambda row: (row[0], row[1], row[2] is None, row[2] or ""))
    for some in (1 << 17, 3):
        monkeypatch.setattr(generalization, "SOME", some)
        assert [tuple(row.values()) for row in generalization.merged(tables).to_pylist()] == expected


def test_rows_are_the_same_whatever_groups_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = pa.table({"group": [1, 1, 2, 3, 3], "ill": ["a", "b", "b", "a", "c"], "count": [2, 3, 4, 1, 2]})
    shown = generalization.Shown(["low"], [pa.array([10, 20, 30])], counts)
    expected = [
        {"low": 10 * group, "group": group, "ill": ill}
        for group, ill, count in zip(*counts.to_pydict().values(), strict=True)
        for _ in range(count)
    ]
    for some in (1, 4, 100):
        monkeypatch.setattr(generalization, "SOME", some)
        assert shown.rows().read_all().to_pylist() == expected
        parts = [shown.some(1, 2), shown.some(2, 4), shown.some(1, 4).some(3, 4)]
        found = [part.rows().read_all().to_pylist() for part in parts]
        assert found[0] + found[1] == expected
        assert found[2] == [row for row in expected if row["group"] == 3]
