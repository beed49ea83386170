"""Graphs give bitwise equal outputs after random legal edits and after collectives are bucketed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CAPTURES, capture_of, expect_eager_outputs, files_of, output_of, path_of_ranks

EDITS = 60


def edited(base: str, is_pair: bool, size: int, seed: int, folder: Path) -> str:
    """The common path of all ranks' captures after the same random edits."""
    recipe = folder / "recipe.json"
    output_of("random_recipe", *files_of(base, 0, is_pair), seed, EDITS, recipe)
    document = json.loads(recipe.read_text())
    assert len(document["edits"]) >= EDITS // 2
    if "fsdp" in base:  # tensor-parallel collectives depend on one another
        assert any(edit["title"].startswith("Merge") for edit in document["edits"])
    for rank in range(size):
        forward, backward = files_of(base, rank, is_pair)
        half = [] if backward == "-" else ["--backward", backward]
        output_of("jointer", "apply", forward, *half, "--recipe", recipe, "-o", folder / f"edited.{rank}.json")
    return path_of_ranks(folder, "edited", size)


def check(
    name: str, is_pair: bool, seed: int, eager: Callable[[str], str], folder: Path
) -> None:
    expect_eager_outputs(edited(capture_of(name), is_pair, CAPTURES[name], seed, folder), name, eager)


@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("is_pair", [False, True], ids=["joint", "pair"])
def test_edited_outputs_are_those_of_eager(
    name: str, is_pair: bool, eager: Callable[[str], str], tmp_path: Path
) -> None:
    check(name, is_pair, 1, eager, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 14))
@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("is_pair", [False, True], ids=["joint", "pair"])
def test_many_edits(
    name: str, is_pair: bool, seed: int, eager: Callable[[str], str], tmp_path: Path
) -> None:
    check(name, is_pair, seed, eager, tmp_path)
