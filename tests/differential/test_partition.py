"""Compares pairs made by our partitioners with those of the installed torch, on the same joint graphs.

Compares the names of the values saved for backward and of all nodes in both halves, in order: with the
capture's tags, without tags, and with the tags of graph SAC, with and without FSDP's.

If two minimum cuts have the same capacity, both choose the one nearest to the backward, so no tolerance is
needed: the sets are equal in every case.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import jointer
import pytest
import torch
import torch_partition
from conftest import LARGE, ROOT, SHARED, output_of
from functorch.compile import nop
from jointer.document import read_document, write_document
from torch import fx, nn
from torch._dynamo import config as dynamo_config
from torch._dynamo.backends.common import aot_autograd


#: Only these large captures are compared in every run; --run-slow compares all.
QUICK = {("llama3_8b_tp2_fsdp2.joint", "min_cut", "captured"), ("llama_8b_tp2_fsdp2.joint", "default", "graph_sac_without_fsdp")}


def cases() -> list[Any]:
    folders = (ROOT / "resources" / "samples", SHARED / "captures", SHARED / "captures" / "executable")
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.joint.json.zst"))]
    found = [path for path in found if ".rank1." not in path.name]  # same as rank 0's
    every = itertools.product(found, torch_partition.PARTITIONERS, torch_partition.TAGGINGS)
    names = ((path, path.name.removesuffix(".json.zst"), partitioner, tagging) for path, partitioner, tagging in every)
    return [
        pytest.param(
            path,
            partitioner,
            tagging,
            id=f"{path.parent.name}-{name}-{partitioner}-{tagging}",
            marks=[] if not name.startswith(LARGE) or (name, partitioner, tagging) in QUICK else [pytest.mark.slow],
        )
        for path, name, partitioner, tagging in names
    ]


class Quotients(nn.Module):
    """The backward needs quotients of sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        z = torch.sin(torch.sin(self.linear(x)) * (x.shape[0] / 3))
        return torch.exp(z * (x.shape[0] / 7 + 0.5)) * scale.sum()


class Items(Quotients):
    """The backward needs numbers that are read from a tensor."""

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        z = nn.functional.leaky_relu(torch.sin(self.linear(x)), scale.max().item())
        return nn.functional.elu(torch.exp(z), scale.min().item() + x.shape[0] / 3)


@pytest.mark.parametrize(("path", "partitioner", "tagging"), cases())
def test_same_pair(path: Path, partitioner: str, tagging: str, tmp_path: Path) -> None:
    document = read_document(path) | {"torch": torch.__version__}
    torch_partition.tag(document, tagging)
    tagged, out = tmp_path / "tagged.json", tmp_path / "pair.json"
    write_document(document, tagged)
    output_of("partition_pair", tagged, partitioner, out)
    pair = json.loads(out.read_text())
    expected = torch_partition.partition(document, path, partitioner)
    symbols = [name for name in expected.saved if name in expected.symbols]
    # Random states are saved for backward too, but are in no plan.
    saved = [value["n"] for value in pair["forward"]["nodes"][-1]["args"][0]["tuple"][expected.results :]]
    assert [name for name in saved if name not in symbols] == [name for name in expected.saved if name not in symbols]
    assert sorted(saved) == sorted(expected.saved)
    for half, theirs in (("forward", expected.forward), ("backward", expected.backward)):
        # The last node is the output, which torch creates anew if it saves states.
        ours, theirs = [record["name"] for record in pair[half]["nodes"]][:-1], theirs[:-1]
        if half == "backward":  # symbols come first, in any order
            assert sorted(ours[: len(symbols)]) == sorted(theirs[: len(symbols)])
            ours, theirs = ours[len(symbols) :], theirs[len(symbols) :]
        assert ours == theirs, half


@pytest.mark.parametrize("partitioner", torch_partition.PARTITIONERS)
@pytest.mark.parametrize("model", [Quotients, Items])
def test_symbolic_floats(model: type[nn.Module], partitioner: str, tmp_path: Path) -> None:
    """Uses a model that torch compiles for any size. The graph is live, since loaded captures have lost their
    symbols.
    """
    path, out = tmp_path / "joint.json", tmp_path / "pair.json"
    halves: list[list[str]] = []
    saved: list[str] = []

    def partition(joint: fx.GraphModule, inputs: Any, *, num_fwd_outputs: int, **options: Any) -> Any:
        jointer.capture(joint, path)
        made = torch_partition.PARTITIONERS[partitioner](joint, inputs, num_fwd_outputs=num_fwd_outputs, **options)
        saved.extend(node.name for node in made[0].graph.output_node().args[0][num_fwd_outputs:])
        halves.extend([node.name for node in half.graph.nodes][:-1] for half in made)
        return made

    torch._dynamo.reset()
    with dynamo_config.patch(capture_scalar_outputs=True):
        backend = aot_autograd(fw_compiler=nop, bw_compiler=nop, partition_fn=partition)
        torch.compile(model(), backend=backend, dynamic=True)(torch.randn(4, 8), torch.rand(3)).sum().backward()
    records = {record["name"]: record for record in read_document(path)["nodes"]}
    floats = {name for name, record in records.items() if isinstance(record.get("val"), dict) and "symfloat" in record["val"]}
    assert floats and bool(floats & set(saved)) == (partitioner == "default" or model is Items)

    output_of("partition_pair", path, partitioner, out)
    pair = json.loads(out.read_text())
    values = pair["forward"]["nodes"][-1]["args"][0]
    assert [value["n"] for value in values["tuple"] if value][-len(saved) :] == saved
    assert [[record["name"] for record in pair[half]["nodes"]][:-1] for half in ("forward", "backward")] == halves
