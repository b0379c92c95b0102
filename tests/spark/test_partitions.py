"""Partitions that plan by counts, on Spark; sessions of Connect; and sessions that end: every row once, or nothing."""

import pytest

import discreet
from discreet.errors import EngineError
from discreet.publication import on_spark
from discreet.release.layouts import layout_of
from spark.whole import POLICY, check_whole, leftovers

pytestmark = pytest.mark.usefixtures("small")
RANGE = {"guarantee": {"k": 4, "e": 2000}}
PLANNED = {
    "anatomize": {},
    "mixed": {"publication": "permutation"},
    "min_sum": RANGE,
    "min_max": {**RANGE, "publication": "permutation"},
    "max_groups": RANGE,
    "tightest": RANGE,
    "random": {**RANGE, "publication": "permutation"},
}


@pytest.mark.parametrize("partition", PLANNED)
def test_what_is_planned_by_counts_is_whole(spark, lake, rows, partition, tmp_path):
    rules = {**POLICY, **PLANNED[partition], "partition": partition}
    release = discreet.publish(lake, rules, to=tmp_path / "made", engine=spark, rows_per_part=500)
    assert release.promise.partition == partition
    assert all(len(release.files(name)) > 1 for name in layout_of(release.promise).files(release.promise))
    check_whole(release, rows)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("partition", ["local", "deal"])
def test_frames_of_connect_are_published(cluster, lake, rows, partition, tmp_path):
    session = cluster.connect()
    before = session.conf.get("spark.sql.session.timeZone")
    frame = session.read.parquet(lake).where("age IS NOT NULL")
    release = discreet.publish(frame, {**POLICY, "partition": partition}, to=tmp_path / "made", rows_per_part=500)
    check_whole(release, rows)
    assert session.conf.get("spark.sql.session.timeZone") == before


@pytest.mark.parametrize("step", ["checking", "counting", "grouping", "writing"])
def test_a_session_that_ends_leaves_nothing(cluster, lake, step, tmp_path, monkeypatch):
    """It is really stopped, at its server, when a step begins."""
    made, own = [], on_spark.beside
    monkeypatch.setattr(on_spark, "beside", lambda session: made.append(own(session)) or made[-1])

    def stop(told):
        if told == step:
            made[-1].stop()

    session = cluster.connect()
    with pytest.raises(EngineError) as caught:
        discreet.publish(lake, {**POLICY, "partition": "deal"}, to=tmp_path / "made", engine=session, progress=stop)
    assert "stopped" in caught.value.message or "has ended" in caught.value.message
    assert list(tmp_path.iterdir()) == []
    if step == "checking":
        session.stop()
        with pytest.raises(EngineError, match="was stopped"):
            discreet.publish(lake, POLICY, to=tmp_path / "made", engine=session)
        assert list(tmp_path.iterdir()) == []
