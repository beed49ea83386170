"""Compares passes with torch's own: the same graph, and recipes of them that replay on a GraphModule."""

from __future__ import annotations

import json
import operator
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from conftest import ROOT, run_jointer
from torch import fx
from torch._guards import TracingContext, tracing
from torch._inductor import comms
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

import jointer
from jointer.document import read_document

SAMPLES = sorted((ROOT / "resources" / "samples").glob("llama_debug*.joint.json.zst"))


def apply(path: Path, passes: str, *arguments: Any) -> Any:
    """The output of `jointer apply`."""
    return run_jointer("apply", path, "--passes", passes, *arguments)


def names(document: dict[str, Any]) -> list[str]:
    return [record["name"] for record in document["nodes"]]


# --- Clean-up ---


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name.removesuffix(".json.zst"))
def test_eliminate_dead_code(path: Path, tmp_path: Path) -> None:
    # Dropping outputs leaves much dead code.
    document = read_document(path)
    (outputs,) = document["nodes"][-1]["args"]
    document["nodes"][-1]["args"] = [[each if i % 3 == 0 else None for i, each in enumerate(outputs)]]
    cut, out = tmp_path / "cut.json", tmp_path / "out.json"
    cut.write_text(json.dumps(document))
    removed = apply(cut, "eliminate_dead_code{drop_asserts=false,drop_random=true}", "-o", out)["passes"][0]["removed"]
    # If every output is a reduced gradient, all of it ends in a wait, which is impure.
    assert removed > 10 or "fsdp" in path.name
    gm = jointer.load(cut)
    mode = next(n.meta["val"].fake_mode for n in gm.graph.nodes if isinstance(n.meta.get("val"), torch.Tensor))
    with tracing(TracingContext(mode)):
        gm.graph.eliminate_dead_code()
    assert names(json.loads(out.read_text())) == [node.name for node in gm.graph.nodes]


def views(x: torch.Tensor, y: torch.Tensor, rng: random.Random) -> list[torch.Tensor]:
    """A random program of views, copies of parts, arithmetic and occasional writes."""
    aten = torch.ops.aten
    values = [x, y, x + 1]
    for _ in range(24):
        v = rng.choice(values)
        dim = rng.randrange(v.dim()) if v.dim() else 0
        size = v.shape[dim] if v.dim() else 1
        start = rng.randrange(size)
        moves: list[Callable[[], torch.Tensor]] = [
            lambda: aten.detach(v),
            lambda: aten.view(v, list(v.shape)) if v.is_contiguous() else aten.reshape(v, [-1]),
            lambda: aten.reshape(v, [-1]),
            lambda: aten.slice(v, dim, 0, 9223372036854775807) if v.dim() else v * 2,
            lambda: aten.slice_copy(v, dim, start, start + 1 + rng.randrange(3)) if v.dim() else v,
            lambda: aten.select_copy(v, dim, start) if v.dim() else v,
            lambda: aten.unsqueeze_copy(v, dim),
            lambda: aten.alias_copy(v),
            lambda: aten.view_copy(v, [-1]),
            lambda: aten.permute_copy(v, list(reversed(range(v.dim())))),
            lambda: aten.expand_copy(v, [2, *v.shape]) if v.dim() < 4 else v,
            lambda: aten.t(aten.t(v)) if v.dim() == 2 else v.sigmoid(),
            lambda: v.exp(),
        ]  # fmt: skip
        values.append(rng.choice(moves)())
        if rng.random() < 0.05:
            values[-1].add_(1)
    return [value + 0 for value in values[3:]] + [values[-1]]


@pytest.mark.parametrize(
    "passes",
    ["canonicalize_graph", "replace_view_copy_with_view", "replace_view_copy_with_view,canonicalize_graph"],
)
def test_views_stay_equal_bit_by_bit(passes: str, tmp_path: Path) -> None:
    changed = 0
    for seed in range(12):
        inputs = (torch.randn(6, 8), torch.randn(4, 3))
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            fakes = [mode.from_tensor(each) for each in inputs]
            rng = random.Random(seed)
            gm = make_fx(lambda x, y: views(x, y, rng))(*fakes)  # noqa: B023
        before, after = tmp_path / "before.json", tmp_path / "after.json"
        jointer.capture(gm, before)
        steps = apply(before, passes, "-o", after)["passes"]
        changed += sum(step["changed"] + step["removed"] for step in steps)
        run = [jointer.load(path)(*(each.clone() for each in inputs)) for path in (before, after)]
        for a, b in zip(*run, strict=True):
            assert torch.equal(a, b), seed
    assert changed > 60


# --- Recipes ---


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name.removesuffix(".json.zst"))
@pytest.mark.parametrize(
    "passes",
    [
        "apply_sac,fsdp_reshard_after_fwd",
        "canonicalize_graph,eliminate_dead_code",
        "tag_with_memory_policy{policy=full},canonicalize_graph,replace_view_copy_with_view",
    ],
)
def test_a_recipe_gives_the_same_graph_in_python(path: Path, passes: str, tmp_path: Path) -> None:
    out, recipe = tmp_path / "out.json", tmp_path / "recipe.json"
    apply(path, passes, "-o", out, "--save-recipe", recipe)
    gm = jointer.load(path)
    jointer.apply_recipe(gm, recipe)
    written = json.loads(out.read_text())
    assert jointer.graph_hash(gm) == jointer.document_hash(written)
    gm.graph.lint()


# --- FSDP2's graph passes in torch/_inductor/comms.py, which exist up to torch 2.12 ---


def of_comms(name: str) -> Callable[..., Any]:
    if not hasattr(comms, name):
        pytest.skip(f"torch {torch.__version__} has no {name}")
    return getattr(comms, name)


class Build:
    """A graph with fake values, as an FSDP2 trace has it."""

    def __init__(self) -> None:
        import torch.distributed.fsdp._fully_shard._fsdp_collectives  # noqa: F401, PLC0415

        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
        self.mode = FakeTensorMode()
        self.graph = fx.Graph()

    def input(self, name: str, *shape: int) -> fx.Node:
        node = self.graph.placeholder(name)
        with self.mode:
            node.meta["val"] = torch.empty(shape)
        return node

    def call(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        node = self.graph.call_function(target, args, kwargs)
        values = fx.node.map_arg((args, kwargs), lambda n: n.meta["val"])
        with self.mode:
            node.meta["val"] = target(*values[0], **values[1])
        return node

    def module(self, *outputs: fx.Node) -> fx.GraphModule:
        self.graph.output(tuple(outputs))
        return fx.GraphModule(torch.nn.Module(), self.graph)


def shape_of(graph: fx.Graph) -> list[tuple[str, list[int], list[str]]]:
    """The target of every call, and its inputs by position. Names do not count."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    return [
        (str(node.target), [place[each] for each in node.all_input_nodes], sorted(node.kwargs))
        for node in graph.nodes
        if node.op == "call_function"
    ]


def ours(gm: fx.GraphModule, passes: str, folder: Path) -> fx.Graph:
    """The graph after our pass, as torch reads it."""
    before, after = folder / "before.json", folder / "after.json"
    jointer.capture(gm, before)
    apply(before, passes, "-o", after)
    dist.destroy_process_group()
    return jointer.load(after).graph


def test_remove_fsdp2_unsharded_param_graph_input_usage(tmp_path: Path) -> None:
    torchs_pass = of_comms("remove_fsdp2_unsharded_param_graph_input_usage")
    build = Build()
    whole, first, second = (build.input(name, 4, 4) for name in ("whole", "first", "second"))
    resize, copy = torch.ops.inductor.resize_storage_bytes_.default, torch.ops.fsdp.copy_.default
    returned = []
    for gathered in (first, second):  # a layer used twice
        build.graph.call_function(resize, (whole, 64)).meta["val"] = None
        build.graph.call_function(copy, (whole, gathered)).meta["val"] = None
        turned = build.call(torch.ops.aten.t.default, whole)
        returned.append(build.call(torch.ops.aten.mm.default, whole, turned))
        build.graph.call_function(resize, (whole, 0)).meta["val"] = None
    gm = build.module(*returned)
    mine = shape_of(ours(gm, "remove_fsdp2_unsharded_param_graph_input_usage", tmp_path))
    torchs_pass(gm.graph)
    assert mine == shape_of(gm.graph)
    assert len(mine) == 4


def test_reinplace_fsdp_all_gather(tmp_path: Path) -> None:
    torchs_pass = of_comms("reinplace_fsdp_all_gather")
    build = Build()
    shard, buffer = build.input("shard", 4), build.input("buffer", 8)
    name = dist.group.WORLD.group_name
    copied = build.call(torch.ops.fsdp.all_gather_copy_in.default, [shard], buffer, [4], 4, 0)
    part = build.call(operator.getitem, copied, 0)
    gathered = build.call(torch.ops._c10d_functional.all_gather_into_tensor.default, part, 2, name)
    waited = build.call(torch.ops._c10d_functional.wait_tensor.default, gathered)
    gm = build.module(build.call(torch.ops.aten.relu.default, waited))
    before = tmp_path / "before.json"
    jointer.capture(gm, before)
    with tracing(TracingContext(build.mode)), build.mode:
        from torch._inductor.virtualized import V  # noqa: PLC0415

        with V.set_fake_mode(build.mode):
            torchs_pass(gm.graph)
    theirs = shape_of(gm.graph)
    after = tmp_path / "after.json"
    apply(before, "reinplace_fsdp_all_gather", "-o", after)
    dist.destroy_process_group()
    assert shape_of(jointer.load(after).graph) == theirs
    assert any("all_gather_into_tensor_out" in target for target, _, _ in theirs)


# --- FSDP's reductions in torch/_inductor/fx_passes/fsdp.py ---


def shared_weights(uses: int, layers: int, dtype: torch.dtype, batches: int) -> fx.GraphModule:
    """Gradients of a model that reads each weight ``uses`` times per batch, and gathers it each time."""
    from torch.distributed._functional_collectives import all_gather_tensor_autograd as gather  # noqa: PLC0415

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)

    def step(inputs: list[torch.Tensor], weights: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        loss = torch.zeros(())
        for x in inputs:
            for weight in weights:
                for _ in range(uses):
                    x = torch.tanh(x @ gather(weight, 0, dist.group.WORLD).to(x.dtype))
            loss = loss + x.sum()
        return torch.autograd.grad(loss, weights)

    with FakeTensorMode():
        weights = [torch.randn(4, 8, dtype=dtype, requires_grad=True) for _ in range(layers)]
        return make_fx(step)([torch.randn(3, 8) for _ in range(batches)], weights)


@pytest.mark.parametrize(
    ("uses", "layers", "dtype", "batches"),
    [
        (2, 1, torch.float32, 1),
        (2, 3, torch.bfloat16, 1),
        (3, 2, torch.float32, 1),
        (5, 1, torch.float32, 1),
        (1, 2, torch.float32, 4),
        (2, 2, torch.bfloat16, 3),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_dedup_fsdp_reduce_scatter(
    uses: int, layers: int, dtype: torch.dtype, batches: int, tmp_path: Path
) -> None:
    fsdp = pytest.importorskip("torch._inductor.fx_passes.fsdp")
    if not hasattr(fsdp, "dedup_fsdp_reduce_scatter"):
        pytest.skip(f"torch {torch.__version__} has no dedup_fsdp_reduce_scatter")
    gm = shared_weights(uses, layers, dtype, batches)
    gm.graph.eliminate_dead_code()
    mine = shape_of(ours(gm, "dedup_fsdp_reduce_scatter", tmp_path))
    fsdp.dedup_fsdp_reduce_scatter(gm)
    assert mine == shape_of(gm.graph)
    reductions = sum("reduce_scatter_tensor" in target for target, _, _ in mine)
    assert reductions == layers < layers * uses * batches
