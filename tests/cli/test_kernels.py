"""`jointer kernels`: requests that do not fit are refused. tests/differential compares its answers with torch's."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, JOINT, ROOT, run, sample
from launching import die_soon

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
ARTIFACTS = ROOT / "tests" / "core" / "capture" / "artifacts"


def test_another_torch_is_refused() -> None:
    done = run("kernels", JOINT, "--torch", "2.12", "--json")
    assert (done.code, done.out) == (3, "")
    assert "not 2.12" in done.err and "JOINTER_PYTHON" in done.err


def test_halves_belong_to_pairs() -> None:
    pair = run("kernels", PAIR)
    assert pair.code == 2 and "--half forward or --half backward" in pair.err
    joint = run("kernels", JOINT, "--half", "forward")
    assert joint.code == 2 and "is not a pair" in joint.err


def test_sources_and_artifacts_belong_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JOINTER_COMPILED", str(tmp_path))
    without = run("kernels", JOINT, "--source", "compiled")
    assert without.code == 2 and "needs --artifacts" in without.err
    other = run("kernels", JOINT, "--artifacts", ARTIFACTS)
    assert other.code == 2 and "only --source compiled and --source measured read artifacts" in other.err
    device = run("kernels", JOINT, "--source", "compiled", "--artifacts", ARTIFACTS, "--device", "h100")
    assert device.code == 2 and "option --device" in device.err
    missing = run("kernels", JOINT, "--source", "compiled", "--artifacts", "missing")
    assert missing.code == 3 and missing.out == ""


def test_compiled_kernels_and_those_that_cannot_be_tied() -> None:
    log = ARTIFACTS / "cpu_2_15.log"
    done = run("kernels", log, "--graph", "0", "--source", "compiled", "--artifacts", log)
    assert done.code == 0, done.err
    assert done.out.startswith("Compiled by torch 2.15.0, for cpu\n")
    assert "2 kernels without a call in the graph" in done.out
    backward = run("kernels", log, "--graph", "1", "--source", "compiled", "--artifacts", log)
    assert "\n1 node of the compiled graph that the graph lacks: addmm_default\n" in backward.out
    answer = json.loads(
        run("kernels", log, "--graph", "0", "--source", "compiled", "--artifacts", log, "--json").out
    )
    assert answer["source"] == "compiled" and answer["compilation"] == "0/0, forward"
    assert [kernel["nodes"] for kernel in answer["kernels"]] == [[], ["mm"], []]
    assert answer["untied_kernels"] == ["cpp_fused_native_layer_norm_0", "cpp_fused_gelu_sum_1"]
    assert len(answer["compilations"]) == 2
    assert answer["kernels"][1]["flops"] == 2 * 32 * 64 * 32


WRAPPER = """
    int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();
    if (64 != arg0_1_size[0]) {
    if (1 != arg0_1_stride[0]) {
    int32_t arg0_1_expected_device_type = 0;
void AOTInductorModel::run_impl() {
    auto arg0_1 = std::move(inputs[0]);
    // Topologically Sorted Source Nodes: [wait_tensor], Original ATen: [_c10d_functional.wait_tensor]
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu__c10d_functional_wait_tensor(arg0_1, &buf0_handle));
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_delete_tensor_object(buf0_handle));
    output_handles[0] = arg0_1.release();
}
"""


def write_package(path: Path, wrapper: str | None = WRAPPER) -> None:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("package/data/aotinductor/model/a.wrapper.so", b"code")
        if wrapper:
            package.writestr("package/data/aotinductor/model/a.wrapper.cpp", wrapper)


def test_kernels_of_a_package(tmp_path: Path) -> None:
    write_package(tmp_path / "a.pt2")
    options = ("kernels", JOINT, "--source", "compiled", "--artifacts", tmp_path / "a.pt2")
    done = run(*options)
    assert done.code == 0, done.err
    assert done.out.startswith("Compiled by an unknown version of torch, for cpu\n")
    answer = json.loads(run(*options, "--json").out)
    assert [kernel["nodes"] for kernel in answer["kernels"]] == [["wait_tensor"]]
    assert answer["input_bytes"] == 256 and not answer["from_cache"]
    assert "aoti_torch_cpu__c10d_functional_wait_tensor(arg0_1" in answer["kernels"][0]["call"]


def test_a_package_without_its_wrapper_is_refused(tmp_path: Path) -> None:
    write_package(tmp_path / "a.pt2", None)
    done = run("kernels", JOINT, "--source", "compiled", "--artifacts", tmp_path / "a.pt2")
    assert (done.code, done.out) == (3, "")
    assert "a.wrapper.so but not the wrapper" in done.err and done.err.count("\n") == 1


def test_the_package_of_the_graph_comes_from_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JOINTER_COMPILED", str(tmp_path))
    write_package(tmp_path / "a.pt2")
    manifest = {"format": "jointer-compiled", "version": 1, "graph": "llama", "phase": "joint", "hash": "other"}
    (tmp_path / "a.json").write_text(json.dumps(manifest))
    other = run("kernels", JOINT, "--source", "compiled")
    assert other.code == 2 and "has no package of this graph" in other.err
    manifest["hash"] = json.loads(run("info", JOINT, "--json").out)["hash"]
    (tmp_path / "a.json").write_text(json.dumps(manifest))
    done = run("kernels", JOINT, "--source", "compiled")
    assert done.code == 0, done.err
    assert f"read from the cache of packages: {tmp_path}/a.pt2" in done.out
    answer = json.loads(run("kernels", JOINT, "--source", "compiled", "--json").out)
    assert answer["compilation"] == "llama, joint" and answer["from_cache"]
    assert answer["file"] == str(tmp_path / "a.pt2")


def test_a_region_that_cannot_be_read_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JOINTER_COMPILED", str(tmp_path))
    graph_hash = json.loads(run("info", JOINT, "--json").out)["hash"]
    for number, name in enumerate(("a", "b")):
        write_package(tmp_path / f"{name}.pt2")
        manifest = {"format": "jointer-compiled", "version": 1, "graph": "llama", "of": "joint", "region": number}
        (tmp_path / f"{name}.json").write_text(json.dumps({**manifest, "hash": graph_hash}))
    (tmp_path / "b.pt2").write_bytes(b"PK\x03\x04 cut off")
    answer = json.loads(run("kernels", JOINT, "--source", "compiled", "--json").out)
    assert answer["file"] == str(tmp_path / "a.pt2") and len(answer["compilations"]) == 1
    [problem] = answer["problems"]
    assert str(tmp_path / "b.pt2") in problem
    assert "1 artifact that could not be read: " in run("kernels", JOINT, "--source", "compiled").out
    (tmp_path / "a.pt2").write_bytes(b"PK\x03\x04 cut off")
    none = run("kernels", JOINT, "--source", "compiled")
    assert (none.code, none.out) == (3, "") and none.err.count("\n") == 1


def test_a_prediction_needs_no_torch() -> None:
    done = run("kernels", PAIR, "--half", "forward", "--source", "predicted", "--torch", "2.11", "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert (answer["source"], answer["torch"]) == ("predicted", "2.11")
    kinds = {kernel["kind"] for kernel in answer["kernels"]}
    assert {"pointwise", "reduction", "extern", "collective", "wait"} <= kinds
    assert any("mm" in kernel["nodes"] for kernel in answer["kernels"])


# --- Inductor asked: a script stands in for Python with torch ---


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Returns the folder of the log."""
    monkeypatch.setenv("JOINTER_PYTHON", str(ROOT / "tests" / "support" / "fake_inductor.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path))
    return tmp_path


def runs(log: Path) -> int:
    return len((log / "runs").read_text().splitlines())


def test_an_answer_is_cached(fake: Path) -> None:
    first = run("kernels", PAIR, "--half", "forward", "--json")
    assert first.json["source"] == "inductor"
    assert run("kernels", PAIR, "--half", "forward", "--json").out == first.out
    assert runs(fake) == 1
    assert run("kernels", PAIR, "--half", "backward", "--json").code == 0
    assert runs(fake) == 2
    assert run("kernels", PAIR, "--half", "forward", "--ask-again", "--json").out == first.out
    assert runs(fake) == 3


def test_failures_say_what_to_do(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_INDUCTOR", "fail")
    failed = run("kernels", JOINT)
    assert (failed.code, failed.out) == (4, "")
    assert "node mm cannot be lowered" in failed.err
    monkeypatch.setenv("FAKE_TORCH", "")
    missing = run("kernels", JOINT)
    assert missing.code == 4 and "-m pip install torch" in missing.err
    assert runs(fake) == 1


def test_an_interruption_ends_the_worker(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_INDUCTOR", "sleep")
    process = subprocess.Popen([BIN / "jointer", "kernels", JOINT], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (fake / "runs").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert die_soon([int(pid) for pid in (fake / "runs").read_text().split()])


def test_differences_from_the_prediction(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in makes a kernel of every call, so it splits all fused kernels."""
    done = run("kernels", PAIR, "--half", "forward", "--against", "predicted", "--json")
    against = done.json["against"]
    assert (against["source"], against["torch"]) == ("predicted", "2.15")
    rules = against["rules"]
    assert [rule["count"] for rule in rules] == sorted((rule["count"] for rule in rules), reverse=True)
    assert sum(rule["count"] for rule in rules) == len(against["differences"])
    split = [rule for rule in rules if rule["kind"] == "split"]
    assert split and {rule["refused_by"] for rule in split} <= {"inductor", None}
    names = {side: {kernel["name"] for kernel in run(
        "kernels", PAIR, "--half", "forward", "--source", side, *torch, "--json").json["kernels"]}
        for side, torch in (("inductor", []), ("predicted", ["--torch", "2.15"]))}
    nodes = {node for kernel in done.json["kernels"] for node in kernel["nodes"]}
    for difference in against["differences"]:
        assert rules[difference["rule"]]["kind"] == difference["kind"]
        assert set(difference["inductor"]) <= names["inductor"]
        assert set(difference["predicted"]) <= names["predicted"]
        assert set(difference["nodes"]) <= nodes
    assert 0 < against["nodes_elsewhere"] <= against["nodes"]

    text = run("kernels", PAIR, "--half", "forward", "--against", "predicted").out
    assert "Against the prediction for torch 2.15" in text
    assert "one kernel of the prediction is several of Inductor" in text


def test_only_inductor_is_compared(fake: Path) -> None:
    done = run("kernels", JOINT, "--source", "predicted", "--against", "predicted")
    assert done.code == 2 and "only --source inductor" in done.err
    assert not (fake / "runs").exists()


FORWARD = ("kernels", PAIR, "--half", "forward", "--source", "predicted")


def predicted() -> dict[str, Any]:
    answer = json.loads(run(*FORWARD, "--json").out)
    return {"peak": answer["peak_bytes"], "kernels": answer["kernels"]}


def names_of(kernels: list[dict[str, Any]]) -> list[str]:
    return [kernel["name"] for kernel in kernels]


def movable_start(kernels: list[dict[str, Any]]) -> tuple[str, str]:
    """The start of a collective, and a matrix product before which it could run."""
    for place, kernel in enumerate(kernels):
        if kernel["kind"] != "collective":
            continue
        for earlier in kernels[max(0, place - 12) : place]:
            if earlier["kind"] != "extern":
                continue
            start, product = kernel["nodes"][0], earlier["nodes"][0]
            if run(*FORWARD, "--move", f"{start} before {product}", "--json").code == 0:
                return start, product
    raise AssertionError("no collective can be moved")


def test_a_move_changes_the_order_and_the_peak(tmp_path: Path) -> None:
    before = predicted()
    start, product = movable_start(before["kernels"])
    path = tmp_path / "forward.order.json"
    move = f"{start} before {product}"
    done = run(*FORWARD, "--move", move, "--export", path, "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert sorted(names_of(answer["kernels"])) == sorted(names_of(before["kernels"]))
    assert names_of(answer["kernels"]) != names_of(before["kernels"])
    order = [kernel["nodes"] for kernel in answer["kernels"]]
    places = {name: place for place, nodes in enumerate(order) for name in nodes}
    assert places[start] == places[product] - 1
    assert answer["peak_bytes_before"] == before["peak"]
    assert answer["moves"] == [{"move": move, "peak_bytes": answer["peak_bytes"]}]
    document = json.loads(path.read_text())
    assert (document["format"], document["version"]) == ("jointer-compiled-order", 1)
    forward = document["graphs"]["forward"]
    kinds = [kernel["kind"] for kernel in before["kernels"]]
    assert len(forward["collectives"]) == kinds.count("collective")
    assert all(each["ranks"] >= 2 and each["numel"] > 0 for each in forward["collectives"])
    (written,) = forward["moves"]
    assert written["move"]["kind"] == "collective" and written["move"]["nodes"][0]["name"] == start
    assert product in [node["name"] for node in written["before"]["nodes"]]
    assert run(*FORWARD, "--move", move, "--export", "-").out == path.read_text()
    assert run(*FORWARD, "--move", move, "--export", "-", "--json").code == 2


def test_the_schema_describes_what_is_written(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    start, product = movable_start(predicted()["kernels"])
    path = tmp_path / "order.json"
    assert run(*FORWARD, "--move", f"{start} before {product}", "--export", path).code == 0
    schema = json.loads((ROOT / "resources" / "schema" / "compiled_order.schema.json").read_text())
    jsonschema.validate(json.loads(path.read_text()), schema)


def test_moves_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    kernels = predicted()["kernels"]
    starts = [kernel["nodes"][0] for kernel in kernels if kernel["kind"] == "collective"]
    for move, message in [
        (f"{starts[2]} before {starts[1]}", "same order on every rank"),
        (f"{starts[2]} before {starts[1]}", "`: the kernel cannot move that far. Held by "),
        (f"{starts[0]} before", "expected `KERNEL before KERNEL`"),
        (f"{starts[0]} before nothing_here", "has no node or kernel `nothing_here`"),
        (f"{starts[0]} before {starts[0]}", "refer to the same kernel"),
    ]:
        path = tmp_path / "order.json"
        done = run(*FORWARD, "--move", move, "--export", path)
        assert done.code == 2 and message in done.err, done.err
        assert not path.exists()
    other = run("kernels", PAIR, "--half", "forward", "--move", "a before b")
    assert other.code == 2 and "use --source predicted" in other.err
    assert run(*FORWARD, "--export", tmp_path / "order.json").code == 2


def test_a_joint_graph_has_no_compiled_order(tmp_path: Path) -> None:
    joint = ("kernels", JOINT, "--source", "predicted")
    kernels = json.loads(run(*joint, "--json").out)["kernels"]
    move = f"{kernels[0]['name']} before {kernels[1]['name']}"
    done = run(*joint, "--move", move, "--export", tmp_path / "order.json")
    assert done.code == 2 and "partition the graph" in done.err


def test_passes_move_predicted_kernels() -> None:
    request = ("kernels", PAIR, "--half", "forward", "--source", "predicted")
    before = json.loads(run(*request, "--json").out)
    passes = "reorder_communication_preserving_peak_memory,sink_waits_iterative{sink_iterative_peak_memory_budget=0}"
    done = run(*request, "--passes", passes, "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    names = [kernel["name"] for kernel in answer["kernels"]]
    assert sorted(names) == sorted(kernel["name"] for kernel in before["kernels"])
    assert names != [kernel["name"] for kernel in before["kernels"]]
    assert all(kernel["ms"] == 0 for kernel in answer["kernels"])  # as in torch: the sample is of a CPU
    raised, sunk = answer["passes"]
    assert (raised["pass"], sunk["pass"]) == ("reorder_communication_preserving_peak_memory", "sink_waits_iterative")
    assert sorted(raised["order"]) == sorted(names) == sorted(sunk["order"])
    assert raised["moves"] and sum(move["moves"] for move in raised["moves"]) > 0
    for move in raised["moves"]:
        difference = move["initial_exposed_ms"] - move["final_exposed_ms"]
        assert abs(move["improvement_ms"] - difference) < 1e-9
        assert move["kernel"] in names and move["nodes"] and move["limiting_factor"]
    text = run(*request, "--passes", passes)
    assert text.code == 0 and "limiting factor" in text.out and "sink_waits_iterative: peak" in text.out


def test_passes_that_do_not_fit_are_refused() -> None:
    request = ("kernels", PAIR, "--half", "forward")
    other = run(*request, "--passes", "sink_waits")
    assert other.code == 2 and "--source predicted" in other.err
    unknown = run(*request, "--source", "predicted", "--passes", "sink_wait")
    assert unknown.code == 2 and "there is no kernel pass sink_wait; did you mean sink_waits?" in unknown.err
    option = run(*request, "--source", "predicted", "--passes", "sink_waits{budget=1}")
    assert option.code == 2 and "sink_waits: " in option.err
    text = run(*request, "--source", "predicted", "--passes", "sink_waits{")
    assert text.code == 2 and "pipeline" in text.err
