"""The example model: its joint graph is correct on real ranks, and it reproduces its samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import PACKAGE, ROOT, SHARED

from jointer.document import read_document, write_document
from jointer.hashing import document_hash

EXAMPLE = PACKAGE / "examples" / "llama_like.py"
ORACLE = SHARED / "tools" / "torch_oracle.py"


def check(environment: dict[str, str], out: Path, ranks: int, *mesh: str) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", str(ranks), str(EXAMPLE), "--check", "--out", str(out), *mesh),
        ],
        env=environment,
        check=True,
        timeout=600,
    )


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["--tp", "--fsdp"])
def test_gradients_of_two_ranks_equal_those_of_one(
    direction: str, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    check(subprocess_environment, tmp_path, 2, direction, "2")
    first, second = (read_document(tmp_path / f"rank{rank}.joint.json") for rank in (0, 1))
    assert first["nodes"] == second["nodes"]  # one capture serves all ranks


@pytest.mark.slow
def test_gradients_of_four_ranks_equal_those_of_one(
    tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    check(subprocess_environment, tmp_path, 4, "--tp", "2", "--fsdp", "2")


def test_sample_is_a_complete_training_graph(samples: list[Path]) -> None:
    (path,) = (p for p in samples if p.name == "llama_8b_tp2_fsdp2.joint.json.zst")
    document = read_document(path)
    assert document["world_size"] == 4 and document["info"]["parameters"] == 8030261248
    assert {g["desc"] for g in document["groups"].values()} == {"fsdp", "tp"}
    nodes = document["nodes"]
    gathers = [r for r in nodes if r["target"] == "_c10d_functional.all_gather_into_tensor.default"]
    tagged = [r for r in gathers if r.get("recompute") == "MUST_RECOMPUTE"]
    assert len(tagged) == 32 * 9 + 3 and {r["ac_graph_id"] for r in tagged} == {100000}
    modules = {row[-1][0] for row in document["modules"]}
    assert {"layers.0.attention.wq", "layers.31.feed_forward.w2", "norm", "output"} <= modules
    assert {row[-1][1] for row in document["modules"]} <= {
        f"llama_like.{name}"
        for name in ("Embedding", "Linear", "RMSNorm", "Attention", "FeedForward", "Block")
    }
    assert str(ROOT) not in json.dumps(document)


def test_selective_checkpointing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    from llama_like import Config, write_captures

    options = {"tp": 2, "fsdp": 2, "device": "cpu", "out": tmp_path}
    joint, _ = write_captures(Config(), name="sac", sac=True, **options)
    nodes = read_document(joint)["nodes"]
    products = [r for r in nodes if r["target"] == "aten.mm.default" and "recompute" in r]
    policies = [r["recompute"] for r in products]
    assert policies == [*["MUST_SAVE", "PREFER_RECOMPUTE"] * 7, "MUST_SAVE"]
    assert not any("recompute" in r for r in nodes if r.get("partitioner_tag") == "is_backward")
    kept = {r["target"] for r in nodes if r.get("recompute") == "MUST_SAVE"}
    assert kept == {
        "aten.mm.default",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        "_c10d_functional.reduce_scatter_tensor.default",
    }
    plain, _ = write_captures(Config(), name="plain", **options)
    assert document_hash(read_document(plain)) == document_hash(read_document(joint))


def test_samples_are_small(samples: list[Path]) -> None:
    assert all(path.stat().st_size < 300_000 for path in samples)


# make_samples.py needs this version: other versions trace a different graph. ./test --all runs the test with it.
SAMPLES_TORCH = "2.11."


@pytest.mark.slow
@pytest.mark.skipif(
    not torch.__version__.startswith(SAMPLES_TORCH), reason=f"the samples are of torch {SAMPLES_TORCH}*"
)
def test_samples_are_reproducible(
    samples: list[Path], tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    maker = ROOT / "resources" / "samples" / "make_samples.py"
    command = [sys.executable, str(maker), "--out", str(tmp_path)]
    subprocess.run(command, env=subprocess_environment, check=True)
    for path in samples:
        assert read_document(tmp_path / path.name) == read_document(path), path.name


@pytest.mark.slow
@pytest.mark.skipif(not ORACLE.exists(), reason=f"no {ORACLE} (JOINTER_SHARED)")
@pytest.mark.parametrize("name", ["llama_debug_tp2_fsdp2", "llama_8b_tp2_fsdp2"])
def test_operators_agree_with_the_samples(
    name: str, samples: list[Path], tmp_path: Path
) -> None:
    for path in (p for p in samples if p.name.startswith(f"{name}.")):
        document = read_document(path)
        halves = [document] if "nodes" in document else [document["forward"], document["backward"]]
        for half in halves:
            write_document(half, tmp_path / "half.json")
            command = [sys.executable, str(ORACLE), str(tmp_path / "half.json"), "check"]
            done = subprocess.run(command, capture_output=True, text=True)
            answer = json.loads(done.stdout)
            assert (answer["mismatches"], answer["failed"], done.returncode) == (0, 0, 0)
            assert answer["compared"]["tensors"] > 200
