"""Compares our passes for expert and pipeline parallelism with graph_trainer's own: the same nodes in
the same order with the same arguments. The graphs are the shared captures, and steps of a small MoE model
that torchtitan traces here (graph_trainer_step.py).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import BIN, SHARED, output_of, parameter, run_passes

pytest.importorskip("torchtitan.experiments.graph_trainer", reason="torchtitan 0.3 is not installed")

import torch  # noqa: E402
from torch import fx  # noqa: E402
from torchtitan.experiments.graph_trainer import ep_process_group_pass as isolation  # noqa: E402
from torchtitan.experiments.graph_trainer import ep_overlap_pass as overlap  # noqa: E402
from torchtitan.experiments.graph_trainer import graph_pp  # noqa: E402
from torchtitan.experiments.graph_trainer.graph_pp.graph_multiplex import multiplex_fw_bw_graph  # noqa: E402

from jointer.document import read_document  # noqa: E402
from jointer.encode import encode_graph  # noqa: E402
from jointer.groups import restore_groups  # noqa: E402
from jointer.load import load_document  # noqa: E402

Json = dict[str, Any]

CHUNK_KEYS = (
    "chunk_id",
    "chunked_region_fqn",
    "chunked_region_role",
    "chunked_region_is_backward",
    "chunked_region_producer",
)


def load(path: Path, *, with_groups: bool = True) -> fx.GraphModule:
    """The capture as torch sees it, with the metadata that graph_trainer's passes need."""
    document = read_document(path)
    module = load_document(document, where=path)
    if with_groups:
        restore_groups(document.get("groups") or {}, document.get("rank") or 0, document.get("world_size") or 1)
    for node in module.graph.nodes:
        custom = node.meta.get("custom") or {}
        if "chunked_region_producer" in custom:
            node.meta.update({key: custom[key] for key in CHUNK_KEYS if key in custom})
        if isinstance(node.meta.get("val"), torch.Tensor):
            node.meta["tensor_meta"] = node.meta["val"]  # tracing sets it if the value is one tensor
    return module


def ours(path: Path, steps: str, out: Path) -> Json:
    run_passes(path, steps, out)
    return read_document(out)


def refusal(path: Path, steps: str, out: Path) -> str:
    done = subprocess.run(
        [str(BIN / "run_passes"), str(path), "-", "simple", steps, str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    return done.stderr


def rows(document: Json) -> list[Any]:
    """The computation of a graph."""
    return [
        (r["name"], r["op"], r["target"] if r["op"] == "call_function" else "", r.get("args") or [], r.get("kwargs") or {})
        for r in document["nodes"]
    ]


def numbered(value: Any, places: dict[str, int]) -> Any:
    """Replaces nodes with their positions."""
    if isinstance(value, dict):
        return {k: places.get(v, v) if k == "n" else numbered(v, places) for k, v in value.items()}
    return [numbered(each, places) for each in value] if isinstance(value, list) else value


def by_place(found: list[Any]) -> list[Any]:
    places = {r[0]: i for i, r in enumerate(found)}
    return [(i, *numbered(list(r[1:]), places)) for i, r in enumerate(found)]


def same(mine: Json, theirs: fx.GraphModule, *, names: bool = True) -> None:
    expected = rows(json.loads(json.dumps(encode_graph(theirs, kind="train_step"))))
    found = rows(mine)
    if not names:
        found, expected = by_place(found), by_place(expected)
    assert [r[0] for r in found] == [r[0] for r in expected]
    for a, b in zip(found, expected, strict=True):
        if a[1] == "output":
            assert leaves(a[3]) == leaves(b[3])
        elif a[1] != "placeholder":
            assert a == b


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict) and "tuple" in value:
        value = value["tuple"]
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


# --- Expert parallelism ---

ISOLATES = "isolate_ep_process_group_pass"

# The traced steps, with the modules that torchtitan splits and the dimension.
STEPS = {
    "moe_batch": ["--dp", "4", "--ep", "2", "--strategy", "eager", "--module-fqn", "layers.*.moe"],
    "moe_seq": ["--dp", "2", "--ep", "2", "--strategy", "eager", "--module-fqn", "layers.*.moe", "--dim", "seq"],
    "layers_batch": ["--dp", "4", "--ep", "4", "--strategy", "eager", "--module-fqn", "layers.*"],
    "qwen3": ["--model", "qwen3", "--dp", "4", "--ep", "2", "--strategy", "eager", "--module-fqn", "layers.*.moe"],
    "graph_moe": ["--dp", "4", "--ep", "2", "--strategy", "graph", "--module-fqn", "layers.*.moe", "--late-sums"],
    "graph_layers": ["--dp", "8", "--ep", "4", "--strategy", "graph", "--module-fqn", "layers.*"],
    "graph_seq": [
        "--dp", "4", "--ep", "4", "--strategy", "graph", "--module-fqn", "layers.*.moe", "--dim", "seq", "--late-sums",
    ],
    "graph_eager": [
        "--dp", "4", "--ep", "4", "--strategy", "graph", "--module-fqn", "layers.*", "--policy", "eager",
        "--batch", "8",
    ],
    "graph_full": [
        "--dp", "4", "--ep", "2", "--strategy", "graph", "--module-fqn", "layers.*", "--policy", "full", "--late-sums",
        "--until", ISOLATES,  # upstream finds no order for its schedule
    ],
    "graph_early": ["--dp", "2", "--ep", "2", "--strategy", "graph", "--module-fqn", "layers.*.moe"],
    "graph_qwen3": [
        "--model", "qwen3", "--dp", "4", "--ep", "4", "--strategy", "graph", "--module-fqn", "layers.*.moe",
        "--late-sums",
    ],
}  # fmt: skip


@pytest.fixture(scope="session")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a step's captures: one before and one after each compared pass."""
    kept = Path(os.environ["JOINTER_TRACED"]) if "JOINTER_TRACED" in os.environ else None
    made: dict[str, Path] = {}

    def step(name: str) -> Path:
        if name not in made:
            folder = made[name] = (kept or tmp_path_factory.mktemp("traced")) / name
            if not folder.is_dir():
                script = Path(__file__).with_name("graph_trainer_step.py")
                output_of(sys.executable, script, *STEPS[name], "--out", folder)
        return made[name]

    return step


def option(name: str, flag: str, default: str = "") -> str:
    given = STEPS[name]
    return given[given.index(flag) + 1] if flag in given else default


CUT = [name for name in STEPS if name.startswith("graph_")]
SCHEDULED = [name for name in STEPS if "--until" not in STEPS[name]]
# Eager chunking creates no symbols.
SYMBOLIC = [name for name in SCHEDULED if name in CUT]


def described(value: Any) -> Any:
    """Shapes, strides and types. Upstream gives each copy its own storage and drops conjugation."""
    if isinstance(value, dict) and "t" in value:
        return {key: each for key, each in value["t"].items() if key not in ("storage", "offset", "conj", "neg")}
    if isinstance(value, dict) and "list" in value:
        return [described(each) for each in value["list"]]
    return value


def same_values(mine: Json, theirs: Json) -> None:
    for a, b in zip(mine["nodes"], theirs["nodes"], strict=True):
        # Upstream does not record the values of its splits.
        if a["target"] != "aten.split_with_sizes.default" or b.get("val") is not None:
            assert described(a.get("val")) == described(b.get("val")), a["name"]
        for key in ("custom", "autograd_backward", "recompute", "seq_nr"):
            assert a.get(key) == b.get(key), (a["name"], key)


@pytest.mark.slow
@pytest.mark.parametrize("name", CUT)
def test_populate_chunk_dim_metadata(name: str, traced: Callable[[str], Path], tmp_path: Path) -> None:
    step = f"populate_chunk_dim_metadata{{mode={option(name, '--dim', 'batch')}}}"
    mine = ours(traced(name) / "before_populate_chunk_dim_metadata_pass.json.zst", step, tmp_path / "out.json")
    theirs = read_document(traced(name) / "before_ep_overlap_chunk_pass.json.zst")
    assert any("torchtitan_chunk_symbol_hints" in (r.get("custom") or {}) for r in theirs["nodes"])
    assert rows(mine) == rows(theirs)
    same_values(mine, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", CUT)
def test_ep_overlap_chunk(name: str, traced: Callable[[str], Path], tmp_path: Path) -> None:
    early = str("--late-sums" not in STEPS[name]).lower()
    arguments = f'mode={option(name, "--dim", "batch")},module_pattern="{option(name, "--module-fqn")}"'
    step = f"ep_overlap_chunk{{{arguments},optimize_grad_live_out={early}}}"
    before = traced(name) / "before_ep_overlap_chunk_pass.json.zst"
    mine = ours(before, step, tmp_path / "out.json")
    theirs = read_document(traced(name) / "before_isolate_ep_process_group_pass.json.zst")
    assert len(theirs["nodes"]) > len(read_document(before)["nodes"])
    assert rows(mine) == rows(theirs)
    same_values(mine, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", SYMBOLIC)
def test_concretize_ep_chunk_symbolic_shapes(name: str, traced: Callable[[str], Path], tmp_path: Path) -> None:
    step = "concretize_ep_chunk_symbolic_shapes"
    before = traced(name) / f"before_{step}_pass.json.zst"
    mine = ours(before, step, tmp_path / "out.json")
    theirs = read_document(traced(name) / f"after_{step}_pass.json.zst")
    assert rows(mine) == rows(theirs) != rows(read_document(before))
    # Inputs keep their symbols. Upstream also replaces symbols of token counts by numbers from hints that
    # captures do not have.
    for record in mine["nodes"]:
        if record["op"] == "call_function":
            assert not re.search(r"\bu0\b", json.dumps(record.get("val"))), record["name"]
        assert "torchtitan_chunk_symbol_hints" not in (record.get("custom") or {})


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEDULED)
def test_ep_overlap_schedule(name: str, traced: Callable[[str], Path], tmp_path: Path) -> None:
    before = traced(name) / "before_ep_overlap_schedule_pass.json.zst"
    pattern = STEPS[name][STEPS[name].index("--module-fqn") + 1]
    pairs = pattern == "layers.*.moe"
    arguments = f'{{module_pattern="{pattern}",pair_first_token_exchange={str(pairs).lower()},require_all_to_all=true}}'
    mine = ours(before, f"ep_overlap_validate{arguments}, ep_overlap_schedule{arguments}", tmp_path / "out.json")
    theirs = load(before)
    was = [node.name for node in theirs.graph.nodes]
    overlap.ep_overlap_schedule_pass(theirs, None, module_pattern=pattern, pair_first_token_exchange=pairs)
    assert was != [node.name for node in theirs.graph.nodes], "nothing was ordered"
    same(mine, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_isolate_ep_process_group(name: str, traced: Callable[[str], Path], tmp_path: Path) -> None:
    before = traced(name) / "before_isolate_ep_process_group_pass.json.zst"
    mine = ours(before, "isolate_ep_process_group", tmp_path / "out.json")
    theirs = load(before)
    made: list[str] = []

    def twin(source: str) -> str:
        made.append(source)
        return f"{source}_ep_extra"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "_get_or_create_extra_ep_pg", twin)
        isolation.isolate_ep_process_group_pass(theirs)
    shares = option(name, "--dp") == option(name, "--ep")
    assert bool(made) == shares, "if every rank has different experts, they share a group with FSDP"
    same(mine, theirs)
    assert {f"{source}_ep_extra" for source in made} <= mine["groups"].keys()


# --- Pipeline parallelism ---


def joint_captures() -> list[Any]:
    if not (SHARED / "captures").is_dir():
        return []
    paths = [path for path in sorted((SHARED / "captures").glob("*.joint.json.zst")) if "671b" not in path.name]
    # Upstream takes a minute for each of the large ones.
    return [parameter(path, "8b" in path.name) for path in paths]


needs_shared = pytest.mark.skipif(not joint_captures(), reason="no shared captures (JOINTER_SHARED)")


def counts(path: Path) -> tuple[int, tuple[int, ...], int]:
    """Number of the forward's outputs, positions of the backward's inputs, and number of parameter gradients.
    """
    document = read_document(path)
    described = document["nodes"][-1]["desc"]
    outputs = next((i for i, each in enumerate(described) if is_gradient(each)), len(described))
    names = [r for r in document["nodes"] if r["op"] == "placeholder"]
    tangents = tuple(i for i, r in enumerate(names) if "Tangent" in json.dumps(r.get("desc")))
    last = 0
    for i, each in enumerate(described[outputs:]):
        if "ParamAOTInput" in json.dumps(each):
            last = i + 1
    return outputs, tangents, last


def is_gradient(desc: Json | None) -> bool:
    return "GradAOTOutput" in json.dumps(desc)


def their_pair(path: Path) -> tuple[fx.GraphModule, fx.GraphModule, Any, int]:
    module = load(path)
    outputs, tangents, parameters = counts(path)
    forward, backward, meta = graph_pp.partition_joint_graph(
        SimpleNamespace(gm=module), num_fwd_outputs=outputs, backward_only_input_indices=tangents
    )
    return forward, backward, meta, parameters


@needs_shared
@pytest.mark.parametrize("path", joint_captures())
def test_graph_pp(path: Path, tmp_path: Path) -> None:
    outputs, _, parameters = counts(path)
    forward, backward, meta, _ = their_pair(path)
    start = f"partition_joint_graph{{forward_outputs={outputs}}}"
    pair = ours(path, start, tmp_path / "pair.json")
    same(pair["forward"], forward)
    same(pair["backward"], backward)

    def after(step: str) -> Json:
        return ours(path, f"{start}, {step}", tmp_path / "one.json")

    split = graph_pp.split_di_dw_graph(backward, num_param_grads=parameters)
    arguments = f"parameter_gradients={parameters}"
    if split is None:
        assert rows(after(f"split_di_dw_graph{{{arguments}}}")["backward"]) == rows(pair["backward"])
    else:
        same(after(f"split_di_dw_graph{{{arguments}}}"), split.bw_di_module)
        same(after(f'split_di_dw_graph{{keep="backward_weight",{arguments}}}'), split.bw_dw_module)

    gathered = sum(index < n_parameters(path) for index in meta.fwd_flat_input_indices)
    step = "split_forward_fsdp_collectives"
    try:
        parts = graph_pp.split_forward_fsdp_collectives(
            forward,
            num_params=n_parameters(path),
            fwd_input_names=meta.fwd_input_names,
            fwd_flat_input_indices=meta.fwd_flat_input_indices,
        )
    except ValueError as refused:
        # A parameter is gathered more than once.
        assert "deduplicate_fsdp_unshard_chains" in str(refused)
        assert "run deduplicate_fsdp_unshard_chains first" in refusal(path, f"{start}, {step}", tmp_path / "one.json")
    else:
        if parts.unshard_module is not None:
            same(after(f'{step}{{keep="unshard",parameters={gathered}}}'), parts.unshard_module)
            same(after(f"{step}{{parameters={gathered}}}"), parts.fw_no_fsdp_module)

    ends = graph_pp.split_backward_fsdp_collectives(backward, num_param_grads=parameters)
    if ends.reduce_grad_module is not None:
        step = "split_backward_fsdp_collectives"
        same(after(f"{step}{{{arguments}}}"), ends.bw_no_fsdp_module)
        same(after(f'{step}{{keep="reduce_grad",{arguments}}}'), ends.reduce_grad_module)
    # Which half's name gets the number if both have one depends on torch.
    same(after("multiplex_fw_bw_graph"), multiplex_fw_bw_graph(forward, backward), names=False)


def n_parameters(path: Path) -> int:
    """Number of parameters, which are the first inputs."""
    named = [r for r in read_document(path)["nodes"] if r["op"] == "placeholder"]
    return next(i for i, r in enumerate(named) if "ParamAOTInput" not in json.dumps(r.get("desc")))
