"""``python -m jointer compile``: the worker, its packages, the cache, regions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from processes import check_ranks, environment
from support import call, document, output, placeholder, tensor
from test_bench import needs_captures, request_of

from jointer.artifacts import Cache, package_name
from jointer.compile import CompileError, Request, compile_program
from jointer.errors import CaptureError
from jointer.load import load_document
from jointer.regional import find_regions

SAMPLES = ROOT / "resources" / "samples"

def graph(path: Path, target: str = "aten.relu.default") -> str:
    """x -> sin -> TARGET; returns the result, None, the sine, the result again."""
    nodes = [
        placeholder("x", tensor([4, 3])),
        call("y", "aten.sin.default", {"n": "x"}, val=tensor([4, 3], storage=1)),
        call("z", target, {"n": "y"}, val=tensor([4, 3], storage=2)),
        output({"n": "z"}, None, {"n": "y"}, {"n": "z"}),
    ]
    path.write_text(json.dumps(document(*nodes, name="small graph", storages=[48, 48, 48])))
    return str(path)


class Worker:
    """The worker process, as the launcher starts it."""

    def __init__(self, cache: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jointer", "compile"],
            env=environment(JOINTER_COMPILED=str(cache)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **request: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def answer(self, *events: str) -> dict[str, Any]:
        """The next answer with one of these ``events``."""
        while True:
            heard = self.hear()
            if heard["event"] in events:
                return heard


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    started = Worker(tmp_path / "cache")
    yield started
    started.process.kill()
    started.process.wait()


@pytest.mark.slow
def test_a_worker_compiles_remembers_and_refuses(tmp_path: Path, worker: Worker) -> None:
    path, out = graph(tmp_path / "g.json"), tmp_path / "out"
    ready = worker.hear()
    assert ready["event"] == "ready" and ready["protocol"] == 1 and ready["pid"] > 0
    worker.ask(id=7, graph=path, on="cpu", out=str(out), rank=3)
    stages = []
    while (heard := worker.hear())["event"] == "progress":
        assert heard["id"] == 7
        stages.append(heard["stage"])
    assert list(dict.fromkeys(stages)) == ["load", "decompose", "compile", "package"]
    assert heard["event"] == "compiled" and heard["id"] == 7
    (package,) = heard["packages"]
    assert not package["cached"] and package["method"] == "inductor" and package["rank"] == 3
    name = f"small_graph.forward.rank3.inductor.{package['hash'][:12]}"
    assert sorted(each.name for each in out.iterdir()) == [f"{name}.json", f"{name}.pt2"]
    manifest = json.loads((out / f"{name}.json").read_text())
    assert manifest["format"] == "jointer-compiled" and manifest["version"] == 1
    assert manifest["torch"] == torch.__version__ and manifest["device"] == "cpu"
    assert [each["name"] for each in manifest["inputs"]] == ["x"]
    assert manifest["output_map"] == [0, None, 1, 0]
    assert [each["name"] for each in manifest["outputs"]] == ["z", "y"]

    worker.ask(id=8, graph=path, on="cpu", out=str(out), rank=4)
    (package,) = worker.answer("compiled")["packages"]
    assert package["cached"] and package["rank"] == 4 and Path(package["package"]).is_file()
    x = torch.randn(4, 3)
    z, y = torch._inductor.aoti_load_package(package["package"]).loader.run([x])
    torch.testing.assert_close((z, y), (x.sin().relu(), x.sin()))

    other = graph(tmp_path / "h.json", "my_library.relu.default")
    for request, kind, node, text in (
        ({"graph": other}, "compile", "z", "my_library.relu.default is not known"),
        ({"graph": "/nowhere.json"}, "load", "", "No such file"),
        ({"graph": path, "method": "magic"}, "load", "", "method 'magic'"),
        ({"graph": path, "color": 1}, "load", "", "unknown member 'color'"),
        ({"graph": path, "method": "regional"}, "load", "", "no node is marked"),
    ):
        worker.ask(id=9, on="cpu", **request)
        failed = worker.answer("failed", "compiled")
        assert (failed["event"], failed["kind"], failed["node"]) == ("failed", kind, node)
        assert text in failed["text"] and "\n" not in failed["text"]
    assert worker.process.stdin and worker.process.stdout
    worker.process.stdin.write("not json\n")
    worker.process.stdin.close()
    assert worker.answer("failed")["text"].startswith("request: ")
    assert worker.process.wait(timeout=600) == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", ["input ends", "terminated"])
def test_a_worker_is_ended_while_it_compiles(tmp_path: Path, worker: Worker, how: str) -> None:
    worker.ask(id=1, graph=graph(tmp_path / "g.json"), on="cpu")
    while worker.answer("progress")["stage"] != "compile":
        pass
    time.sleep(1)
    children = descendants(worker.process.pid)
    if how == "input ends":
        assert worker.process.stdin
        worker.process.stdin.close()
    else:
        worker.process.terminate()
    assert worker.process.wait(timeout=600) == 130
    assert gone_soon(children)
    left = [each.name for each in (tmp_path / "cache").iterdir()]
    assert not [name for name in left if name.endswith((".pt2", ".json")) or "making" in name]


def gone_soon(pids: list[int], seconds: float = 60) -> bool:
    """True if none of them runs; a process that its new parent has not reaped yet does not count."""
    end = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(is_running, pids))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descendants(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    children = [int(each) for each in found.stdout.split()]
    return [*children, *(inner for child in children for inner in descendants(child))]


@pytest.mark.slow
def test_concurrent_ranks_compile_a_package_once(tmp_path: Path) -> None:
    """Concurrent processes: one makes the package, the other waits for it."""
    script = """
import sys, time
from pathlib import Path
from jointer.artifacts import Cache
def make(path):
    print("made", flush=True)
    time.sleep(1)
    path.write_text("package")
    return {"version": 1}
package, description, cached = Cache(Path(sys.argv[1])).get("key", make, lambda: print("waits"))
print(cached, package.read_text())
"""
    asked = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = "".join(each.communicate()[0] for each in asked)
    assert said.count("made") == 1 and said.count("False package") == 1
    assert said.count("True package") == 2 and said.count("waits") <= 2


def test_a_failure_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    def fail(path: Path) -> dict[str, Any]:
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Cache(tmp_path).get("key", fail)
    assert [each.name for each in tmp_path.iterdir()] == ["key.lock"]


def test_a_repeated_random_call_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    forward, backward = graph(tmp_path / "forward.json"), tmp_path / "backward.json"
    nodes = [
        placeholder("rng_state_output_0", tensor([5056], storage=0, dtype="uint8")),
        placeholder("y", tensor([4, 3], storage=1)),
        call("again", "run_with_rng_state", {"n": "rng_state_output_0"},
             {"op": "aten.rand_like.default"}, {"n": "y"}, val=tensor([4, 3], storage=2)),
        output({"n": "again"}),
    ]  # fmt: skip
    storages = [5056, 48, 48]
    backward.write_text(json.dumps(document(*nodes, kind="backward", storages=storages)))
    stages: list[str] = []
    request = Request(forward, str(backward), on="cpu")
    with pytest.raises(CompileError, match="^run_with_rng_state, .* use the interpret") as caught:
        compile_program(request, lambda stage, done, total: stages.append(stage))
    assert caught.value.node == "again" and stages == ["load"]


def test_names_are_safe() -> None:
    name = package_name("../a b/ü", "joint", 1, "inductor", "0123456789abcdef")
    assert name == "a_b.joint.rank1.inductor.0123456789ab" and "/" not in name


def test_strides_and_constants_make_another_package(tmp_path: Path) -> None:
    """A graph's hash does not cover them, but compiled code depends on them."""
    from jointer.program import read_program

    plain = read_program(graph(tmp_path / "a.json")).parts[0]
    turned = json.loads((tmp_path / "a.json").read_text())
    turned["nodes"][0]["val"]["t"]["stride"] = [1, 4]
    (tmp_path / "b.json").write_text(json.dumps(turned))
    other = read_program(str(tmp_path / "b.json")).parts[0]
    assert plain.hash == other.hash and plain.fingerprint() != other.fingerprint()


def chain(*records: dict[str, Any]) -> Any:
    """A graph with the placeholders ``x`` and ``w``."""
    value = tensor([4])
    nodes = [placeholder("x", value), placeholder("w", tensor([4], storage=1)), *records]
    return load_document(document(*nodes, storages=[16] * 12))


def step(name: str, *inputs: str, storage: int, mark: Any = None, target: str = "") -> Any:
    target = target or ("aten.add.Tensor" if len(inputs) > 1 else "aten.sin.default")
    more = {} if mark is None else {"custom": {"compile_with_inductor": mark}}
    arguments = [{"n": each} for each in inputs]
    return call(name, target, *arguments, val=tensor([4], storage=storage), **more)


def test_regions_keep_the_order_of_the_rest() -> None:
    gm = chain(
        step("a", "x", storage=2, mark=True),
        step("aside", "w", storage=3),  # independent of the region: it stays between
        step("b", "a", "aside", storage=4, mark=True),
        step("user", "b", storage=5),  # reads from the region
        step("c", "user", storage=6, mark=True),
        step("d", "c", storage=7, mark={"inductor_configs": {"max_autotune": True}}),
        output({"n": "d"}, {"n": "a"}),
    )
    regions = find_regions(gm)
    assert [region.nodes for region in regions] == [["a", "b"], ["c"], ["d"]]
    assert regions[2].options == {"max_autotune": True}
    inner = regions[0].gm
    assert [n.name for n in inner.graph.find_nodes(op="placeholder")] == ["x", "aside"]
    assert [n.name for n in inner.graph.output_node().args[0]] == ["a", "b"]
    x, w = torch.randn(4), torch.randn(4)
    torch.testing.assert_close(inner(x, w.sin()), (x.sin(), x.sin() + w.sin()))


def test_regions_respect_writes() -> None:
    writes = {"target": "aten.add_.Tensor"}
    gm = chain(
        step("a", "x", storage=2, mark=True),
        step("written", "x", "w", storage=0, **writes),  # written here, read by the region
        step("b", "w", storage=3, mark=True),
        step("fill", "w", "a", storage=1, mark=True, **writes),
        step("reads", "w", storage=4),  # written by the region
        step("c", "x", storage=5, mark=True),
        output({"n": "b"}, {"n": "reads"}, {"n": "c"}, {"n": "fill"}),
    )
    assert [region.nodes for region in find_regions(gm)] == [["a"], ["b", "fill"], ["c"]]


def test_selectors() -> None:
    record = step("a", "x", storage=2)
    modules = {"modules": [[["L['self'].layers.3.norm", "m.Norm"]]]}
    nodes = [placeholder("x", tensor([4])), {**record, "module": 0}, output({"n": "a"})]
    gm = load_document(document(*nodes, storages=[16] * 3, **modules))
    for selector in ("a", "layers.*::aten.sin.default", "layers.3.norm::aten.sin", "*::*sin*"):
        assert [region.nodes for region in find_regions(gm, [selector])] == [["a"]]
    for selector in ("b", "layers.4.*::aten.sin", "*::aten.cos"):
        with pytest.raises(CaptureError, match="selects no node; mark a node by its name"):
            find_regions(gm, [selector])


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache and a folder for packages."""
    folder = tmp_path_factory.mktemp("compiled")
    before = dict(os.environ)
    os.environ.update(JOINTER_COMPILED=str(folder / "cache"), TORCHINDUCTOR_VEC_ISA_OK="1")
    yield folder
    os.environ.clear()
    os.environ.update(before)


def compile_ranks(request: dict[str, Any], world: int, out: Path) -> list[list[str]]:
    """Packages of all ranks, as the manifests of each rank's parts."""
    graph, backward = request["graph"], request.get("backward")
    answers = [
        compile_program(Request(graph, backward, on="cpu", out=str(out), rank=rank))["packages"]
        for rank in range(world)
    ]
    keys = [[each["key"] for each in packages] for packages in answers]
    for rank in range(1, world):  # ranks with one graph share a package
        for key, package in zip(keys[rank], answers[rank], strict=True):
            assert package["cached"] == (key in sum(keys[:rank], []))
    return [[each["manifest"] for each in packages] for packages in answers]


# Packages with collectives run in the native runner's tests. They cannot run here: torch runs a
# package while holding the GIL, and Gloo's worker needs the GIL to release a tensor that Python has
# seen, so sometimes they deadlock.
@needs_captures
@pytest.mark.slow
@pytest.mark.parametrize("pair", [False, True], ids=["joint", "pair"])
def test_packages_run_in_another_process(compiled: Path, pair: bool) -> None:
    """Packages run in a new process, and are compared with eager torch."""
    request = request_of("attention_mlp_single", pair)
    manifests = compile_ranks(request, 1, compiled / f"single.{pair}")
    (found,) = check_ranks({**request, "packages": manifests}, 1)
    assert found["eager"]["bitwise"]
    assert found["packages"]["compared"] > 10
    assert found["packages"]["relative"] <= 1e-4


@pytest.mark.slow
def test_ranks_with_one_graph_share_a_package(compiled: Path) -> None:
    request = {"graph": str(SAMPLES / "llama_debug_fsdp2.joint.json.zst")}
    manifests = compile_ranks(request, 2, compiled / "sample")
    assert len(manifests) == 2
    for (path,) in manifests:
        manifest = json.loads(Path(path).read_text())
        assert len(manifest["outputs"]) > 10
        assert Path(path.removesuffix("json") + "pt2").stat().st_size > 0
