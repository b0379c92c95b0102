"""The hierarchies that ARX and ANJANA publish for the census table Adult."""

import gzip

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from discreet.errors import InputError
from discreet.hierarchies import load
from discreet.values.codes import encode

HEIGHTS = {
    "age": 4,
    "education": 3,
    "marital-status": 2,
    "native-country": 2,
    "occupation": 2,
    "race": 1,
    "salary-class": 1,
    "sex": 1,
    "workclass": 2,
}
ANJANA = {
    "age": ("age", 6),
    "education": ("education", 3),
    "marital": ("marital-status", 2),
    "country": ("native-country", 2),
    "occupation": ("occupation", 2),
    "race": ("race", 1),
    "salary": ("salary-class", 1),
    "sex": ("sex", 1),
    "workclass": ("workclass", 2),
}


@pytest.fixture(scope="module")
def adult(real_data):
    path = real_data / "adult-hierarchies" / "arx" / "adult.csv.gz"
    with gzip.open(path) as file:
        return pa.csv.read_csv(file, parse_options=pa.csv.ParseOptions(delimiter=";"))


@pytest.mark.parametrize("column", HEIGHTS)
def test_arx(real_data, adult, column):
    folder = real_data / "adult-hierarchies" / "arx"
    domain = encode(adult.column(column)).domain
    found = load(f"adult_hierarchy_{column}.csv", column, folder).levels(domain, column)
    assert found.height == HEIGHTS[column]
    assert found.labels[0] == tuple(domain.cast(pa.string()).to_pylist())
    assert found.labels[-1] == ("*",)
    assert set(found.labels[0]) <= set(found.values["*"])


def test_arx_ages(real_data, adult):
    domain = encode(adult.column("age")).domain
    found = load("adult-hierarchies/arx/adult_hierarchy_age.csv", "age", real_data).levels(domain, "age")
    assert len(found.values["*"]) == 100
    assert len(domain) == pc.count_distinct(adult.column("age")).as_py()
    assert found.labels[3] == ("0-19", "20-39", "40-59", "60-79", "80-99")


@pytest.mark.parametrize("name", ANJANA)
def test_anjana(real_data, adult, name):
    column, height = ANJANA[name]
    domain = encode(adult.column(column)).domain
    found = load(f"{name}.csv", column, real_data / "adult-hierarchies" / "anjana").levels(domain, column)
    assert found.height == height
    assert found.labels[-1] == ("*",)


def test_a_value_that_the_hierarchy_lacks(real_data):
    hierarchy = load("adult-hierarchies/anjana/age.csv", "age", real_data)
    with pytest.raises(InputError, match="1 of the 2 values of the column `age` has no path to the root"):
        hierarchy.levels(pa.array([88, 89]), "age")
