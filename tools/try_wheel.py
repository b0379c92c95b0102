"""Build the wheel, install it in an environment of its own, and run the demo there, away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONSTRAINTS = ROOT / "constraints.txt"


def run(*command: str | Path, at: Path) -> str:
    """Run a command in a folder, without what the caller's environment says about Python; what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=at, env=clean, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def build(at: Path) -> Path:
    """The wheel of this checkout, in a folder."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", at, ROOT, at=at)
    (wheel,) = at.glob("discreet-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    strange = [name for name in names if not name.startswith(("discreet/", "discreet-"))]
    if strange or "discreet/py.typed" not in names or "discreet/__main__.py" not in names:
        sys.exit(f"the wheel lacks `py.typed` or `__main__.py`, or holds what is not of the package: {strange}")
    return wheel


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = build(place)
        venv.create(place / "fresh", with_pip=True)
        programs = place / "fresh" / "bin"
        python = programs / "python"
        run(python, "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, wheel, at=place)
        home = run(python, "-c", "import discreet; print(discreet.__file__)", at=place).strip()
        if not Path(home).is_relative_to(place):
            sys.exit(f"`discreet` came from {home}, not from the wheel")
        version = run(programs / "discreet", "--version", at=place)
        if run(python, "-m", "discreet", "--version", at=place) != version:
            sys.exit("`python -m discreet` is not the program `discreet`")
        print(run(programs / "discreet", "demo", at=place), end="")
        print(f"{wheel.name}: {version.strip()} installs and runs in an environment of its own")


if __name__ == "__main__":
    main()
