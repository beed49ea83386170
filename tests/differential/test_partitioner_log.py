"""Imports the output of torch's partitioner under AOT_PARTITIONER_DEBUG as tags of its graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import output_of

HERE = Path(__file__).resolve().parent


def partitioned(folder: Path, budget: float, *recipe: Path) -> set[str]:
    """Names of the values that torch saves for backward; the logs are in the folder."""
    environment = {
        **os.environ,
        "AOT_PARTITIONER_DEBUG": "1",
        "TORCH_TRACE": str(folder / "trace"),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, HERE / "partitioner_log.py", folder, budget, *recipe]
    subprocess.run(
        [str(word) for word in command],
        env=environment,
        check=True,
        timeout=600,
        capture_output=True,
    )
    return set(json.loads((folder / "saved.json").read_text()))


def imported(folder: Path, text: Path) -> dict[str, Any]:
    return json.loads(output_of("policy_tags", folder / "joint.json", text, folder / "recipe.json"))


def saved_by(tags: dict[str, str]) -> set[str]:
    return {name for name, policy in tags.items() if policy == "MUST_SAVE"}


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "log"), [(1.0, "printed.log"), (0.3, "trace")])
def test_a_log_says_what_is_saved(
    tmp_path: Path, budget: float, log: str, request: pytest.FixtureRequest
) -> None:
    saved = partitioned(tmp_path, budget)
    text = tmp_path / log
    if text.is_dir():
        (text,) = text.iterdir()
    answer = imported(tmp_path, text)
    assert answer["source"] == "partitioner log"
    assert answer["notes"] == []
    # The log also names values that the backward turned out not to need; for a saved view, the
    # whole value is tagged.
    assert saved <= saved_by(answer["tags"])
    assert set(answer["tags"].values()) == {"MUST_SAVE", "MUST_RECOMPUTE"}
    if log == "trace" and not request.config.getoption("--run-slow"):
        return
    # With these tags, torch saves the same values without a budget.
    again = tmp_path / "again"
    again.mkdir()
    assert partitioned(again, 1.0, tmp_path / "recipe.json") == saved
