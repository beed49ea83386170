"""graph_trainer's marks of FSDP buckets: in captures and recipes, and back in a form that its passes read."""

from __future__ import annotations

import pytest
from recipes import chain, find, recipe

import jointer
from jointer.encode import encode_graph
from jointer.load import load_document

MARK = {"plan_fqns": ("layers.0", "layers.1"), "direction": "bwd"}


def test_a_capture_keeps_the_mark() -> None:
    gm = chain()
    find(gm, "mm").meta["fsdp_bucket"] = MARK
    document = encode_graph(gm)
    (record,) = [each for each in document["nodes"] if each["name"] == "mm"]
    assert record["fsdp_bucket"] == {"plan_fqns": ["layers.0", "layers.1"], "direction": "bwd"}
    loaded = load_document(document)
    assert find(loaded, "mm").meta["fsdp_bucket"] == MARK
    assert encode_graph(loaded)["nodes"] == document["nodes"]


def test_a_recipe_sets_the_mark() -> None:
    gm = chain()
    record = {
        "name": "copied",
        "op": "call_function",
        "target": "aten.neg.default",
        "args": [{"n": "relu"}],
        "val": encode_graph(gm)["nodes"][2]["val"],
        "fsdp_bucket": {"plan_fqns": ["layers.0", "layers.1"], "direction": "bwd"},
    }
    jointer.apply_recipe(gm, recipe([{"insert": record, "before": "mm"}], of=gm))
    assert find(gm, "copied").meta["fsdp_bucket"] == MARK


@pytest.mark.parametrize("mark", [None, "layers.0", {"plan_fqns": "layers.0"}, {"direction": "bwd"}])
def test_other_values_are_ignored(mark: object) -> None:
    gm = chain()
    find(gm, "mm").meta["fsdp_bucket"] = mark
    assert not any("fsdp_bucket" in each for each in encode_graph(gm)["nodes"])


def test_graph_trainer_reads_it() -> None:
    passes = pytest.importorskip("torchtitan.experiments.graph_trainer.fsdp_passes", exc_type=ImportError)
    gm = chain()
    find(gm, "mm").meta["fsdp_bucket"] = MARK
    loaded = load_document(encode_graph(gm))
    assert passes._read_fsdp_bucket_meta(find(loaded, "mm")) == (MARK["plan_fqns"], MARK["direction"])
