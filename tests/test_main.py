"""`python -m discreet` does what the program `discreet` does."""

import subprocess
import sys

import discreet


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "discreet", *arguments], capture_output=True, text=True, check=False)


def test_the_package_runs_as_the_program():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"discreet {discreet.__version__}\n", "")


def test_an_error_has_the_status_of_the_program(tmp_path):
    done = run("verify", str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
