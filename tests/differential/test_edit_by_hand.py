"""Edits made by hand in the window can be replayed by torch: their recipe gives the same graph."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import BIN, SHARED

import jointer

TEST = "hides_a_quarter_of_the_exposed_time_by_hand"
PAIR = "llama3_8b_tp2_fsdp2.min_cut"


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe of the window's test, which moves waits and starts with the mouse."""
    if not (SHARED / "captures" / f"{PAIR}.fw.json.zst").exists():
        pytest.skip("no shared captures (JOINTER_SHARED)")
    program = BIN / "gui_tests"
    if not program.exists():
        pytest.skip("the window's tests are not built")
    path = tmp_path_factory.mktemp("by_hand") / "useful.recipe.json"
    done = subprocess.run(
        [str(program), "edit", TEST],
        env=os.environ
        | {
            "QT_QPA_PLATFORM": "offscreen",
            "JOINTER_SHARED": str(SHARED),
            "JOINTER_RECIPE_OUT": str(path),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return path


@pytest.mark.slow
@pytest.mark.parametrize("half", ["forward", "backward"])
def test_torch_replays_what_was_moved_by_hand(recipe: Path, half: str) -> None:
    gm = jointer.load(SHARED / "captures" / f"{PAIR}.{half[0]}w.json.zst")
    before = [node.name for node in gm.graph.nodes]
    if half not in json.loads(recipe.read_text())["graphs"]:
        pytest.skip("nothing was moved in this half")
    report = jointer.apply_recipe(gm, recipe)
    gm.graph.lint()
    assert not report.skipped
    after = [node.name for node in gm.graph.nodes]
    assert after == recipe.with_suffix(f".{half}.txt").read_text().split()
    assert (after != before) == bool(report.applied)
