"""`jointer bench --passes`: passes that keep numerics leave outputs bitwise equal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import CAPTURES, SAMPLES, bench, capture_of, output_of

CLEAN_UP = (
    "eliminate_dead_code{drop_asserts=true},canonicalize_graph,deduplicate_fsdp_unshard_chains,"
    "replace_view_copy_with_view"
)
PIPELINES = [
    CLEAN_UP,
    f"apply_sac,fsdp_reshard_after_fwd,{CLEAN_UP},min_cut_partition",
    f"tag_with_memory_policy{{policy=full}},default_partition,{CLEAN_UP}",
    "knapsack_budget{budget=0.3,solver=greedy}",
    # Twins of process groups would have to be created by the training code.
    TUNE := "auto_tune{evaluations=25,twin_groups=false}",
]

SAMPLE = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
# Every pass that keeps numerics is in one of them, except those for other kinds of graphs.
SAMPLE_PIPELINES = [
    "remove_tags,validate_flex_attn_annotation,apply_sac,fsdp_reshard_after_fwd,"
    f"{CLEAN_UP},min_cut_partition,reassign_to_pg,transformer_block_bucketing,"
    "reorder_communication_preserving_peak_memory,sink_waits_iterative,decide_global_ordering_of_comms,"
    "place_collectives",
    "tag_with_memory_policy{policy=full},default_partition,greedy_bucketing_by_mb,raise_comms,sink_waits,"
    "reorder_compute_for_overlap,enforce_comm_ordering_for_fsdp",
    "knapsack_budget{budget=0.3},autobucketing_reordering,reorder_for_peak_memory,"
    "reorder_compute_and_comm_for_overlap{passes=[raise_comms,sink_waits_iterative]}",
    "partition_joint_graph",
    "fastest_plan{share=0.9}",
    "min_cut_partition,join,knapsack_budget{budget=0.5},place_collectives",
    "joint_transformer_block_bucketing_reordering,reassign_collective_pgs,"
    "annotate_flex_attention_for_regional_inductor,insert_kernel_annotations,custom_codegen",
]
OTHER_GRAPHS = {
    "apply_cpu_offload": "a flat training step: test_flat_step.py",
    "selective_activation_remat": "a flat training step: test_flat_step.py",
    "remove_fsdp2_unsharded_param_graph_input_usage": "an FSDP2 trace: tests/differential/test_passes.py",
    "reinplace_fsdp_all_gather": "an FSDP2 trace: tests/differential/test_passes.py",
    "schedule_fsdp_comms_to_dense_regions": "a flat training step: tests/differential/test_graph_trainer_passes.py",
    "spmd_check": "it changes nothing: tests/differential/test_symm_mem_passes.py",
    "concretize_ep_chunk_symbolic_shapes": "a step with experts: tests/differential/test_graph_trainer_parallel.py",
    "ep_overlap_schedule": "a step with experts: tests/differential/test_graph_trainer_parallel.py",
    "ep_overlap_validate": "a step with experts: tests/differential/test_graph_trainer_parallel.py",
    "isolate_ep_process_group": "a step with experts: tests/differential/test_graph_trainer_parallel.py",
    "populate_chunk_dim_metadata": "a step with experts: tests/differential/test_graph_trainer_parallel.py",
    "multiplex_fw_bw_graph": "two microbatches in one graph: tests/differential/test_graph_trainer_parallel.py",
    "split_backward_fsdp_collectives": "it leaves a part: tests/differential/test_graph_trainer_parallel.py",
    "split_di_dw_graph": "it leaves a part: tests/differential/test_graph_trainer_parallel.py",
    "split_forward_fsdp_collectives": "it leaves a part: tests/differential/test_graph_trainer_parallel.py",
    "cudagraph": "a GPU",
    "auto_tune": "it runs the others: in PIPELINES",
}


def passes() -> list[dict[str, Any]]:
    """All passes, as listed by `jointer passes`."""
    return json.loads(output_of("jointer", "passes", "--json"))["passes"]


def run(name: str, pipeline: str, expected: str) -> dict[str, Any]:
    base = capture_of(name)
    code, result = bench(
        f"{base}.joint.json.zst", f"--inputs={base}.inputs.safetensors", f"--expected={expected}",
        "--passes", pipeline, "--threads=1", "--iterations=1", "--warmup=0",
    )  # fmt: skip
    assert code == 0, result
    assert result["pipeline"] == pipeline
    return result["verify"]


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", CAPTURES)
def test_outputs_are_those_of_eager(name: str, pipeline: str, eager: Callable[[str], str]) -> None:
    answer = run(name, pipeline, eager(name))
    assert answer["bitwise"] and answer["compared"] >= 15, answer


@pytest.mark.parametrize("pipeline", SAMPLE_PIPELINES)
def test_the_sample_computes_the_same_on_two_ranks(pipeline: str) -> None:
    code, result = bench(
        SAMPLE, "--passes", pipeline, "--verify", "--threads=1", "--iterations=1", "--warmup=0"
    )
    assert code == 0, result
    assert len(result["ranks"]) == 2
    assert result["verify"]["bitwise"] and result["verify"]["compared"] >= 15, result["verify"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "preset",
    [
        "deepseek_v3",
        "deepseek_v3_flex",
        "fsdp_tp",
        "fsdp_tp_auto_bucketing",
        "fsdp_tp_block_bucketing",
        "fsdp_tp_flex",
        "fsdp_tp_flex_auto_bucketing_regional",
        "fsdp_tp_flex_block_bucketing_regional",
        "fsdp_tp_full_inductor",
    ],
)
def test_presets_run(preset: str) -> None:
    """The tenth preset uses a CUDA graph and needs a GPU."""
    code, result = bench(
        SAMPLE, "--preset", preset, "--verify", "--threads=1", "--iterations=1", "--warmup=0", timeout=900
    )
    assert code == 0, result
    assert result["verify"]["equal"] and result["verify"]["compared"] >= 15
    assert result["verify"]["bitwise"] or preset == "fsdp_tp_full_inductor"


def test_no_pass_that_keeps_numerics_is_left_out() -> None:
    named = {each.split("{")[0] for pipeline in SAMPLE_PIPELINES for each in steps(pipeline)}
    assert not named & OTHER_GRAPHS.keys()
    wanted = {each["name"] for each in passes() if each["keeps_numerics"]}
    assert named | OTHER_GRAPHS.keys() == wanted


def steps(pipeline: str) -> list[str]:
    """Splits at commas outside of braces."""
    found, depth = [""], 0
    for letter in pipeline:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


@pytest.mark.slow
@pytest.mark.parametrize("partition", ["", ",min_cut_partition"])
@pytest.mark.parametrize("name", CAPTURES)
def test_every_pass_that_keeps_numerics(name: str, partition: str, eager: Callable[[str], str]) -> None:
    for each in passes():
        if not each["keeps_numerics"] or each["stage"] in ("partition", "compile"):
            continue
        if each["name"] in OTHER_GRAPHS:
            continue
        tags = each["stage"] == "joint"
        pipeline = f"{each['name']}{partition}" if tags or not partition else f"{partition[1:]},{each['name']}"
        if not tags and each["name"] == "fsdp_reshard_after_fwd" and partition:
            pipeline = f"{each['name']}{partition}"
        answer = run(name, pipeline.replace("auto_tune", TUNE), eager(name))
        assert answer["bitwise"], (each["name"], answer)
