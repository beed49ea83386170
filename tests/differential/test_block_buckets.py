"""transformer_block_bucketing on real models makes one all-gather and one reduce-scatter per layer and process
group. The tests find the layer from the parameters that a collective serves; the pass uses modules instead.
Also tests a step with loss chunks that write to parts of one buffer: the changes of the passes form a recipe.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT, SHARED, TORCH

import jointer as helper
from jointer.document import read_document

GATHER = "_c10d_functional.all_gather_into_tensor"
SCATTER = "_c10d_functional.reduce_scatter_tensor"


def captures() -> list[Any]:
    paths = [ROOT / "resources" / "samples" / "llama_8b_tp2_fsdp2.joint.json.zst"]
    paths += [
        SHARED / "captures" / f"{name}.joint.json.zst"
        for name in ("llama3_8b_tp2_fsdp2", "deepseek_v3_debug_tp2_fsdp2_ep2", "deepseek_v3_671b_tp8_fsdp32_ep32")
    ]
    return [
        pytest.param(path, id=path.name.split(".")[0], marks=[pytest.mark.slow] if "671b" in path.name else [])
        for path in paths
        if path.exists()
    ]


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if list(value) == ["n"]:
            yield value["n"]
        else:
            for each in value.values():
                yield from names_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from names_in(each)


def parameter_of(desc: Any) -> str | None:
    """Parameter of an input, or of the gradient that is an output."""
    while isinstance(desc, dict):
        if desc["type"] == "ParamAOTInput":
            return desc["target"]
        desc = desc.get("base") or desc.get("grad_of")
    return None


def block_of(parameter: str) -> str:
    """Each layer is one block, and so is everything after the layers."""
    words = parameter.removeprefix("_orig_mod.").split(".")
    if words[0] == "layers":
        return ".".join(words[:2])
    return words[0] if words[0] == "tok_embeddings" else "after the layers"


class Fsdp:
    """FSDP's collectives in a joint graph: (kind, block, group) -> number of starts."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.nodes = document["nodes"]
        self.reads = [
            set(names_in([node.get("args", []), node.get("kwargs", {})])) for node in self.nodes
        ]
        self.count: dict[tuple[str, str, str], int] = {}
        self.mixed: list[tuple[str, set[str]]] = []
        self._gathers()
        self._scatters()

    def _add(self, node: dict[str, Any], kind: str, blocks: set[str]) -> None:
        if len(blocks) != 1:
            self.mixed.append((node["name"], blocks))
        group = next(each for each in reversed(node["args"]) if isinstance(each, str))
        key = (kind, min(blocks), group)
        self.count[key] = self.count.get(key, 0) + 1

    def _gathers(self) -> None:
        """Collectives whose inputs are only parameters."""
        needs: dict[str, set[str | None]] = {}
        for node, reads in zip(self.nodes, self.reads, strict=True):
            if node["op"] == "placeholder":
                parameter = parameter_of(node.get("desc"))
                needs[node["name"]] = {block_of(parameter) if parameter else None}
                continue
            blocks = set().union(*(needs[each] for each in reads)) if reads else set()
            if node["target"].startswith(GATHER) and blocks and None not in blocks:
                self._add(node, "gather", {block for block in blocks if block})
            needs[node["name"]] = blocks

    def _scatters(self) -> None:
        """Collectives whose result becomes gradients, and whose readers read nothing else."""
        output = self.nodes[-1]
        gradients: dict[str, set[str]] = {}
        for value, desc in zip(output["args"][0], output["desc"], strict=True):
            parameter = parameter_of(desc)
            for name in names_in(value):
                gradients.setdefault(name, set()).add(block_of(parameter) if parameter else "")
        users: dict[str, list[int]] = {}
        for at, reads in enumerate(self.reads):
            for each in reads:
                users.setdefault(each, []).append(at)
        for at, node in enumerate(self.nodes):
            if not node["target"].startswith(SCATTER):
                continue
            blocks, reached, open_ = set(), {node["name"]}, [at]
            is_fsdp = True
            while open_ and is_fsdp:
                here = self.nodes[open_.pop()]
                blocks |= gradients.get(here["name"], set())
                for user in users.get(here["name"], []):
                    if self.nodes[user]["op"] == "output":
                        continue
                    # The output buffer of a bucket is allocated for it, and read by nothing else.
                    is_fsdp &= self.reads[user] <= reached
                    reached.add(self.nodes[user]["name"])
                    open_.append(user)
            if is_fsdp and blocks and "" not in blocks:
                self._add(node, "scatter", blocks)


@pytest.mark.parametrize("path", captures())
def test_one_bucket_per_layer_kind_and_group(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    subprocess.run(
        [BIN / "jointer", "apply", path, "--passes", "transformer_block_bucketing", "-o", out],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    before, after = Fsdp(read_document(path)), Fsdp(read_document(out))
    assert before.mixed == [] and after.mixed == []
    assert after.count.keys() == before.count.keys()
    assert {kind for kind, _, _ in after.count} == {"gather", "scatter"}
    assert len({block for _, block, _ in after.count}) > 3
    more = {key: count for key, count in after.count.items() if count != 1}
    assert more == {}
    assert sum(before.count.values()) > 2 * sum(after.count.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["joint_transformer_block_bucketing_reordering", "transformer_block_bucketing"])
def test_writes_to_parts_of_a_buffer_are_reordered(name: str, tmp_path: Path, jointer: Callable[..., Any]) -> None:
    path = SHARED / "captures" / "torchtitan_0.3" / "llama3_8b_fsdp4_tp2.traced.json.zst"
    if not path.exists():
        pytest.skip("no shared captures (JOINTER_SHARED)")
    out, recipe, again = tmp_path / "out.json", tmp_path / "recipe.json", tmp_path / "again.json"
    jointer("apply", path, "--passes", name, "--save-recipe", recipe, "-o", out)
    jointer("apply", path, "--recipe", recipe, "-o", again)
    hashes = [jointer("info", each)["hash"] for each in (out, again)]
    assert hashes[0] == hashes[1] != jointer("info", path)["hash"]
    # Views and writes of chunks have swapped places, and each write keeps its readers.
    chunks = [chunk_order(each) for each in (path, out)]
    assert chunks[0] != chunks[1]
    assert sorted(chunks[0]) == sorted(chunks[1])
    if TORCH < (2, 14):
        # Buckets name dtypes by their index in torch's list, which changed in 2.14.
        pytest.skip("the capture is of torch 2.15")
    # torch replays it too, here without the recorded graph, so that it checks the order of effects.
    by_hand = json.loads(recipe.read_text())
    for key in ("graphs", "fingerprints"):
        by_hand.pop(key, None)
    gm = helper.load(path)
    report = helper.apply_recipe(gm, by_hand)
    assert not report.skipped
    assert helper.graph_hash(gm) == hashes[0]


def chunk_order(path: Path) -> list[str]:
    """Slices of the buffer that loss chunks write to, and those writes, in order."""
    nodes = read_document(path)["nodes"]
    slices = {n["name"] for n in nodes if n["target"] == "aten.slice.Tensor" and n["args"][0] == {"n": "zeros_like"}}
    writes = [n["name"] for n in nodes if n["target"] == "aten.copy_.default" and n["args"][0].get("n") in slices]
    assert len(writes) == len(slices) == 8
    return [n["name"] for n in nodes if n["name"] in slices or n["name"] in writes]
