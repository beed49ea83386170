"""Invalid command lines: the message, and that nothing was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, Done, run

HUGE = "99999999999999999999"
COUNT = "expected a whole number of at least 0"


def said(done: Done, code: int = 2) -> str:
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("jointer: ") and done.err.count("\n") == 1, done.err
    return done.err.removeprefix("jointer: ").removesuffix("\n")


# --- Commands ---


def test_a_misspelt_command() -> None:
    text = said(run("overlp", JOINT))
    assert text.startswith("`overlp` is neither a command nor a file; did you mean overlap? the commands are info, ")
    text = said(run("simulate"))
    assert text.startswith("`simulate` is neither a command nor a file; the commands are info, memory, ")


def test_no_command() -> None:
    assert said(run()) == "expected a command or a file; `jointer --help` lists the commands"


def test_a_misspelt_option() -> None:
    assert said(run("memory", JOINT, "--tpo", "3")) == (
        "memory: there is no option --tpo; did you mean --top? `jointer memory --help` lists its options"
    )
    assert said(run("info", JOINT, "another")).startswith("info: unexpected argument `another`; ")


# --- Values of options ---


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["memory", JOINT, "--top", "x"], f"option --top: {COUNT}, got `x`"),
        (["overlap", JOINT, "--top", "1.5"], f"option --top: {COUNT}, got `1.5`"),
        (["sac", JOINT, "--top", HUGE], f"option --top: {COUNT}, got `{HUGE}`"),
        (["diff", JOINT, JOINT, "--top", "-1"], f"option --top: {COUNT}, got `-1`"),
        (["info", JOINT, "--graph", "first"], f"option --graph: {COUNT}, got `first`"),
        (["spmd", JOINT, "--graph", "x"], f"option --graph: {COUNT}, got `x`"),
        (["sac", JOINT, "--points", "1"], "option --points: expected a whole number from 2 to 1000, got `1`"),
        (["sac", JOINT, "--slower", "much"], "option --slower: expected a number of at least 0, got `much`"),
        (["memory", JOINT, "--loop", "x"], "option --loop: expected a whole number from 1 to 100, got `x`"),
        (
            ["overlap", JOINT, "--gpus-per-node", "0"],
            "option --gpus-per-node: expected a whole number from 1 to 65536, got `0`",
        ),
        (["passes", "--pass-deadline", "0"], "option --pass-deadline: expected a number above 0, got `0`"),
        (["memory", JOINT, "--optimizer", "sgd"], "option --optimizer: expected one of none, adamw, got `sgd`"),
        (["memory", JOINT, "--top"], "option --top: expected a value; `jointer memory --help` lists its options"),
        (["bench", JOINT, "--ranks", "two"], "option --ranks: expected a number of ranks, got `two`"),
        (
            ["sac", JOINT, "--save", "aten.mm", "--every-nth", "aten.mm"],
            "option --every-nth: expected OPERATOR/N or OPERATOR/N/layer such as aten.mm/2/layer, got `aten.mm`",
        ),
        (
            ["apply", JOINT, "--passes", "remove_tags", "--budget", "x"],
            "option --budget: expected bytes of peak memory such as 40GiB, got `x`",
        ),
    ],
    ids=lambda value: " ".join(map(str, value[:1] + value[2:])) if isinstance(value, list) else "",
)
def test_a_value_that_does_not_fit(arguments: list[Any], expected: str) -> None:
    assert said(run(*arguments)) == expected


# --- Outputs ---

PASSES = ["--passes", "remove_tags"]


@pytest.mark.parametrize(
    "arguments, option",
    [
        (["apply", *PASSES], "-o"),
        (["apply", *PASSES], "--save-recipe"),
        (["apply", *PASSES, "--save-recipe", "recipe.json"], "--save-graph-trainer"),
        (["apply", *PASSES], "--save-pipeline"),
        (["apply", *PASSES], "--reproducer"),
        (["apply", "--recipe", "recipe.json"], "-o"),
        (["sac"], "-o"),
        (["export", "--format", "csv"], "-o"),
        (["diff", JOINT], "--save-recipe"),
    ],
    ids=lambda value: " ".join(map(str, value[::2])) if isinstance(value, list) else value,
)
def test_an_output_in_a_missing_folder_is_refused_at_once(arguments: list[str], option: str, tmp_path: Path) -> None:
    """Before the input is read, which is damaged here."""
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{")
    out = tmp_path / "none" / "out.json"
    done = run(arguments[0], damaged, *arguments[1:], option, out, cwd=tmp_path)
    assert said(done, code=4) == f"{out}: No such file or directory"
    done = run(arguments[0], damaged, *arguments[1:], option, tmp_path, cwd=tmp_path)
    assert said(done, code=4) == f"{tmp_path}: Is a directory"
    assert list(tmp_path.iterdir()) == [damaged]


def test_snapshots_need_a_folder_that_can_be_created(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = run("apply", JOINT, *PASSES, "--snapshots", file / "steps", cwd=tmp_path)
    assert said(done, code=4) == f"{file / 'steps'}: Not a directory"


def test_a_recipe_for_graph_trainer_is_a_file() -> None:
    done = run("apply", JOINT, *PASSES, "--save-recipe", "-", "--save-graph-trainer", "x.py")
    assert said(done) == "option --save-graph-trainer: needs --save-recipe in a file"
