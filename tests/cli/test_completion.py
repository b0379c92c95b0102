"""Completion for bash, zsh and fish: the shell is told of commands and options."""

import os
import subprocess
import sys

import pytest

ASKED = {
    "bash": {"COMP_WORDS": "discreet {words}", "COMP_CWORD": "{at}"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "discreet {words}"},
    "fish": {"_TYPER_COMPLETE_ARGS": "discreet {words}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def complete(shell, words, *, action="complete"):
    about = {key: text.format(words=words, at=len(words.split(" "))) for key, text in ASKED[shell].items()}
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'discreet'; from discreet.cli import main; main()"]
    env = {**os.environ, **about, "_DISCREET_COMPLETE": f"{action}_{shell}"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("shell", ASKED)
def test_commands_and_options(shell):
    found = complete(shell, "pu")
    assert "publish" in found
    assert "verify" not in found
    assert "--policy" in complete(shell, "publish --po")
    assert "append" in complete(shell, "vault app")


@pytest.mark.parametrize("shell", ASKED)
def test_the_script_that_a_shell_reads(shell):
    script = complete(shell, "", action="source")
    assert "_DISCREET_COMPLETE" in script
    assert f"complete_{shell}" in script


def test_the_help_says_how(run):
    _, out, _ = run("--help")
    assert "--install-completion" in out
    assert "--show-completion" in out
