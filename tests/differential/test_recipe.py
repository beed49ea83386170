"""A recipe gives the same graph in C++ and in Python: the same order, arguments, values and tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SHARED, output_of, parameter

import jointer
from jointer.document import read_document
from jointer.encode import encode_graph
from jointer.groups import group_positions
from jointer.targets import register_operators, resolve_target

EDITS = 80
#: One of 8B and one of 671B in every run: torch's own check of a graph is slow.
LARGE = ("llama3_8b", "llama_8b", "deepseek_v3_671b")
LARGE_BUT_QUICK = ("llama3_8b_tp2_fsdp2.joint",)


def captures() -> list[Any]:
    """Every capture in one file: the samples, and the shared ones if available."""
    files = sorted((ROOT / "resources" / "samples").glob("*.json.zst"))
    files += sorted((SHARED / "captures").glob("*.json.zst"))
    return [
        parameter(path, path.name.startswith(LARGE) and not path.name.startswith(LARGE_BUT_QUICK)) for path in files
    ]


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
    output_of("random_recipe", path, "-", seed, EDITS, out)
    document = json.loads(out.read_text())
    found = documents(path)
    keys = ("graph",) if len(found) == 1 else ("forward", "backward")
    document["graphs"] = {
        key: {"hash": jointer.document_hash(each)} for key, each in zip(keys, found, strict=True)
    }
    out.write_text(json.dumps(document))
    return document


def rank_hashes(path: Path, folder: Path) -> list[str]:
    """The rank hashes of a graph or of the halves of a pair, as C++ computes them."""
    out = folder / "unchanged.json"
    output_of("jointer", "diff", path, path, "--save-recipe", out)
    return [graph["rank_hash"] for graph in json.loads(out.read_text())["graphs"].values()]


def tags(document: dict[str, Any]) -> dict[str, Any]:
    """The memory policies."""
    return {r["name"]: r["recompute"] for r in document["nodes"] if "recompute" in r}


@pytest.mark.parametrize("path", captures())
def test_same_graph(path: Path, tmp_path: Path) -> None:
    document = recipe_of(path, 1, tmp_path)
    assert len(document["edits"]) >= EDITS // 2
    out = tmp_path / "out.json"
    output_of("jointer", "apply", path, "--recipe", tmp_path / "recipe.json", "-o", out)
    expected = documents(out)
    of_all_ranks = rank_hashes(path, tmp_path)
    graph_pass = jointer.recipe_pass(tmp_path / "recipe.json")
    loaded = halves(jointer.load(path))
    for gm, wanted, of_any_rank in zip(loaded, expected, of_all_ranks, strict=True):
        assert jointer.rank_hash(gm) == of_any_rank
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
    output_of("jointer", "apply", path, "--recipe", tmp_path / "recipe.json", "-o", out)
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
    output_of(
        "jointer", "apply", path, "--passes", "inductor_decomposition", "--save-recipe", recipe,
        "-o", passed,
    )  # fmt: skip
    output_of("jointer", "apply", path, "--recipe", recipe, "-o", replayed)
    gm = jointer.load(path)
    jointer.apply_recipe(gm, recipe)
    in_torch = tmp_path / "t.json"
    in_torch.write_text(json.dumps(encode_graph(gm)))
    files = (passed, replayed, in_torch)
    hashes = {jointer.document_hash(read_document(each)) for each in files}
    assert len(hashes) == 1
    assert hashes != {jointer.document_hash(read_document(path))}
    peaks = {json.loads(output_of("jointer", "memory", each, "--json"))["peak_bytes"] for each in files}
    assert len(peaks) == 1


def renamed(document: dict[str, Any], groups: dict[str, str], device: str) -> dict[str, Any]:
    """The capture with different names of its process groups, and on a different device."""

    def change(value: Any) -> Any:
        if isinstance(value, list):
            return [change(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: device if key == "device" and isinstance(each, str) else change(each)
            for key, each in value.items()
        }

    now = json.loads(json.dumps(document))
    now["groups"] = {groups[name]: group for name, group in now["groups"].items()}
    for record in now["nodes"]:
        record.update({key: change(record[key]) for key in ("args", "kwargs", "val") if key in record})
        if record["op"] == "call_function":
            for i in group_positions(resolve_target(record["target"])):
                if i < len(record["args"]):
                    record["args"][i] = groups.get(record["args"][i], record["args"][i])
    return now


def files_of(name: str) -> list[Path]:
    """The files of a capture: one, or those of a pair's halves."""
    folder = SHARED / "captures" if "/" in name else ROOT / "resources" / "samples"
    whole = folder / f"{name}.json.zst"
    files = [whole] if whole.exists() else [folder / f"{name}.{h}.json.zst" for h in ("fw", "bw")]
    if not all(each.exists() for each in files):
        pytest.skip(f"{whole} is missing")
    return files


def as_rank(rank: int, name: str, device: str, folder: Path) -> list[Path]:
    """The graph, or the halves, with the names of groups that a rank of a larger mesh may have."""
    register_operators()
    written = []
    for document in (each for file in files_of(name) for each in documents(file)):
        groups = {group: f"{group}{rank}" for group in document["groups"]}
        written.append(folder / f"rank{rank}.{len(written)}.json")
        written[-1].write_text(json.dumps(renamed(document, groups, device)))
    return written


def in_options(paths: list[Path]) -> list[object]:
    """Arguments of the command line for a graph, or for a pair in two files."""
    return [paths[0]] if len(paths) == 1 else [paths[0], "--backward", paths[1]]


TINY = "executable/llama_tiny_tp2_f32.rank{}"
STEP = "torchtitan_0.3/llama3_debug_sdpa_ce.cpu.fsdp2_tp2.traced.train_step"
BLOCKS = "transformer_block_bucketing"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "passes", "device"),
    [
        # Their rank 1 begins at another row of the embedding.
        (f"{TINY}.joint", "greedy_bucketing_by_mb", "cuda:{}"),
        (f"{TINY}.joint", "inductor_decomposition", "cpu"),
        (f"{TINY}.min_cut", "reassign_to_pg{group=default_pg},greedy_bucketing_by_mb", "cuda:{}"),
        (STEP, "tag_with_memory_policy,selective_activation_remat", "cuda:{}"),
        ("llama_debug_tp2_fsdp2.joint", f"reassign_collective_pgs,{BLOCKS}", "cuda:{}"),
        ("llama_debug_tp2_fsdp2.min_cut", BLOCKS, "cuda:{}"),
    ],
)
def test_every_rank(name: str, passes: str, device: str, tmp_path: Path) -> None:
    """A recipe of passes that ran on rank 0 gives the same graph on rank 1 as the passes."""
    first, other = (
        as_rank(rank, name.format(rank), device.format(rank), tmp_path) for rank in (0, 1)
    )
    recipe, expected, out = (tmp_path / each for each in ("recipe.json", "expected.json", "out.json"))
    output_of("jointer", "apply", *in_options(first), "--passes", passes, "--save-recipe", recipe)
    assert json.loads(recipe.read_text())["edits"]
    output_of("jointer", "apply", *in_options(other), "--passes", passes, "-o", expected)
    said = output_of("jointer", "apply", *in_options(other), "--recipe", recipe, "-o", out, "--json")
    answer = json.loads(said)
    assert answer["skipped"] == [] and answer["ends_as_recorded"] is True
    assert "only in rank-specific constants" in answer["other_rank"]
    assert "cuda:0" not in out.read_text()
    hashes = [jointer.document_hash(each) for each in documents(expected)]
    assert [jointer.document_hash(each) for each in documents(out)] == hashes
    for path, whole in zip(other, hashes, strict=True):
        gm = jointer.load(path)
        report = jointer.apply_recipe(gm, recipe)
        assert report.as_recorded is True
        assert jointer.graph_hash(gm) == whole


def test_another_program_is_not_another_rank(tmp_path: Path) -> None:
    """Replays the same edits on a graph in which a float, a dtype or an input differs."""
    first, other = (
        as_rank(rank, f"{TINY}.joint".format(rank), "cpu", tmp_path)[0] for rank in (0, 1)
    )
    recipe = tmp_path / "recipe.json"
    output_of("jointer", "apply", first, "--passes", "greedy_bucketing_by_mb", "--save-recipe", recipe)

    def of(document: dict[str, Any], target: str) -> dict[str, Any]:
        return next(each for each in document["nodes"] if each["target"] == target)

    def change_float(document: dict[str, Any]) -> None:
        of(document, "aten.add.Scalar")["args"][1] = 0.5

    def change_dtype(document: dict[str, Any]) -> None:
        of(document, "aten.bitwise_or.Tensor")["val"]["t"]["dtype"] = "uint8"

    def change_input(document: dict[str, Any]) -> None:
        of(document, "aten.sub.Tensor")["args"][0] = document["nodes"][24]["args"][0]

    for change in (change_float, change_dtype, change_input):
        document = json.loads(other.read_text())
        change(document)
        changed = tmp_path / "changed.json"
        changed.write_text(json.dumps(document))
        with pytest.raises(AssertionError, match="the recipe was made for another graph"):
            output_of("jointer", "apply", changed, "--recipe", recipe)
        with pytest.raises(jointer.RecipeError, match="the recipe was made for another graph"):
            jointer.apply_recipe(jointer.load(changed), recipe)
