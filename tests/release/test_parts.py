"""Tables in parts: the rows of one file, cut where they say themselves; and parts that anybody may have tampered with."""

import datetime as dt
import json
import shutil
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import Policy, open_release, publish, verify
from discreet.errors import DiscreetError, InputError, ReleaseError, VerificationError
from discreet.release import parts
from discreet.release.files import digest
from discreet.release.manifest import MOST_PARTS, FieldSpec, Resource, TableSpec, paths_of
from discreet.release.parts import per_part
from discreet.release.write import EPOCH, Written, complete, hidden
from release.forger import Forger

POLICY = Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"l": 3}, partition="deal")
PER_GROUP = 3


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(0, 90, n), "zip": rng.integers(0, 999, n), "ill": np.arange(n) % 9})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """100 groups of three people; a part has 10 of them."""
    return publish(people(), POLICY, to=tmp_path_factory.mktemp("releases") / "made", seed=1, rows_per_part=30)


@pytest.fixture
def forger(made, tmp_path):
    return Forger(shutil.copytree(made.path, tmp_path / "forged"))


def rows_of(release, name):
    return pa.concat_tables(map(pq.read_table, release.files(name)))


def messy(n=60):
    """Every type that a release may hold."""
    return pa.table(
        {
            "text": pa.array([["a\nb", "", "ü", None][i % 4] for i in range(n)]),
            "flag": pa.array([None if i % 7 == 3 else i % 2 == 0 for i in range(n)]),
            "tiny": pa.array([i - 30 for i in range(n)], pa.int8()),
            "huge": pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
            "single": pa.array([i / 7 for i in range(n)], pa.float32()),
            "double": pa.array([None if i % 9 == 1 else 0.1 * i for i in range(n)]),
            "price": pa.array([Decimal(i) / 100 for i in range(n)], pa.decimal128(9, 2)),
            "day": pa.array([dt.date(1899, 12, 31) + dt.timedelta(i % 5) for i in range(n)]),
            "at": pa.array([dt.datetime(2020, 1, 1, 12, 0, i, 7) for i in range(n)], pa.timestamp("us")),  # noqa: DTZ001
            "zoned": pa.array([dt.datetime(2020, 1, 1, 12, i, tzinfo=dt.UTC) for i in range(n)]),
            "fine": pa.array([10**18 + i for i in range(n)], pa.timestamp("ns")),
            "clock": pa.array([dt.time(1, 2, i % 60, 3) for i in range(n)], pa.time64("us")),
            "ill": pa.array([i % 6 for i in range(n)]),
        }
    )


@pytest.mark.parametrize("rows_per_part", [1, 7, 59])
def test_parts_are_one_file(rows_per_part, tmp_path):
    table = messy()
    quasi = [name for name in table.column_names if name != "ill"]
    for partition, publication in (("deal", "anatomy"), ("deal", "permutation")):
        rules = Policy(
            quasi=quasi,
            sensitive="ill",
            guarantee={"l": 3},
            partition=partition,
            publication=publication,
        )
        one, many = (
            publish(table, rules, to=tmp_path / f"{publication} {rows}", seed=1, rows_per_part=rows)
            for rows in (None, rows_per_part)
        )
        assert (one.promise.format, many.promise.format) == (1, 2)
        for resource in many.manifest.resources:
            assert resource.in_parts
            whole = pq.read_table(one.file(resource.name))
            assert rows_of(many, resource.name).equals(whole)
            schemas = {pq.read_metadata(path).schema.to_arrow_schema() for path in many.files(resource.name)}
            assert schemas == {pq.read_metadata(one.file(resource.name)).schema.to_arrow_schema()}
        assert many.verify().ok


def test_every_part_has_as_many_groups(made):
    """So that sizes of parts tell nothing but sizes of groups, and tables of the same groups have the same parts."""
    for name in ("qit", "st"):
        paths = made.files(name)
        assert [path.name for path in paths] == [f"{name}-{i:05}.parquet" for i in range(1, 11)]
        for i, path in enumerate(paths):
            assert np.unique(pq.read_table(path)["group"]).tolist() == list(range(10 * i + 1, 10 * i + 11))
    manifest = json.loads((made.path / "datapackage.json").read_text())
    assert manifest["discreet"]["format"] == 2
    [first, _] = manifest["resources"]
    assert first["path"] == [path.name for path in made.files("qit")]
    assert first["hashes"] == [digest(path) for path in made.files("qit")]
    assert "hash" not in first
    assert {path.stat().st_mtime for path in made.path.iterdir()} == {EPOCH}
    assert {path.name for path in made.path.iterdir()} == {
        *("datapackage.json", "README.md", "dcat.jsonld"),
        *(path.name for name in ("qit", "st") for path in made.files(name)),
    }


def test_rows_that_stand_by_their_number_are_cut_by_rows(tmp_path):
    made = publish(
        people(),
        Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"l": 3}, partition="deal", publication="permutation"),
        to=tmp_path / "r",
        rows_per_part=70,
    )
    for name in ("permuted", "mapping"):
        assert [pq.read_metadata(path).num_rows for path in made.files(name)] == [70, 70, 70, 70, 20]


def test_small_tables_stay_one_file(tmp_path, monkeypatch):
    """Up to the size of a part a release is what it always was, by default and when it is asked for."""
    plain = publish(people(), POLICY, to=tmp_path / "plain", seed=1)
    asked = publish(people(), POLICY, to=tmp_path / "asked", seed=1, rows_per_part=300)
    manifest = (plain.path / "datapackage.json").read_text()
    assert manifest == (asked.path / "datapackage.json").read_text()
    assert json.loads(manifest)["discreet"]["format"] == 1
    assert [[*resource] for resource in json.loads(manifest)["resources"]] == [
        ["name", "path", "format", "hash", "schema"]
    ] * 2
    monkeypatch.setattr(parts, "ROWS", 100)
    large = publish(people(), POLICY, to=tmp_path / "large", seed=1)
    assert len(large.files("qit")) == 4  # of 33 groups each, and one of the last
    assert large.verify().ok


@pytest.mark.parametrize("rows", [0, -5, True, 2.5, "many"])
def test_rows_per_part_that_cannot_be(rows, tmp_path):
    with pytest.raises(InputError, match="whole number of rows, at least 1"):
        publish(people(), POLICY, to=tmp_path / "r", rows_per_part=rows)
    assert not (tmp_path / "r").exists()


def test_what_is_not_cut(tmp_path):
    with pytest.raises(InputError, match="only Parquet files can be parts"):
        publish(people(), POLICY, to=tmp_path / "r", rows_per_part=10, format="csv")
    many = people(MOST_PARTS // 2 + 1)
    with pytest.raises(InputError, match="more than 2,500 parts"):
        publish(many, POLICY, to=tmp_path / "r", rows_per_part=1)
    assert [*tmp_path.iterdir()] == []


def test_hundreds_of_parts(tmp_path):
    made = publish(people(1_500), POLICY, to=tmp_path / "r", seed=1, rows_per_part=1)
    assert len(made.files("qit")) == made.promise.groups == 500
    assert made.verify().ok
    [row] = made.ask("SELECT COUNT(*) AS n FROM microdata").rows()
    assert row["n"] == 1_500


# What others may do to parts.


def swapped(forger):
    a, b = forger.path / "qit-00001.parquet", forger.path / "qit-00002.parquet"
    a.rename(forger.path / "x")
    b.rename(a)
    (forger.path / "x").rename(b)


def linked(forger):
    path = forger.path / "qit-00003.parquet"
    shutil.copy(path, forger.path.parent / "elsewhere.parquet")
    path.unlink()
    path.symlink_to(forger.path.parent / "elsewhere.parquet")


def first(act):
    """Change what the manifest says of the first table."""
    return lambda forger: forger.manifest(lambda told: act(told["resources"][0]))


def hashes_swapped(table):
    table["hashes"][:2] = table["hashes"][1::-1]


def without_last(table):
    table["path"].pop()
    table["hashes"].pop()


def numbered_anew(forger, number):
    """Take away a part, and let those behind it close up."""
    (forger.path / f"qit-{number:05}.parquet").unlink()
    for i in range(number + 1, 11):
        (forger.path / f"qit-{i:05}.parquet").rename(forger.path / f"qit-{i - 1:05}.parquet")
    first(without_last)(forger)
    forger.mend()


def moved(forger, rows, source, target, *, sort=True):
    """Move the first or the last rows of a part to another."""
    one, other = (forger.path / f"qit-{i:05}.parquet" for i in (source, target))
    here, there = pq.read_table(one), pq.read_table(other)
    take = here.slice(0, rows) if rows > 0 else here.slice(len(here) + rows)
    left = here.slice(rows) if rows > 0 else here.slice(0, len(here) + rows)
    there = pa.concat_tables([there, take])
    keys = [(name, "ascending") for name in ("group", "age", "zip")]
    for path, table in ((one, left), (other, there.sort_by(keys) if sort else there)):
        pq.write_table(table, path, store_schema=False)
    forger.mend()


def repeated(forger):
    """One part twice, in the place of the next."""
    shutil.copy(forger.path / "qit-00001.parquet", forger.path / "qit-00002.parquet")
    forger.mend()


def part(number, change):
    def plant(forger):
        path = forger.path / f"qit-{number:05}.parquet"
        pq.write_table(change(pq.read_table(path)), path, store_schema=False)
        forger.mend()

    return plant


def narrowed(table):
    return table.set_column(0, "age", table["age"].cast(pa.int16()))


def noted(forger):
    path = forger.path / "qit-00007.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata({"by": "me"}), path)
    forger.mend()


FAULTS = {
    "a part is missing": (lambda f: (f.path / "qit-00004.parquet").unlink(), "files"),
    "an extra part": (lambda f: shutil.copy(f.path / "qit-00001.parquet", f.path / "qit-00011.parquet"), "files"),
    "the whole table beside its parts": (
        lambda f: shutil.copy(f.path / "qit-00001.parquet", f.path / "qit.parquet"),
        "files",
    ),
    "a part that is a link": (linked, "digests"),
    "parts that changed places": (swapped, "digests"),
    "digests that changed places": (first(hashes_swapped), "digests"),
    "an empty digest": (first(lambda table: table["hashes"].__setitem__(0, "")), "digests"),
    "a path twice": (first(lambda table: table["path"].__setitem__(1, table["path"][0])), "manifest"),
    "paths in another order": (first(lambda table: table["path"].reverse()), "manifest"),
    "a path outside": (first(lambda table: table["path"].__setitem__(1, "../qit-00002.parquet")), "manifest"),
    "an absolute path": (first(lambda table: table["path"].__setitem__(1, "/etc/passwd")), "manifest"),
    "an address": (first(lambda table: table["path"].__setitem__(1, "https://example.org/x.parquet")), "manifest"),
    "a part of another table": (first(lambda table: table["path"].__setitem__(1, "st-00002.parquet")), "manifest"),
    "parts of CSV": (first(lambda table: table.update(format="csv")), "manifest"),
    "the format of whole tables": (lambda f: f.promise(format=1), "manifest"),
    "no parts": (first(lambda table: table.update(path=[], hashes=[])), "unreadable"),
    "one part": (first(lambda table: table.update(path=table["path"][:1], hashes=table["hashes"][:1])), "unreadable"),
    "too many parts": (
        first(lambda table: table.update(path=["x"] * (MOST_PARTS + 1), hashes=["x"] * (MOST_PARTS + 1))),
        "unreadable",
    ),
    "too few digests": (first(lambda table: table["hashes"].pop()), "unreadable"),
    "no digests": (first(lambda table: table.pop("hashes")), "unreadable"),
    "a digest of all": (first(lambda table: table.update(hash="sha256:" + "0" * 64)), "unreadable"),
    "parts that are no texts": (first(lambda table: table.update(path=[1, 2])), "unreadable"),
    "a part less": (lambda f: numbered_anew(f, 10), "groups"),
    "a part less in the middle": (lambda f: numbered_anew(f, 5), "parts"),
    "a part twice": (repeated, "parts"),
    "a group in two parts": (lambda f: moved(f, -1, 3, 4), "parts"),
    "a group goes on in a later part": (lambda f: moved(f, 1, 2, 5, sort=False), "order"),
    "a part with a group more": (lambda f: moved(f, -PER_GROUP, 3, 4), "parts"),
    "a last part that is larger": (lambda f: moved(f, -PER_GROUP, 9, 10), "parts"),
    "an empty part": (part(10, lambda table: table.slice(0, 0)), "parts"),
    "an empty part in the middle": (part(4, lambda table: table.slice(0, 0)), "parts"),
    "rows out of order": (part(6, lambda table: table.take([1, 0, *range(2, 30)])), "order"),
    "another type": (part(2, narrowed), "columns"),
    "another column": (part(2, lambda table: table.append_column("x", table["age"])), "columns"),
    "a column less": (part(2, lambda table: table.drop_columns(["age"])), "columns"),
    "columns in another order": (part(2, lambda table: table.select(["zip", "age", "group"])), "columns"),
    "a group without a number": (
        part(2, lambda table: table.set_column(2, "group", pa.array([None] * 30, pa.int32()))),
        "parts",
    ),
    "notes of a writer": (noted, "metadata"),
    "no Parquet": (lambda f: ((f.path / "qit-00002.parquet").write_text("x"), f.mend()), "metadata"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_parts_end_where_rows_say(forger, fault):
    """And are those that were published: whatever else is done to them is found, and named."""
    plant, expected = FAULTS[fault]
    plant(forger)
    try:
        found = {check.name for check in verify(forger.path).failures}
    except ReleaseError:
        found = {"unreadable"}
    assert expected in found
    if expected in {"files", "digests", "manifest", "unreadable"} and fault not in {
        "an extra part",
        "the whole table beside its parts",
        "the format of whole tables",
    }:
        with pytest.raises((ReleaseError, VerificationError)):
            open_release(forger.path)


def test_an_honest_copy_verifies(forger):
    forger.mend()
    assert verify(forger.path).ok


def test_a_part_that_changes_under_a_question(forger):
    with open_release(forger.path) as release:
        release.ask("SELECT COUNT(*) FROM microdata")
        path = release.files("qit")[6]
        path.write_bytes(path.read_bytes() + b"x")
        with pytest.raises(ReleaseError, match="have changed since it was opened"):
            release.ask("SELECT COUNT(*) FROM microdata")


# Those who read parts.


def test_reading_a_table_in_parts(made, tmp_path):
    with pytest.raises(ReleaseError, match=r"in 10 parts.*(\n.*)*files\(\"qit\"\)"):
        made.file("qit")
    assert made.bytes("qit") == sum(path.stat().st_size for path in made.files("qit"))
    told = made.explain("SELECT COUNT(*) FROM microdata WHERE ill = 3")
    assert all(path.name in told for path in made.files("qit"))
    one = publish(people(), POLICY, to=tmp_path / "one", seed=1)
    assert discreet.metrics(one) == discreet.metrics(made)
    assert discreet.risks(one) == discreet.risks(made)
    second = publish(people(), POLICY, to=tmp_path / "second", seed=1, earlier=[made], rows_per_part=100)
    assert len(second.files("qit")) == 4


def test_plausible_tables_of_parts(made, tmp_path):
    """They are drawn as from one file, and the parts stay as they were; published with them, they are in parts too."""
    learned = made.learn(2, to=tmp_path / "learned")
    assert learned.verify().ok
    for name in ("qit", "st"):
        for path, copy in zip(made.files(name), learned.files(name), strict=True):
            assert path.read_bytes() == copy.read_bytes()
    assert len(learned.files("plausible")) == 1
    at_once = publish(people(), POLICY, to=tmp_path / "at once", seed=1, rows_per_part=30, plausible=2)
    assert len(at_once.files("plausible")) == 10
    assert rows_of(at_once, "plausible").equals(pq.read_table(learned.file("plausible")))
    assert at_once.verify().ok
    question = "SELECT AVG(ill) AS x FROM microdata WHERE age > 40"
    assert at_once.ask(question).rows()[0]["x"] == pytest.approx(learned.ask(question).rows()[0]["x"])


def test_parts_come_back_from_a_database_byte_by_byte(made, database, tmp_path):
    with discreet.load(made, database, name="parts") as loaded:
        assert loaded.promise == made.promise
        question = "SELECT AVG(ill) AS x FROM microdata WHERE age > 40"
        assert loaded.ask(question).rows()[0]["x"] == pytest.approx(made.ask(question).rows()[0]["x"])
    back = discreet.dump(database, tmp_path / "back", name="parts")
    assert {path.name: path.read_bytes() for path in back.path.iterdir()} == {
        path.name: path.read_bytes() for path in made.path.iterdir()
    }


# Those who write them elsewhere.


def specs(release):
    return {resource.name: resource.table for resource in release.manifest.resources}


def shares(release, name, folder):
    """The rows of a table as another engine would write them: by the number of the group alone, under any names."""
    rows, step = rows_of(release, name), per_part(release.promise, name, 45)
    number = (rows["group"].to_numpy() - 1) // step
    for i in range(number.max() + 1):
        path = folder / f"_{name} by worker {i}"
        pq.write_table(rows.filter(pa.array(number == i)), path, store_schema=False)
        yield path


def test_parts_of_another_writer(made, tmp_path):
    """All but the rows is made here: names, digests, manifest, README; verified, durable, dated."""
    steps, to = [], tmp_path / "elsewhere"
    with hidden(to) as folder:
        tables = [Written(name, spec, [*shares(made, name, folder)]) for name, spec in specs(made).items()]
        release = complete(folder, to, made.promise, tables, progress=steps.append)
    assert steps == ["verifying"]
    assert [*tmp_path.iterdir()] == [to]
    assert len(release.files("qit")) == 7  # 15 groups each
    assert open_release(to).manifest == release.manifest
    assert release.verify().ok
    assert {path.stat().st_mtime for path in to.iterdir()} == {EPOCH}
    for name in ("qit", "st"):
        assert rows_of(release, name).equals(rows_of(made, name))


def test_one_file_of_another_writer_is_no_part(made, tmp_path):
    to = tmp_path / "elsewhere"
    with hidden(to) as folder:
        tables = []
        for name, spec in specs(made).items():
            pq.write_table(rows_of(made, name), folder / "any", store_schema=False)
            tables.append(Written(name, spec, [(folder / "any").rename(folder / f"some {name}")]))
        release = complete(folder, to, made.promise, tables)
    assert (release.promise.format, release.file("qit").name) == (1, "qit.parquet")


@pytest.mark.parametrize("wrong", ["cut elsewhere", "left behind", "lost", "in the way", "none"])
def test_a_writer_who_fails_leaves_nothing(made, wrong, tmp_path):
    to = tmp_path / "elsewhere"

    def write():
        with hidden(to) as folder:
            tables = [Written(name, spec, [*shares(made, name, folder)]) for name, spec in specs(made).items()]
            match wrong:
                case "cut elsewhere":
                    rows = pa.concat_tables(map(pq.read_table, tables[0].files[:2]))
                    pq.write_table(rows.slice(0, 20), tables[0].files[0], store_schema=False)
                    pq.write_table(rows.slice(20), tables[0].files[1], store_schema=False)
                case "left behind":
                    (folder / "_SUCCESS").touch()
                case "lost":
                    tables[0].files[3].unlink()
                case "in the way":
                    tables[1].files[0].rename(folder / "qit-00002.parquet")
                    tables[1].files[0] = folder / "qit-00002.parquet"
                case _:
                    tables[0] = Written("qit", tables[0].table, [])
            complete(folder, to, made.promise, tables)

    with pytest.raises(DiscreetError):
        write()
    assert [*tmp_path.iterdir()] == []


def test_paths_are_in_the_order_of_their_names():
    names = paths_of("qit", MOST_PARTS)
    assert [*names] == sorted(names)
    spec = TableSpec(fields=(FieldSpec(name="x", type="integer"),))
    with pytest.raises(ValueError, match="2 to 5,000 parts"):
        Resource(name="qit", path=("a",), format="parquet", hashes=("b",), table=spec)
