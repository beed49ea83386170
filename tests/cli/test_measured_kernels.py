"""`jointer kernels --source measured`: traces of compiled steps, written by hand in Kineto's format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, ROOT, run

ARTIFACTS = ROOT / "tests" / "core" / "capture" / "artifacts"
CPU_LOG = ARTIFACTS / "cpu_2_15.log"
GPU_LOG = ARTIFACTS / "triton_2_15.log"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

# The calls of the compilation in GPU_LOG: the call, its kernels with their duration, the stream.
GPU_CALLS = [
    ("_c10d_functional::all_gather_into_tensor", [(GATHER, 30.0)], 21),
    ("triton_per_fused_add_mean_mul_pow_rsqrt_0", [("triton_per_fused_add_mean_mul_pow_rsqrt_0", 6.0)], 7),
    ("aten::mm", [("nvjet_tst_128x256_64x4_1x2_h_bz_TNT", 20.0), ("splitKreduce_kernel", 2.0)], 7),
    ("triton_poi_fused_silu_1", [("triton_poi_fused_silu_1", 4.0)], 7),
    ("aten::addmm", [("cutlass_80_tensorop_s1688gemm_64x64", 10.0)], 7),
    ("triton_per_fused__softmax_prepare_softmax_online_2",
     [("triton_per_fused__softmax_prepare_softmax_online_2", 5.0)], 7),
    ("triton_for_fused_3", [("triton_for_fused_3", 1.0)], 7),
    ("triton_red_fused_mul_sum_4", [("triton_red_fused_mul_sum_4", 3.0)], 7),
    ("triton_per_fused_mul_sum_5", [("triton_per_fused_mul_sum_5", 2.0)], 7),
]


class Trace:
    def __init__(self, gpu: str | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self.devices = [{"id": 0, "name": gpu}] if gpu else []
        self.ids = 0

    def add(self, category: str, name: str, ts: float, dur: float, tid: int = 10, **args: Any) -> int:
        self.ids += 1
        arguments = {key.replace("_", " "): value for key, value in args.items()}
        if category in ("cpu_op", "user_annotation"):
            arguments["External id"] = self.ids
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": ts,
                            "dur": dur, "args": arguments})
        return self.ids

    def graph(self, key: str, ts: float, dur: float) -> None:
        self.add("user_annotation", f"## Call CompiledFxGraph {key} ##", ts, dur)

    def gpu_run(self, ts: float, scale: float = 1, calls: list[Any] = GPU_CALLS) -> None:
        """A step: calls on the CPU, 3 us apart; kernels on each stream, with gaps of 1 us."""
        self.graph("fgpu", ts, 500)
        free: dict[int, float] = {}
        for i, (call, kernels, stream) in enumerate(calls):
            external = self.add("cpu_op", call, ts + 3 * i + 1, 2)
            for name, duration in kernels:
                correlation = self.ids + 1
                self.add("cuda_runtime", "cudaLaunchKernel", ts + 3 * i + 1.5, 0.5, correlation=correlation)
                start = free.get(stream, ts + 1000)
                self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream,
                                    "ts": start, "dur": duration * scale,
                                    "args": {"stream": stream, "correlation": correlation,
                                             "External id": external}})
                free[stream] = start + duration * scale + 1

    def write(self, path: Path) -> Path:
        text = json.dumps({"schemaVersion": 1, "deviceProperties": self.devices, "traceEvents": self.events})
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return path


@pytest.fixture
def gpu_trace(tmp_path: Path) -> Path:
    trace = Trace("NVIDIA H100 80GB HBM3")
    for i, scale in enumerate((3, 1, 2)):
        trace.add("user_annotation", f"ProfilerStep#{i}", 10_000 * i, 9_000)
        trace.gpu_run(10_000 * i + 10, scale)
    return trace.write(tmp_path / "trace.json.gz")


def measured(*options: Any) -> Any:
    return run("kernels", GPU_LOG, "--graph", "0", "--source", "measured", *options)


def test_the_median_of_steps_beside_the_prediction(gpu_trace: Path) -> None:
    done = measured("--trace", gpu_trace, "--artifacts", GPU_LOG, "--json")
    assert done.code == 0, done.err
    answer = done.json
    assert (answer["source"], answer["kernels_from"]) == ("measured", "compiled")
    assert answer["device"] == "NVIDIA H100 80GB HBM3"
    assert "H100" in answer["estimator"]
    trace = answer["trace"]
    assert (trace["steps"], trace["runs"], trace["steps_of_runs"], trace["other_runs"]) == (3, 3, 3, 0)
    assert trace["compiled_graph"] == "fgpu"
    kernels = {kernel["name"]: kernel for kernel in answer["kernels"]}
    times = [kernel["ms"] for kernel in answer["kernels"]]
    # A collective's time is the shortest, others are medians; the wait launches nothing.
    assert times == pytest.approx([0.03, None, 0.012, 0.044, 0.008, 0.02, 0.01, 0.002, 0.006, 0.004])
    assert {kernel["tied_by"] for kernel in answer["kernels"]} == {"name", None}
    assert (answer["measured_kernels"], answer["launching_kernels"]) == (9, 9)
    assert answer["unmeasured_kernels"] == [] and answer["untied_calls"] == []
    product = kernels["extern_kernels.mm"]
    assert product["predicted_ms"] > 0
    assert product["gbps"] == pytest.approx(product["bytes"] / 44_000)
    assert [launch["name"] for launch in answer["calls"][2]["launches"]] == [
        "nvjet_tst_128x256_64x4_1x2_h_bz_TNT", "splitKreduce_kernel"]
    assert sum(kernel.get("share", 0) for kernel in answer["kernels"]) == pytest.approx(1)


def test_totals_add_up(gpu_trace: Path) -> None:
    answer = measured("--trace", gpu_trace, "--artifacts", GPU_LOG, "--json").json
    streams = {stream["stream"]: stream for stream in answer["streams"]}
    assert streams.keys() == {7, 21}
    for number, stream in streams.items():
        total = stream["kernels_ms"] + stream["gaps_ms"] - stream["overlap_ms"]
        assert total == pytest.approx(stream["span_ms"])
        launches = [launch for call in answer["calls"] for launch in call["launches"]
                    if launch["stream"] == number]
        assert len(launches) == stream["launches"]
        assert sum(launch["ms"] for launch in launches) == pytest.approx(stream["kernels_ms"])
        assert sum(launch["gap_ms"] for launch in launches) == pytest.approx(stream["gaps_ms"])
    # The run with the median duration: the kernels take twice as long as written.
    assert streams[7]["kernels_ms"] == pytest.approx(2 * 0.053)
    assert streams[7]["gaps_ms"] == pytest.approx(0.008)


def test_the_text_names_steps_and_what_is_not_tied(tmp_path: Path) -> None:
    calls = [call for call in GPU_CALLS if call[0] != "triton_poi_fused_silu_1"]
    calls.append(("aten::bmm", [("nvjet_other", 5.0)], 7))
    trace = Trace("NVIDIA H100 80GB HBM3")
    trace.gpu_run(0, calls=calls)
    done = measured("--trace", trace.write(tmp_path / "t.json"), "--artifacts", GPU_LOG)
    assert done.code == 0, done.err
    assert done.out.startswith("Measured on NVIDIA H100 80GB HBM3: one run, from t.json\n")
    assert "8 of 9 kernels measured" in done.out
    assert "1 kernel that is not in the trace: triton_poi_fused_silu_1" in done.out
    assert "1 call in the trace that matches no kernel: aten::bmm" in done.out


def test_kernels_of_the_cpu(tmp_path: Path) -> None:
    trace = Trace()
    trace.graph("fcpu", 0, 200)
    for i, name in enumerate(("graph_0_cpp_fused_native_layer_norm_0", "aten::mm", "graph_0_cpp_fused_gelu_sum_1")):
        trace.add("cpu_op", name, 10 + 40 * i, 10 * (i + 1))
    path = trace.write(tmp_path / "trace.json")
    command = ("kernels", CPU_LOG, "--graph", "0", "--source", "measured", "--trace", path, "--json")
    answer = run(*command, "--artifacts", CPU_LOG).json
    assert answer["device"] == "CPU"
    assert [kernel["ms"] for kernel in answer["kernels"]] == pytest.approx([0.01, 0.02, 0.03])
    # Without artifacts, only the product has a name that the prediction knows: the text of the graph does not say
    # which operators the model called.
    predicted = run(*command).json
    assert predicted["kernels_from"] == "predicted"
    ways = {kernel["tied_by"]: kernel["nodes"] for kernel in predicted["kernels"] if kernel["tied_by"]}
    assert ways.keys() == {"name", "neighbors"} and ways["name"] == ["mm"]
    assert predicted["untied_calls"] == [] and predicted["unmeasured_kernels"] == []
    # Kernels in one C++ function are measured together.
    for kernel in predicted["kernels"]:
        if "counted_in" in kernel:
            assert kernel["ms"] is None and predicted["kernels"][kernel["counted_in"]]["ms"] > 0


def test_an_interpreted_step_is_refused(tmp_path: Path) -> None:
    trace = Trace()
    trace.add("cpu_op", "aten::mm", 0, 10)
    done = measured("--trace", trace.write(tmp_path / "eager.json"))
    assert (done.code, done.out) == (3, "")
    assert "not of a compiled step" in done.err and "torch.compile" in done.err


def test_a_trace_of_another_model_is_refused(tmp_path: Path) -> None:
    trace = Trace("NVIDIA H100 80GB HBM3")
    trace.gpu_run(0, calls=[("triton_poi_fused_cos_9", [("triton_poi_fused_cos_9", 1.0)], 7)])
    path = trace.write(tmp_path / "t.json")
    done = measured("--trace", path, "--artifacts", GPU_LOG)
    assert done.code == 3 and "no compiled graph in the trace" in done.err
    assert run("kernels", JOINT, "--source", "measured", "--trace", path).code == 3


def test_damaged_traces_are_refused(gpu_trace: Path, tmp_path: Path) -> None:
    text = gzip.decompress(gpu_trace.read_bytes())
    (tmp_path / "cut.json").write_bytes(text[: len(text) // 2])
    (tmp_path / "empty.json").write_text("{}")
    for name in ("cut.json", "empty.json", "missing.json"):
        done = measured("--trace", tmp_path / name)
        assert done.code == 3 and name in done.err and len(done.err.splitlines()) == 1


def test_options_belong_to_the_source(gpu_trace: Path) -> None:
    without = measured()
    assert without.code == 2 and "needs --trace" in without.err
    other = run("kernels", JOINT, "--source", "predicted", "--trace", gpu_trace)
    assert other.code == 2 and "only --source measured reads a trace" in other.err
    torch = measured("--trace", gpu_trace, "--artifacts", GPU_LOG, "--torch", "2.15")
    assert torch.code == 2 and "option --torch" in torch.err
    for option in (["--against", "predicted"], ["--ask-again"], ["--passes", "sink_waits"]):
        done = measured("--trace", gpu_trace, *option)
        assert done.code == 2 and option[0] in done.err


def test_the_compiled_step_takes_measured_times(tmp_path: Path) -> None:
    trace = Trace()
    trace.graph("fcpu", 0, 200_000)
    trace.add("cpu_op", "aten::mm", 10, 100_000)
    path = trace.write(tmp_path / "t.json")
    # A trace without kernels of Inductor is of a step whose C++ functions were not recorded.
    command = ("overlap", CPU_LOG, "--graph", "0", "--execution", "inductor", "--json", "--kernel-trace")
    refused = run(*command, path)
    assert refused.code == 3 and "enable_kernel_profile" in refused.err
    trace.add("cpu_op", "graph_0_cpp_fused_gelu_sum_1", 120_000, 50_000)
    trace.write(path)
    answer = run(*command, path).json
    assert "2 of " in answer["estimator"] and "measured (t.json)" in answer["estimator"]
    assert answer["step_ms"] > 100
    eager = run("overlap", CPU_LOG, "--graph", "0", "--kernel-trace", path)
    assert eager.code == 2 and "--execution inductor" in eager.err
