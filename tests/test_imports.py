"""The waist holds, and the check that says so can fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from check_imports import faults  # noqa: E402


def test_layers_keep_to_their_side():
    assert faults() == []


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("answer/session.py", "from discreet.table import read"),
        ("learn/view.py", "from discreet.publication.publish import publish"),
        ("audit/attacks/order.py", "from discreet.partition.spatial.space import Dimension"),
        ("audit/replay/worlds.py", "from discreet.partition.spatial.space import Dimension"),
        ("audit/replay/played.py", "from discreet.policy import Policy"),
        ("values/codes.py", "from discreet.engines import connect"),
        ("values/codes.py", "from discreet.words import counted"),
        ("release/verify/__init__.py", "from discreet.guarantees import Guarantee"),
        ("table/read.py", "import duckdb"),
        ("words.py", "import discreet.answer.session"),
    ],
)
def test_a_planted_import_is_found(place, line, tmp_path):
    shutil.copytree(ROOT / "src" / "discreet", tmp_path / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "discreet" / place
    file.write_text(f"{file.read_text(encoding='utf-8')}\n\ndef late() -> None:\n    {line}\n", encoding="utf-8")
    assert faults(tmp_path)


@pytest.mark.parametrize("heavy", ["duckdb", "pyarrow", "numba", "sqlglot", "pandas", "numpy", "pydantic"])
def test_help_loads_nothing_heavy(heavy):
    program = f"import sys, discreet.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
