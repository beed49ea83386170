#!/usr/bin/env python3
"""Creates the bundled samples: joint graphs, min-cut pairs and a flat training step.

The model is that of ``examples/llama_like.py``.

    python resources/samples/make_samples.py [--out FOLDER] [NAME ...]

Needs torch 2.11, zstandard, one core, 2 GB of memory and about a minute, but no GPU and no network.
The same torch gives the same bytes. Without names, creates all samples, each in a separate process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "python" / "examples"

#: Small enough to run anywhere.
DEBUG = {"layers": 2, "dim": 256, "heads": 8, "kv-heads": 4, "ffn": 768, "vocab": 2048, "seq": 512}

#: The sizes of Llama3-8B, with its sequence length in training.
LLAMA_8B = {
    "layers": 32,
    "dim": 4096,
    "heads": 32,
    "kv-heads": 8,
    "ffn": 14336,
    "vocab": 128256,
    "seq": 8192,
    "batch": 1,
    "dtype": "bfloat16",
    "device": "cuda",
}

SAMPLES = {
    "llama_debug_tp2": {**DEBUG, "tp": 2},
    "llama_debug_fsdp2": {**DEBUG, "fsdp": 2},
    "llama_debug_tp2_fsdp2": {**DEBUG, "tp": 2, "fsdp": 2},
    "llama_8b_tp2_fsdp2": {**LLAMA_8B, "tp": 2, "fsdp": 2},
}

#: Flat training steps.
STEPS = {"llama_debug_fsdp2": {**DEBUG, "fsdp": 2}}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SAMPLES))
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    if unknown := set(options.names) - SAMPLES.keys():
        parser.error(f"no sample {sorted(unknown)[0]!r}: one of {', '.join(SAMPLES)}")
    for name in options.names or SAMPLES:
        for program, samples in (("llama_like.py", SAMPLES), ("whole_step.py", STEPS)):
            if name not in samples:
                continue
            arguments = [f"--{key}={value}" for key, value in samples[name].items()]
            command = [sys.executable, str(EXAMPLES / program)]
            subprocess.run(
                [*command, f"--out={options.out}", f"--name={name}", *arguments], check=True
            )


if __name__ == "__main__":
    main()
