"""`jointer kernels` compared with answers of torch's scheduler that were obtained independently: which calls run in
which kernel, the bytes of each kernel, and the peak."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import zstandard
from conftest import ROOT, SHARED, TORCH

REFERENCES = SHARED / "reference" / "kernels"
KERNELS = ("pointwise", "reduction", "mix_order_reduction", "template", "foreach", "extern")


def references() -> list[Path]:
    folder = REFERENCES / "torch215" if TORCH == (2, 15) else REFERENCES
    has_answers = TORCH in {(2, 11), (2, 15)}
    return sorted(folder.glob("*.kernels.json.zst")) if has_answers else []


def name_of(reference: Path) -> str:
    return reference.name.removesuffix(".kernels.json.zst")


def cases() -> list[Any]:
    slow = [pytest.mark.slow]
    return [pytest.param(each, id=name_of(each), marks=[] if "debug" in each.name else slow)
            for each in references()]


def is_view(target: str) -> bool:
    namespace, packet, overload = (*target.split("."), "")[:3]
    if target in {"aten._unsafe_view.default", "aten.reshape.default"} or target.endswith("getitem"):
        return True
    operator = getattr(getattr(getattr(torch.ops, namespace, None), packet, None), overload, None)
    return bool(getattr(operator, "is_view", False))


@pytest.mark.parametrize("reference", cases())
def test_same_kernels_as_torch(reference: Path, jointer: Callable[..., Any]) -> None:
    expected = json.loads(zstandard.ZstdDecompressor().stream_reader(reference.open("rb")).read())
    capture = SHARED / "captures" / f"{name_of(reference)}.json.zst"
    document = json.loads(zstandard.ZstdDecompressor().stream_reader(capture.open("rb")).read())
    targets = {node["name"]: node["target"] for node in document["nodes"] if node["op"] == "call_function"}
    answer = jointer("kernels", capture, "--source", "inductor")
    assert answer["source"] == "inductor"

    def computed(names: list[str]) -> set[str]:
        return {name for name in names if name in targets and not is_view(targets[name])}

    theirs = [(row["kind"], computed(row["computes"]), row["bytes"]) for row in expected["nodes"]]
    ours = [(row["kind"], computed(row["nodes"]), row["bytes"]) for row in answer["kernels"]]
    assert ours == theirs
    assert answer["peak_bytes"] == expected["memory"]["after"]["peak_allocfree"]
    assert answer["device_kernels"] == expected["summary"]["device_kernels"]
    bound = expected["summary"]["memory_bound"]
    assert answer["memory_bound"] == {"kernels": bound["kernels"], "bytes": bound["bytes"]}


def test_reasons_name_kernels_of_the_answer(jointer: Callable[..., Any]) -> None:
    capture = SHARED / "captures" / "llama3_debug_tp2_fsdp2.min_cut.fw.json.zst"
    if not capture.exists():
        pytest.skip("no shared captures")
    answer = jointer("kernels", capture)
    names = {kernel["name"] for kernel in answer["kernels"]}
    assert answer["not_fused"]
    for pair in answer["not_fused"]:
        assert {pair["a"], pair["b"]} <= names and pair["a"] != pair["b"] and pair["reason"]


@pytest.mark.parametrize("reference", sorted(REFERENCES.glob("**/*.kernels.json.zst")), ids=lambda path: (
    f"{path.parent.name}-{name_of(path)}"))
def test_predicted_kernels_are_those_of_torch(reference: Path, jointer: Callable[..., Any]) -> None:
    expected = json.loads(zstandard.ZstdDecompressor().stream_reader(reference.open("rb")).read())
    version = ".".join(expected["torch"].split(".")[:2])
    capture = SHARED / "captures" / f"{name_of(reference)}.json.zst"
    document = json.loads(zstandard.ZstdDecompressor().stream_reader(capture.open("rb")).read())
    targets = {node["name"]: node["target"] for node in document["nodes"] if node["op"] == "call_function"}
    answer = jointer("kernels", capture, "--source", "predicted", "--torch", version)

    def computed(names: list[str]) -> set[str]:
        return {name for name in names if name in targets and not is_view(targets[name])}

    theirs = [(row["kind"], row["bytes"]) for row in expected["nodes"]]
    ours = [(row["kind"], row["bytes"]) for row in answer["kernels"]]
    assert ours == theirs
    wrong = [(row["name"], other["nodes"]) for row, other in zip(expected["nodes"], answer["kernels"], strict=True)
             if computed(row["computes"]) and computed(row["computes"]) != computed(other["nodes"])]
    assert not wrong
    assert answer["peak_bytes"] == expected["memory"]["after"]["peak_allocfree"]
    assert answer["device_kernels"] == expected["summary"]["device_kernels"]
    bound = expected["summary"]["memory_bound"]
    assert answer["memory_bound"] == {"kernels": bound["kernels"], "bytes": bound["bytes"]}


def test_the_prediction_differs_nowhere(jointer: Callable[..., Any]) -> None:
    """The comparison finds no difference if the kernels are those of the reference."""
    capture = SHARED / "captures" / "llama3_debug_tp2_fsdp2.min_cut.fw.json.zst"
    if not capture.exists() or TORCH not in {(2, 11), (2, 15)}:
        pytest.skip("no shared captures, or no reference of this torch")
    against = jointer("kernels", capture, "--against", "predicted")["against"]
    assert against["rules"] == []
    assert against["nodes_elsewhere"] == 0
    for figure in ("kernels", "bytes", "peak_bytes"):
        assert against[figure]["inductor"] == against[figure]["predicted"]


def test_the_worker_reports_its_stages() -> None:
    capture = SHARED / "captures" / "llama3_debug_tp2_fsdp2.min_cut.fw.json.zst"
    if not capture.exists():
        pytest.skip("no shared captures")
    done = subprocess.run(
        [sys.executable, "-m", "jointer", "kernels", str(capture), "--progress"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "resources" / "python")},
    )
    *progress, last = map(json.loads, done.stdout.splitlines())
    stages = list(dict.fromkeys(each["stage"] for each in progress))
    assert stages == ["decompose", "lower", "fuse", "reorder"]
    assert all(0 <= each["done"] <= each["of"] for each in progress)
    assert {kernel["device"] for kernel in last["kernels"]} <= {"cuda", "cpu", ""}
    loops = [kernel for kernel in last["kernels"] if kernel["kind"] in {"pointwise", "reduction"}]
    assert loops and all(len(kernel["iterations"]) == 2 for kernel in loops)
