"""Shapes and types of the inputs of small programs and models, as in kernel_families.py, kernel_models.py."""

from __future__ import annotations

Input = tuple[tuple[int, ...], str]
Inputs = list[Input]


def bf16(*shape: int) -> Input:
    return shape, "bfloat16"


def f32(*shape: int) -> Input:
    return shape, "float32"


def i64(*shape: int) -> Input:
    return shape, "int64"


def flag(*shape: int) -> Input:
    return shape, "bool"
