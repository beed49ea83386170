"""The host of Python passes: declared parameters, returned graphs, and torch's own passes.

The tests call the host in this process; tests/plugins starts it as a program does.
"""

from __future__ import annotations

import io
import json
import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import jointer
import pytest
import torch
from jointer import host_passes
from jointer.decomposition import inductor_decomposition
from jointer.document import read_document, write_document
from jointer.encode import encode_graph
from jointer.events import Events
from jointer.host import HostError, main
from jointer.host_run import run
from jointer.load import load
from support import document, placeholder, tensor, trace
from torch import fx, nn

from conftest import ROOT, SHARED

EXECUTABLE = SHARED / "captures" / "executable"

needs_shared = pytest.mark.skipif(
    not EXECUTABLE.is_dir(), reason="no shared captures (JOINTER_SHARED)"
)

OVERLAP = "torch._inductor.fx_passes.overlap_scheduling:schedule_overlap_bucketing"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


class Host:
    """Runs passes from a file on captures, one request each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[dict[str, Any]] = []

    def spec(self, text: str, function: str) -> str:
        path = self.folder / f"passes_{abs(hash(text))}.py"
        path.write_text("import jointer, torch\n" + textwrap.dedent(text))
        return f"{path}:{function}"

    def run(
        self, spec: str, graph: Path | Mapping[str, Any], costs: Any = None, **arguments: Any
    ) -> dict[str, Any]:
        if not isinstance(graph, Path):
            write_document(dict(graph), self.folder / "graph.json")
            graph = self.folder / "graph.json"
        stream = io.StringIO()
        result = self.folder / "result.json"
        request = {
            "spec": spec,
            "function": spec.rpartition(":")[2],
            "arguments": arguments,
            "graph": str(graph),
            "result": str(result),
            "costs": costs or {},
        }
        try:
            run(request, Events(stream))
        finally:
            self.said = [json.loads(line) for line in stream.getvalue().splitlines()]
        return read_document(result)


def small() -> dict[str, Any]:
    """x -> relu -> neg -> output."""
    gm = trace(lambda x: (x.relu().neg(),), torch.ones(4, 3))
    return encode_graph(gm)


def names(graph: Mapping[str, Any]) -> list[str]:
    return [record["name"] for record in graph["nodes"]]


def declared(function: Any) -> dict[str, Any]:
    path = f"{function.__module__}:{function.__qualname__}"
    declaration = getattr(function, "__jointer_pass__", None)
    found = host_passes.DeclaredPass(
        function, declaration or host_passes.Declaration(function.__name__), path
    )
    return host_passes.describe(found)


def test_a_signature_declares_parameters() -> None:
    def mine(
        gm: fx.GraphModule,
        example_inputs: Sequence[Any],
        count: int,
        *,
        share: float = math.inf,
        name: str | None = None,
        kind: Literal["a", "b"] = "b",
        flags: list[bool] = [True],  # noqa: B006
        pair: tuple[int, ...] = (1, 2),
        limit: int | None = 5,
        operators: list[str] = [],  # noqa: B006
        untyped=3,  # noqa: ANN001
        callback: Any = print,
        **rest: Any,
    ) -> None:
        """Does it.

        Args:
            gm: the graph.
            count: how many
                of them.
            share (float): which part.

        Returns:
            nothing.
        """

    found = declared(mine)
    parameters = {each.pop("name"): each for each in found["parameters"]}
    assert parameters == {
        "count": {"type": "integer", "default": None, "doc": "how many of them."},
        "share": {"type": "number", "default": {"f": "inf"}, "doc": "which part."},
        "name": {"type": "text", "default": None, "doc": ""},
        "kind": {"type": "text", "default": "b", "doc": "", "choices": ["a", "b"]},
        "flags": {"type": "list", "default": [True], "doc": ""},
        "pair": {"type": "list", "default": [1, 2], "doc": ""},
        "limit": {"type": "integer", "default": 5, "doc": "", "may_be_none": True},
        "operators": {"type": "list", "default": [], "doc": "", "is_of_texts": True},
        "untyped": {"type": "integer", "default": 3, "doc": ""},
    }
    given = {"count": 2, "share": {"f": "inf"}, "pair": [3], "name": None, "limit": None}
    assert host_passes.arguments(mine, given) == {
        "count": 2,
        "share": math.inf,
        "pair": (3,),
        "name": None,
        "limit": None,
    }
    with pytest.raises(HostError, match="parameter count must be given"):
        host_passes.arguments(mine, {})


def test_the_decorator_adds_details() -> None:
    @jointer.graph_pass(
        name="other",
        stage="bucketing",
        is_idempotent=True,
        saves_memory=True,
        parameters={"share": {"least": 0, "most": 1, "doc": "Part.", "type": "bytes"}},
    )
    def mine(gm: fx.GraphModule, share: int = 0) -> None:
        """One sentence."""

    assert declared(mine) == {
        "name": "other",
        "summary": "One sentence.",
        "stage": "bucketing",
        "keeps_numerics": False,
        "is_idempotent": True,
        "saves_memory": True,
        "parameters": [
            {
                "name": "share",
                "type": "bytes",
                "default": 0,
                "doc": "Part.",
                "least": 0,
                "most": 1,
            }
        ],
    }
    with pytest.raises(ValueError, match="one of joint, partition"):
        jointer.graph_pass(stage="soon")


def test_signatures_that_cannot_be_declared_are_refused() -> None:
    def needs(gm: fx.GraphModule, example_inputs: Any, estimate: complex) -> None: ...

    def nothing() -> None: ...

    @jointer.graph_pass(parameters={"ghost": {"least": 1}})
    def haunted(gm: fx.GraphModule) -> None: ...

    for function, cause in (
        (needs, "parameter estimate has a type"),
        (nothing, "has no parameter for the graph"),
        (haunted, "declares ghost"),
    ):
        with pytest.raises(HostError, match=cause):
            declared(function)


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ("no_such_module:f", "there is no module no_such_module; name a file"),
        ("json.no_such_module:f", "there is no module json.no_such_module; name a file"),
        ("math:nothing", "math has no function nothing"),
        ("math", "declares no pass"),
        ("/nowhere/at/all.py", "no such file"),
    ],
)
def test_a_spec_without_a_function(
    spec: str, cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(HostError, match=cause):
        host_passes.find_passes(spec)
    assert capsys.readouterr().err == "", "no stack trace"


def test_a_module_that_imports_a_missing_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "needs.py"
    path.write_text("import no_such_module\n")
    with pytest.raises(HostError, match="cannot be imported: ModuleNotFoundError: No module named"):
        host_passes.find_passes(str(path))
    assert "import no_such_module" in capsys.readouterr().err, "the stack trace shows where"


def test_a_file_that_fails_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\nraise RuntimeError('no')\n")
    with pytest.raises(HostError, match=r"RuntimeError: no \(broken.py:2\)"):
        host_passes.find_passes(str(path))
    path.write_text("x = 1\ndef f(\n")
    with pytest.raises(HostError, match=r"SyntaxError: .* \(broken.py, line 2\)$"):
        host_passes.find_passes(str(path))


def test_the_parameter_for_the_inputs() -> None:
    def by_name(gm: fx.GraphModule, _inputs): ...  # noqa: ANN001

    def by_type(gm: fx.GraphModule, mine: Sequence[torch.Tensor]): ...

    def of_anything(gm: fx.GraphModule, args: list): ...

    def only_by_name(gm: fx.GraphModule, *, example_inputs: Any): ...

    def with_default(gm: fx.GraphModule, example_inputs=None): ...  # noqa: ANN001

    for function in (by_name, by_type, of_anything, only_by_name, with_default):
        assert host_passes.inputs_parameter(function) is not None
        assert declared(function)["parameters"] == []

    def budget(gm: fx.GraphModule, budget: int): ...

    def plans(gm: fx.GraphModule, module_plans: list[list[str] | str], more: bool = False): ...

    def args(gm: fx.GraphModule, args: list[str]): ...

    for function, kind in ((budget, "integer"), (plans, "list"), (args, "list")):
        assert host_passes.inputs_parameter(function) is None
        assert declared(function)["parameters"][0]["type"] == kind

    def unclear(gm: fx.GraphModule, budget): ...  # noqa: ANN001

    with pytest.raises(HostError, match="if it is the graph's inputs, call it example_inputs"):
        declared(unclear)


@pytest.mark.parametrize("returned", ["None", "graph", "copied"])
def test_a_pass_on_the_graph_itself(host: Host, returned: str) -> None:
    spec = host.spec(
        f"""
        def edit(graph: torch.fx.Graph, count: int) -> torch.fx.Graph:
            node = next(n for n in graph.nodes if n.name == "relu")
            assert isinstance(graph, torch.fx.Graph) and count == 3
            with graph.inserting_after(node):
                new = graph.call_function(torch.ops.aten.exp.default, (node,))
            node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
            copied = torch.fx.Graph()
            copied.output(copied.graph_copy(graph, {{}}))
            return {returned}
        """,
        "edit",
    )
    back = host.run(spec, small(), count=3)
    assert names(back) == ["x_1", "relu", "exp_default", "neg", "output"]


def test_returning_none_is_an_edit_in_place(host: Host) -> None:
    spec = host.spec(
        """
        def edit(gm, example_inputs):
            assert [tuple(each.shape) for each in example_inputs] == [(4, 3)]
            node = next(n for n in gm.graph.nodes if n.name == "relu")
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(torch.ops.aten.exp.default, (node,))
            node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
            jointer.progress(0.5)
            jointer.decide(new, "added", "For the test.")
        """,
        "edit",
    )
    back = host.run(spec, small())
    assert names(back) == ["x_1", "relu", "exp_default", "neg", "output"]
    new = back["nodes"][2]
    assert new["val"]["t"]["shape"] == [4, 3]  # inferred: the pass did not set it
    assert host.said == [
        {"event": "progress", "done": 0.5},
        {
            "event": "decision",
            "node": "exp_default",
            "action": "added",
            "reason": "For the test.",
        },
    ]


def without_schemas(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: without_schemas(value) if key in ("forward", "backward") else value
        for key, value in document.items()
        if key != "schemas"
    }


def without_negative_numbers(document: dict[str, Any]) -> dict[str, Any]:
    for graph in (document, document.get("forward", {}), document.get("backward", {})):
        for node in graph.get("nodes", []):
            if node.get("seq_nr", 0) < 0:
                del node["seq_nr"]
    return document


def test_an_untouched_graph_is_returned_unchanged(host: Host, samples: list[Path]) -> None:
    spec = host.spec("def same(gm): return gm", "same")
    for sample in samples:
        # Samples of an older helper have no schemas, and have sequence numbers that are not
        # autograd's.
        given = without_negative_numbers(read_document(sample))
        assert without_schemas(host.run(spec, sample)) == given, sample.name


def test_both_halves_of_a_pair_are_run(host: Host) -> None:
    pair = {
        "format": "jointer-capture",
        "version": 1,
        "kind": "pair",
        "name": "both",
        "forward": {**small(), "kind": "forward"},
        "backward": {**small(), "kind": "backward"},
    }
    spec = host.spec(
        """
        def note(gm):
            gm.graph.find_nodes(op="placeholder")[0].meta["custom"] = {"seen": True}
            jointer.progress(0.5)
            jointer.decide("relu", "kept", "Why not.")
        """,
        "note",
    )
    back = host.run(spec, pair)
    assert back["kind"] == "pair" and back["name"] == "both"
    for half in ("forward", "backward"):
        assert back[half]["nodes"][0]["custom"] == {"seen": True}
    assert [m["done"] for m in host.said if m["event"] == "progress"] == [0.25, 0.75]
    nodes = [m["node"] for m in host.said if m["event"] == "decision"]
    assert nodes == ["relu", "backward:relu"]


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("raise ValueError('the sky\\nfell')", r"raised ValueError: the sky \(passes_.*:\d+\)"),
        ("raise SystemExit('enough')", "ended the process with SystemExit: enough"),
        ("return 'a graph'", "returned a str; expected a torch.fx.GraphModule, its graph, "),
        (
            "n = {e.name: e for e in gm.graph.nodes}; n['neg'].append(n['relu'])",
            "the returned graph is invalid: ",
        ),
        (
            "n = {e.name: e for e in gm.graph.nodes}\n"
            "    with gm.graph.inserting_before(n['neg']):\n"
            "        gm.graph.call_method('sin', (n['relu'],))",
            "the returned graph cannot be used: node sin",
        ),
        (
            "n = {e.name: e for e in gm.graph.nodes}\n"
            "    with gm.graph.inserting_before(n['neg']):\n"
            "        gm.graph.call_function(torch.ops.aten.mm.default, (n['relu'], n['relu']))",
            r"node mm_default has no meta\['val'\], and it cannot be computed: ",
        ),
    ],
)
def test_failures_name_their_cause(host: Host, body: str, cause: str) -> None:
    spec = host.spec(f"def bad(gm):\n    {body}\n", "bad")
    with pytest.raises(HostError, match=cause) as raised:
        host.run(spec, small())
    assert raised.value.kind == "pass"
    assert "\n" not in str(raised.value)


def test_the_groups_that_the_graph_names_exist(host: Host) -> None:
    graph = document(
        placeholder("x", tensor([4])),
        {
            "name": "ar",
            "op": "call_function",
            "target": "_c10d_functional.all_reduce.default",
            "args": [{"n": "x"}, "sum", "dp"],
            "val": tensor([4], 1),
        },
        {"name": "output", "op": "output", "target": "output", "args": [[{"n": "ar"}]]},
        storages=[16, 16],
        groups={"dp": {"ranks": [0, 1, 2], "desc": "mesh", "backend": "nccl"}},
        world_size=3,
    )
    spec = host.spec(
        """
        import torch.distributed as dist
        def groups(gm):
            from torch.distributed.distributed_c10d import _resolve_process_group
            assert _resolve_process_group("dp").size() == 3
            twin = dist.new_group([0, 1, 2], group_desc="twin")
            for node in gm.graph.nodes:
                if node.name == "ar":
                    node.args = (*node.args[:2], twin.group_name)
        """,
        "groups",
    )
    back = host.run(spec, graph)
    name = back["nodes"][1]["args"][2]
    assert name != "dp"
    assert back["groups"][name] == {"ranks": [0, 1, 2], "desc": "twin", "backend": "fake"}
    assert "dp" in back["groups"]


def test_an_invalid_request(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for line in ("", "nothing", "[]", '{"protocol": 2}'):
        stream = io.StringIO()
        monkeypatch.setattr(Events, "take_stdout", lambda stream=stream: Events(stream))
        monkeypatch.setattr("sys.stdin", io.StringIO(line))
        assert main(None) == 4  # type: ignore[arg-type]
        assert json.loads(stream.getvalue())["kind"] == "usage"


def calls(graph: Mapping[str, Any]) -> Counter[str]:
    return Counter(r["target"] for r in graph["nodes"] if r["op"] == "call_function")


@needs_shared
def test_torchs_overlap_scheduling_runs_unmodified(host: Host) -> None:
    path = EXECUTABLE / "llama_tiny_fsdp2_f32.rank0.min_cut.bw.json.zst"
    before = read_document(path)
    costs = {r["name"]: 50_000 for r in before["nodes"] if r["op"] == "call_function"}
    back = host.run(OVERLAP, path, costs, collective_bucketing=True)
    starts = "_c10d_functional.reduce_scatter_tensor.default"
    assert 0 < calls(back)[starts] < calls(before)[starts]
    again = host.run(OVERLAP, path, costs, collective_bucketing=True)
    assert names(again) == names(back)
    # The stand-in for the device is removed afterwards.
    from torch._inductor.fx_passes import overlap_scheduling

    assert overlap_scheduling.benchmark_node.__module__ == overlap_scheduling.__name__
    gm = load(host.folder / "result.json")
    assert isinstance(gm, fx.GraphModule)


@needs_shared
@pytest.mark.parametrize(
    "option",
    [
        "collective_bucketing",
        "insert_overlap_deps",
        "log_final_collectives_estimations",
        "bucket_exposed_first",
        "enable_fusion_regions",
        "prioritize_bucketing_during_scheduling",
    ],
)
def test_every_flag_of_torchs_overlap_scheduling(host: Host, option: str) -> None:
    path = EXECUTABLE / "llama_tiny_fsdp2_f32.rank0.min_cut.bw.json.zst"
    [found] = host_passes.find_passes(OVERLAP)
    flags = {
        each["name"]: each["default"]
        for each in host_passes.describe(found)["parameters"]
        if each["type"] == "boolean"
    }
    before = read_document(path)
    costs = {r["name"]: 50_000 for r in before["nodes"] if r["op"] == "call_function"}
    changed = {**flags, "collective_bucketing": True, option: not flags[option]}
    back = host.run(OVERLAP, path, costs, **changed)
    # No call is nested within another: fused calls have been expanded.
    assert "control_deps" not in calls(back)
    for target in ("aten.mm.default", "aten.mul.Tensor", "aten.add.Tensor"):
        assert calls(back)[target] == calls(before)[target] > 0
    unwrapped = [each for each in host.said if each.get("action") == "unwrapped"]
    assert len(unwrapped) == (option == "insert_overlap_deps")


@needs_shared
@pytest.mark.slow
def test_torchs_overlap_scheduling_on_llama3_8b(host: Host) -> None:
    path = SHARED / "captures" / "llama3_8b_tp2_fsdp2.min_cut.bw.json.zst"
    before = read_document(path)
    costs = {r["name"]: 50_000 for r in before["nodes"] if r["op"] == "call_function"}
    back = host.run(OVERLAP, path, costs, collective_bucketing=True)
    starts = "_c10d_functional.reduce_scatter_tensor.default"
    assert 0 < calls(back)[starts] < calls(before)[starts]


def without_dead(graph: Mapping[str, Any]) -> Counter[str]:
    """The operators of calls that have readers."""
    counted: Counter[str] = Counter()
    read: set[str] = set()

    def note(value: Any) -> None:
        if isinstance(value, dict):
            if set(value) == {"n"}:
                read.add(value["n"])
            for each in value.values():
                note(each)
        elif isinstance(value, list):
            for each in value:
                note(each)

    for record in reversed(graph["nodes"]):
        if record["op"] == "call_function" and record["name"] not in read:
            continue
        note([record.get("args"), record.get("kwargs")])
        counted[record["target"]] += record["op"] == "call_function"
    return counted


@needs_shared
def test_inductor_decomposition_equals_torchtitans(host: Host) -> None:
    captures = SHARED / "captures"
    path = captures / "llama3_debug_tp2_fsdp2.joint.json.zst"
    theirs = read_document(captures / "llama3_debug_inductor_decomposition.joint.json.zst")
    if theirs["torch"].split(".")[:2] != torch.__version__.split(".")[:2]:
        pytest.skip(f"the capture has the decompositions of torch {theirs['torch']}")
    ours = host.run("jointer.decomposition:inductor_decomposition", path)
    assert without_dead(ours) == without_dead(theirs)
    before = read_document(path)

    def ends(graph: Mapping[str, Any]) -> list[Any]:
        kept = ("placeholder", "output")
        return [(r["name"], r.get("desc")) for r in graph["nodes"] if r["op"] in kept]

    assert ends(ours) == ends(before)
    assert ours["groups"] == before["groups"]


def test_inductor_decomposition_computes_the_same() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.LayerNorm(4), nn.Softmax(-1))
    x = torch.randn(3, 4)
    gm = trace(lambda x: model(x), x, mode="real")
    for node in gm.graph.find_nodes(op="placeholder"):
        node.meta["custom"] = {"mine": 1}
    decomposed = inductor_decomposition(gm, [x])
    targets = {str(node.target) for node in decomposed.graph.nodes}
    assert "aten.gelu.default" in {str(node.target) for node in gm.graph.nodes}
    assert "aten.gelu.default" not in targets and "aten.erf.default" in targets
    torch.testing.assert_close(decomposed(x), gm(x))
    assert [n.name for n in decomposed.graph.find_nodes(op="placeholder")] == ["x_1"]
    assert decomposed.graph.find_nodes(op="placeholder")[0].meta["custom"] == {"mine": 1}


def test_the_example_in_the_repository(host: Host) -> None:
    spec = f"{ROOT / 'plugins' / 'example_python' / 'sink_calls.py'}:sink_calls"
    [found] = host_passes.find_passes(spec)
    described = host_passes.describe(found)
    assert described["summary"] == "Moves calls of some operators to just before their first use."
    assert [p["name"] for p in described["parameters"]] == ["operators", "most"]

    def late(x: torch.Tensor) -> torch.Tensor:
        zero = torch.ops.aten.full.default([4, 4], 0.0)
        return x.mm(x) + zero

    back = host.run(spec, encode_graph(trace(late, torch.ones(4, 4))), operators=["aten.full.*"])
    assert names(back) == ["x_1", "mm", "full", "add", "output"]
    assert [m["action"] for m in host.said if m["event"] == "decision"] == ["moved"]
