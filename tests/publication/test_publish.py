"""Publishing one table several times, also at the same time, leaves the table's engine as it was."""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from sqlglot import exp

from discreet import Policy, publish, read

ROWS = 3_000


def people():
    return pa.table({"age": [i % 90 for i in range(ROWS)], "pay": [1_000 + (7 * i) % 400 for i in range(ROWS)]})


def policy(publication, l):
    return Policy(quasi=["age"], sensitive="pay", guarantee={"l": l}, publication=publication, partition="deal")


def names(table):
    """The relations that the engine of a table knows."""
    return table.engine.run(exp.select("view_name").from_("duckdb_views()").where("NOT internal")).column(0).to_pylist()


@pytest.mark.parametrize("publications", [("anatomy", "anatomy"), ("anatomy", "permutation"), ("permutation",) * 2])
def test_two_releases_of_one_table_at_the_same_time(publications, tmp_path):
    with read(people()) as table:
        before = names(table)

        def made(number):
            rules = policy(publications[number % 2], 2 + number)
            return publish(table, rules, to=tmp_path / str(number), seed=number)

        with ThreadPoolExecutor(4) as threads:
            releases = list(threads.map(made, range(6)))
        assert names(table) == before
    for number, release in enumerate(releases):
        assert release.promise.guarantee == {"l": 2 + number}
        assert release.verify().ok
        with release as opened:
            assert opened.ask("SELECT COUNT(*) AS n FROM microdata").rows()[0]["n"] == ROWS


def test_a_release_is_closed_by_with(tmp_path):
    with publish(people(), policy("anatomy", 2), to=tmp_path / "r") as release:
        release.ask("SELECT COUNT(*) FROM microdata")
        assert "session" in release.__dict__
    assert "session" not in release.__dict__
