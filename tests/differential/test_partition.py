"""Pairs of the partitioners: ours and those of the installed torch, on the same joint graphs.

Compared are the names of what is saved, in order, and the names of all nodes of both halves, in
order. Torch runs under a tracing context, as it does when a model is compiled: random calls that
nobody needs are then dead code.

Captures with unbacked sizes have lost their symbols. Torch is given new ones for the numbers among
their nodes, while tensors keep the sizes that we assume. It does not know then which symbol is in
which size, so the order in which symbols are handed over is not compared.

Where two minimum cuts have the same capacity, both take the one nearest to the backward, so there
is nothing to tolerate: the sets are equal in every case here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import BIN, ROOT, SHARED, is_slow
from jointer.document import read_document
from jointer.load import load_document
from torch._functorch import partitioners
from torch._guards import TracingContext, tracing
from torch.fx.experimental.symbolic_shapes import ShapeEnv

FORWARD_OUTPUTS = {
    "PlainAOTOutput",
    "InputMutationAOTOutput",
    "IntermediateBaseAOTOutput",
    "MetadataMutationAOTOutput",
    "PhiloxUpdatedForwardOffsetAOTOutput",
    "ForwardTokenAOTOutput",
}
PARTITIONERS = {
    "min_cut": partitioners.min_cut_rematerialization_partition,
    "default": partitioners.default_partition,
}


def captures() -> list[Any]:
    folders = (ROOT / "resources" / "samples", SHARED / "captures", SHARED / "captures" / "executable")
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.joint.json.zst"))]
    return [
        pytest.param(
            path,
            id=f"{path.parent.name}-{path.name.removesuffix('.json.zst')}",
            marks=[pytest.mark.slow] if is_slow(path.name.removesuffix(".json.zst")) else [],
        )
        for path in found
    ]


def base_type(desc: Any) -> str | None:
    while isinstance(desc, dict) and desc["type"].startswith("Subclass"):
        desc = desc.get("base")
    return desc["type"] if isinstance(desc, dict) else None


@pytest.fixture(autouse=True)
def no_groups_left() -> Iterator[None]:
    yield
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def torch_pair(path: Path, partitioner: str, ignore_tags: bool) -> dict[str, Any]:
    """Names of both halves' nodes, and of what the forward hands over."""
    document = read_document(path)
    if ignore_tags:
        for record in document["nodes"]:
            record.pop("recompute", None)
    module = load_document(document, None, path)
    descs = document["nodes"][-1].get("desc") or ()
    count = max(i + 1 for i, desc in enumerate(descs) if base_type(desc) in FORWARD_OUTPUTS)
    records = {record["name"]: record for record in document["nodes"]}
    static = [
        i
        for i, node in enumerate(filter(partitioners._is_primal, module.graph.nodes))
        if base_type(records[node.name].get("desc")) in ("ParamAOTInput", "BufferAOTInput")
    ]
    shapes = ShapeEnv()
    symbols = {
        record["name"] for record in records.values() if isinstance(record.get("val"), dict) and "symint" in record["val"]
    }
    for node in module.graph.nodes:
        if node.name in symbols:
            node.meta["val"] = shapes.create_unbacked_symint()
    # There may be no GPU to have generators.
    partitioners.get_cuda_generator_meta_val = lambda _: torch.Generator()
    with tracing(TracingContext(None)):
        forward, backward = PARTITIONERS[partitioner](
            module, None, num_fwd_outputs=count, static_lifetime_input_indices=static
        )
    return {
        "saved": [node.name for node in forward.graph.output_node().args[0][count:]],
        "symbols": symbols,
        "forward": [node.name for node in forward.graph.nodes],
        "backward": [node.name for node in backward.graph.nodes],
    }


@pytest.mark.parametrize("ignore_tags", [False, True], ids=["tags", "no_tags"])
@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("path", captures())
def test_same_pair(path: Path, partitioner: str, ignore_tags: bool, tmp_path: Path) -> None:
    out = tmp_path / "pair.json"
    options = ["--ignore-tags"] if ignore_tags else []
    done = subprocess.run(
        [str(BIN / "partition_pair"), str(path), partitioner, *options, str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    pair = json.loads(out.read_text())
    wanted = torch_pair(path, partitioner, ignore_tags)
    symbols = [name for name in wanted["saved"] if name in wanted["symbols"]]
    assert [name for name, _ in answer["saved"]] == [name for name in wanted["saved"] if name not in wanted["symbols"]]
    assert sorted(answer["symbols"]) == sorted(symbols)
    for half in ("forward", "backward"):
        ours = [record["name"] for record in pair[half]["nodes"]]
        theirs = wanted[half]
        if half == "backward":  # symbols come first
            assert sorted(ours[: len(symbols)]) == sorted(theirs[: len(symbols)])
            ours, theirs = ours[len(symbols) :], theirs[len(symbols) :]
        assert ours == theirs, half
