"""What tests of publishing on Spark share: rows, the files that they lie in, and cells that are small."""

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from spark.whole import make_small


@pytest.fixture(scope="session")
def rows(people):
    """Two thousand people, some of whose education is missing."""
    known = pc.not_equal(people["age"], 44)
    at = people.column_names.index("education")
    return people.set_column(at, "education", pc.if_else(known, people["education"], None))


@pytest.fixture(scope="session")
def lake(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("a lake")
    for i, start in enumerate((0, 700, 1500)):
        pq.write_table(rows.slice(start, (700, 800, 500)[i]), folder / f"{i}.parquet")
    return f"{folder}/*.parquet"


@pytest.fixture
def small(monkeypatch):
    """Cells and blocks of a few hundred rows, and tasks that write a few parts."""
    make_small(monkeypatch)


@pytest.fixture
def large(monkeypatch):
    """As if no table were so small that its columns are counted in this process."""
    monkeypatch.setattr("discreet.publication.in_columns.DRAWN", 500)
