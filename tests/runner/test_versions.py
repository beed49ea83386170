"""Runs graphs from other versions of torch, and features of newer versions: meshes and process groups as values,
inputs that repeat their elements, operators with more arguments.

Each test makes a capture with the installed torch and rewrites it as another version would write it, so
that all tests run with every torch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jointer
import pytest
import torch
from conftest import run_runner, verified
from files import write_safetensors
from torch import Tensor
from torch._inductor.fx_passes import bucketing  # noqa: F401  (registers its operators)
from torch.fx.experimental.proxy_tensor import make_fx

from jointer.inputs import make_inputs

Json = Any
aten = torch.ops.aten


def captured(
    program: Callable[..., Any], inputs: list[Tensor], folder: Path, change: Callable[[Json], None]
) -> Path:
    """A capture of ``program`` after ``change`` of its document, with ``in.safetensors`` next to it."""
    gm = make_fx(program, tracing_mode="fake")(*inputs)
    path = folder / "graph.json"
    jointer.capture(gm, path, name="versions")
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    names = [node.name for node in gm.graph.find_nodes(op="placeholder")]
    write_safetensors(folder / "in.safetensors", dict(zip(names, inputs, strict=True)))
    return path


def compared(path: Path, expected: list[Tensor], *options: object) -> None:
    """Runs ``path`` on its inputs; its outputs are ``expected``, bit for bit."""
    write_safetensors(path.with_name("out.safetensors"), {str(i): e for i, e in enumerate(expected)})
    out = f"--expected={path.with_name('out.safetensors')}"
    (answer,) = verified(run_runner(path, "--solo=0", out, *options))
    assert answer["bitwise"] and answer["compared"] == len(expected), answer


def given(path: Path) -> str:
    return f"--inputs={path.with_name('in.safetensors')}"


def node_of(document: Json, target: str) -> Json:
    (found,) = [node for node in document["nodes"] if node["target"] == target]
    return found


#: Indices of bfloat16 and float32 in ``dir(torch)``: 2.14 added bcomplex32 before them. Up to 2.12,
#: the operator got the name of the group.
@pytest.mark.parametrize(
    "version, places, is_named",
    [
        ("2.11.0", [0, 17], True),
        ("2.12.1", [0, 17], True),
        ("2.13.0", [0, 17], False),
        ("2.15.0+cu132", [1, 18], False),
    ],
)
def test_buckets_of_every_version(
    version: str, places: list[int], is_named: bool, tmp_path: Path
) -> None:
    def program(a: Tensor, b: Tensor) -> Tensor:
        bucket = aten.new_empty.default(a, [64], dtype=torch.bfloat16)
        return aten.clone.default(aten.slice.Tensor(bucket, 0, 32, 64))

    def change(document: Json) -> None:
        document["torch"] = version
        node = node_of(document, "aten.new_empty.default")
        node["target"] = "bucketing._pre_bucket_all_gather.default"
        names = [{"n": n["name"]} for n in document["nodes"] if n["op"] == "placeholder"]
        group = ["0"] if is_named else []
        node["args"] = [names, 2, *group, {"dtype": "bfloat16"}, places, 1]
        node["kwargs"] = {}

    torch.manual_seed(0)
    a, b = torch.randn(4, 4), torch.randn(8)
    path = captured(program, [a, b], tmp_path, change)
    expected = torch.cat([a.flatten().bfloat16(), b.view(torch.bfloat16)])
    compared(path, [expected], given(path))


def test_a_bucket_without_padding(tmp_path: Path) -> None:
    """torch 2.15 removes the padding before a bucket, and pads within it."""

    def program(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return aten.clone.default(aten.new_empty.default(a, [12]))

    def change(document: Json) -> None:
        document["torch"] = "2.15.0"
        node = node_of(document, "aten.new_empty.default")
        node["target"] = "bucketing._pre_bucket_reduce_scatter.default"
        names = [{"n": n["name"]} for n in document["nodes"] if n["op"] == "placeholder"]
        node["args"], node["kwargs"] = [names, 2, [0]], {}

    a, b, c = torch.randn(3, 2), torch.randn(4), torch.randn(0)
    path = captured(program, [a, b, c], tmp_path, change)
    padded = torch.cat([a, torch.zeros(1, 2)])
    expected = torch.cat([each.view(2, -1) for each in (padded, b)], 1).flatten()
    compared(path, [expected], given(path))


def test_copies_to_the_host_restore_a_layout(tmp_path: Path) -> None:
    """``ao.reload`` with a size and strides, and a wait that names the last use of a storage."""

    def program(x: Tensor) -> tuple[Tensor, Tensor]:
        view = aten.t.default(x)
        saved = aten.clone.default(aten.clone.default(view))
        back = aten.add.Tensor(aten.mul.Tensor(saved, 1), 0)
        return aten.sin.default(back), aten.as_strided.default(aten.cos.default(back), [24], [1])

    def change(document: Json) -> None:
        document["torch"] = "2.15.0"
        view = node_of(document, "aten.t.default")["name"]
        saved, waited = [n for n in document["nodes"] if n["target"] == "aten.clone.default"]
        back, ready = node_of(document, "aten.mul.Tensor"), node_of(document, "aten.add.Tensor")
        saved.update(target="ao.offload.default", args=[{"n": view}])
        keep = [{"n": saved["name"]}, {"n": view}, None]
        waited.update(target="ao.wait_tensor.default", args=keep)
        layout = [{"device": "cpu"}, [6, 4], [1, 6]]
        back.update(target="ao.reload.default", args=[{"n": waited["name"]}, *layout])
        keep = [{"n": back["name"]}, {"n": waited["name"]}]
        ready.update(target="ao.wait_tensor.default", args=keep)
        for node in (saved, waited, back, ready):
            node["kwargs"] = {}

    torch.manual_seed(0)
    x = torch.randn(4, 6)
    path = captured(program, [x], tmp_path, change)
    # The layout is that of the transposed tensor: its elements are in the order of x.
    compared(path, [x.t().sin(), x.cos().flatten()], given(path))


def test_inputs_that_repeat_their_elements(tmp_path: Path) -> None:
    """The runner and Python generate the same inputs with repeated elements, as ``expand`` leaves them: one element in
    memory."""

    def program(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
        return aten.mul.Tensor(x, 2), aten.add.Tensor(n, 1)

    inputs = [torch.randn(1, 5).expand(3, 5), torch.arange(3, dtype=torch.int32)[:, None].expand(3, 4)]
    path = captured(program, inputs, tmp_path, lambda document: None)
    document = json.loads(path.read_text())
    assert [n["val"]["t"]["stride"] for n in document["nodes"][:2]] == [[0, 1], [1, 0]]
    compared(path, [2 * inputs[0], inputs[1] + 1], given(path))

    gm = jointer.load(path)
    placeholders = gm.graph.find_nodes(op="placeholder")
    made = make_inputs(placeholders, torch.device("cpu"), seed=3, rank=0)
    x, n = made.values()
    assert x.stride() == (0, 1) and x.untyped_storage().nbytes() == 20 and not x.eq(x[0, 0]).all()
    compared(path, [2 * x, n + 1], "--seed=3")

    differing = {"x_1": torch.randn(3, 5), "n_1": inputs[1]}
    write_safetensors(tmp_path / "in.safetensors", differing)
    (ran,) = run_runner(path, "--solo=0", given(path))
    assert ran.code == 3 and "stride 0" in ran.failed["text"], ran.failed


def test_inputs_that_are_not_numbers(tmp_path: Path) -> None:
    """NaN differs from itself, but does not make an input differ from what the graph expects."""

    def program(x: Tensor) -> Tensor:
        return aten.mul.Tensor(x, 2)

    x = torch.tensor([1.0, math.nan])
    path = captured(program, [x], tmp_path, lambda document: None)
    compared(path, [2 * x], given(path))
    made = make_inputs(
        jointer.load(path).graph.find_nodes(op="placeholder"),
        torch.device("cpu"),
        seed=0,
        rank=0,
        given={"x_1": x},
    )
    assert made["x_1"].isnan().tolist() == [False, True]


@pytest.mark.parametrize(
    "values",
    [torch.tensor([2**53 + 1, -(2**63), 2**63 - 1]), torch.tensor([1 + 2j, -3j, 0.5])],
    ids=["integers", "complex"],
)
def test_constants_have_the_values_of_the_capture(values: Tensor, tmp_path: Path) -> None:
    """Integers that float64 does not hold, and complex numbers, whose data are pairs."""

    def change(document: Json) -> None:
        record = {**document["nodes"][0]["val"]["t"], "storage": len(document["storages"])}
        document["storages"].append(values.nbytes)
        data = torch.view_as_real(values) if values.is_complex() else values
        document["constants"] = {"c": {**record, "data": data.tolist()}}
        constant = {"name": "c", "op": "get_attr", "target": "c", "args": [], "kwargs": {}}
        document["nodes"].insert(1, {**constant, "val": {"t": record}})
        node_of(document, "aten.add.Tensor")["args"][1] = {"n": "c"}

    zeros = torch.zeros_like(values)
    path = captured(lambda x: aten.add.Tensor(x, x), [zeros], tmp_path, change)
    compared(path, [values], given(path))


MESH = {"opaque": "DeviceMesh", "repr": "DeviceMesh((dp=2), 'cpu', stride=(1,))"}


def mesh_document(document: Json) -> None:
    """A sum over a group that is another node's result, as when one rank compiles for all."""
    document["torch"], document["world_size"] = "2.15.0", 2
    document["groups"] = {"7": {"ranks": [0, 1], "desc": "dp", "backend": "gloo"}}
    mesh = {"name": "mesh", "op": "placeholder", "target": "mesh", "args": [], "kwargs": {}}
    group = {"opaque": "ProcessGroup", "repr": "7"}
    get_group = {"name": "group", "op": "call_function", "args": [{"n": "mesh"}, 0], "kwargs": {}}
    get_group |= {"target": "_dtensor.mesh_get_process_group.default", "val": group}
    document["nodes"][1:1] = [{**mesh, "val": MESH}, get_group]
    document["schemas"] = {
        get_group["target"]: "(torch.distributed.device_mesh.DeviceMesh mesh, int dim)"
        " -> torch.distributed.distributed_c10d.ProcessGroup"
    }
    start, wait = node_of(document, "aten.sin.default"), node_of(document, "aten.cos.default")
    start["target"] = "_c10d_functional.all_reduce.default"
    start["args"] += ["sum", {"n": "group"}]
    wait["target"] = "_c10d_functional.wait_tensor.default"


def waited(x: Tensor) -> Tensor:
    return aten.mul.Tensor(aten.cos.default(aten.sin.default(x)), 3)


def test_a_process_group_is_found_by_the_name_in_a_node(tmp_path: Path) -> None:
    path = captured(waited, [torch.randn(4)], tmp_path, mesh_document)
    inputs = {f"in{rank}": torch.randn(4) for rank in range(2)}
    for rank, each in enumerate(inputs.values()):
        write_safetensors(tmp_path / f"in.{rank}.safetensors", {"x_1": each})
    total = (inputs["in0"] + inputs["in1"]) * 3
    write_safetensors(tmp_path / "out.safetensors", {"0": total})
    files = (f"--inputs={tmp_path}/in.{{rank}}.safetensors", f"--expected={tmp_path}/out.safetensors")
    for answer in verified(run_runner(path, *files, size=2)):
        assert answer["bitwise"], answer


def test_an_unknown_group_is_named(tmp_path: Path) -> None:
    def change(document: Json) -> None:
        mesh_document(document)
        document["nodes"][2]["val"] = {"opaque": "ProcessGroup", "repr": "9"}

    path = captured(waited, [torch.randn(4)], tmp_path, change)
    (ran,) = run_runner(path, "--solo=0")
    assert ran.code != 0 and "group" in ran.failed["text"], ran.failed


def test_an_operator_of_another_torch_is_refused_by_name(tmp_path: Path) -> None:
    """The message says what to do; the operator never runs by accident."""

    def change(document: Json) -> None:
        document["torch"] = "2.10.0"
        document["schemas"] = {"aten.sin.default": "(Tensor self, float angle=1) -> Tensor"}
        node_of(document, "aten.sin.default")["args"].append(0.5)

    path = captured(waited, [torch.randn(4)], tmp_path, change)
    (ran,) = run_runner(path, "--solo=0")
    assert ran.code == 3 and ran.failed["kind"] == "load", ran.failed
    for part in ("aten::sin has no argument angle", "torch 2.10.0", "JOINTER_PYTHON"):
        assert part in ran.failed["text"], ran.failed


def test_a_graph_of_another_torch_that_fits_is_run_with_a_note(tmp_path: Path) -> None:
    def change(document: Json) -> None:
        document["torch"] = "2.10.0"

    x = torch.randn(4)
    path = captured(waited, [x], tmp_path, change)
    (ran,) = run_runner(path, "--solo=0", given(path))
    assert ran.code == 0, ran.err
    version = torch.__version__.partition("+")[0]
    notes = [note["text"] for note in ran.of("note")]
    assert f"captured with torch 2.10.0, run with torch {version}" in notes


def test_a_float_input(tmp_path: Path) -> None:
    """A symbol is used as a number in a call, in place of a tensor, and as a separate argument."""

    def program(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return aten.add.Tensor(x, x), aten.div.Tensor(x, 2.0), aten.pow.Tensor_Scalar(x, 2.0)

    def change(document: Json) -> None:
        document["torch"] = "2.15.0"
        symbol = {"type": "float", "hint": 0.375, "min": None, "max": None}
        document["symbols"]["vars"]["zf16"] = symbol
        number = {"name": "number", "op": "placeholder", "target": "number", "args": [], "kwargs": {}}
        document["nodes"].insert(1, {**number, "val": {"symfloat": "zf16", "hint": 0.375}})
        doubled = {"name": "doubled", "op": "call_function", "target": "_operator.mul", "kwargs": {}}
        doubled |= {"args": [{"n": "number"}, 2], "val": {"symfloat": "2*zf16", "hint": 0.75}}
        document["nodes"].insert(2, doubled)
        node_of(document, "aten.add.Tensor")["kwargs"] = {"alpha": {"n": "doubled"}}
        node_of(document, "aten.div.Tensor")["args"][1] = {"n": "number"}
        node_of(document, "aten.pow.Tensor_Scalar")["args"][1] = {"symfloat": "zf16"}

    x = torch.rand(5)
    path = captured(program, [x], tmp_path, change)
    compared(path, [aten.add.Tensor(x, x, alpha=0.75), x / 0.375, x**0.375], given(path))
