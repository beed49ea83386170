"""Runs torchtitan's graph_trainer passes unmodified in the host of Python passes.

The oracle is torchtitan: captures from its own run before and after its passes.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from jointer.document import read_document
from jointer.events import Events
from jointer.host import HostError
from jointer.host_run import run

from conftest import SHARED

CAPTURES = SHARED / "captures" / "torchtitan_0.3"
TRAINER = "torchtitan.experiments.graph_trainer"

graph_trainer = pytest.importorskip(
    f"{TRAINER}.passes", reason="torchtitan with graph_trainer is not installed", exc_type=ImportError
)
pytestmark = pytest.mark.skipif(
    not CAPTURES.is_dir(), reason="no shared captures (JOINTER_SHARED)"
)

LLAMA = ("llama3_debug_sdpa_ce.cpu.fsdp2_tp2", "llama3")
LLAMA_CONFIG = "graph_trainer_llama3_debugmodel_sdpa_cross_entropy_loss"
DEEPSEEK = ("deepseek_v3_debug_flex.cuda.fsdp4_ep2", "deepseek_v3")
DEEPSEEK_CONFIG = "graph_trainer_deepseek_v3_debugmodel"


@pytest.fixture
def run_pass(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Runs one pass on a capture; returns the path of the result."""
    import torch.distributed as dist

    count = 0

    def one(spec: str, graph: Path, **arguments: Any) -> Path:
        nonlocal count
        count += 1
        result = tmp_path / f"{count}.json"
        request = {
            "spec": f"{TRAINER}.{spec}",
            "function": spec.rpartition(":")[2],
            "arguments": arguments,
            "graph": str(graph),
            "result": str(result),
        }
        try:
            run(request, Events(io.StringIO()))
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()
        return result

    yield one


def calls(graph: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The call of each node with its values. Nodes are replaced with their positions, since names of
    new nodes depend on earlier nodes, and groups with their ranks.
    """
    places = {record["name"]: place for place, record in enumerate(graph["nodes"])}
    groups = graph.get("groups") or {}

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {"n"}:
                return places[value["n"]]
            return {key: of(each) for key, each in value.items()}
        if isinstance(value, list):
            return [of(each) for each in value]
        return groups[value]["ranks"] if isinstance(value, str) and value in groups else value

    return [
        (r["target"], json.dumps(of([r.get("args"), r.get("kwargs"), r.get("recompute")])))
        for r in graph["nodes"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capture", "config_name"), [(LLAMA, LLAMA_CONFIG), (DEEPSEEK, DEEPSEEK_CONFIG)]
)
def test_the_default_pipeline_is_torchtitans(
    run_pass: Callable[..., Path], tmp_path: Path, capture: Sequence[str], config_name: str
) -> None:
    name, family = capture
    registry = f"{TRAINER}.{family}.config_registry"
    config = getattr(importlib.import_module(registry), config_name)()
    plans, order = bucket_plans(config, splits_experts=family == "deepseek_v3")
    graph = CAPTURES / f"{name}.traced.train_step.json.zst"
    for spec, arguments in (
        ("remove_noop_passes:eliminate_dead_code_pass", {}),
        ("remove_noop_passes:canonicalize_graph_pass", {}),
        ("fsdp_passes:deduplicate_fsdp_unshard_chains_pass", {}),
        ("memory_policy:tag_with_memory_policy_pass", {"config": f"{registry}:{config_name}"}),
        ("cpu_offload:apply_cpu_offload_pass", {}),
        ("selective_activation_remat:selective_activation_remat_pass", {}),
        (
            "fsdp_passes:joint_transformer_block_bucketing_reordering_pass",
            {"module_bucket_plans": plans, "fsdp_param_module_order": order},
        ),
    ):
        graph = run_pass(spec, graph, **arguments)
    theirs = read_document(CAPTURES / f"{name}.after_all_passes.train_step.json.zst")
    assert calls(read_document(graph)) == calls(theirs)


def bucket_plans(config: Any, splits_experts: bool) -> tuple[list[Any], list[Any]]:
    """Arguments of the bucketing pass, computed like in ``compile_time_passes``."""
    import torch
    from torchtitan.components.loss import ChunkedLossWrapper
    from torchtitan.experiments.graph_trainer.common_utils import (
        get_default_transformer_block_buckets,
    )
    from torchtitan.experiments.graph_trainer.fsdp_passes import get_fsdp_param_module_order

    model = config.model_spec.model
    plans = get_default_transformer_block_buckets(
        len(model.layers),
        chunked_loss_enabled=isinstance(config.loss, ChunkedLossWrapper.Config),
        moe_layer_ids=frozenset(
            i for i, layer in enumerate(model.layers) if getattr(layer, "moe", None) is not None
        ),
        split_moe_expert_buckets=splits_experts,
    )
    model.update_from_config(config=config)
    with torch.device("meta"):
        names = [name for name, _ in model.build().named_parameters()]
    return plans, [[key, value] for key, value in get_fsdp_param_module_order(names).items()]


@pytest.mark.parametrize(
    ("spec", "arguments"),
    [
        ("fsdp_passes:reassign_collective_pgs_pass", {}),
        ("ep_process_group_pass:isolate_ep_process_group_pass", {}),
        ("ep_pass_utils:concretize_ep_chunk_symbolic_shapes_pass", {}),
        ("ep_eager_chunk:populate_eager_chunk_metadata_pass", {}),
        ("cudagraph:insert_kernel_annotations_pass", {}),
        (
            "inductor_passes:annotate_flex_attention_for_regional_inductor_pass",
            {"flex_compile_config": [["max_autotune", True]]},
        ),
        ("performance_passes:annotate_rmsnorm_for_regional_inductor_pass", {}),
        ("passes:async_tensor_parallel_pass", {}),
    ],
)
def test_a_pass_runs_unmodified(
    run_pass: Callable[..., Path], spec: str, arguments: dict[str, Any]
) -> None:
    name = DEEPSEEK[0]
    path = CAPTURES / f"{name}.after_all_passes.train_step.json.zst"
    back = read_document(run_pass(spec, path, **arguments))
    before = read_document(path)
    kept = ("placeholder", "output")
    ends = [[r["name"] for r in g["nodes"] if r["op"] in kept] for g in (before, back)]
    assert ends[0] == ends[1]
    if spec.endswith("flex_attention_for_regional_inductor_pass"):
        tagged = [
            r["target"] for r in back["nodes"] if "compile_with_inductor" in r.get("custom", {})
        ]
        assert {"flex_attention", "flex_attention_backward"} <= set(tagged)


def test_a_missing_object(run_pass: Callable[..., Path]) -> None:
    path = CAPTURES / f"{LLAMA[0]}.traced.train_step.json.zst"
    tag = "memory_policy:tag_with_memory_policy_pass"
    for text, cause in (
        ("config", "give its location as module:name"),
        ("math:config", "math has no config"),
        (f"{__name__}:failing", "raised ValueError: no such thing"),
    ):
        with pytest.raises(HostError, match=cause):
            run_pass(tag, path, config=text)
    with pytest.raises(HostError, match="parameter config must be given"):
        run_pass(tag, path)


def failing() -> None:
    raise ValueError("no such thing")
