"""The shared captures are unchanged after they are read, rebuilt and written again.

They are in ``JOINTER_SHARED/captures``; the default is ``../shared/captures``, next to the repository.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED
from support import through_json

import jointer
from jointer.document import read_document
from jointer.encode import encode_graph
from jointer.load import load_document

FILES = sorted((SHARED / "captures").rglob("*.json.zst"))
LARGE = 1 << 18
DYNAMO_ROOT = re.compile(r"^L\['\w+'\]\.?")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

if not FILES:
    pytest.skip(f"no captures in {SHARED}/captures (JOINTER_SHARED)", allow_module_level=True)


def computations(document: dict[str, Any], split: bool) -> list[dict[str, Any]]:
    """The records with table entries resolved and storages numbered in order of appearance; without
    numbers if writing the capture again ``split`` some. Older captures contain sequence numbers
    that are not autograd's, and name real symbols like integer ones.
    """
    seen: dict[int, int] = {}

    def canonical(value: Any) -> Any:
        if isinstance(value, list):
            return [canonical(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "opaque" in value:
            return {**value, "repr": ADDRESS.sub("", value["repr"])}
        if isinstance(value.get("hint"), float) and "symint" in value:
            value = {"symfloat": value["symint"], "hint": value["hint"]}
        result = {key: canonical(each) for key, each in value.items()}
        if "shape" in value:
            index = value["storage"]
            number = seen.setdefault(index, len(seen))
            size = json.dumps(document["storages"][index])
            result["storage"] = size if split else [number, size]
        return result

    tables = {"stack": document["stacks"], "module": document["modules"]}
    return [
        {
            key: tables[key][value] if key in tables else canonical(value)
            for key, value in record.items()
            if key != "seq_nr" or 0 <= value < 2**63
        }
        for record in document["nodes"]
    ]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, marks=[pytest.mark.slow] if p.stat().st_size > LARGE else [], id=p.stem)
        for p in FILES
    ],
)
def test_read_rebuild_write(path: Path) -> None:
    document = read_document(path)
    gm = load_document(document)
    assert jointer.graph_hash(gm) == jointer.document_hash(document)
    again = through_json(encode_graph(gm))
    for row in document["modules"]:
        for each in row:
            each[0] = DYNAMO_ROOT.sub("", each[0])
    split = "split_storages" in again
    for now, then in zip(computations(again, split), computations(document, split), strict=True):
        assert now == then
    assert split == any("_recomputed" in record["name"] for record in document["nodes"])
    for key in ("kind", "name", "info", "groups", "symbols", "triton_kernels", "world_size"):
        assert again[key] == document[key]
