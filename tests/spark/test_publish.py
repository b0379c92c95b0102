"""Tables that are published on Spark: every row once, verified from the parts, and the same whoever made them."""

import json
import re
from base64 import b64encode
from threading import Thread
from time import sleep
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import discreet
from alike import alike
from audit import test_order as order
from discreet.engines.spark import tasks, workers
from discreet.engines.spark.source import types_of
from discreet.errors import DiscreetError, EngineError, GuaranteeError, InputError, PolicyError, ReleaseError
from discreet.partition import cells
from discreet.publication import made_on_spark, on_spark
from discreet.publication.publish import ON_SPARK
from spark.whole import FIRST, POLICY, QUASI, check_whole, leftovers, make_small, shown

QUESTION = (
    "SELECT sex, COUNT(*), AVG(salary) FROM microdata WHERE age > 40 AND salary > 45000 GROUP BY sex ORDER BY sex"
)
MORE = (
    "SELECT COUNT(*) FROM microdata WHERE education IS NULL AND salary > 50000",
    "SELECT education, MIN(salary), MAX(salary), SUM(age) FROM microdata WHERE sex = 'female' GROUP BY education",
)


pytestmark = pytest.mark.usefixtures("small")


WAYS = {
    "deal": {"partition": "deal"},
    "local": {"partition": "local", "publication": "permutation"},
    "mondrian": {"partition": "mondrian"},
    "boxes": {"partition": "mondrian", "publication": "generalization"},
    "cluster": {"partition": "cluster"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_row_once(spark, lake, rows, way, tmp_path, large):
    told = []
    release = discreet.publish(
        lake, {**POLICY, **WAYS[way]}, to=tmp_path / "made", engine=spark, rows_per_part=250, progress=told.append
    )
    assert [each for each in told if ": " not in each] == [*ON_SPARK]
    of_tasks = (
        r"grouping: \d+ blocks of about \d+ rows, 1 MB for each task, 1 MB for each executor, which runs 1 at once"
    )
    assert [bool(re.fullmatch(of_tasks, each)) for each in told].count(True) == 1
    assert release.needs.tasks_at_once == 1
    assert release.promise.format == 2
    assert release.promise.for_publication
    assert len(release.files(FIRST[release.promise.publication])) > 4
    check_whole(release, rows)
    assert leftovers(tmp_path) == []


def test_cells_are_several_and_both_engines_answer_alike(spark, lake, rows, tmp_path, monkeypatch):
    blocks, made = [], made_on_spark.OnExecutors.blocks

    def watched(self):
        blocks.append(made(self))
        return blocks[-1]

    monkeypatch.setattr(made_on_spark.OnExecutors, "blocks", watched)
    release = discreet.publish(lake, {**POLICY, "partition": "local"}, to=tmp_path / "made", engine=spark)
    assert len(blocks[0].rows) > 3
    assert max(blocks[0].rows) <= 400
    assert release.promise.format == 1
    check_whole(release, rows)
    with discreet.open_release(release.path, engine=spark) as there:
        for question in (QUESTION, *MORE):
            assert alike(there.ask(question), release.ask(question)), question
        assert there.verify().ok
    here = discreet.publish(rows, {**POLICY, "partition": "local"}, to=tmp_path / "here")
    assert abs(release.promise.groups - here.promise.groups) < 0.1 * here.promise.groups


def test_what_cannot_be_cut_is_split_by_chance(spark, lake, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_cut", lambda *_: None)
    monkeypatch.setattr(cells, "MOST", 1000)
    told = []
    policy = {**POLICY, "partition": "local"}
    release = discreet.publish(lake, policy, to=tmp_path / "made", engine=spark, progress=told.append)
    assert any(each.startswith("grouping: 4 blocks of about 500 rows") for each in told)
    check_whole(release, rows)


def test_the_program_publishes_on_spark(spark, lake, rows, run, tmp_path):
    rules = 'quasi = ["age", "sex", "education"]\nsensitive = "salary"\ndrop = "rest"\nguarantee = { l = 4 }\n'
    (tmp_path / "p.toml").write_text(rules + 'partition = "deal"\n')
    where = ("--policy", tmp_path / "p.toml", "--to", tmp_path / "made")
    status, out, err = run("publish", lake, "--engine", "spark", *where, "--json")
    assert status == 0, err
    told = json.loads(out)
    assert told["promise"]["rows"] == rows.num_rows
    assert told["memory"]["executor"] == told["memory"]["task"] > 0
    logged = re.findall(r"^[\d-]{10} [\d:]{8} (\w+)$", err, re.MULTILINE)
    assert logged == ["starting", *ON_SPARK]
    status, _, err = run("publish", lake, "--engine", "spark", *where)
    assert status != 0
    assert "exists already" in err


@pytest.fixture(scope="module")
def in_parts(spark, rows, tmp_path_factory):
    """A release whose tables are in parts, of rows that are sorted by what must not be known."""
    folder = tmp_path_factory.mktemp("sorted")
    pq.write_table(rows.sort_by("salary"), folder / "one.parquet")  # whoever kept this order would show all
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        return discreet.publish(
            f"{folder}/*.parquet",
            {**POLICY, "partition": "deal", "publication": "permutation"},
            to=folder / "made",
            engine=spark,
            rows_per_part=250,
        )


def test_order_and_parts_tell_nothing(in_parts, rows):
    """Rows stand by group and by what they show, whatever their order in the source; so do parts and their sizes."""
    release = in_parts
    check_whole(release, rows)
    permuted, mapping = shown(release, "permuted"), shown(release, "mapping")
    together = permuted.append_column("group", mapping["group"])
    assert permuted["row"].to_pylist() == list(range(1, rows.num_rows + 1))
    by = [(name, "ascending") for name in ("group", *QUASI, "salary")]
    assert together.sort_by(by) == together
    assert {pq.read_metadata(path).num_rows for path in release.files("permuted")} == {250}
    for path in release.path.glob("*.parquet"):
        about = pq.read_metadata(path)
        assert not about.metadata
        assert re.fullmatch(r"(permuted|mapping)-\d{5}\.parquet", path.name)


def test_parts_are_loaded_into_a_server(in_parts, server):
    """PostgreSQL answers as DuckDB does, and its tables are those of the files."""
    with discreet.load(in_parts, server.url(), name=f"parts_{uuid4().hex}") as there:
        for question in (QUESTION, *MORE):
            assert alike(there.ask(question), in_parts.ask(question)), question
        assert there.verify().ok


@pytest.mark.parametrize("partition", ["deal", "local"])
def test_the_attack_on_order_and_parts_finds_nothing(spark, partition, tmp_path):
    """In a source that tells all by its order; quasi-identifiers tell nothing of values."""
    chance = np.random.default_rng(7)
    columns = {name: chance.permutation(3_000).astype(np.int32) for name in ("person", "age")}
    rows = pa.table({**columns, "salary": np.sort(chance.gamma(2, 9, 3_000).astype(np.int32))})
    pq.write_table(rows, tmp_path / "sorted.parquet")
    policy = {"quasi": ["person", "age"], "sensitive": "salary", "guarantee": {"l": 5}, "partition": partition}
    release = discreet.publish(
        str(tmp_path / "sorted.parquet"), policy, to=tmp_path / "made", engine=spark, rows_per_part=100
    )
    mean, variance = order.chance(release)
    links = order.attack(release)
    assert len(release.files("qit")) > 20
    assert {*order.OF_PARTS} < {one.hypothesis for one in links}
    for one in links:
        found = rows.num_rows * one.recovered(order.truth(release, rows))
        assert found <= mean + 5 * variance**0.5, one.hypothesis


SCHOOLS = {"school": ["primary", "secondary", "vocational"], "university": ["bachelor", "master", "doctorate"]}
RAISED = {
    "publication": "generalization",
    "partition": "full_domain",
    "ordered": ["age", "sex"],
    "hierarchies": {"education": {"tree": {"any": SCHOOLS}}},
}


@pytest.mark.parametrize("cuts", ["blind", "fitted"])
def test_full_domain_is_that_of_one_machine(spark, lake, rows, cuts, tmp_path):
    """The same levels, boxes, labels, counts and suppressed rows; in parts of a few groups."""
    promised = {"l": 3} if cuts == "blind" else {"k": 9}
    rules = {**POLICY, **RAISED, "guarantee": promised, "options": {"cuts": cuts, "suppression": 0.1}}
    if cuts == "blind":
        rules["harmless"] = [pc.mode(rows["salary"])[0]["mode"].as_py()]
    here = discreet.publish(rows, rules, to=tmp_path / "here")
    there = discreet.publish(lake, rules, to=tmp_path / "there", engine=spark, rows_per_part=250)
    assert there.promise == here.promise.model_copy(update={"format": 2})
    assert len(there.files("generalized")) > 2
    assert there.suppressed == here.suppressed > 0
    for name in ("generalized", "labels"):
        assert shown(there, name).equals(shown(here, name))
    assert there.verify().ok
    assert leftovers(tmp_path) == []


REFUSED = {
    "a publication": ({"publication": "slicing", "together": [["age", "sex"]]}, "slicing", "anatomy"),
    "a partition": ({"publication": "anatomy", "partition": "compact"}, "compact", "local"),
    "boxes of dealt groups": ({"publication": "generalization", "partition": "deal"}, "deal", "full_domain"),
    "levels of rows that are shown": ({**RAISED, "publication": "anatomy"}, "full_domain", "local"),
    "fitted levels": (RAISED, "fitted", "blind"),
    "fitted cuts": ({"partition": "local", "options": {"cuts": "fitted"}}, "fitted", "blind"),
    "cells of mixed": ({"partition": "mixed", "options": {"cells": 10}}, "cells", "local"),
    "several rows of a person": ({"person": "name"}, "person", "one row per person"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_done_is_refused_by_name(spark, lake, case, tmp_path):
    more, named, instead = REFUSED[case]
    with pytest.raises(InputError, match=named) as caught:
        discreet.publish(lake, {**POLICY, **more}, to=tmp_path / "made", engine=spark)
    assert "cannot be made on Spark" in caught.value.message
    assert instead in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [{"seed": 1}, {"plausible": 2}, {"format": "csv"}, {"holdout": 0.1}])
def test_options_that_are_not_for_spark_are_refused(spark, lake, more, tmp_path):
    with pytest.raises(InputError, match="not for Spark"):
        discreet.publish(lake, POLICY, to=tmp_path / "made", engine=spark, **more)


def test_a_repeated_identifier_is_refused_as_elsewhere(spark, lake, rows, tmp_path):
    rules = {**POLICY, "identifiers": ["education"], "quasi": ["age", "sex"]}
    said = []
    for given, engine in ((lake, spark), (rows, "duckdb")):
        with pytest.raises(DiscreetError) as caught:
            discreet.publish(given, rules, to=tmp_path / "made", engine=engine)
        said.append(str(caught.value.message).partition(":")[0])
    assert said[0] in said[1]
    assert "no `education`" in said[0]
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_named_and_leaves_nothing(spark, cluster, lake, rows, tmp_path, monkeypatch):
    to = tmp_path / "made"
    with pytest.raises(InputError, match="cannot be read by Spark"):
        discreet.publish(f"{tmp_path}/none/*.parquet", POLICY, to=to, engine=spark)
    with pytest.raises(InputError, match="names no Parquet files"):
        discreet.publish("rows.csv", POLICY, to=to, engine=spark)
    frame = spark.createDataFrame([(1, {"a": 1}, "x")], "age int, sex map<string, int>, salary string")
    with pytest.raises(PolicyError, match="map<string,int> of Spark"):
        discreet.publish(frame, {**POLICY, "quasi": ["age", "sex"]}, to=to)
    with pytest.raises(GuaranteeError):
        discreet.publish(lake, {**POLICY, "guarantee": {"l": 1999}}, to=to, engine=spark)
    gone = cluster.connect()
    left = gone.read.parquet(lake)
    gone.stop()
    with pytest.raises(EngineError, match="was stopped"):
        discreet.publish(left, POLICY, to=to)
    (tmp_path / "taken").mkdir()
    with pytest.raises(ReleaseError, match="exists already"):
        discreet.publish(lake, POLICY, to=tmp_path / "taken", engine=spark)
    monkeypatch.setattr(workers, "NEEDED", ("discreet", "no-such-package"))
    monkeypatch.setattr(workers, "version", lambda _: discreet.__version__)
    monkeypatch.setattr(on_spark, "check_workers", lambda *given: workers.check_workers(*given, workers.NEEDED))
    with pytest.raises(EngineError, match="have no `no-such-package`") as caught:
        discreet.publish(lake, POLICY, to=to, engine=spark)
    assert "every executor" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_executors_that_do_not_see_the_folder_get_no_rows(spark, tmp_path):
    """Spark would make it where they are, and rows would stay there."""
    workers.check_workers(spark, tmp_path)
    with pytest.raises(EngineError, match="do not see the folder") as caught:
        workers.check_workers(spark, tmp_path / "draft" / "work")
    assert "every executor" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_could_stand_for_several(spark, lake, rows, tmp_path):
    """Rows are copied to that very folder: one with another name would stay, and be open to everybody."""
    name = "a[1] {a,b}?*"
    (tmp_path / name).mkdir()
    release = discreet.publish(lake, {**POLICY, "partition": "local"}, to=tmp_path / name / "made", engine=spark)
    check_whole(release, rows)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert [path.name for path in (tmp_path / name).iterdir()] == ["made"]


def test_a_source_that_changes_is_found(spark, rows, tmp_path, monkeypatch):
    folder = tmp_path / "rows"
    folder.mkdir()
    pq.write_table(rows, folder / "one.parquet")
    copied = on_spark.Copied.of

    def changing(*given):
        found = copied(*given)
        pq.write_table(rows.slice(0, 10), folder / "two.parquet")
        return found

    monkeypatch.setattr(on_spark.Copied, "of", changing)
    with pytest.raises(InputError, match="changed while it was read"):
        discreet.publish(f"{folder}/*.parquet", POLICY, to=tmp_path / "made", engine=spark)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_types_are_those_of_arrow(spark):
    names = "a boolean, b tinyint, c smallint, d int, e bigint, f float, g double, h string, i date, j timestamp"
    frame = spark.createDataFrame([], f"{names}, k timestamp_ntz, l decimal(12, 2), m array<int>, n binary")
    found = {name: str(type_) for name, type_, _ in types_of(frame)}
    assert found["j"] == "timestamp[us, tz=UTC]"
    assert found["l"] == "decimal128(12, 2)"
    assert [name for name, type_ in found.items() if type_ == "None"] == ["m", "n"]


def test_rows_without_a_value_are_withheld(spark, tmp_path):
    rows = [(20 + i % 40, "fm"[i % 2], None if i % 10 == 0 else i % 7) for i in range(600)]
    frame = spark.createDataFrame(rows, "age int, sex string, ill int")
    rules = {"quasi": ["age", "sex"], "sensitive": "ill", "guarantee": {"l": 3}, "partition": "deal"}
    release = discreet.publish(frame, {**rules, "missing_sensitive": "withhold"}, to=tmp_path / "made")
    assert (release.withheld, release.promise.rows) == (60, 540)
    assert release.verify().ok


@pytest.mark.parametrize("partition", ["deal", "local"])
def test_files_of_the_copy_may_be_empty(spark, rows, partition, tmp_path):
    """Spark writes a file without a row for a part of a frame that has none, if it is the first."""
    from pyspark.sql import functions as f

    pq.write_table(rows, tmp_path / "rows.parquet")
    frame = spark.read.parquet(f"file://{tmp_path}/rows.parquet").repartition(3, "age")
    parted = frame.withColumn("part", f.spark_partition_id()).where("part > 0").drop("part")
    release = discreet.publish(parted, {**POLICY, "partition": partition}, to=tmp_path / "made")
    assert release.promise.rows == parted.count() < rows.num_rows
    assert release.verify().ok


def test_identifiers_are_those_that_are_copied(spark, tmp_path):
    """A frame that draws its rows anew finds other people a second time; those of the copy are looked at."""
    from pyspark.sql import functions as f

    people = spark.range(0, 400, 1, 2).selectExpr("id AS name", "20 + id % 30 AS age", "id % 7 AS ill")
    again = people.withColumn("name", f.expr("uuid()"))
    rules = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"l": 3}, "partition": "deal", "identifiers": ["name"]}
    release = discreet.publish(again, rules, to=tmp_path / "made")
    assert release.promise.rows == 400
    assert all("name" not in pq.read_schema(path).names for path in release.path.glob("*.parquet"))
    with pytest.raises(DiscreetError):
        discreet.publish(people.withColumn("name", f.expr("name % 200")), rules, to=tmp_path / "twice")


def test_dates_are_copied_as_they_are(spark, tmp_path):
    """A session that writes old dates for programs of before 2020 would shift them."""
    rebase = "spark.sql.parquet.datetimeRebaseModeInWrite"
    rows = spark.range(0, 200, 1, 2).selectExpr("20 + id % 30 AS age", "DATE'1400-02-02' + INT(id % 7) AS day")
    spark.conf.set(rebase, "LEGACY")
    try:
        rules = {"quasi": ["age"], "sensitive": "day", "guarantee": {"l": 3}, "partition": "deal"}
        release = discreet.publish(rows, rules, to=tmp_path / "made")
        assert spark.conf.get(rebase) == "LEGACY"
    finally:
        spark.conf.unset(rebase)
    assert str(pc.min(shown(release, "st")["day"])) == "1400-02-02"


def test_executors_are_asked_what_they_have():
    check = tasks.check_here.__wrapped__
    check(tasks.versions())
    (name, _), *others = tasks.versions()
    with pytest.raises(EngineError, match=f"have `{name}` .*, and this process 0"):
        check(((name, "0"), *others))


@pytest.mark.parametrize("partition", ["local", "deal"])
def test_a_killed_worker_changes_nothing(cluster, spark, lake, rows, partition, tmp_path, monkeypatch):
    """By the same key a release is the same, byte by byte, though its tasks were run again elsewhere; or there is none."""
    monkeypatch.setattr(made_on_spark, "token_bytes", lambda n: b"k" * n)
    found = []
    for i, killed in enumerate((None, 0, 1) if partition == "local" else (None, 0)):
        steps = []
        killer = Thread(target=lambda killed=killed, steps=steps: kill_at(cluster, killed, steps))
        killer.start()
        try:
            release = discreet.publish(
                lake, {**POLICY, "partition": partition}, to=tmp_path / f"{i}", engine=spark, progress=steps.append
            )
            check_whole(release, rows)
            found.append({path.name: path.read_bytes() for path in release.path.glob("*.parquet")})
        except EngineError:
            assert not (tmp_path / f"{i}").exists()
        finally:
            steps.append("grouping")
            killer.join()
            cluster.mend()
        assert leftovers(tmp_path) == []
    assert len(found) > 1, "no release was finished that lost a worker"
    assert all(each == found[0] for each in found)


def test_the_key_is_in_no_log_of_events(cluster, spark, lake, tmp_path, monkeypatch):
    """Neither as it is nor as hexadecimal digits or Base64, in which Spark may tell of bytes."""
    key = bytes(range(65, 97))
    monkeypatch.setattr(made_on_spark, "token_bytes", lambda _: key)
    discreet.publish(lake, {**POLICY, "partition": "deal"}, to=tmp_path / "made", engine=spark)
    logs = [path for path in (cluster.folder / "events").rglob("*") if path.is_file()]
    told = b"".join(path.read_bytes() for path in logs)
    assert b"mapInArrow" in told or b"MapInArrow" in told
    for form in (key, key.hex().encode(), key.hex().upper().encode(), b64encode(key)[:40]):
        assert form not in told


def kill_at(cluster, which, steps):
    """Kill a worker soon after rows are being grouped."""
    while "grouping" not in steps:
        sleep(0.02)
    if which is not None:
        sleep(0.3 * which)
        cluster.kill_worker(which)
