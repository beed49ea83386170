"""Captures are written completely or not at all, errors are one line, and passes never break training."""

from __future__ import annotations

import builtins
import stat
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from support import assert_round_trip, graph_of, joint_of, trace
from torch import fx, nn
from torch._functorch.partitioners import min_cut_rematerialization_partition

import jointer
from jointer import document as documents
from jointer.document import read_document
from jointer.encode import encode_graph, infer_kind


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(8, 8)
        self.register_buffer("scale", torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.proj(x) * self.scale).relu()


@pytest.fixture
def joint() -> fx.GraphModule:
    return joint_of(Model(), torch.ones(4, 8))


def halves(joint: fx.GraphModule) -> tuple[fx.GraphModule, fx.GraphModule]:
    return min_cut_rematerialization_partition(joint, None, num_fwd_outputs=1)


def test_joint_graph_with_descriptors(joint: fx.GraphModule, tmp_path: Path) -> None:
    path = jointer.capture(joint, tmp_path / "deep" / "model.joint.json.zst", seq_len=4, odd={1})
    document = read_document(path)
    assert document["kind"] == "joint" and document["name"] == "model.joint"
    assert document["info"] == {"seq_len": 4, "odd": "{1}"}
    assert document["torch"] == torch.__version__
    described = [r["desc"] for r in document["nodes"] if r["op"] == "placeholder"]
    assert [each["type"] for each in described] == [
        *["ParamAOTInput"] * 2,
        "BufferAOTInput",
        "PlainAOTInput",
        "TangentAOTInput",
    ]
    view = next(r for r in document["nodes"] if r["target"] == "aten.t.default")
    assert view["schema_alias"] == [[0, False]]
    assert {"seq_nr", "partitioner_tag", "original_aten"} <= view.keys()
    source = document["nodes"][0]["val"]["t"]["storage"]
    assert view["val"]["t"]["storage"] == source and document["storages"][source] == 256


def test_pair(joint: fx.GraphModule, tmp_path: Path) -> None:
    path = jointer.capture_pair(*halves(joint), tmp_path / "model.json", model="m")
    document = read_document(path)
    assert document.keys() == {
        *("format", "version", "kind", "name", "info", "forward", "backward")
    }
    assert document["kind"] == "pair" and document["info"] == {"model": "m"}
    saved = {a["n"] for a in document["forward"]["nodes"][-1]["args"][0]["tuple"] if a}
    received = {r["name"] for r in document["backward"]["nodes"] if r["op"] == "placeholder"}
    assert received - saved == {"tangents_1"}
    forward, backward = jointer.load(path)
    assert infer_kind(forward.graph) == "forward" and infer_kind(backward.graph) == "backward"


def test_kinds_are_inferred(joint: fx.GraphModule) -> None:
    assert infer_kind(joint.graph) == "joint"
    forward, backward = halves(joint)
    assert infer_kind(forward.graph) == "forward" and infer_kind(backward.graph) == "backward"

    def step(weight: torch.Tensor, x: torch.Tensor) -> Any:
        return torch.autograd.grad((x @ weight).relu().sum(), weight)

    flat = trace(step, torch.ones(3, 3, requires_grad=True), torch.ones(2, 3))
    for node in flat.graph.nodes:
        node.meta["autograd_backward"] = node.name.startswith("t")
    assert infer_kind(flat.graph) == "train_step"
    assert infer_kind(trace(torch.sin, torch.ones(2)).graph) == "forward"
    with pytest.raises(jointer.CaptureError, match="kind 'banana': expected one of joint, forward"):
        encode_graph(joint, kind="banana")


def test_graphs_that_cannot_be_captured_are_refused_in_one_line() -> None:
    symbolic = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(jointer.CaptureError, match="node _0: a call_module of .*trace the"):
        encode_graph(symbolic)
    function = fx.symbolic_trace(lambda x: nn.functional.softmax(x, dim=0))
    with pytest.raises(jointer.CaptureError, match="node softmax: a call_function of"):
        encode_graph(function)
    with pytest.raises(jointer.CaptureError, match="cannot capture a Linear"):
        jointer.capture(nn.Linear(1, 1), "never.json")


def test_a_failed_write_leaves_nothing(
    joint: fx.GraphModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jointer.capture(joint, tmp_path / "a.json")
    before = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) & 0o400

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(documents.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        jointer.capture(joint, path, more=1)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_missing_zstd_is_reported_with_advice(
    joint: fx.GraphModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    importer = documents.importlib.import_module

    def no_zstd(name: str) -> Any:
        if "zst" in name:
            raise ImportError(name)
        return importer(name)

    monkeypatch.setattr(documents.importlib, "import_module", no_zstd)
    with pytest.raises(jointer.CaptureError, match="run `pip install zstandard`, or give a path"):
        jointer.capture(joint, tmp_path / "a.json.zst")
    assert not any(tmp_path.iterdir())
    jointer.capture(joint, tmp_path / "a.json")


def test_pass_returns_the_graph_unchanged(joint: fx.GraphModule, tmp_path: Path) -> None:
    save = jointer.capture_pass(tmp_path / "rank{rank}.{kind}.{n}.json", model="m")
    forward, backward = halves(joint)
    assert save(forward, []) is forward and save(backward, []) is backward
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["rank0.backward.1.json", "rank0.forward.0.json"]
    assert read_document(tmp_path / names[0])["info"] == {"model": "m"}


def test_pass_numbers_graphs_that_would_overwrite(joint: fx.GraphModule, tmp_path: Path) -> None:
    save = jointer.capture_pass(tmp_path / "graph.json.zst")
    for _ in range(3):
        save(joint, [])
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["graph.1.json.zst", "graph.2.json.zst", "graph.json.zst"]


def test_pass_takes_the_rank_from_the_launcher(
    joint: fx.GraphModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "5")
    jointer.capture_pass(tmp_path / "{rank}.json")(joint, [])
    assert (tmp_path / "5.json").exists()


def test_pass_never_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    save = jointer.capture_pass(tmp_path / "a.json")
    with pytest.warns(RuntimeWarning, match="a graph was not captured: CaptureError: node _0: a call"):
        assert save(gm, []) is gm
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert save(gm, []) is gm  # reported once
    assert not any(tmp_path.iterdir())

    def no_disk(*args: object, **options: object) -> None:
        raise OSError("read-only")

    monkeypatch.setattr(builtins, "open", no_disk)
    monkeypatch.setattr(documents.tempfile, "mkstemp", no_disk)
    with pytest.warns(RuntimeWarning, match="read-only"):
        fine = graph_of(1)
        assert jointer.capture_pass(tmp_path / "b.json")(fine, []) is fine


def opaque_call(value: Any) -> Any:
    """A Python function, as a compiler may leave it in a graph."""
    return value


def test_python_functions_and_submodules_are_opaque_calls() -> None:
    gm = graph_of()
    relu = next(node for node in gm.graph.nodes if node.name == "relu")
    gm.add_submodule("region", nn.Identity())
    with gm.graph.inserting_before(gm.graph.output_node()):
        function = gm.graph.call_function(opaque_call, (relu,))
        region = gm.graph.call_module("region", (function,))
    for node in (function, region):
        node.meta["val"] = relu.meta["val"]
    records = {record["name"]: record for record in encode_graph(gm)["nodes"]}
    assert records[function.name]["target"].endswith("test_capture.opaque_call")
    assert records[region.name]["target"] == "call_module.region"
    assert records[region.name]["op"] == "call_function"
    storages = {records[name]["val"]["t"]["storage"] for name in (function.name, region.name)}
    assert storages == {records["relu"]["val"]["t"]["storage"]}  # opaque: no allocation
    loaded = assert_round_trip(gm)
    with pytest.raises(jointer.CaptureError, match="is not known to torch"):
        loaded(torch.ones(4, 3))


def test_schemas_of_called_operators() -> None:
    gm = trace(lambda x: (x.t() @ x).relu(), torch.ones(4, 4))
    schemas = encode_graph(gm)["schemas"]
    assert sorted(schemas) == list(schemas) and len(schemas) == 3
    assert schemas["aten.t.default"] == "(Tensor(a) self) -> Tensor(a)"


@pytest.mark.parametrize("number", [2**64 - 1, 2**63, -1])
def test_sequence_numbers_not_from_autograd_are_left_out(number: int) -> None:
    gm = graph_of(1)
    for node, sequence in zip(gm.graph.nodes, (number, 7), strict=False):
        node.meta["seq_nr"] = sequence
    first, second, _ = encode_graph(gm)["nodes"]
    assert "seq_nr" not in first and second["seq_nr"] == 7


def test_stages(tmp_path: Path) -> None:
    forward, backward = trace(torch.sin, torch.ones(2)), trace(torch.cos, torch.ones(2))
    stages = [("0.forward", "forward", forward), ("0.weights", "backward_weight", backward)]
    path = jointer.capture_stages(stages, tmp_path / "pipeline.json", model="m")
    document = read_document(path)
    assert document["kind"] == "stages" and document["info"]["model"] == "m"
    assert [(each["name"], each["role"]) for each in document["stages"]] == [
        ("0.forward", "forward"),
        ("0.weights", "backward_weight"),
    ]
    assert [each["capture"]["kind"] for each in document["stages"]] == ["forward", "backward"]
    loaded = jointer.load(path)
    assert list(loaded) == ["0.forward", "0.weights"]
    assert jointer.graph_hash(loaded["0.weights"]) == jointer.document_hash(document)[1]
    with pytest.raises(jointer.CaptureError, match="stage a: role 'sideways': expected one of forward"):
        jointer.capture_stages([("a", "sideways", forward)], path)
