"""Jointer for training code: captures of PyTorch joint graphs, and what to do with them.

``capture``, ``capture_pair``, ``capture_pass``, ``backend`` and ``capturing`` write captures;
``annotate`` and ``fake_device.without_gpu`` help to trace; ``load`` turns a capture back into a
``torch.fx.GraphModule``; ``graph_hash`` and ``document_hash`` name a graph. Only torch is needed;
``.zst`` files also need the ``zstandard`` module before Python 3.14.
"""

from .annotate import annotate
from .backend import backend, capturing
from .capture import capture, capture_pair, capture_pass
from .errors import CaptureError
from .hashing import document_hash, graph_hash
from .load import load

__all__ = [
    "CaptureError",
    "annotate",
    "backend",
    "capture",
    "capture_pair",
    "capture_pass",
    "capturing",
    "document_hash",
    "graph_hash",
    "load",
]
