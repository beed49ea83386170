"""Jointer for training code: captures of PyTorch joint graphs, recipes, and passes.

``capture``, ``capture_pair``, ``capture_pass``, ``capture_stages``, ``backend`` and ``capturing``
write captures. ``annotate`` and ``fake_device.without_gpu`` help with tracing. ``load`` turns a
capture back into a ``torch.fx.GraphModule``. ``graph_hash`` and ``document_hash`` identify a graph,
and ``rank_hash`` identifies the graphs of all ranks of a program. ``apply_recipe`` and
``recipe_pass`` replay edits, and ``kernel_order`` applies moves of Inductor's kernels.
``graph_pass`` declares a pass, which can report with ``decide`` and ``progress``. The package
depends only on torch; before Python 3.14, ``.zst`` files also require the ``zstandard`` module.
"""

from . import needs_torch  # noqa: F401
from .annotate import annotate
from .backend import backend, capturing
from .capture import capture, capture_pair, capture_pass, capture_stages
from .errors import CaptureError, RecipeError
from .graph_pass import decide, graph_pass, progress
from .hashing import document_hash, graph_hash, rank_hash
from .load import load
from .recipe import RecipeReport, apply_recipe, recipe_pass

__all__ = [
    "CaptureError",
    "RecipeError",
    "RecipeReport",
    "annotate",
    "apply_recipe",
    "backend",
    "capture",
    "capture_pair",
    "capture_pass",
    "capture_stages",
    "capturing",
    "decide",
    "document_hash",
    "graph_hash",
    "graph_pass",
    "load",
    "progress",
    "rank_hash",
    "recipe_pass",
]
