"""The tables of the papers: real ones from a folder, or synthetic ones of the same columns and domain sizes.

    census-anatomy/sal500k.parquet   500,000 adults; seven quasi-identifiers and the salary class (Xiao and Tao 2006)
    census-anatomy/occ100k.parquet   100,000 adults; the same, and the occupation
    adult/adult.data, adult.test     UCI Adult as it is distributed, without a header
    ipums-la/ipums_la_kja.parquet    174,125 people of Los Angeles: age, income, family size, education, rent, year

A synthetic table has as many rows as are asked for. Its columns are skewed and depend on each other: a person has a
latent standing, from which education, work, marriage and the sensitive value follow with noise. It shows what a
method does, not what the people of the real table are like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from discreet.errors import InputError

# smallest code and number of values, in the order of table 6 of Xiao and Tao
CENSUS = {
    "age": (16, 78),
    "gender": (1, 2),
    "education": (1, 17),
    "marital": (1, 6),
    "race": (1, 9),
    "workclass": (1, 10),
    "country": (1, 83),
}
VALUES = 50  # of salary class and of occupation, from 0
ADULT_FILE = (
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship"),
    *("race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income"),
)
ADULT = {  # number of values that the complete rows of Adult hold
    "workclass": 7,
    "education": 16,
    "marital_status": 7,
    "occupation": 14,
    "race": 5,
    "sex": 2,
    "native_country": 41,
    "income": 2,
}
ADULT_NUMBERS = {  # smallest and largest
    "age": (17, 90),
    "fnlwgt": (0, 10_000_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 99_999),
    "hours_per_week": (0, 168),
}
IPUMS = {  # by the code book; 999,999 would say that somebody has no income, 0 that there is no education
    "age": (16, 100),
    "inctot": (-99_998, 999_998),
    "famsize": (1, 29),
    "educrec": (1, 9),
    "rent": (0, 1_000),
    "year": (1970, 1990),
}
FILES = {
    "SAL": "census-anatomy/sal500k.parquet",
    "OCC": "census-anatomy/occ100k.parquet",
    "Adult": "adult/adult.data",
    "IPUMS": "ipums-la/ipums_la_kja.parquet",
}
SENSITIVE = {"SAL": "salary_class", "OCC": "occupation"}
RANGES: dict[str, dict[str, tuple[int, int]]] = {  # smallest and largest number in the columns of Parquet files
    **{
        name: {**{column: (low, low + size - 1) for column, (low, size) in CENSUS.items()}, sensitive: (0, VALUES - 1)}
        for name, sensitive in SENSITIVE.items()
    },
    "IPUMS": IPUMS,
}
EXPECTED = "docs/reproduction.md says what the files hold"
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Data:
    """Where tables come from: a folder of real ones, or nowhere."""

    folder: Path | None = None

    def told(self, tables: Sequence[str]) -> str:
        """What the title of a chart says of the data."""
        if not tables:
            return "synthetic data, as in the paper"
        return f"{', '.join(tables)}" if self.folder else f"synthetic tables in the place of {', '.join(tables)}"

    def check(self, tables: Sequence[str]) -> None:
        """Raise unless the folder has the files of these tables, before anything is measured."""
        if self.folder is not None:
            for name in tables:
                self._real(name)
                if name == "Adult":
                    _adult(self.folder / "adult" / "adult.test", skip=1)

    def census(self, name: str, rows: int, seed: int = 1) -> pa.Table:
        """So many random adults of SAL or OCC, in random order; fewer, if the real table has no more."""
        if self.folder is None:
            return synthetic_census(name, rows, seed)
        return _shuffled(self._real(name), rows, seed)

    def adult(self, rows: int | None = None, seed: int = 2006, *, train: bool = False) -> pa.Table:
        """The complete rows of Adult in random order; of the first file only, if `train`."""
        if self.folder is None:
            return synthetic_adult(rows or (30_162 if train else 45_222), seed)
        files = [self._real("Adult")]
        if not train:
            files.append(_adult(self.folder / "adult" / "adult.test", skip=1))
        table = _complete(pa.concat_tables(files))
        if not len(table):
            raise InputError(f"no row of `{self.folder / 'adult'}` is complete", hint="expected rows without `?`")
        return _shuffled(table, rows or len(table), seed)

    def ipums(self, rows: int, seed: int) -> pa.Table:
        """So many random people, in random order; fewer, if the real table has no more."""
        if self.folder is None:
            return synthetic_ipums(rows, seed)
        return _shuffled(self._real("IPUMS"), rows, seed)

    def _real(self, name: str) -> pa.Table:
        path = (self.folder or Path()) / FILES[name]
        if name == "Adult":
            _there(path, f"{len(ADULT_FILE)} columns with commas between, without a header")
            return _adult(path)
        _there(path, f"a Parquet file with the columns {', '.join(RANGES[name])}")
        return _parquet(path, name)


@cache
def _parquet(path: Path, name: str) -> pa.Table:
    columns = list(RANGES[name])
    try:
        file = pq.ParquetFile(path)
        held, table = file.schema_arrow.names, file.read([each for each in columns if each in file.schema_arrow.names])
    except (pa.ArrowException, OSError):
        raise InputError(
            f"`{path}` is not a Parquet file", hint=f"it must have the columns {', '.join(columns)}"
        ) from None
    if lacking := [name for name in columns if name not in held]:
        raise InputError(
            f"`{path}` lacks the {'column' if len(lacking) == 1 else 'columns'} {', '.join(f'`{n}`' for n in lacking)}",
            hint=f"expected {', '.join(columns)}; {EXPECTED}",
        )
    _check(path, table, RANGES[name])
    return table.select(columns)


@cache
def _adult(path: Path, skip: int = 0) -> pa.Table:
    _there(path, f"{len(ADULT_FILE)} columns with commas between, without a header")
    lines = path.read_bytes().replace(b", ", b",").replace(b".\n", b"\n")
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(lines),
            read_options=pyarrow.csv.ReadOptions(column_names=list(ADULT_FILE), skip_rows=skip),
        )
    except pa.ArrowInvalid:
        raise InputError(
            f"`{path}` is not Adult as it is distributed",
            hint=f"expected {len(ADULT_FILE)} columns with commas between, without a header",
        ) from None
    _check(path, table, ADULT_NUMBERS, "; Adult is distributed without a header")
    for name in ADULT:
        if not pa.types.is_string(table[name].type):
            raise InputError(f"the column `{name}` of `{path}` does not hold texts", hint="expected Adult's categories")
    return table


def _complete(table: pa.Table) -> pa.Table:
    """Without the rows of which something is unknown."""
    known = [pc.not_equal(table[name], "?") for name in ADULT]
    return table.filter(reduce(pc.and_, known))


def _check(path: Path, table: pa.Table, ranges: Mapping[str, tuple[int, int]], more: str = "") -> None:
    """Raise unless there are rows, nothing is missing, and columns hold whole numbers between their ends.

    Compiled code takes such numbers for places in an array, and does not ask again.
    """
    if not len(table):
        raise InputError(f"`{path}` has no rows", hint=EXPECTED)
    for name in table.column_names:
        if missing := table[name].null_count:
            raise InputError(
                f"the column `{name}` of `{path}` lacks {missing:,} of {len(table):,} values",
                hint="leave out the rows that are not complete",
            )
    for name, (low, high) in ranges.items():
        if not pa.types.is_integer(table[name].type):
            raise InputError(
                f"the column `{name}` of `{path}` does not hold whole numbers",
                hint=f"expected codes from {low} to {high}{more}",
            )
        ends = pc.min_max(table[name]).as_py()
        if ends["min"] < low or ends["max"] > high:
            beyond = f"below {low}" if ends["min"] < low else f"above {high}"
            raise InputError(
                f"the column `{name}` of `{path}` holds numbers {beyond}",
                hint=f"expected {low} to {high}; {EXPECTED}",
            )


def _there(path: Path, expected: str) -> None:
    if not path.is_file():
        raise InputError(
            f"`{path}` is missing", hint=f"expected {expected}; leave --data out to run on a synthetic table"
        )


def _shuffled(table: pa.Table, rows: int, seed: int) -> pa.Table:
    return table.take(np.random.default_rng(seed).permutation(len(table))[:rows])


def synthetic_census(name: str, rows: int, seed: int) -> pa.Table:
    """Adults with the columns and domain sizes of table 6; some values are as frequent as in the real one."""
    chance, standing = np.random.default_rng(seed), np.random.default_rng(seed + 1).normal(size=rows)
    age = np.clip(16 + chance.gamma(4, 8, rows), 16, 93).astype(np.int32)
    gender = 1 + (chance.random(rows) < 0.3 - 0.1 * np.tanh(standing)).astype(np.int32)
    columns = {
        "age": age,
        "gender": gender,
        "education": _ranked(standing + chance.normal(size=rows), _skewed(17, 1.3, 9)) + 1,
        "marital": _ranked(age / 20 + chance.normal(size=rows), _skewed(6, 1.4)) + 1,
        "race": _ranked(chance.normal(size=rows) - 0.3 * standing, _skewed(9, 2.6)) + 1,
        "workclass": _ranked(standing + 2 * chance.normal(size=rows), _skewed(10, 2.2, 4)) + 1,
        "country": _ranked(chance.normal(size=rows) - 0.5 * standing, _skewed(83, 3.2)) + 1,
    }
    score = standing + 0.02 * age - 0.5 * gender + 0.7 * chance.normal(size=rows)
    weights, order = (
        (_skewed(VALUES, 0.4, 12), np.arange(VALUES))
        if name == "SAL"
        else (
            _skewed(VALUES, 0.6, 23),
            np.argsort(np.arange(VALUES) + np.random.default_rng(7).normal(0, 12, VALUES)),
        )
    )
    return pa.table({**columns, SENSITIVE[name]: order[_ranked(score, weights)].astype(np.int32)})


def synthetic_adult(rows: int, seed: int) -> pa.Table:
    """Adults with the columns and domain sizes of UCI Adult; one in twenty has a loss, of one of 89 amounts."""
    chance, standing = np.random.default_rng(seed), np.random.default_rng(seed + 1).normal(size=rows)
    columns: dict[str, npt.ArrayLike] = {"age": np.clip(17 + chance.gamma(3, 8, rows), 17, 90).astype(np.int64)}
    for number, (name, size) in enumerate(ADULT.items()):
        codes = _ranked(standing * (number % 3 - 1) + chance.normal(size=rows), _skewed(size, 1.0))
        columns[name] = np.array([f"{name} {i}" for i in range(size)])[codes]
    amounts = np.unique(np.append(np.random.default_rng(3).integers(156, 3900, 87), [155, 3900]))
    place = np.where(chance.random(rows) < 0.1, chance.random(rows), chance.normal(0.44, 0.08, rows))  # most near 1,800
    loss = amounts[np.clip(place * amounts.size, 0, amounts.size - 1).astype(int)]
    return pa.table({**columns, "capital_loss": np.where(chance.random(rows) < 0.05, loss, 0)})


def synthetic_ipums(rows: int, seed: int) -> pa.Table:
    """People with the columns of the census of Los Angeles: incomes and rents are skewed, and follow education."""
    chance = np.random.default_rng(seed)
    age = np.clip(16 + chance.gamma(3, 10, rows), 16, 94).astype(np.int32)
    education = np.clip(chance.normal(7 - np.abs(age - 35) / 20, 1.6), 1, 9).astype(np.int32)
    income = np.clip(chance.lognormal(8 + education / 6, 0.9).astype(np.int64) // 10 * 10, 0, 200_000)
    rent = np.where(chance.random(rows) < 0.5, 0, np.clip(income // 100 + chance.normal(200, 80, rows), 1, 1_000))
    return pa.table(
        {
            "age": age,
            "inctot": income.astype(np.int32),
            "famsize": np.minimum(chance.geometric(0.35, rows), 21).astype(np.int32),
            "educrec": education,
            "rent": rent.astype(np.int32),
            "year": chance.choice(np.array([1970, 1980, 1990], np.int32), rows),
        }
    )


def uniform(rows: int, seed: int, names: Sequence[str]) -> pa.Table:
    """The paper's UNI: every column uniform in [0, 1], here in millionths."""
    chance = np.random.default_rng(seed)
    return pa.table({name: chance.integers(0, 1_000_001, rows, dtype=np.int32) for name in names})


def _skewed(values: int, by: float, most: int = 0) -> Floats:
    """Shares of values, the smaller the farther from the one that most hold."""
    weights = 1 / (1 + np.abs(np.arange(values) - most)) ** by
    return np.asarray(weights / weights.sum())


def _ranked(score: Floats, weights: Floats) -> npt.NDArray[np.int32]:
    """Codes that rise with a score, each held by its share of the rows."""
    place = np.empty(score.size)
    place[np.argsort(score, kind="stable")] = (np.arange(score.size) + 0.5) / max(score.size, 1)
    return np.minimum(np.searchsorted(np.cumsum(weights / weights.sum()), place), weights.size - 1).astype(np.int32)


def domains(names: Sequence[str], sensitive: str) -> Mapping[str, tuple[int, int]]:
    """Smallest code and number of values of columns of a census table."""
    return {**{name: CENSUS[name] for name in names}, sensitive: (0, VALUES)}
