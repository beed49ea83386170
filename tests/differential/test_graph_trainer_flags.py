"""graph_trainer's flags as pipelines: the passes that torchtitan lists, in its order."""

from __future__ import annotations

import itertools
import runpy
import subprocess
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import BIN, ROOT

ONLY_TORCH = ("2.15",)

passes = pytest.importorskip(
    "torchtitan.experiments.graph_trainer.passes",
    reason="torchtitan with graph_trainer is not installed",
    exc_type=ImportError,
)

MOE = "layers.*.moe"
SETS = (
    {"memory_policy": "eager"},
    {"enable_fsdp_ag_rs_overlap": True},
    {"enable_fsdp_dense_region_overlap": True},
    {"enable_async_tensor_parallel": True},
    {"inductor_compilation": "full"},
    {"numerics_changing_optim": True},
    {"disable_passes": ["cudagraph_pass"]},
    {"disable_passes": ["eliminate_dead_code_pass", "regional_inductor_pass"]},
    {"ep_overlap": {"enabled": True}},
    {"ep_overlap": {"enabled": True, "module_fqn": MOE, "chunk_dim": "seq"}},
    {"ep_overlap": {"enabled": True, "module_fqn": MOE, "strategy": "eager"}},
)


def combinations() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{}]
    for one, other in itertools.combinations_with_replacement(SETS, 2):
        if one is other or not one.keys() & other.keys():
            found.append({**one, **other})
    return found


def flags(chosen: dict[str, Any], prefix: str = "--compile.") -> list[str]:
    text = []
    for name, value in chosen.items():
        if isinstance(value, dict):
            text += flags(value, f"{prefix}{name}.")
        elif value is True:
            text.append(f"{prefix}{name}")
        else:
            text += [f"{prefix}{name}", ",".join(value) if isinstance(value, list) else f"'{value}'"]
    return text


def upstream(chosen: dict[str, Any]) -> list[Any]:
    """The passes that ``construct_default_graph_passes`` returns and ``apply_graph_passes`` runs.
    """
    from torchtitan.experiments.graph_trainer.deepseek_v3 import config_registry

    config = config_registry.graph_trainer_deepseek_v3_debugmodel()
    for name, value in chosen.items():
        if isinstance(value, dict):
            for key, each in value.items():
                setattr(getattr(config.compile, name), key, each)
        else:
            setattr(config.compile, name, value)
    traced = SimpleNamespace(
        num_static_inputs=1, state_fqns=["layers.0.weight"], tensor_input_indices=[0]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = passes.construct_default_graph_passes(traced, config)
    return passes._filter_disabled_passes(listed, config.compile.disable_passes)


@pytest.mark.parametrize("chosen", combinations(), ids=lambda chosen: " ".join(flags(chosen)) or "default")
def test_same_passes(jointer: Any, chosen: dict[str, Any]) -> None:
    assert (BIN / "jointer").exists()
    answer = jointer("passes", "--graph-trainer-flags", " ".join(flags(chosen)))
    ours = [step.partition("{")[0] for step in split(answer["pipeline"])]
    theirs = [passes._get_pass_name(each).removesuffix("_pass") for each in upstream(chosen)]
    # A separate step here; upstream decomposes when it compiles.
    assert [name for name in ours if name != "inductor_decomposition"] == theirs
    # The reverse: the returned flags choose the same pipeline.
    back = answer["graph_trainer_flags"]
    assert back is not None, answer["why_no_flags"]
    assert jointer("passes", "--graph-trainer-flags", back)["pipeline"] == answer["pipeline"]


def test_a_recipe_is_registered_as_a_pipeline(tmp_path: Path) -> None:
    from torchtitan.experiments.graph_trainer.deepseek_v3 import config_registry
    from torchtitan.experiments.graph_trainer.registry import PASS_PIPELINE_REGISTRY

    recipe, file = tmp_path / "recipe.json", tmp_path / "pipeline.py"
    step = ROOT / "resources" / "samples" / "llama_debug_fsdp2.train_step.json.zst"
    options = ["--passes", "canonicalize_graph", "--save-recipe", recipe, "--save-graph-trainer", file]
    subprocess.run(list(map(str, [BIN / "jointer", "apply", step, *options])), check=True)
    runpy.run_path(str(file))
    try:
        pipeline = PASS_PIPELINE_REGISTRY.pop("jointer")
        traced = SimpleNamespace(num_static_inputs=1, state_fqns=[], tensor_input_indices=[0])
        config = config_registry.graph_trainer_deepseek_v3_debugmodel()
        names = [passes._get_pass_name(each) for each in pipeline(traced, config)]
    finally:
        PASS_PIPELINE_REGISTRY.pop("jointer", None)
    assert names[0] == "jointer_recipe_pass"
    assert names[1:] == [
        "annotate_flex_attention_for_regional_inductor_pass",
        "regional_inductor_pass",
        "insert_kernel_annotations_pass",
        "cudagraph_pass",
    ]


def split(pipeline: str) -> list[str]:
    """Steps of a pipeline, divided by commas outside of braces."""
    steps, depth = [""], 0
    for character in pipeline:
        depth += (character in "{[") - (character in "}]")
        if character == "," and depth == 0:
            steps.append("")
        else:
            steps[-1] += character
    return steps


def test_arguments_equal_upstreams(jointer: Any) -> None:
    chosen = {"ep_overlap": {"enabled": True, "module_fqn": MOE, "disable_early_grad_accumulation": True}}
    answer = jointer("passes", "--graph-trainer-flags", " ".join(flags(chosen)))
    given = {
        passes._get_pass_name(each).removesuffix("_pass"): getattr(each, "keywords", {})
        for each in upstream(chosen)
    }
    assert given["ep_overlap_chunk"]["mode"] == "batch"
    assert given["ep_overlap_chunk"]["module_pattern"] == MOE
    assert given["ep_overlap_chunk"]["optimize_grad_live_out"] is False
    assert 'ep_overlap_chunk{mode=batch,module_pattern="layers.*.moe",optimize_grad_live_out=false}' in (
        answer["pipeline"]
    )
    assert given["ep_overlap_schedule"]["pair_first_token_exchange"] is True
    assert "pair_first_token_exchange=true" in answer["pipeline"]
