"""Results of compiled packages: regions, data-dependent sizes.

Each package is compiled in this process, and run by the loader that C++ also uses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from support import call, document, output, placeholder, tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from jointer.compile import Request, compile_program
from jointer.document import write_document
from jointer.encode import encode_graph

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JOINTER_COMPILED", str(tmp_path / "cache"))
    with torch._inductor.config.patch({"cpp.vec_isa_ok": True}):
        yield


def run(package: dict[str, Any], values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The outputs of ``package`` by name."""
    loader = torch._C._aoti.AOTIModelPackageLoader(package["package"], "model", False, 1, -1)
    given = loader.run([values[each["name"]] for each in package["inputs"]])
    return {each["name"]: t for each, t in zip(package["outputs"], given, strict=True)}


SYMBOLS = {"vars": {"u0": {"min": "0", "max": "16", "hint": None}}}


def rows(storage: int) -> dict[str, Any]:
    """[u0, 4]."""
    return tensor([{"sym": "u0"}, 4], storage=storage, stride=[4, 1])  # type: ignore[list-item]


def test_a_pair_with_data_dependent_sizes(tmp_path: Path) -> None:
    number = {"symint": "u0", "hint": None}
    sizes = [64, 16, {"sym": "16*u0"}, {"sym": "16*u0"}, 16]
    forward = document(
        placeholder("x", tensor([16, 4])),
        placeholder("counts", tensor([2], storage=1, dtype="int64")),
        call("first", "aten.select.int", {"n": "counts"}, 0, 0,
             val=tensor([], storage=1, dtype="int64")),
        call("u", "aten._local_scalar_dense.default", {"n": "first"}, val=number),
        call("taken", "aten.slice.Tensor", {"n": "x"}, 0, 0, {"n": "u"}, val=rows(0)),
        call("made", "aten.sin.default", {"n": "taken"}, val=rows(2)),
        output({"n": "made"}, {"n": "u"}),
        storages=sizes, symbols=SYMBOLS,
    )  # fmt: skip
    backward = document(
        placeholder("u", number),
        placeholder("made", rows(2)),
        placeholder("tangents_1", tensor([4], storage=4)),
        call("zeros", "aten.zeros.default", [{"n": "u"}, 4], val=rows(3)),
        call("sum", "aten.add.Tensor", {"n": "zeros"}, {"n": "made"}, val=rows(3)),
        call("grad", "aten.mul.Tensor", {"n": "sum"}, {"n": "tangents_1"}, val=rows(3)),
        output({"n": "grad"}),
        kind="backward", storages=sizes, symbols=SYMBOLS,
    )  # fmt: skip
    for name, each in (("fw", forward), ("bw", backward)):
        write_document(each, tmp_path / f"{name}.json")
    request = Request(str(tmp_path / "fw.json"), str(tmp_path / "bw.json"), on="cpu")
    first, second = compile_program(request)["packages"]
    assert [each["kind"] for each in first["outputs"]] == ["tensor", "integer"]
    assert first["outputs"][0]["shape"] == [None, 4]
    assert [each["kind"] for each in second["inputs"]] == ["integer", "tensor", "tensor"]
    for count in (5, 0, 16):
        x, tangent = torch.randn(16, 4), torch.randn(4)
        made = run(first, {"x": x, "counts": torch.tensor([count, 3])})
        torch.testing.assert_close(made["made"], x[:count].sin())
        assert made["u"].item() == count
        grad = run(second, {**made, "tangents_1": tangent})["grad"]
        torch.testing.assert_close(grad, x[:count].sin() * tangent)


def test_a_region_of_flex_attention(tmp_path: Path) -> None:
    from torch._dynamo.backends.common import aot_autograd

    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="cpu")
    captured: list[Any] = []

    def attend(query: Any, key: Any, value: Any, weight: Any) -> torch.Tensor:
        with torch.fx.traceback.annotate({"compile_with_inductor": "flex_attention"}):
            out = flex_attention(query, key, value, block_mask=mask)
        return out @ weight

    def keep(gm: Any, fakes: Any) -> Any:
        def forward(*inputs: torch.Tensor) -> Any:
            captured.append((gm, inputs))
            return gm(*inputs)

        return forward

    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 128, 16) for _ in range(3))
    compiled = torch.compile(attend, backend=aot_autograd(fw_compiler=keep), fullgraph=True)
    compiled(q, k, v, torch.randn(16, 8))
    gm, inputs = captured[0]
    write_document(encode_graph(gm, kind="forward", name="flex"), tmp_path / "flex.json")
    request = Request(str(tmp_path / "flex.json"), method="regional", on="cpu")
    (package,) = compile_program(request)["packages"]
    assert package["phase"] == "region" and package["of"] == "forward"
    assert package["replaces"] == ["flex_attention", "getitem"]
    names = [node.name for node in gm.graph.find_nodes(op="placeholder")]
    (out,) = run(package, dict(zip(names, inputs, strict=True))).values()
    reference = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(out, reference, rtol=1e-5, atol=1e-5)


def test_unsupported_graphs_are_named(tmp_path: Path) -> None:
    """The size is only assumed: a run may have a different one."""
    from jointer.inductor import CompileError

    graph = document(
        placeholder("x", rows(0)),
        call("bad", "aten.view.default", {"n": "x"}, [{"symint": "4*u0"}],
             val=tensor([{"sym": "4*u0"}], stride=[1])),
        output({"n": "bad"}),
        storages=[{"sym": "16*u0"}], symbols=SYMBOLS,
    )  # fmt: skip
    (tmp_path / "g.json").write_text(json.dumps(graph))
    with pytest.raises(CompileError, match="the size 4.u0 is known only at run time") as caught:
        compile_program(Request(str(tmp_path / "g.json"), on="cpu"))
    assert caught.value.node == "bad"
