"""torch's own passes on the order of kernels, run on the scheduler nodes of a capture.

``python torch_kernel_order.py CAPTURE CHAINS`` prints one JSON object. ``CHAINS`` is JSON: lists of passes, each a pair
of a name and options of ``torch._inductor.config_comms``. Inductor's scheduler runs on the capture as in ``jointer
kernels``, without a GPU; the passes run on its nodes after ``reorder_for_peak_memory``, as in a compilation. The answer
has the kernels before the passes, with their estimated times for nodes of eight GPUs, and for each chain the reports of
its passes, the order after each of them, and the order after ``simple_overlap``, which runs next (torch 2.12 and later).
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "python"))

from jointer.pretended_gpu import GPUS, pretended_gpu  # noqa: E402, found by the line above

INTERNAL = {
    "reorder_communication_preserving_peak_memory": "_reorder_communication_preserving_peak_memory_internal",
    "sink_waits_iterative": "_sink_waits_iterative_internal",
}


def names(snodes: list[Any]) -> list[str]:
    return [each.get_name() for each in snodes]


def row(snode: Any, info: Any) -> dict[str, Any]:
    end = re.search(r"->[WC]\[(\w+)\]", info.overlap_info)
    return {
        "kernel": snode.get_name(),
        "communication_ms": info.comm_time,
        "compute_ms": info.comp_time,
        "initial_exposed_ms": info.initial_exposed,
        "final_exposed_ms": info.final_exposed,
        "improvement_ms": info.improvement,
        "moves": info.moves,
        "grouped": info.grouped,
        "limiting_factor": info.limiting_factor,
        "overlapping": len(re.findall(r"\+(\w+)\[", info.overlap_info)),
        "until": end[1] if end else None,
    }


def peak_of(snodes: list[Any]) -> int:
    from torch._inductor import comms

    return int(comms._initialize_memory_tracking(snodes)[0])


def run_chain(snodes: list[Any], chain: list[Any]) -> dict[str, Any]:
    from torch._inductor import comms, config_comms

    reports = []
    for name, options in chain:
        with config_comms.patch(options):
            if name in INTERNAL:
                snodes, stats = getattr(comms, INTERNAL[name])(snodes)
            else:
                snodes, stats = getattr(comms, name)(snodes), {}
        rows = [row(snode, info) for snode, info in stats.items()]
        reports.append({"pass": name, "order": names(snodes), "moves": rows, "peak_after_bytes": peak_of(snodes)})
    last = comms.simple_overlap(snodes) if hasattr(comms, "simple_overlap") else snodes
    return {"passes": reports, "order": names(last), "peak_bytes": peak_of(last)}


def answers(capture: str, chains: list[Any]) -> dict[str, Any]:
    with pretended_gpu(GPUS["h100"]):
        # torch._inductor is imported only now: see pretended_gpu.
        from jointer.inductor_kernels import kernels_of
        from jointer.load import load
        from torch import cuda
        from torch._inductor import comm_analysis, comms, memory

        found: dict[str, Any] = {}
        reorder = memory.reorder_for_peak_memory

        def look(*arguments: Any) -> list[Any]:
            snodes: list[Any] = reorder(*arguments)
            with (
                mock.patch.object(cuda, "device_count", lambda: 8),
                mock.patch.object(comm_analysis, "_has_nvlink", lambda: True, create=True),
            ):
                found["kernels"] = [{"name": each.get_name(), "ms": comms.estimate_op_runtime(each)} for each in snodes]
                found["peak_bytes"] = peak_of(snodes)
                found["chains"] = [run_chain(snodes, chain) for chain in chains]
            return snodes

        with mock.patch.object(memory, "reorder_for_peak_memory", look):
            kernels_of(load(capture))
        return found


if __name__ == "__main__":
    output, sys.stdout = sys.stdout, sys.stderr
    json.dump(answers(sys.argv[1], json.loads(sys.argv[2])), output)
