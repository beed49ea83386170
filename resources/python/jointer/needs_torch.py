"""Ends ``python -m jointer`` with one line on standard error if torch is not installed.

The package imports this module first: its other modules import torch, and a failed import prints a
stack trace.
"""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise


def _runs_the_package() -> bool:
    """True while ``python -m jointer`` locates the package: argv then begins with "-m"."""
    return sys.argv[:1] == ["-m"] and ("-m", "jointer") in pairwise(sys.orig_argv)


if _runs_the_package() and importlib.util.find_spec("torch") is None:
    print(
        f"torch is not installed for {sys.executable}; install it with `{sys.executable} -m pip "
        "install torch`, or set JOINTER_PYTHON to a Python that has it",
        file=sys.stderr,
    )
    raise SystemExit(4)
