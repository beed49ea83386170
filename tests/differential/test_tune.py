"""The result of auto_tune can be replayed on a GraphModule with only torch, one half at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SHARED, run_jointer

import jointer

SAMPLE = ROOT / "resources" / "samples" / "llama_debug_tp2_fsdp2.min_cut.json.zst"
PAIR = [SHARED / "captures" / f"llama3_8b_tp2_fsdp2.min_cut.{half}.json.zst" for half in ("fw", "bw")]

pytestmark = pytest.mark.usefixtures("no_groups_left")


def tuned(out: Path, recipe: Path, passes: str, *graph: Any) -> Any:
    return run_jointer("apply", *graph, "--passes", passes, "-o", out, "--save-recipe", recipe)


def assert_replays(graphs: list[Any], out: Path, recipe: Path) -> None:
    written = json.loads(out.read_text())
    for gm, half in zip(graphs, ("forward", "backward"), strict=True):
        jointer.apply_recipe(gm, recipe)
        assert jointer.graph_hash(gm) == jointer.document_hash(written[half])
        gm.graph.lint()


def test_the_recipe_of_a_sample_replays_in_python(tmp_path: Path) -> None:
    out, recipe = tmp_path / "out.json", tmp_path / "recipe.json"
    answer = tuned(out, recipe, "auto_tune{evaluations=60}", SAMPLE)
    assert answer["after"]["step_ms"] < answer["before"]["step_ms"]
    assert answer["after"]["peak_bytes"] <= answer["before"]["peak_bytes"]
    edits = json.loads(recipe.read_text())["edits"]
    (step,) = answer["passes"]
    # Every edit is one of the applied steps, or a single move.
    assert edits and all(edit["by"].split("{")[0] in step["ran"] for edit in edits)
    assert_replays(list(jointer.load(SAMPLE)), out, recipe)


@pytest.mark.slow
@pytest.mark.skipif(not PAIR[0].is_file(), reason="no shared captures (JOINTER_SHARED)")
def test_llama3_8b_is_as_fast_as_the_best_preset_at_the_unedited_peak(tmp_path: Path) -> None:
    out, recipe = tmp_path / "out.json", tmp_path / "recipe.json"
    graph = [PAIR[0], "--backward", PAIR[1]]
    answer = tuned(out, recipe, "auto_tune{evaluations=60}", *graph)
    presets = ("autobucketing_reordering", "reassign_to_pg,transformer_block_bucketing")
    best = min(
        tuned(tmp_path / "preset.json", tmp_path / "preset.recipe", passes, *graph)["after"]["step_ms"]
        for passes in presets
    )
    assert answer["after"]["step_ms"] <= best
    assert answer["after"]["peak_bytes"] <= answer["before"]["peak_bytes"]
    assert_replays([jointer.load(half) for half in PAIR], out, recipe)
