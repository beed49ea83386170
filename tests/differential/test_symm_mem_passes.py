"""Compares async_tensor_parallel, low_contention_collectives and spmd_check with torch's own, on captures with
tensor parallelism: the same nodes in the same order with the same arguments. torch runs without a GPU: groups
are fake, and their memory counts as symmetric, as in torch's own tests. Numbers in names of new nodes may
differ, as in test_graph_trainer_passes.py.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED, run_passes

pytest.importorskip("torchtitan.experiments.graph_trainer", reason="torchtitan 0.3 is not installed")

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.distributed._symmetric_memory as symmetric  # noqa: E402
from test_graph_trainer_parallel import load, ours, rows  # noqa: E402
from torch import fx  # noqa: E402
from torch._inductor import config  # noqa: E402
from torch._inductor.fx_passes import low_contention_collectives as low_contention  # noqa: E402
from torch._inductor.fx_passes import spmd_check  # noqa: E402
from torchtitan.experiments.graph_trainer.remove_noop_passes import canonicalize_graph_pass  # noqa: E402
from torchtitan.experiments.graph_trainer.passes import async_tensor_parallel_pass  # noqa: E402
from torchtitan_steps import mapped, same_names  # noqa: E402

from jointer.document import read_document, write_document  # noqa: E402
from jointer.encode import encode_graph  # noqa: E402

Json = dict[str, Any]
ONLY_TORCH = ("2.15",)

CAPTURES = {
    "llama3_debug_traced": "torchtitan_0.3/llama3_debug_sdpa_ce.cpu.fsdp2_tp2.traced.train_step",
    "llama3_debug_after_passes": "torchtitan_0.3/llama3_debug_sdpa_ce.cpu.fsdp2_tp2.after_all_passes.train_step",
    "llama3_8b_traced": "torchtitan_0.3/llama3_8b_fsdp4_tp2.traced",
    "llama3_8b_after_passes": "torchtitan_0.3/llama3_8b_fsdp4_tp2.after_passes",
    "llama3_debug_joint": "llama3_debug_tp2_fsdp2.joint",
    "llama3_8b_joint": "llama3_8b_tp2_fsdp2.joint",
    "deepseek_v3_debug_joint": "deepseek_v3_debug_tp2_fsdp2_ep2.joint",
    "llama_tiny_joint": "executable/llama_tiny_tp2_f32.rank0.joint",
    "llama_tiny_backward": "executable/llama_tiny_tp2_f32.rank0.min_cut.bw",
}
BUCKETED = "llama3_debug_after_passes"
pytestmark = pytest.mark.skipif(not (SHARED / "captures").is_dir(), reason="no shared captures (JOINTER_SHARED)")


def captures(*without: str) -> list[Any]:
    """Large captures are marked slow, because torch is."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if "8b" in name else [])
        for name in CAPTURES
        if name not in without
    ]


def capture(name: str) -> Path:
    return SHARED / "captures" / f"{CAPTURES[name]}.json.zst"


@pytest.fixture(autouse=True)
def symmetric_groups(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes every group claim symmetric memory, and NCCL to be available."""
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.setattr(symmetric, "enable_symm_mem_for_group", lambda group: None)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.fixture
def prepared(tmp_path: Path) -> Callable[[str], Path]:
    """A capture after torchtitan's own clean-up, as async_tensor_parallel gets it."""

    def prepare(name: str) -> Path:
        out = tmp_path / f"{name}.json"
        module = canonicalize_graph_pass(load(capture(name)))
        write_document(encode_graph(module), out)
        if dist.is_initialized():
            dist.destroy_process_group()
        return out

    return prepare


def same(before: Path, mine: Json, theirs: fx.GraphModule) -> list[str]:
    """Asserts that both are equal; returns the targets of new nodes."""
    expected = json.loads(json.dumps(encode_graph(theirs, kind=mine["kind"])))
    names = same_names(read_document(before), mine, expected)
    for a, b in zip(rows(mine), rows(expected), strict=True):
        assert a[1:3] == b[1:3]
        if a[1] != "placeholder":
            assert mapped(list(a[3:]), names) == list(b[3:]), b[0]
    return [row["target"] for row in mine["nodes"] if row["name"] in names]


def fused_by_torch(path: Path, **options: Any) -> tuple[fx.GraphModule, float]:
    module = load(path)
    with symmetric._test_mode(), config.patch(**options):
        start = time.process_time()
        async_tensor_parallel_pass(module, ())
        return module, time.process_time() - start


@pytest.mark.parametrize("name", captures(BUCKETED))
def test_async_tensor_parallel(name: str, prepared: Callable[[str], Path], tmp_path: Path, capsys: Any) -> None:
    before = prepared(name)
    theirs, seconds = fused_by_torch(before)
    mine = ours(before, "async_tensor_parallel", tmp_path / "out.json")
    made = same(before, mine, theirs)
    assert any(target.startswith("symm_mem.fused") for target in made), "nothing was fused"
    if not name.startswith("llama3_8b"):
        return
    with capsys.disabled():
        ns = took(before, "async_tensor_parallel")
        print(f"\n{name}: torch {seconds * 1e3:.0f} ms, ours {ns / 1e6:.1f} ms, {seconds * 1e9 / ns:.0f} times")
    assert seconds * 1e9 > 20 * ns


@pytest.mark.parametrize("name", ["llama3_debug_traced", "llama_tiny_joint", "llama3_debug_joint"])
def test_collectives_hidden_by_products(name: str, prepared: Callable[[str], Path], tmp_path: Path) -> None:
    before = prepared(name)
    theirs, _ = fused_by_torch(before, reorder_for_compute_comm_overlap=True)
    mine = ours(before, "async_tensor_parallel{prefer_overlap=true}", tmp_path / "out.json")
    same(before, mine, theirs)


def took(path: Path, pipeline: str) -> int:
    """The minimum over several runs, since the machine is shared."""
    return min(int(run_passes(path, pipeline, "-")[0]["ns"]) for _ in range(10))


def decisions(path: Path, pipeline: str) -> list[Json]:
    return run_passes(path, pipeline, "-")[0]["decisions"]


# --- Weights in buckets ---


def read_too_early(document: Json) -> list[str]:
    """Fused calls that read memory before the call that fills it."""
    rows = document["nodes"]
    seen_in = {  # memory that a call accesses through others
        "aten.view.dtype", "aten.alias.default", "aten.reshape.default", "aten.view.default", "aten.t.default",
    }  # fmt: skip
    source: dict[str, str] = {}
    for row in rows:
        of = row.get("args") or [None]
        viewed = row["target"] in seen_in and isinstance(of[0], dict) and of[0].get("n")
        source[row["name"]] = source[viewed] if viewed else row["name"]
    filled: dict[str, int] = {}
    for place, row in enumerate(rows):
        if row["target"] == "aten.split_with_sizes_copy.out":
            filled.update({source[each["n"]]: place for each in row["kwargs"]["out"]})
    return [
        row["name"]
        for place, row in enumerate(rows)
        if row["target"].startswith("symm_mem.fused")
        for name in names_in(row["args"])
        if filled.get(source[name], -1) > place
    ]


def names_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [value["n"]] if "n" in value else [name for each in value.values() for name in names_in(each)]
    return [name for each in value for name in names_in(each)] if isinstance(value, list) else []


def test_weights_are_filled_before_they_are_read(prepared: Callable[[str], Path], tmp_path: Path) -> None:
    """torch moves readers of a bucket's memory before the call that fills it; ours moves that call as well.
    """
    before = prepared(BUCKETED)
    theirs, _ = fused_by_torch(before)
    upstream = json.loads(json.dumps(encode_graph(theirs, kind="train_step")))
    mine = ours(before, "async_tensor_parallel", tmp_path / "out.json")
    assert read_too_early(read_document(before)) == []
    assert read_too_early(mine) == []
    assert read_too_early(upstream), "torch has fixed it: the deviation can be removed"
    assert Counter(row["target"] for row in mine["nodes"]) == Counter(row["target"] for row in upstream["nodes"])


# --- Low contention ---

LOW = {
    "by itself": ({}, ""),
    "small ones, too": ({"low_contention_min_bytes_per_rank": 0}, "min_bytes=0"),
    "all": (
        {"low_contention_min_bytes_per_rank": 0, "low_contention_skip_overlap_check": True},
        "min_bytes=0,skip_overlap_check=true",
    ),
    "multicast": (
        {"low_contention_min_bytes_per_rank": 4096, "low_contention_all_gather_ce_multicast": True},
        "min_bytes=4KiB,ce_multicast=true",
    ),
}


@pytest.mark.parametrize("name", captures())
@pytest.mark.parametrize("how", LOW)
def test_low_contention(name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options, parameters = LOW[how]
    path = capture(name)
    theirs = load(path)
    monkeypatch.setattr(low_contention, "_has_multicast_support", lambda device: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    with symmetric._test_mode(), config.patch({f"aten_distributed_optimizations.{k}": v for k, v in options.items()}):
        low_contention.replace_collectives_with_low_contention(theirs.graph)
    mine = ours(path, f"low_contention_collectives{{{parameters}}}", tmp_path / "out.json")
    made = same(path, mine, theirs)
    assert how != "all" or made, "nothing was replaced"


# --- The same graph on every rank ---


def of_rank_one(path: Path, out: Path, change: Callable[[Json], None]) -> Path:
    document = read_document(path)
    document["rank"] = 1
    change(document)
    write_document(document, out)
    return out


def nothing(document: Json) -> None:
    del document


def wider(document: Json) -> None:
    """Gives every product one more row."""
    for node in document["nodes"]:
        if node["target"] == "aten.mm.default":
            node["val"]["t"]["shape"][0] += 1


def other_operator(document: Json) -> None:
    node = next(each for each in document["nodes"] if each["target"] == "aten.mul.Tensor")
    node["target"] = "aten.sub.Tensor"


@pytest.mark.parametrize("change", [nothing, wider, other_operator], ids=lambda each: each.__name__)
@pytest.mark.parametrize("name", captures())
def test_spmd_check(name: str, change: Callable[[Json], None], tmp_path: Path) -> None:
    mine = capture(name)
    other = of_rank_one(mine, tmp_path / "1.json", change)
    here = load(mine)
    calls = [node.name for node in here.graph.nodes if node.op == "call_function"]
    a = spmd_check._build_diag_fingerprint(here)
    b = spmd_check._build_diag_fingerprint(load(other, with_groups=False))
    expected = [call for call, x, y in zip(calls, a, b, strict=True) if x != y]
    reported = decisions(mine, f'spmd_check{{captures=["{other}"]}}')
    found = [each["node"] for each in reported if each["action"] == "differs" and each["node"]]
    assert found == expected[:10]
    assert (change is nothing) == any(each["action"] == "checked" for each in reported)
