"""The Python backend as processes: its protocol, results and failures."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SHARED
from processes import check_ranks, run_ranks
from support import call, document, output, placeholder, tensor

from jointer.status_file import _STAGES

EXECUTABLE = SHARED / "captures" / "executable"
SAMPLES = ROOT / "resources" / "samples"

#: Relative to an output's largest magnitude: the allowed difference from the numbers in the
#: captures on another processor, where torch's own eager differs too.
OTHER_PROCESSOR = {"f32": 1e-5, "bf16": 2e-2, "single": 1e-5}

needs_captures = pytest.mark.skipif(
    not EXECUTABLE.is_dir(), reason=f"no captures in {EXECUTABLE} (JOINTER_SHARED)"
)


def bench(*arguments: str, world: int = 1) -> Any:
    return run_ranks(["-m", "jointer", "bench", *arguments, "--on", "cpu", "--threads", "1"], world)


def small(path: Path, target: str = "aten.relu.default", **head: Any) -> str:
    """A graph of two calls."""
    nodes = [
        placeholder("x", tensor([64])),
        call("y", "aten.sin.default", {"n": "x"}, val=tensor([64], storage=1)),
        call("z", target, {"n": "y"}, val=tensor([64], storage=2)),
        output({"n": "z"}),
    ]
    path.write_text(json.dumps(document(*nodes, storages=[256, 256, 256], **head)))
    return str(path)


def test_a_small_graph_from_start_to_done(tmp_path: Path) -> None:
    options = ("--iterations", "4", "--warmup", "1", "--profile", "--no-pinning")
    (ended,) = bench(small(tmp_path / "g.json"), *options)
    assert ended.code == 0, ended.errors
    assert ended.lines[0] == {"event": "progress", "stage": "load", "done": 0, "total": 0}
    (started,) = ended.said("started")
    assert started["protocol"] == 1 and started["device_type"] == "cpu" and started["rank"] == 0
    (measured,) = ended.said("measured")
    assert len(measured["step_ns"]) == 4 and min(measured["step_ns"]) > 0
    assert measured["peak_bytes"] == 3 * 256
    assert measured["memory_profile"] == [256, 512, 512, 768, 512]
    nodes = measured["nodes"]
    assert nodes["position"] == [1, 2]
    assert nodes["start_ns"][0] <= nodes["end_ns"][0] <= nodes["start_ns"][1] <= nodes["end_ns"][1]
    assert min(nodes["own_ns"]) > 0
    assert ended.lines[-1] == {"event": "done"}


@pytest.mark.parametrize(
    ("target", "options", "kind", "node", "text"),
    [
        ("my_library.relu.default", [], "unsupported", "z", "my_library.relu.default is not known"),
        ("aten.relu.default", ["--memory-limit", "700"], "memory", "z", "768 bytes allocated, over"),
        ("aten.relu.default", ["--tf32", "allow"], "device", "", "TF32; set TF32 (--tf32) to auto"),
        ("aten.relu.default", ["--nsys", "reports"], "device", "", "GPUs do; leave out --nsys"),
        ("aten.relu.default", ["--graph", "3"], "load", "", "contains one graph; leave out --graph"),
        ("aten.relu.default", ["--solo", "2"], "load", "", "no rank 2"),
        ("aten.relu.default", ["--inputs", "/nowhere"], "load", "", "No such file"),
        ("aten.view.dtype", [], "internal", "z", "aten.view.dtype"),
    ],
)
def test_failures_are_one_line(
    tmp_path: Path, target: str, options: list[str], kind: str, node: str, text: str
) -> None:
    (ended,) = bench(small(tmp_path / "g.json", target), *options)
    (failed,) = ended.said("failed")
    assert (failed["kind"], failed["node"]) == (kind, node)
    assert text in failed["text"] and "\n" not in failed["text"]
    assert ended.lines[-1] == failed and ended.code == (3 if kind == "load" else 4)
    assert "Traceback" not in ended.errors


def test_stages_run_in_the_order_of_the_schema(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "resources" / "schema" / "runner.schema.json").read_text())
    stages = schema["$defs"]["progress"]["properties"]["stage"]["enum"]
    assert stages == list(_STAGES)
    graph = small(tmp_path / "g.json")
    (ended,) = bench(graph, "--baseline", graph, "--profile", "--iterations", "1")
    seen = [stages.index(progress["stage"]) for progress in ended.said("progress")]
    assert seen == sorted(seen) and {"verify", "warm up"} <= {stages[each] for each in seen}


@pytest.mark.slow
def test_an_edited_graph_compared_with_the_unedited_one(tmp_path: Path) -> None:
    graph, other = small(tmp_path / "a.json"), small(tmp_path / "b.json", "aten.gelu.default")
    (same,) = bench(graph, "--baseline", graph)
    (verdict,) = same.said("verified")
    assert verdict["against"] == "baseline" and verdict["bitwise"] and verdict["compared"] == 1
    (differs,) = bench(graph, "--baseline", other)
    (verdict,) = differs.said("verified")
    assert not verdict["bitwise"] and not verdict["equal"]
    assert verdict["max_abs_diff"] > 0.1 and verdict["output"] == "z"
    assert differs.code == 0


GROUP = {"tp": {"ranks": [0, 1], "desc": "tp", "backend": "gloo"}}


@pytest.mark.slow
def test_a_rank_that_never_joins(tmp_path: Path) -> None:
    path = small(tmp_path / "g.json", groups=GROUP, world_size=2)
    command = ["-m", "jointer", "bench", path, "--on", "cpu", "--timeout", "2"]
    (ended,) = run_ranks(command, 2, start=1)
    (failed,) = ended.said("failed")
    assert failed["kind"] == "collective" and "rendezvous failed" in failed["text"]
    assert ended.code == 4


@pytest.mark.slow
def test_ranks_with_different_collectives(tmp_path: Path) -> None:
    """Rank 0 reduces, but rank 1 does not. Rank 0 names the node, and rank 1 reports that the other rank is
    gone.
    """
    nodes = [
        placeholder("x", tensor([64])),
        call("y", "_c10d_functional.all_reduce.default", {"n": "x"}, "sum", "tp",
             val=tensor([64], storage=1)),
        call("z", "_c10d_functional.wait_tensor.default", {"n": "y"}, val=tensor([64], storage=1)),
        output({"n": "z"}),
    ]  # fmt: skip
    head = {"groups": GROUP, "world_size": 2}
    (tmp_path / "g0.json").write_text(json.dumps(document(*nodes, storages=[256, 256], **head)))
    small(tmp_path / "g1.json", **head)
    graph = str(tmp_path / "g{rank}.json")
    zero, one = bench(graph, "--timeout", "5", world=2)
    (failed,) = zero.said("failed")
    assert failed["kind"] in ("hang", "collective") and failed["node"] in ("y", "z")
    (failed,) = one.said("failed")
    assert failed["kind"] == "collective" and "the other ranks" in failed["text"]


def test_the_status_file_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "status"
    path.write_bytes(struct.pack("4q", 0x4A4E5452, -1, -1, 0))
    monkeypatch.setenv("JOINTER_STATUS_FILE", str(path))
    (ended,) = bench(small(tmp_path / "g.json"), "--iterations", "1", "--warmup", "0")
    assert ended.code == 0
    magic, stage, position, count = struct.unpack("4q", path.read_bytes())
    assert (magic, stage, position) == (0x4A4E5452, 6, 2)  # measure, the last call
    assert count > 6


@pytest.mark.slow
def test_one_rank_of_many() -> None:
    sample = SAMPLES / "llama_debug_tp2_fsdp2.min_cut.json.zst"
    (ended,) = bench(str(sample), "--solo", "3", "--iterations", "1", "--warmup", "0")
    assert ended.code == 0, ended.errors
    (started,) = ended.said("started")
    assert started["rank"] == 3 and started["world_size"] == 4
    assert any("local copies" in note["text"] for note in ended.said("note"))


@pytest.mark.skipif(not EXECUTABLE.is_dir(), reason="no shared captures (JOINTER_SHARED)")
@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("llama3_debug_inductor_decomposition.joint", ""),
        pytest.param("llama3_debug_fsdp4.joint", "", marks=pytest.mark.slow),
        pytest.param(
            "deepseek_v3_debug_tp2_fsdp2_ep2.joint",
            "triton_kernel_wrapper_functional_proxy",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_cuda_captures_run_on_the_cpu(name: str, node: str) -> None:
    """The backend runs everything except Triton kernels, which the error names."""
    path = SHARED / "captures" / f"{name}.json.zst"
    (ended,) = bench(str(path), "--solo", "0", "--iterations", "1", "--warmup", "0")
    if node:
        (failed,) = ended.said("failed")
        assert (failed["kind"], failed["node"]) == ("unsupported", node)
        return
    assert ended.code == 0, ended.errors
    notes = [note["text"] for note in ended.said("note")]
    assert any("flash_attention.default replaced by its CPU form" in note for note in notes)


def request_of(name: str, pair: bool) -> dict[str, Any]:
    """Request to ``rank_check.py`` for an executable capture."""
    rank = ".rank{rank}" if "single" not in name else ""
    base = str(EXECUTABLE / f"{name}{rank}")
    files = {"inputs": f"{base}.inputs.safetensors", "expected": f"{base}.expected.safetensors"}
    if not pair:
        return {"graph": f"{base}.joint.json.zst", **files}
    halves = (f"{base}.min_cut.{half}.json.zst" for half in ("fw", "bw"))
    return {"graph": next(halves), "backward": next(halves), **files}


@needs_captures
@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("attention_mlp_single", False),
        ("attention_mlp_single", True),
        ("llama_tiny_fsdp2_bf16", True),
        pytest.param("llama_tiny_fsdp2_bf16", False, marks=pytest.mark.slow),
        pytest.param("llama_tiny_fsdp2_f32", False, marks=pytest.mark.slow),
        pytest.param("llama_tiny_fsdp2_f32", True, marks=pytest.mark.slow),
        pytest.param("llama_tiny_tp2_f32", False, marks=pytest.mark.slow),
        pytest.param("llama_tiny_tp2_f32", True, marks=pytest.mark.slow),
    ],
)
def test_outputs_are_those_of_torch(name: str, pair: bool) -> None:
    """Outputs are bitwise equal to those of eager torch. They also equal the numbers in the capture, within a
    bound if eager torch gives different numbers on this processor.
    """
    for found in check_ranks(request_of(name, pair), 1 if "single" in name else 2):
        assert found["eager"]["bitwise"] and found["eager"]["compared"] > 10
        assert found["expected"]["compared"] > 10
        bound = OTHER_PROCESSOR[name.rpartition("_")[2]]
        assert found["expected"]["bitwise"] or found["expected"]["relative"] <= bound


@pytest.mark.slow
def test_one_capture_serves_all_ranks() -> None:
    """Compares four ranks of a pair with the joint graph that it was made from."""
    pair, joint = (SAMPLES / f"llama_debug_tp2_fsdp2.{k}.json.zst" for k in ("min_cut", "joint"))
    ranks = bench(str(pair), "--baseline", str(joint), "--iterations", "1", world=4)
    for ended in ranks:
        assert ended.code == 0, (ended.lines[-1:], ended.errors)
        (verdict,) = ended.said("verified")
        assert verdict["bitwise"] and verdict["compared"] > 10
