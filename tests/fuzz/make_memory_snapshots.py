"""Writes corpus/memory_snapshot: small snapshots as torch.cuda.memory._dump_snapshot pickles them.

The values are laid out as torch 2.11's _C._cuda_memorySnapshot does, with one file per protocol.
"""

from __future__ import annotations

import pickle
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus" / "memory_snapshot"


def snapshot() -> dict[str, object]:
    frame = {"filename": "train.py", "line": 12, "name": "step"}
    pool = (0, 0)

    def entry(action: str, addr: int, size: int, us: int) -> dict[str, object]:
        return {
            "action": action,
            "addr": addr,
            "size": size,
            "stream": 0,
            "time_us": us,
            "compile_context": "N/A",
            "user_metadata": "",
            "pool_id": pool,
            "frames": [frame, frame],
        }

    base = 0x7F0000000000
    trace = [
        entry("segment_alloc", base, 2 << 20, 1_700_000_000_000_000),
        entry("alloc", base, 1000, 1_700_000_000_000_010),
        entry("alloc", base + 1024, 512, 1_700_000_000_000_020),
        entry("free_requested", base, 1000, 1_700_000_000_000_030),
        entry("free_completed", base, 1000, 1_700_000_000_000_031),
        {**entry("oom", 0, 1 << 34, 1_700_000_000_000_040), "device_free": 1 << 20},
        entry("snapshot", 0, 0, 1_700_000_000_000_050),
    ]
    blocks = [
        {"address": base, "size": 1024, "requested_size": 0, "state": "inactive", "frames": []},
        {"address": base + 1024, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": [frame]},
        {"address": base + 1536, "size": (2 << 20) - 1536, "requested_size": 0, "state": "inactive", "frames": []},
    ]
    segment = {
        "device": 0,
        "address": base,
        "total_size": 2 << 20,
        "allocated_size": 512,
        "active_size": 512,
        "requested_size": 512,
        "stream": 0,
        "segment_type": "small",
        "segment_pool_id": pool,
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "2": 0}}
    return {"segments": [segment], "device_traces": [trace, []], "allocator_settings": settings,
            "external_annotations": []}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for protocol in range(2, 6):
        (FOLDER / f"protocol{protocol}.pickle").write_bytes(pickle.dumps(snapshot(), protocol=protocol))
