"""Every publication of the registry is judged here: a new one needs no new test code."""

import pickle
import re
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from alike import alike
from discreet import Policy, open_release, publish, read
from discreet.publication import FILES, KEYS, PUBLICATIONS
from discreet.release.layouts import LAYOUTS, cut_column, layout_of

OWN = {"join": {"join": "name"}, "slicing": {"together": [["age", "sex"]]}}
GUARANTEE = {"join": {"k": 3}, "swap": {"k": 2, "e": 10}}


def people(rows=48):
    each = [Random(i) for i in range(rows)]  # noqa: S311
    return pa.table(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": [rng.choice([None, *range(20, 50)]) for rng in each],
            "sex": [rng.choice("fm") for rng in each],
            "zip": [rng.randint(1, 5) for rng in each],
            "pay": [1_000 + 10 * (i % 12) for i in range(rows)],
        }
    )


def policy(publication):
    return Policy(
        identifiers=["name"],
        quasi=["age", "sex", "zip"],
        sensitive="pay",
        publication=publication,
        guarantee=GUARANTEE.get(publication, {"l": 3}),
        **OWN.get(publication, {}),
    )


def published(name, to, rows_per_part=None):
    public = people(96) if PUBLICATIONS[name].needs_public else None
    return publish(people(), policy(name), to=to, public=public, seed=1, rows_per_part=rows_per_part)


@pytest.fixture(scope="module", params=[None, 10], ids=["files", "parts"])
def rows_per_part(request):
    return request.param


@pytest.fixture(scope="module", params=list(PUBLICATIONS))
def release(request, rows_per_part, tmp_path_factory):
    with published(request.param, tmp_path_factory.mktemp(request.param) / "release", rows_per_part) as made:
        assert made.promise.format == (1 if rows_per_part is None else 2)
        yield made


@pytest.mark.parametrize("name", PUBLICATIONS)
def test_parts_are_the_same_rows_and_answer_the_same(name, tmp_path):
    one, many = published(name, tmp_path / "one"), published(name, tmp_path / "many", 10)
    for resource in many.manifest.resources:
        parts = [pq.read_table(path) for path in many.files(resource.name)]
        assert pa.concat_tables(parts).equals(pq.read_table(one.file(resource.name)))
        group = cut_column(many.promise, resource.name)
        sizes = [len(rows) if group is None else len(pc.unique(rows[group])) for rows in parts]
        assert set(sizes[:-1]) <= {sizes[0]}
        assert 1 <= sizes[-1] <= sizes[0]
    for question in (
        "SELECT COUNT(*), SUM(pay), AVG(pay), MIN(pay), MAX(pay) FROM microdata WHERE sex = 'f' AND zip >= 3",
        "SELECT AVG(pay) FROM microdata WHERE zip = 2 OR age < 30",
    ):
        answers = [release.ask(question) for release in (one, many)]
        assert alike(*answers), question


def test_both_sides_know_the_same_publications():
    assert list(FILES) == list(LAYOUTS) == list(PUBLICATIONS)
    assert set(KEYS.values()) <= set(PUBLICATIONS)


def test_it_opens_verifies_and_is_told(release):
    name = release.promise.publication
    with open_release(release.path) as opened:
        assert opened.manifest == release.manifest
    report = release.verify()
    assert report.ok, report.failures
    first, *_ = PUBLICATIONS[name].told(release.promise)
    assert first.endswith("verified")
    assert PUBLICATIONS[name].boxed == ("boxes" in layout_of(release.promise).members)
    assert PUBLICATIONS[name].needs_sensitive == layout_of(release.promise).needs_sensitive
    assert PUBLICATIONS[name].grouped == layout_of(release.promise).promises


def test_both_sides_know_what_stands_on_one_row(release):
    layout, name = layout_of(release.promise), release.promise.publication
    shown = PUBLICATIONS[name].blocks(policy(name))
    assert {*map(tuple, shown)} == {*layout.blocks(release.promise)}
    qit = layout.relations(release.promise)["qit"]
    assert not (layout.in_a_file and qit.args.get("joins"))


def test_counting_everybody_is_exact(release):
    [found] = release.ask("SELECT COUNT(*) AS n FROM microdata").rows()
    assert (found["n"], found["n_low"], found["n_high"]) == (48, 48, 48)


def test_bounds_hold_the_truth(release):
    with duckdb.connect() as database:
        database.register("microdata", people())
        for aggregate in ("COUNT(*)", "SUM(pay)", "MAX(pay)"):
            sql = f"SELECT {aggregate} AS n FROM microdata WHERE sex = 'f' AND zip >= 3"
            [found], [[truth]] = release.ask(sql).rows(), database.sql(sql).fetchall()
            assert found["n_low"] <= truth <= found["n_high"]


def test_its_columns_are_those_of_the_policy_and_ours(release):
    promise = release.promise
    ours = {promise.group, promise.count, promise.row, *(name for _, name in layout_of(promise).names(promise))}
    theirs = {*promise.columns, *(name for side in promise.boxes or () for name in side.columns)}
    for resource in release.manifest.resources:
        if resource.name != "labels":
            assert {*resource.kinds()} <= ours | theirs
    assert sorted(name for block in layout_of(promise).blocks(promise) for name in block) == sorted(promise.quasi)


def test_its_readme_can_be_pasted(release, monkeypatch):
    monkeypatch.chdir(release.path)
    found = re.findall(r"```sql\n(.*?)```", (release.path / "README.md").read_text(), re.DOTALL)
    assert found
    for sql in found:
        with duckdb.connect() as database:
            assert database.sql(sql).fetchall()


def test_a_policy_survives_being_pickled(release):
    rules = policy(release.promise.publication)
    assert pickle.loads(pickle.dumps(rules)) == rules  # noqa: S301


def test_the_table_is_left_as_it_was(release, tmp_path):
    name = release.promise.publication
    public = people(96) if PUBLICATIONS[name].needs_public else None
    with read(people()) as table:
        before = table.engine.run("SELECT view_name FROM duckdb_views() WHERE NOT internal").to_pylist()
        publish(table, policy(name), to=tmp_path / "r", public=public, seed=1)
        assert table.engine.run("SELECT view_name FROM duckdb_views() WHERE NOT internal").to_pylist() == before
