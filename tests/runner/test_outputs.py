"""The runner's outputs, bit for bit, and its memory."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import (
    BIN,
    CAPTURES,
    SAMPLES,
    SHARED,
    bench,
    capture_of,
    free_port,
    run_runner,
    verified,
)
from jointer.document import read_document
from jointer.safetensors import read_safetensors

# Another processor may sum in a different order: torch's eager also differs from its own outputs on the machine
# that made the expected ones.
BOUND = 2e-5


def halves(base: str) -> list[str]:
    return [base + ".min_cut.fw.json.zst", "--backward=" + base + ".min_cut.bw.json.zst"]


@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("is_pair", [False, True], ids=["joint", "pair"])
def test_outputs_are_those_of_eager(name: str, is_pair: bool, eager: Callable[[str], str]) -> None:
    base = capture_of(name)
    graph = halves(base) if is_pair else [base + ".joint.json.zst"]
    inputs = f"--inputs={base}.inputs.safetensors"
    ran = run_runner(*graph, inputs, f"--expected={eager(name)}", size=CAPTURES[name])
    for answer in verified(ran):
        assert answer["bitwise"], answer
        assert answer["compared"] >= 15


@pytest.mark.parametrize("name", CAPTURES)
def test_outputs_are_the_expected_ones(name: str, eager: Callable[[str], str]) -> None:
    """Outputs are bitwise equal to the captured ones if torch's are on this machine, otherwise as close as torch's."""
    base = capture_of(name)
    arguments = [f"--inputs={base}.inputs.safetensors", f"--expected={base}.expected.safetensors"]
    ran = run_runner(base + ".joint.json.zst", *arguments, size=CAPTURES[name])
    for rank, answer in enumerate(verified(ran)):
        expected = read_safetensors(f"{base}.expected.safetensors".replace("{rank}", str(rank)))
        here = read_safetensors(eager(name).replace("{rank}", str(rank)))
        if all(torch.equal(here[key], value) for key, value in expected.items()):
            assert answer["bitwise"], answer
            continue
        # Not further from the expected outputs than torch here: kernels differ between processors.
        scale = max(value.abs().max().item() for value in expected.values())
        theirs = max((here[key].double() - value.double()).abs().max().item() for key, value in expected.items())
        assert answer["max_abs_diff"] <= max(BOUND * scale, theirs), answer


@pytest.mark.parametrize("name", CAPTURES)
@pytest.mark.parametrize("is_pair", [False, True], ids=["joint", "pair"])
def test_predicted_and_measured_peak(name: str, is_pair: bool) -> None:
    """Peaks are equal to the byte, except for a kernel's scratch memory at the peak, which is reported."""
    base = capture_of(name)
    graph = halves(base) if is_pair else [base + ".joint.json.zst"]
    code, result = bench(*graph, "--profile", "--threads=1", "--iterations=1", "--warmup=0")
    assert code == 0
    predicted, measured = result["predicted"]["peak_bytes"], result["measured"]["peak_bytes"]
    explained = result["explained"]
    assert explained["difference_bytes"] == measured - predicted
    if measured != predicted:
        # The graph's values are as predicted; oneDNN's bfloat16 products allocate the rest.
        assert name == "llama_tiny_fsdp2_bf16"
        assert explained["scratch_bytes"] == measured - predicted
        assert explained["operators"][0]["target"] == "aten.mm.default"


def test_spans_of_collectives() -> None:
    """Ranks that meet in a collective are in it at the same time, on their common clock."""
    code, result = bench(SAMPLES / "llama_debug_fsdp2.joint.json.zst", "--profile", "--threads=1", "--iterations=1",
                         "--warmup=0")
    assert code == 0, result["failure"]
    collectives = result["skew"]["collectives"]
    assert collectives
    for each in collectives:
        spans = each["spans"]
        assert [span["rank"] for span in spans] == [0, 1]
        starts = [span["start_ms"] for span in spans]
        assert each["skew_ms"] == pytest.approx(max(starts) - min(starts), abs=1e-5)
        assert starts[each["last_rank"]] == max(starts)
        # Half a millisecond for a rank that was interrupted as it left.
        slack = result["skew"]["clock_error_ms"] + 0.5
        assert max(starts) <= min(span["end_ms"] for span in spans) + slack


def legal_order(nodes: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Runs another legal order, on which no result may depend; collectives keep their order."""
    generator = random.Random(seed)
    waiting = {node["name"]: names_in([node.get("args"), node.get("kwargs")]) for node in nodes}
    previous = None
    for node in nodes:
        if node["target"].startswith("_c10d_functional.") and "wait" not in node["target"]:
            if previous:
                waiting[node["name"]].add(previous)
            previous = node["name"]
    head = [node for node in nodes if node["op"] == "placeholder"]
    done = {node["name"] for node in head}
    rest = [node for node in nodes if node["op"] not in ("placeholder", "output")]
    order = list(head)
    while rest:
        ready = [node for node in rest if waiting[node["name"]] <= done]
        chosen = generator.choice(ready[:40])
        rest.remove(chosen)
        done.add(chosen["name"])
        order.append(chosen)
    return order + [node for node in nodes if node["op"] == "output"]


def names_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        if list(value) == ["n"]:
            return {value["n"]}
        return set().union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sample", ["llama_debug_fsdp2", "llama_debug_tp2"])
def test_any_legal_order_gives_the_same_bits(sample: str, seed: int, tmp_path: Path) -> None:
    original = SAMPLES / f"{sample}.joint.json.zst"
    document = read_document(original)
    document["nodes"] = legal_order(document["nodes"], seed)
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps(document))
    for answer in verified(run_runner(moved, f"--baseline={original}", f"--seed={seed}", size=2)):
        assert answer["against"] == "baseline"
        assert answer["bitwise"], answer


def test_recomputing_gives_the_same_bits() -> None:
    """The backward of the partitioned pair recomputes values that the joint graph saves."""
    joint = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    pair = SAMPLES / "llama_debug_fsdp2.min_cut.json.zst"
    for answer in verified(run_runner(pair, f"--baseline={joint}", size=2)):
        assert answer["bitwise"], answer


def test_a_changed_graph_is_found(tmp_path: Path) -> None:
    original = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    document = read_document(original)
    changed = next(n for n in document["nodes"] if n["target"] == "aten.silu.default")
    changed["target"] = "aten.sigmoid.default"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    code, result = bench(other, f"--baseline={original}", "--verify", "--iterations=1")
    assert code == 1
    assert not result["verify"]["equal"]
    assert result["verify"]["max_abs_diff"] > 0
    assert result["verify"]["output"]


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*debug*")))
def test_samples_run_alone(sample: str) -> None:
    code, result = bench(SAMPLES / sample, "--solo=0", "--iterations=1", "--warmup=0")
    assert code == 0
    assert result["measured"]["peak_bytes"] >= result["predicted"]["peak_bytes"]


@pytest.mark.parametrize(
    "name", ["llama3_debug_tp2_fsdp2", "llama3_debug_tp2_fsdp2_graph_sac", "llama3_debug_fsdp4"]
)
def test_graphs_of_cuda_run_on_the_cpu(name: str) -> None:
    path = SHARED / "captures" / f"{name}.joint.json.zst"
    if not path.is_file():
        pytest.skip("no shared captures (JOINTER_SHARED)")
    (ran,) = run_runner(path, "--solo=1", "--iterations=1")
    assert ran.code == 0, ran.err
    assert any("flash_attention" in note["text"] for note in ran.of("note"))


def test_four_ranks_of_one_capture() -> None:
    """The groups of rank 0's capture, mapped to the other ranks."""
    sample = SAMPLES / "llama_debug_tp2_fsdp2.joint.json.zst"
    for ran in run_runner(sample, "--iterations=1", size=4):
        assert ran.code == 0, ran.err


@pytest.mark.slow
def test_data_dependent_token_counts(tmp_path: Path) -> None:
    """A mixture of experts without its Triton kernel: integers and data-dependent sizes."""
    path = SHARED / "captures" / "deepseek_v3_debug_tp2_fsdp2_ep2.joint.json.zst"
    if not path.is_file():
        pytest.skip("no shared captures (JOINTER_SHARED)")
    document = read_document(path)
    kernels = {
        node["name"]: node
        for node in document["nodes"]
        if node["target"] == "triton_kernel_wrapper_functional"
    }
    nodes = []
    for node in document["nodes"]:
        if node["name"] in kernels:
            continue
        source = node["args"][0].get("n") if node["target"] == "_operator.getitem" else None
        if source in kernels:
            given = kernels[source]["kwargs"]["kwargs"]["dict"][node["args"][1]]
            node = {**node, "target": "aten.clone.default", "args": [given]}
        nodes.append(node)
    document["nodes"] = nodes
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(document))
    (ran,) = run_runner(plain, "--solo=0", "--iterations=1", timeout=600)
    assert ran.code == 0, ran.err


def test_an_operator_without_a_native_kernel_is_named() -> None:
    path = SHARED / "captures" / "deepseek_v3_debug_tp2_fsdp2_ep2.joint.json.zst"
    if not path.is_file():
        pytest.skip("no shared captures (JOINTER_SHARED)")
    (ran,) = run_runner(path, "--solo=0")
    assert ran.code == 4
    assert ran.failed["kind"] == "unsupported"
    assert "triton_kernel_wrapper_functional" in ran.failed["text"]
    assert "backend `python`" in ran.failed["text"]


@pytest.mark.slow
def test_python_and_native_backends_agree_with_themselves() -> None:
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    results = [
        bench(sample, f"--backend={backend}", "--verify", "--iterations=1", "--warmup=0")
        for backend in ("interpret", "python")
    ]
    for code, result in results:
        assert code == 0, result
        assert result["verify"]["bitwise"]


def test_bad_inputs_are_named(tmp_path: Path) -> None:
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    (tmp_path / "empty.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    (ran,) = run_runner(sample, "--solo=0", f"--inputs={tmp_path}/empty.safetensors")
    assert ran.code == 3
    assert "the given inputs (--inputs) contain no tensor" in ran.failed["text"]
    (tmp_path / "bad.safetensors").write_bytes(b"\xff" * 16)
    (ran,) = run_runner(sample, "--solo=0", f"--inputs={tmp_path}/bad.safetensors")
    assert ran.code == 3
    assert "bad.safetensors" in ran.failed["text"]


def test_torchrun_starts_the_ranks() -> None:
    command = [
        sys.executable,
        *("-m", "torch.distributed.run", "--nnodes=1", "--nproc-per-node=2"),
        *("--master-addr=127.0.0.1", f"--master-port={free_port()}", "--no-python"),
        *(BIN / "jointer-runner", "--on=cpu", "--iterations=1", "--warmup=0", "--threads=1"),
        SAMPLES / "llama_debug_fsdp2.joint.json.zst",
    ]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert sorted(e["rank"] for e in events if e["event"] == "started") == [0, 1]
    assert sum(e["event"] == "done" for e in events) == 2
