"""Loads captures: tests what is rebuilt, preserved and refused."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support import call, document, output, placeholder, tensor, through_json
from torch._functorch._aot_autograd import descriptors as aot
from torch._subclasses.fake_tensor import FakeTensor
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils.checkpoint import CheckpointPolicy

import jointer
from jointer.encode import encode_graph
from jointer.load import load_document

PARAM = {"type": "ParamAOTInput", "target": "wq.weight"}


def rich_document() -> dict[str, Any]:
    """A record with one of everything that it can contain."""
    x = {**placeholder("x", tensor([2, 2])), "partitioner_tag": "is_forward", "desc": PARAM}
    y = call(
        "y",
        "aten.t.default",
        {"n": "x"},
        val=tensor([2, 2], stride=[1, 2]),
        schema_alias=[[0, False]],
        stack=0,
        module=0,
        seq_nr=4,
        partitioner_tag="is_forward",
        ac_graph_id=100000,
        original_aten="aten.linear.default",
        recompute="MUST_RECOMPUTE",
        custom={"module_fqn": "wq"},
        color="blue",
    )
    z = call(
        "z",
        "aten.mul.Tensor",
        {"n": "y"},
        2.0,
        val=tensor([2, 2], storage=1),
        module=0,
        module_from_fwd=True,
        partitioner_tag="is_backward",
        autograd_backward=True,
        is_gradient_acc=True,
        recompute="MUST_TELEPORT",
    )
    end = {**output({"n": "z"}, None), "desc": [{"type": "GradAOTOutput", "grad_of": PARAM}, None]}
    return document(
        x,
        y,
        z,
        end,
        kind="joint",
        storages=[16, 16],
        stacks=['  File "a.py", line 1, in f\n    x\n'],
        modules=[[["layers.0", "m.Block"], ["layers.0.wq", "m.Linear"]]],
        torch="2.11.0",
        rank=3,
        world_size=4,
        info={"model": "m"},
        groups={},
        symbols={"vars": {}, "replacements": {}, "deferred_asserts": {}},
        triton_kernels={},
        constants={},
        flavour={"of": "the future"},
    )


def test_metadata_is_as_after_tracing() -> None:
    gm = load_document(rich_document())
    x, y, z, end = gm.graph.nodes
    assert isinstance(x.meta["val"], FakeTensor)
    assert x.meta["desc"] == aot.ParamAOTInput("wq.weight")
    assert end.meta["desc"] == [aot.GradAOTOutput(aot.ParamAOTInput("wq.weight")), None]
    assert y.meta["val"].untyped_storage()._cdata == x.meta["val"].untyped_storage()._cdata
    assert y.meta["recompute"] is CheckpointPolicy.MUST_RECOMPUTE
    assert z.meta["recompute"] == "MUST_TELEPORT"
    assert y.meta["original_aten"] is torch.ops.aten.linear.default
    assert y.meta["stack_trace"] == y.stack_trace == '  File "a.py", line 1, in f\n    x\n'
    assert [path for path, _ in y.meta["nn_module_stack"].values()] == ["layers.0", "layers.0.wq"]
    assert "nn_module_stack" not in z.meta and "fwd_nn_module_stack" in z.meta
    assert y.meta["seq_nr"] == 4 and z.meta["autograd_backward"] and z.meta["is_gradient_acc"]
    assert torch.equal(gm(torch.eye(2))[0], torch.eye(2) * 2)


@pytest.mark.parametrize(
    ("target", "more", "kind"),
    [
        ("aten.native_dropout.default", [0.5, True], tuple),
        ("aten.unbind.int", [], list),
        ("run_and_save_rng_state", [], tuple),
    ],
)
def test_several_results_are_a_tuple_and_a_list_stays_one(
    target: str, more: list[Any], kind: type
) -> None:
    values = {"list": [tensor([2], 1), tensor([2], 2)]}
    gm = load_document(
        document(
            placeholder("x", tensor([2, 2])),
            call("y", target, {"n": "x"}, *more, val=values),
            output({"n": "y"}),
            storages=[16, 8, 8],
        )
    )
    (node,) = (node for node in gm.graph.nodes if node.name == "y")
    assert type(node.meta["val"]) is kind
    assert encode_graph(gm)["nodes"][1]["val"] == values


def test_unknown_keys_are_kept_and_new_facts_added() -> None:
    original = rich_document()
    gm = load_document(copy.deepcopy(original))
    again = through_json(encode_graph(gm))
    assert again.pop("schemas")["aten.t.default"] == "(Tensor(a) self) -> Tensor(a)"
    assert again == original
    again = encode_graph(gm, name="other", info={"step": 1})
    assert again["info"] == {"model": "m", "step": 1} and again["name"] == "other"
    assert again["flavour"] == {"of": "the future"} and again["rank"] == 3


def test_an_edited_graph_is_captured_with_its_edits() -> None:
    gm = load_document(rich_document())
    y, z = list(gm.graph.nodes)[1:3]
    with gm.graph.inserting_after(z):
        new = gm.graph.call_function(torch.ops.aten.relu.default, (y,))
    new.meta["val"] = z.meta["val"]
    z.args = (new, 3.0)
    new.append(z)
    names = [r["name"] for r in encode_graph(gm)["nodes"]]
    assert names == ["x", "y", new.name, "z", "output"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "not a capture"),
        (lambda d: d.update(version=2), "capture version 2 is not supported"),
        (lambda d: d.pop("nodes"), 'no list of "nodes"'),
        (lambda d: d["nodes"][1].update(args=[{"n": "w"}]), "node y: no 'w'"),
        (lambda d: d["nodes"][2].update(name="y"), "node y: a name is not unique"),
        (lambda d: d["nodes"][2].update(name="a b"), "node a b: a name is"),
        (lambda d: d["nodes"][2].update(kwargs={"a b": 1}), "node z: a name is"),
        (lambda d: d["nodes"][0].update(target="x\nimport os"), "node x: target 'x.nimport os'"),
        (lambda d: d.update(symbols=[1]), "the capture is damaged"),
        (lambda d: d["nodes"][1].pop("op"), "node y: no 'op'"),
        (lambda d: d["nodes"][1]["val"]["t"].update(storage=9), "node y: storage 9 is out of range"),
        (lambda d: d["nodes"][1]["val"]["t"].update(dtype="float3"), "node y: .* 'float3'"),
        (lambda d: d["nodes"][1].update(stack=9), "node y: "),
        (lambda d: d["nodes"][1].update(val=3), "node y: value 3"),
        (lambda d: d["nodes"][1].update(op="get_attr", target="c"), "no constant 'c'"),
    ],
)
def test_damage_is_reported_with_its_location_in_one_line(change: Any, message: str) -> None:
    broken = rich_document()
    change(broken)
    with pytest.raises(jointer.CaptureError, match=message) as caught:
        load_document(broken, where="file.json")
    assert str(caught.value).startswith("file.json") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "invalid JSON near byte 0"),
        (b'{"format": "jointer-capture", "version": ', "invalid JSON near byte 41"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b"\x28\xb5\x2f\xfdgarbage", "damaged zstd data"),
        (b"[]", "not a capture"),
    ],
)
def test_unreadable_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(jointer.CaptureError, match=message):
        jointer.load(path)


def test_compression_is_detected_by_content(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    from jointer.document import write_document

    write_document(rich_document(), tmp_path / "a.json.zst")
    (tmp_path / "a.json.zst").rename(tmp_path / "b.json")
    assert jointer.load(tmp_path / "b.json").graph.output_node().name == "output"
    assert json.loads(json.dumps(rich_document()))["kind"] == "joint"


@pytest.mark.parametrize(
    "target",
    ["torch.load", "_operator.call", "os.system", "__class__", "aten.__init__", "builtins.eval"],
)
def test_a_graph_calls_only_operators(target: str) -> None:
    loaded = load_document(document(call("y", target, "x"), output({"n": "y"})))
    with pytest.raises(jointer.CaptureError, match=f"{target} is not known"):
        loaded()


def everywhere(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every part of a document."""
    items = enumerate(value) if isinstance(value, list) else ()
    for key, each in value.items() if isinstance(value, dict) else items:
        yield (*path, key)
        yield from everywhere(each, (*path, key))


JUNK = [None, True, -1, 10**12, 1.5, "", "x", "a;b", [], {}, [[]], {"n": "x"}, {"sym": "1//0"}]


def test_random_damage_is_an_error_or_a_graph() -> None:
    random = Random(0)
    for _ in range(400):
        broken = random.choice([rich_document, collective_document])()
        *path, last = random.choice(list(everywhere(broken)))
        owner = broken
        for key in path:
            owner = owner[key]
        if random.random() < 0.3:
            del owner[last]
        else:
            owner[last] = random.choice(JUNK)
        with contextlib.suppress(jointer.CaptureError):
            jointer.graph_hash(load_document(broken))
        if dist.is_initialized():
            dist.destroy_process_group()


GROUPS = {
    "23": {"ranks": [0, 2], "desc": "fsdp", "backend": "nccl"},
    "0": {"ranks": [0, 1], "desc": "tp", "backend": "nccl"},
}


def collective_document() -> dict[str, Any]:
    return document(
        placeholder("x", tensor([2])),
        call("y", "_c10d_functional.all_reduce.default", {"n": "x"}, "sum", "23", val=tensor([2])),
        call("z", "_c10d_functional.all_reduce.default", {"n": "y"}, "sum", "0", val=tensor([2])),
        output({"n": "z"}),
        groups=copy.deepcopy(GROUPS),
        storages=[8],
        world_size=4,
    )


def test_process_groups_are_restored() -> None:
    from torch.distributed.distributed_c10d import _resolve_process_group

    gm = load_document(collective_document())
    assert dist.get_world_size() == 4 and dist.get_backend() == "fake"
    for name, group in GROUPS.items():
        made = _resolve_process_group(name)
        assert dist.get_process_group_ranks(made) == group["ranks"]
        assert made.group_desc == group["desc"]
    # Recaptured groups are described as in the capture, not as their stand-ins.
    assert encode_graph(gm)["groups"] == GROUPS


def test_an_initialized_world_is_not_touched() -> None:
    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=2)
    world = dist.group.WORLD
    gm = load_document(collective_document())
    assert dist.group.WORLD is world and dist.get_world_size() == 2
    assert encode_graph(gm)["groups"] == GROUPS


def test_a_group_that_is_not_registered_is_left_out() -> None:
    gm = load_document({**collective_document(), "groups": {}})
    assert encode_graph(gm)["groups"] == {}
