"""A recipe gives the same graph in C++ and in Python: order, arguments, values, tags."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT, SHARED

import jointer
from jointer.document import read_document
from jointer.encode import encode_graph

EDITS = 80
#: One of 8B and one of 671B in every run: torch's own check of a graph is slow.
LARGE = ("llama3_8b", "llama_8b", "deepseek_v3_671b")
LARGE_BUT_QUICK = ("llama3_8b_tp2_fsdp2.joint",)


def captures() -> list[Any]:
    """Every capture in one file: the samples, and the shared ones if available."""
    files = sorted((ROOT / "resources" / "samples").glob("*.json.zst"))
    files += sorted((SHARED / "captures").glob("*.json.zst"))
    return [
        pytest.param(
            path,
            id=path.name.removesuffix(".json.zst"),
            marks=[pytest.mark.slow]
            if path.name.startswith(LARGE) and not path.name.startswith(LARGE_BUT_QUICK)
            else [],
        )
        for path in files
    ]


def run(program: str, *arguments: object) -> str:
    """The output of one of our programs."""
    done = subprocess.run(
        [str(BIN / program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def halves(found: Any) -> list[Any]:
    """A graph, or the halves of a pair."""
    return list(found) if isinstance(found, tuple) else [found]


def documents(path: Path) -> list[dict[str, Any]]:
    """The captures in a file: one, or the halves of a pair."""
    document = read_document(path)
    if document["kind"] == "pair":
        return [document["forward"], document["backward"]]
    return [document]


def recipe_of(path: Path, seed: int, folder: Path) -> dict[str, Any]:
    """Random legal edits of a capture, bound to it."""
    out = folder / "recipe.json"
    run("random_recipe", path, "-", seed, EDITS, out)
    document = json.loads(out.read_text())
    found = documents(path)
    keys = ("graph",) if len(found) == 1 else ("forward", "backward")
    document["graphs"] = {
        key: {"hash": jointer.document_hash(each)} for key, each in zip(keys, found, strict=True)
    }
    out.write_text(json.dumps(document))
    return document


def tags(document: dict[str, Any]) -> dict[str, Any]:
    """The memory policies."""
    return {r["name"]: r["recompute"] for r in document["nodes"] if "recompute" in r}


@pytest.mark.parametrize("path", captures())
def test_same_graph(path: Path, tmp_path: Path) -> None:
    document = recipe_of(path, 1, tmp_path)
    assert len(document["edits"]) >= EDITS // 2
    out = tmp_path / "out.json"
    run("jointer", "apply", path, "--recipe", tmp_path / "recipe.json", "-o", out)
    expected = documents(out)
    graph_pass = jointer.recipe_pass(tmp_path / "recipe.json")
    for gm, wanted in zip(halves(jointer.load(path)), expected, strict=True):
        graph_pass(gm, [])
        report = graph_pass.reports[-1]
        assert not report.skipped
        gm.graph.lint()
        assert [n.name for n in gm.graph.nodes] == [r["name"] for r in wanted["nodes"]]
        assert jointer.graph_hash(gm) == report.hash == jointer.document_hash(wanted)
        assert tags(encode_graph(gm)) == tags(wanted)


@pytest.mark.parametrize(
    "select",
    [
        "aten.mm.default",
        "aten.mm",
        "aten.*",
        "layers.*::aten.mm.default",
        "layers.0::aten.*",
        "layers.[!0].attention::aten.view",
        "*.wq::*",
        "::_c10d_functional.*",
    ],
)
@pytest.mark.parametrize("name", ["llama_debug_tp2_fsdp2.joint", "llama_debug_tp2.min_cut"])
def test_same_selection(name: str, select: str, tmp_path: Path) -> None:
    """A selector matches the same nodes on both sides."""
    path = ROOT / "resources" / "samples" / f"{name}.json.zst"
    recipe = {
        "format": "jointer-recipe",
        "version": 1,
        "edits": [{"changes": [{"policy": "MUST_SAVE", "select": select}]}],
    }
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    out = tmp_path / "out.json"
    run("jointer", "apply", path, "--recipe", tmp_path / "recipe.json", "-o", out)
    loaded = halves(jointer.load(path))
    for gm, wanted in zip(loaded, documents(out), strict=True):
        given = {**recipe, "graphs": {}}
        if len(loaded) > 1:  # names in a pair have a half; this makes it a pair
            given["graphs"] = {
                key: {"hash": jointer.graph_hash(each)}
                for key, each in zip(("forward", "backward"), loaded, strict=True)
            }
        jointer.apply_recipe(gm, given)
        assert tags(encode_graph(gm)) == tags(wanted)
    assert any(tags(wanted) for wanted in documents(out))


@pytest.mark.parametrize("name", ["llama_debug_fsdp2.joint", "llama_debug_tp2_fsdp2.joint"])
def test_a_pass_of_torch_as_a_recipe(name: str, tmp_path: Path) -> None:
    """Saves the changes of a Python pass as edits: replayed by C++ and by torch alone, they give
    the same graph as the pass, including which values are views of which.
    """
    path = ROOT / "resources" / "samples" / f"{name}.json.zst"
    recipe, passed, replayed = (tmp_path / each for each in ("r.json", "p.json", "c.json"))
    run(
        "jointer", "apply", path, "--passes", "inductor_decomposition", "--save-recipe", recipe,
        "-o", passed,
    )  # fmt: skip
    run("jointer", "apply", path, "--recipe", recipe, "-o", replayed)
    gm = jointer.load(path)
    jointer.apply_recipe(gm, recipe)
    in_torch = tmp_path / "t.json"
    in_torch.write_text(json.dumps(encode_graph(gm)))
    files = (passed, replayed, in_torch)
    hashes = {jointer.document_hash(read_document(each)) for each in files}
    assert len(hashes) == 1
    assert hashes != {jointer.document_hash(read_document(path))}
    peaks = {json.loads(run("jointer", "memory", each, "--json"))["peak_bytes"] for each in files}
    assert len(peaks) == 1
