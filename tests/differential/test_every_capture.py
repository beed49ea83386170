"""Runs every pass on every available capture: joint graphs, halves and pairs, flat training steps, text, traces.
No pass crashes or takes long, a refusal is one sentence that names the pass, and torch can read the result for
small graphs.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT, SHARED

import jointer as jointer_package
from jointer.document import read_document

CAPTURES = SHARED / "captures"
MOST_MS = 10_000
SMALL_BYTES = 30_000  # compressed; torch loads it within a second or two
# In every run: a joint graph and a pair with both kinds of collectives.
QUICK = ("llama_debug_tp2_fsdp2.joint", "llama_debug_tp2_fsdp2.min_cut")

pytestmark = pytest.mark.usefixtures("no_groups_left")


def graphs_in(path: Path) -> int:
    """Number of graphs in a folder of logs: `jointer info` lists them and asks to choose one."""
    if not path.is_dir() or not (BIN / "jointer").exists():
        return 0
    listed = subprocess.run(
        [str(BIN / "jointer"), "info", str(path), "--json"], capture_output=True, text=True, check=False
    )
    return len(json.loads(listed.stdout)["graphs"])


def cases() -> list[Any]:
    found: list[tuple[str, Path, Path | None, int | None]] = []
    for folder in (ROOT / "resources" / "samples", CAPTURES, *(CAPTURES / name for name in ("executable", "text", "torchtitan_0.3"))):
        for path in sorted(folder.glob("*.zst")) + sorted(folder.glob("*.txt")):
            name = path.name.removesuffix(".zst").removesuffix(".json")
            found.append((name, path, None, None))
            backward = path.with_name(path.name.replace(".fw.", ".bw."))
            if ".fw." in path.name and backward.exists():
                found.append((name.removesuffix(".fw") + ".pair", path, backward, None))
    traces = CAPTURES / "torch_trace"
    found += [(f"trace.{i}", traces, None, i) for i in range(graphs_in(traces))]
    return [
        pytest.param(path, backward, index, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name, path, backward, index in found
    ]


def every_pass(path: Path, backward: Path | None, index: int | None, out: Path | None) -> list[dict[str, Any]]:
    command = [BIN / "every_pass", path, backward or "-", "-" if index is None else index, out or "-"]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=1200
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    last = next((line["begins"] for line in reversed(lines) if "begins" in line), "opening it")
    assert done.returncode == 0, f"{last}: {done.returncode} {done.stderr}"
    return [line for line in lines if "pass" in line]


@pytest.mark.parametrize(("path", "backward", "index"), cases())
def test_every_pass(path: Path, backward: Path | None, index: int | None, tmp_path: Path) -> None:
    is_small = path.is_file() and path.stat().st_size < SMALL_BYTES and ".json" in path.name
    done = every_pass(path, backward, index, tmp_path if is_small else None)
    assert len(done) > 25
    for line in done:
        name = line["pass"]
        assert line["whole_ms"] < MOST_MS, (name, line["whole_ms"])
        if "refusal" in line:
            assert line["is_refusal"], (name, line["refusal"])
            assert line["refusal"].startswith((f"{name}: ", f"{name} ")) and "\n" not in line["refusal"]
            continue
        # Its changes form a recipe, unless it makes a new graph.
        assert line["stage"] in ("partition", "search") or line["edit_refusal"] == "", (name, line["edit_refusal"])
    if is_small:
        for written in sorted(tmp_path.iterdir()):
            torch_reads(written)


def torch_reads(path: Path) -> None:
    document = read_document(path)
    halves = [document] if "nodes" in document else [document["forward"], document["backward"]]
    loaded = jointer_package.load(path)
    for gm, half in zip(loaded if isinstance(loaded, tuple) else [loaded], halves, strict=True):
        gm.graph.lint()
        assert [node.name for node in gm.graph.nodes] == [record["name"] for record in half["nodes"]]
        assert jointer_package.graph_hash(gm) == jointer_package.document_hash(half)
