"""What many tests share: the folder of real data, and a small table of people."""

import os
from pathlib import Path

import pytest

from discreet.table.people import people as invented


@pytest.fixture(scope="session")
def real_data():
    """The folder of real microdata; a file that it lacks is a failure, not a reason to skip."""
    place = os.environ.get("DISCREET_DATA")
    if not place:
        pytest.skip("DISCREET_DATA does not point at the folder of real microdata")
    return Path(place)


@pytest.fixture(scope="session")
def people():
    return invented(2_000, seed=3)
