"""Compares graph_trainer's passes with torchtitan's own on captures of whole steps. torchtitan's passes run
here one after the other; our pass gets the same input and must leave the same graph.

Passes run in the order of torchtitan's pipeline, with each memory policy. Passes that need more than a graph
are compared on steps that torchtitan traces: test_graph_trainer_passes.py, test_graph_trainer_parallel.py.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED

pytest.importorskip("torchtitan.experiments.graph_trainer", reason="torchtitan 0.3 is not installed")

import torch.distributed as dist  # noqa: E402
from test_graph_trainer_parallel import load  # noqa: E402
from torch import fx  # noqa: E402
from torch.cuda import _graph_annotations  # noqa: E402
from torch.fx.experimental.symbolic_shapes import ShapeEnv  # noqa: E402
from torchtitan.experiments.graph_trainer import (  # noqa: E402
    cudagraph,
    fsdp_passes,
    inductor_passes,
    passes,
    performance_passes,
)
from torchtitan_steps import assert_same, run_pass, tags  # noqa: E402

from jointer.document import read_document, write_document  # noqa: E402
from jointer.encode import encode_graph  # noqa: E402

Json = dict[str, Any]
ONLY_TORCH = ("2.15",)
FOLDER = SHARED / "captures" / "torchtitan_0.3"
POLICIES = ("default", "eager", "full", "sac_and_offload")

#: The traced steps: file, model and configuration.
CAPTURES = {
    "llama3_flex": ("llama3_debug_flex.cuda.fsdp4.traced.train_step", "llama3.graph_trainer_llama3_debugmodel"),
    "llama3_sdpa": (
        "llama3_debug_sdpa.cpu.fsdp4.real_trainer.before.train_step", "llama3.graph_trainer_llama3_debugmodel_sdpa",
    ),
    "llama3_tp": (
        "llama3_debug_sdpa_ce.cpu.fsdp2_tp2.traced.train_step",
        "llama3.graph_trainer_llama3_debugmodel_sdpa_cross_entropy_loss",
    ),
    "deepseek_v3": (
        "deepseek_v3_debug_flex.cuda.fsdp4_ep2.traced.train_step", "deepseek_v3.graph_trainer_deepseek_v3_debugmodel",
    ),
    "llama3_8b_tp": ("llama3_8b_fsdp4_tp2.traced", "llama3.graph_trainer_llama3_8b"),
    "llama3_8b": ("llama3_8b_fsdp8_b2_eager.traced", "llama3.graph_trainer_llama3_8b"),
}  # fmt: skip
IN_EVERY_RUN = ("llama3_tp.eager", "llama3_sdpa.sac_and_offload")
#: Inductor's options for flex_attention and the functions that it calls.
FLEX = {"flex_compile_config": {"max_autotune": True}, "mask_compile_config": {"wrap": 1}}

#: Upstream's passes in its order -> our names.
PASSES: dict[str, Callable[..., Any]] = {
    "eliminate_dead_code": passes.eliminate_dead_code_pass,
    "canonicalize_graph": passes.canonicalize_graph_pass,
    "deduplicate_fsdp_unshard_chains": passes.deduplicate_fsdp_unshard_chains_pass,
    "tag_with_memory_policy": passes.tag_with_memory_policy_pass,
    "apply_cpu_offload": passes.apply_cpu_offload_pass,
    "selective_activation_remat": passes.selective_activation_remat_pass,
    "reassign_collective_pgs": passes.reassign_collective_pgs_pass,
    "annotate_flex_attention_for_regional_inductor": functools.partial(
        inductor_passes.annotate_flex_attention_for_regional_inductor_pass, **FLEX
    ),
    "annotate_rmsnorm_for_regional_inductor": performance_passes.annotate_rmsnorm_for_regional_inductor_pass,
}
#: A pass has nothing to do in a graph without this text.
LOOKS_FOR = {
    "apply_cpu_offload": "MUST_CPU_OFFLOAD",
    "annotate_flex_attention_for_regional_inductor": "flex_attention",
    "annotate_rmsnorm_for_regional_inductor": "aten._fused_rms_norm",
}
#: Upstream keeps values on the device if the backward reads them only through parts of a split
#: (cpu_offload.cpp).
WITH_PARTS = ("deepseek_v3", "sac_and_offload", "apply_cpu_offload")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no shared captures (JOINTER_SHARED)")


def cases() -> list[Any]:
    return [
        pytest.param(name, policy, id=f"{name}.{policy}", marks=[] if quick else [pytest.mark.slow])
        for name in CAPTURES
        for policy in POLICIES
        for quick in [f"{name}.{policy}" in IN_EVERY_RUN]
    ]


def as_step(name: str, policy: str) -> str:
    """Our pass with its arguments."""
    if name == "tag_with_memory_policy":
        return f"{name}{{policy={policy}}}"
    if name == "annotate_flex_attention_for_regional_inductor":
        return name + "{" + ",".join(f"{key}={json.dumps(json.dumps(value))}" for key, value in FLEX.items()) + "}"
    return name


def config_of(name: str, policy: str) -> Any:
    model, _, configuration = CAPTURES[name][1].partition(".")
    registry = importlib.import_module(f"torchtitan.experiments.graph_trainer.{model}.config_registry")
    config = getattr(registry, configuration)()
    config.compile.memory_policy = policy
    return config


@pytest.fixture(autouse=True, scope="module")
def twins() -> Any:
    """Replaces twins of groups with names."""
    logging.getLogger().setLevel(logging.WARNING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fsdp_passes, "_get_or_create_extra_fsdp_pg", lambda source: f"{source}_twin")
        yield


@contextlib.contextmanager
def sizes_as_traced(path: Path, module: fx.GraphModule) -> Iterator[None]:
    """Makes data-dependent sizes symbolic, which torchtitan checks; in a graph read from a file they are
    numbers.
    """
    symbolic = {r["name"] for r in read_document(path)["nodes"] if "symint" in (r.get("val") or {})}
    numbers = {node: node.meta["val"] for node in module.graph.nodes if node.name in symbolic}
    env = ShapeEnv()
    for node in numbers:
        node.meta["val"] = env.create_unbacked_symint()
    yield
    for node, number in numbers.items():
        node.meta["val"] = number


def run_upstream(path: Path, name: str, config: Any) -> fx.GraphModule:
    module = load(path)
    with sizes_as_traced(path, module):
        return PASSES[name](module, None, **{"config": config} if name == "tag_with_memory_policy" else {})


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], list[Path]]:
    """The traced graph, then the result of each of upstream's passes."""

    folder = tmp_path_factory.mktemp("stages")

    def made(name: str, policy: str) -> list[Path]:
        found = [FOLDER / f"{CAPTURES[name][0]}.json.zst"]
        suffix = ""  # the policy, once a pass depends on it, so that policies share earlier stages
        for upstream in PASSES:
            if upstream == "tag_with_memory_policy":
                suffix = f".{policy}"
            found.append(folder / f"{name}{suffix}.{upstream}.json")
            if not found[-1].exists():
                module = run_upstream(found[-2], upstream, config_of(name, policy))
                write_document(encode_graph(module, kind="train_step"), found[-1])
                dist.destroy_process_group()
        return found

    return made


def calls_of(graph: Json) -> list[Any]:
    """Calls and their annotations."""
    return [[node.get(key) for key in ("name", "op", "target", "args", "kwargs", "custom")] for node in graph["nodes"]]


def subgraphs(document: Json) -> dict[str, Any]:
    """The constants that are graphs."""
    return {
        name: calls_of(constant["subgraph"])
        for name, constant in (document.get("constants") or {}).items()
        if "subgraph" in constant
    }


@pytest.mark.parametrize("upstream", PASSES)
@pytest.mark.parametrize(("name", "policy"), cases())
def test_same_graph(name: str, policy: str, upstream: str, stages: Any, tmp_path: Path) -> None:
    at = list(PASSES).index(upstream)
    found = stages(name, policy)
    done = run_pass(found[at], as_step(upstream, policy), tmp_path / "out.json")
    before, ours, theirs = (read_document(path) for path in (found[at], tmp_path / "out.json", found[at + 1]))
    if (name, policy, upstream) == WITH_PARTS:
        assert copied_out(theirs) < copied_out(ours)
        assert done["after"]["peak_bytes"] < run_pass(found[at + 1], "remove_tags", Path("-"))["before"]["peak_bytes"]
        return
    assert_same(before, ours, theirs)
    assert subgraphs(ours) == subgraphs(theirs)
    if upstream == "tag_with_memory_policy":  # copies that are recomputed keep their tags upstream
        assert tags(ours) == tags(theirs) != tags(before)
    else:
        changes = LOOKS_FOR.get(upstream, "") in json.dumps(before["nodes"])
        assert (calls_of(before) != calls_of(theirs)) == changes, "the graph changes if and only if the pass applies"


def copied_out(document: Json) -> set[str]:
    return {node["args"][0]["n"] for node in document["nodes"] if node["target"] == "ao.offload.default"}


# --- Kernel annotations ---


def stretches(module: fx.GraphModule) -> list[tuple[str, str, str, int]]:
    """First node, module, last node and number of nodes of each range, in a graph with calls before and after
    it.
    """
    found = []
    inside: list[fx.Node] = []
    for node in module.graph.nodes:
        called = getattr(node.target, "__name__", "")
        if called == "_enter":
            inside = []
            fqn = node.args[0]["module_fqn"]
        elif called == "_exit":
            found.append((inside[0].name, fqn, inside[-1].name, len(inside)))
        else:
            inside.append(node)
    return found


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if "8b" in n else []) for n in CAPTURES])
def test_insert_kernel_annotations(name: str, jointer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_graph_annotations, "_is_tools_id_unavailable", lambda: False)
    path = FOLDER / f"{CAPTURES[name][0]}.json.zst"
    expected = stretches(cudagraph.insert_kernel_annotations_pass(load(path)))
    (table,) = jointer("apply", path, "--passes", "insert_kernel_annotations")["tables"]
    assert [(row["node"], *row["cells"]) for row in table["rows"]] == expected
    assert len(expected) > 100
