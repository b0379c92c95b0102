"""A table of people who do not exist: skewed, correlated, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master", "doctorate")
MARITAL = ("single", "married", "divorced", "widowed")
COUNTRIES = ("here", "north", "south", "east", "west", "overseas", "islands", "other")
# how common, how much more so with every year of age, and for women
DIAGNOSES = {
    "asthma": (0.3, -0.02, 0.1),
    "back pain": (1.0, 0.01, 0.0),
    "bronchitis": (0.4, 0.0, 0.0),
    "cancer": (-0.4, 0.04, -0.1),
    "depression": (0.7, -0.01, 0.5),
    "diabetes": (0.2, 0.03, -0.2),
    "flu": (1.2, -0.01, 0.0),
    "fracture": (0.1, 0.0, -0.1),
    "gastritis": (0.2, 0.0, 0.1),
    "heart disease": (0.0, 0.05, -0.4),
    "hypertension": (0.8, 0.04, -0.1),
    "migraine": (0.3, -0.02, 0.8),
    "pneumonia": (-0.6, 0.02, 0.0),
    "stroke": (-1.0, 0.06, -0.2),
}


def people(rows: int = 100_000, *, seed: int = 1) -> pa.Table:
    """Names, ages, homes, schooling, diagnoses and salaries of `rows` invented people."""
    chance = np.random.default_rng(seed)
    age = np.clip(chance.gamma(6.5, 7.2, rows), 16, 99).astype(np.int32)
    sex = chance.random(rows) < 0.52
    schooling = np.array([-0.4, 0.7, 0.3, 0.6, 0.2, -1.8])
    education = _draw(chance, schooling + np.outer(age, [0.6, 1.0, 0.4, -0.4, -0.3, -0.1]) / 60)
    marital = _draw(chance, np.column_stack([4.2 - age / 14, 1.6 + age / 60, age / 40 - 0.3, age / 9 - 6]))
    country = chance.choice(len(COUNTRIES), rows, p=_zipf(len(COUNTRIES), 1.6))
    home = chance.choice(400, rows, p=_zipf(400, 0.8))
    common, by_age, by_sex = np.array(list(DIAGNOSES.values())).T
    diagnosis = _draw(chance, common + np.outer(age - 45, by_age) + np.outer(sex, by_sex))
    worth = (
        10.1 + 0.19 * education + 0.24 * np.log1p(age - 15) - 0.12 * sex - home / 2500 + chance.normal(0, 0.32, rows)
    )
    return pa.table(
        {
            "name": pa.array(np.char.add("person ", chance.permutation(rows).astype(str))),
            "age": age,
            "sex": _labels(("m", "f"), sex.astype(np.int64)),
            "zipcode": pa.array(np.char.zfill((10_000 + 37 * home).astype(str), 5)),
            "education": _labels(EDUCATION, education),
            "marital_status": _labels(MARITAL, marital),
            "country": _labels(COUNTRIES, country),
            "diagnosis": _labels(tuple(DIAGNOSES), diagnosis),
            "salary": (np.round(np.exp(worth) / 1_000) * 1_000).astype(np.int32),
        }
    )


def _zipf(values: int, skew: float) -> npt.NDArray[np.float64]:
    weights = 1 / np.arange(1, values + 1) ** skew
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares


def _draw(chance: np.random.Generator, logits: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """One choice per row, by the weights of its row."""
    chosen: npt.NDArray[np.int64] = np.argmax(logits + chance.gumbel(size=logits.shape), axis=1)
    return chosen


def _labels(labels: tuple[str, ...], codes: npt.NDArray[Any]) -> pa.Array:
    return pa.array(labels).take(pa.array(codes))
