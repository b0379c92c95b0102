"""A release that is verified in slices: what is found is what is found of the whole, in less memory."""

import shutil
from importlib import import_module

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from discreet import Policy, publish
from discreet.engines import connect
from discreet.release.manifest import Manifest
from discreet.release.relations import load_file
from discreet.release.verify import counted, verify_alone
from discreet.release.verify.slices import Unsliced, slices
from release.forger import Forger

by_slices = import_module("discreet.release.verify.slices")
contents = import_module("discreet.release.verify.contents")
RULES = {
    "anatomy": {"guarantee": {"l": 4}, "partition": "deal"},
    "permutation": {"guarantee": {"k": 4, "e": 10_000}, "publication": "permutation"},
    "generalization": {"guarantee": {"k": 5, "distinct_l": 2}, "publication": "generalization"},
    "harmless": {"guarantee": {"l": 3}, "partition": "deal", "missing_sensitive": "value"},
}
LIMIT = "256MB"


@pytest.fixture(scope="module")
def releases(people, tmp_path_factory):
    place, few, found = tmp_path_factory.mktemp("place"), people.slice(0, 600), {}
    at = few.column_names.index("salary")
    gaps = few.set_column(at, "salary", pc.if_else(pc.less(few["salary"], 27_000), None, few["salary"]))
    for name, rules in RULES.items():
        often = {"harmless": [pc.mode(few["salary"])[0]["mode"].as_py()]} if name == "harmless" else {}
        policy = Policy(quasi=["age", "sex"], sensitive="salary", drop="rest", **often, **rules)
        found[name] = publish(gaps if name == "harmless" else few, policy, to=place / name, rows_per_part=150).path
    return found


@pytest.fixture
def small(monkeypatch):
    """Slices of some forty rows, of batches that end inside groups."""
    own = slices
    monkeypatch.setattr(counted, "slices", lambda *given: own(*given, rows=40))
    monkeypatch.setattr(import_module("discreet.release.verify.batches"), "AT_ONCE", 17)


@pytest.mark.parametrize("name", RULES)
def test_slices_hold_every_group_once(releases, small, name):
    manifest, found = Manifest.read(releases[name]), {}
    seen = []
    for tables in counted.slices(releases[name], manifest):
        groups = [{*table["group"].to_pylist()} for table in tables.values() if "group" in table.column_names]
        assert all(each == groups[0] for each in groups)
        seen.append(groups[0])
        for file, table in tables.items():
            found.setdefault(file, []).append(table)
    assert len(seen) > 5
    assert sum(map(len, seen)) == len(set.union(*seen)) == manifest.discreet.groups
    engine = connect()
    for file, tables in found.items():
        whole = pa.concat_tables(tables)
        load_file(engine, releases[name], manifest.resource(file))
        assert engine.run(f'SELECT * FROM "{file} file"').select(whole.column_names).equals(whole)


@pytest.mark.parametrize("name", RULES)
def test_slices_count_what_the_whole_does(releases, small, name, monkeypatch):
    """Figure by figure, in many slices; and every check says the same."""
    own, told = contents.counted_in_slices, []

    def both(folder, manifest, known, promised, harmless, limit):
        told.append(own(folder, manifest, known, promised, harmless, limit))

    monkeypatch.setattr(contents, "counted_in_slices", both)
    monkeypatch.setattr(contents, "counted", lambda *given: told.append(counted.counted(*given)) or told[-1])
    whole = verify_alone(releases[name], memory_limit=LIMIT)
    in_slices, at_once = told
    assert in_slices == at_once
    assert whole.ok
    monkeypatch.setattr(contents, "counted_in_slices", own)
    assert (
        verify_alone(releases[name], memory_limit=LIMIT).checks == whole.checks == verify_alone(releases[name]).checks
    )


FAULTS = {
    "a value too often": ("st", lambda rows: [{**rows[0], "count": rows[0]["count"] + 5}, *rows[1:]]),
    "a row too few": ("st", lambda rows: rows[1:]),
    "a group too few": ("st", lambda rows: [row for row in rows if row["group"] != rows[200]["group"]]),
    "a row of another group": ("qit", lambda rows: [{**rows[0], "group": rows[-1]["group"]}, *rows[1:]]),
    "groups out of order": ("st", lambda rows: rows[::-1]),
    "no group": ("qit", lambda rows: [{**rows[0], "group": None}, *rows[1:]]),
    "a count of 0": ("st", lambda rows: [{**rows[0], "count": 0}, *rows[1:]]),
    "one value in a group": ("st", lambda rows: [{**row, "salary": 1} if row["group"] == 9 else row for row in rows]),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_in_slices(people, small, fault, tmp_path):
    policy = Policy(quasi=["age", "sex"], sensitive="salary", drop="rest", **RULES["anatomy"])
    made = publish(people.slice(0, 400), policy, to=tmp_path / "made").path
    copy = Forger(shutil.copytree(made, tmp_path / "copy"), {"qit": ("group",), "st": ("group", "salary", "count")})
    file, forge = FAULTS[fault]
    copy.rows(file, forge, sort="order" not in fault)
    found = verify_alone(copy.path, memory_limit=LIMIT)
    assert found.failures
    assert [check.name for check in found.failures] == [check.name for check in verify_alone(copy.path).failures]


def test_other_releases_are_counted_as_a_whole(people, tmp_path):
    policy = Policy(quasi=["age", "sex"], sensitive="salary", drop="rest", **RULES["anatomy"])
    csv = publish(people.slice(0, 100), policy, to=tmp_path / "csv", format="csv").path
    with pytest.raises(Unsliced):
        next(slices(csv, Manifest.read(csv)))
    assert verify_alone(csv, memory_limit=LIMIT).ok
