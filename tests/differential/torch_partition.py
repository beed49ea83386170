"""Runs torch's partitioners on captures, with any tags, for test_partition and test_activation_budget.

torch runs under a tracing context, as when it compiles a model, so that unused random calls are dead code.

Captures with unbacked sizes have lost their symbols. Numbers among their nodes get new symbols for torch,
while tensors keep the sizes that we assume. torch then does not know which symbol is in which size, so the
order in which symbols are saved for backward is not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jointer.load import load_document
from torch._functorch import config, partitioners
from torch._subclasses.fake_tensor import DataDependentOutputException
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
#: As in reference/summary.json; for most captures `captured` equals `fsdp_only`.
TAGGINGS = ("captured", "no_tags", "graph_sac", "graph_sac_without_fsdp")
_FSDP_REGION = 100_000
#: Operators whose results torchtitan's compiler toolkit saves.
_SAVED = {
    "aten._scaled_dot_product_cudnn_attention.default",
    "aten._scaled_dot_product_attention_math.default",
    "aten._scaled_dot_product_fused_attention_overrideable.default",
    "aten._scaled_dot_product_efficient_attention.default",
    "aten._scaled_dot_product_flash_attention.default",
    "_c10d_functional.reduce_scatter_tensor.default",
    "aten.max.default",
}


@dataclass
class Halves:
    """Names of nodes, in order."""

    results: int  # number of forward outputs before the saved values
    saved: list[str]
    tuples: set[str]  # among `saved`: torch saves whole tuples if a budget decides nothing
    elements: set[str]  # of those tuples
    symbols: set[str]  # numbers of the joint graph
    forward: list[str]
    backward: list[str]
    inputs: set[str]  # of the joint graph


def base_type(desc: Any) -> str | None:
    while isinstance(desc, dict) and desc["type"].startswith("Subclass"):
        desc = desc.get("base")
    return desc["type"] if isinstance(desc, dict) else None


def tag(document: dict[str, Any], tagging: str) -> None:
    """Changes the tags, following the rule next to reference/summary.json."""
    if tagging == "captured":
        return
    fsdp = {}
    for record in document["nodes"]:
        tags = {key: record.pop(key) for key in ("recompute", "ac_graph_id") if key in record}
        if tags.get("ac_graph_id") == _FSDP_REGION:
            fsdp[record["name"]] = tags
    if tagging == "no_tags":
        return
    first = next(value for value in _flat(document["nodes"][-1]["args"]) if isinstance(value, dict) and "n" in value)
    products = 0
    for record in document["nodes"]:
        if record["op"] != "call_function" or record["target"] == "_operator.getitem":
            continue
        saves = record["target"] in _SAVED
        if record["target"] == "aten.mm.default":
            products += 1
            saves = products % 2 == 1
        record["recompute"] = "MUST_SAVE" if saves else "PREFER_RECOMPUTE"
        record["ac_graph_id"] = 0
        if record["name"] == first["n"]:
            break
    if tagging == "graph_sac":
        for record in document["nodes"]:
            record.update(fsdp.get(record["name"], {}))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [item for each in value for item in _flat(each)]
    return [value]


_torchs_estimate = partitioners.estimate_runtime


def _estimate_runtime(node: torch.fx.Node) -> float:
    """torch's estimate; its minimum for a number read from a tensor, which a fake tensor does not
    have.
    """
    try:
        return _torchs_estimate(node)
    except DataDependentOutputException:
        return 1


def partition(document: dict[str, Any], path: Path, partitioner: str = "min_cut", **settings: Any) -> Halves:
    """torch's partition of the document, with settings of torch._functorch.config."""
    module = load_document(document, None, path)
    nodes = list(module.graph.nodes)
    records = {record["name"]: record for record in document["nodes"]}
    descs = document["nodes"][-1].get("desc") or ()
    count = max(i + 1 for i, desc in enumerate(descs) if base_type(desc) in FORWARD_OUTPUTS)
    static = [
        i
        for i, node in enumerate(filter(partitioners._is_primal, nodes))
        if base_type(records[node.name].get("desc")) in ("ParamAOTInput", "BufferAOTInput")
    ]
    shapes = ShapeEnv()
    values = {name: record["val"] for name, record in records.items() if isinstance(record.get("val"), dict)}
    floats = {name for name, value in values.items() if "symfloat" in value}
    symbols = {name for name, value in values.items() if "symint" in value} | floats
    for node in nodes:
        if node.name in floats:
            node.meta["val"] = shapes.create_unbacked_symfloat()
        elif node.name in symbols:
            node.meta["val"] = shapes.create_unbacked_symint()
    taken = {node.name: [user.name for user in node.users if "getitem" in str(user.target)] for node in nodes}
    inputs = {node.name for node in nodes if node.op == "placeholder"}
    partitioners.estimate_runtime = _estimate_runtime
    # Without a GPU there are no generators. The first name is torch's before 2.12.
    generators = {"get_cuda_generator_meta_val": lambda _: torch.Generator(), "get_default_generator": lambda _: torch.Generator()}
    for name, generator in generators.items():
        if hasattr(partitioners, name):
            setattr(partitioners, name, generator)
    mode = next(value.fake_mode for node in nodes if hasattr(value := node.meta.get("val"), "fake_mode"))
    with tracing(TracingContext(None)), mode, config.patch(**settings):
        forward, backward = PARTITIONERS[partitioner](
            module, None, num_fwd_outputs=count, static_lifetime_input_indices=static
        )
    saved = forward.graph.output_node().args[0][count:]
    tuples = [node for node in saved if isinstance(node.meta.get("val"), (list, tuple))]
    return Halves(
        results=count,
        saved=[node.name for node in saved],
        tuples={node.name for node in tuples},
        elements={name for node in tuples for name in taken[node.name]},
        symbols=symbols,
        forward=[node.name for node in forward.graph.nodes],
        backward=[node.name for node in backward.graph.nodes],
        inputs=inputs,
    )
