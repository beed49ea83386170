"""graph_trainer's marks on calls in an FSDP bucket: the transformer blocks, and the direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The key in ``Node.meta`` and in a node's record.
KEY = "fsdp_bucket"
_BLOCKS = "plan_fqns"


def encode_bucket(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a node's record; empty if ``meta`` contains no mark."""
    mark = meta.get(KEY)
    if not isinstance(mark, dict) or not isinstance(mark.get(_BLOCKS), tuple):
        return {}
    return {KEY: {**mark, _BLOCKS: [*mark[_BLOCKS]]}}


def decode_bucket(record: Mapping[str, Any]) -> dict[str, Any]:
    """The items for ``Node.meta`` from a record. graph_trainer's passes expect tuples."""
    mark = record.get(KEY)
    if not isinstance(mark, dict) or not isinstance(mark.get(_BLOCKS), list):
        return {}
    return {KEY: {**mark, _BLOCKS: (*mark[_BLOCKS],)}}
