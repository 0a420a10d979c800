"""Einstein's notation: reading subscripts, and planning contractions as matrix products."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.types import Size

LETTERS = string.ascii_letters


def split(text: str) -> tuple[list[str], str]:
    """The labels of each operand, and those of the result.

    >>> split("ab,bc->ac")
    (['ab', 'bc'], 'ac')
    """
    left, _, output = text.partition("->")
    return left.split(","), output


def read(text: str, shapes: Sequence[tuple[Size, ...]]) -> tuple[list[str], str, list[list[int]]]:
    """Read what a user wrote: spaces, an ellipsis, an implicit output.

    The ellipsis becomes letters. An axis of size 1 there that another operand stretches is dropped.

    Args:
        text: the subscripts, as numpy's einsum takes them.
        shapes: of the operands.

    Returns:
        the labels of each operand without these axes, those of the result, and for each operand
        which axes to drop.

    Raises:
        ArgumentError: the text is malformed. ShapeError: it does not fit the operands.
    """
    text = "".join(text.split())
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    _check(text, inputs, output, len(shapes))
    free = [letter for letter in LETTERS if letter not in text]
    extra = max(
        [
            _extra(text, k, label, shape)
            for k, (label, shape) in enumerate(zip(inputs, shapes, strict=True))
        ]
    )
    if extra > len(free):
        raise ArgumentError("einsum", "too many axes for the letters there are", got=repr(text))
    dots = "".join(free[:extra])
    spelled = [_spell(label, shape, dots) for label, shape in zip(inputs, shapes, strict=True)]
    if not arrow:
        used = "".join(inputs).replace("...", "")
        output = "..." + "".join(sorted(letter for letter in set(used) if used.count(letter) == 1))
        dots = dots if "..." in left else ""
    elif extra and "..." not in output:
        raise ArgumentError(
            "einsum",
            "the output drops the ellipsis",
            expected="'...' in the output",
            got=repr(text),
        )
    dropped = _stretched(dots, spelled, shapes)
    kept = [
        "".join(letter for axis, letter in enumerate(labels) if axis not in gone)
        for labels, gone in zip(spelled, dropped, strict=True)
    ]
    return kept, output.replace("...", dots), dropped


def _check(text: str, inputs: list[str], output: str, operands: int) -> None:
    if len(inputs) != operands:
        raise ArgumentError(
            "einsum",
            "the subscripts are for another number of operands",
            expected=operands,
            got=f"{len(inputs)} in {text!r}",
        )
    for labels in (*inputs, output):
        bare = labels.replace("...", "", 1)
        if not all(letter in LETTERS for letter in bare):
            raise ArgumentError(
                "einsum",
                "malformed subscripts",
                expected="letters, ',', '...' and one '->'",
                got=repr(text),
            )
    bare = output.replace("...", "")
    known = set("".join(inputs))
    for letter in bare:
        if letter not in known:
            raise ArgumentError(
                "einsum", f"no operand has the label {letter!r} of the output", got=repr(text)
            )
        if bare.count(letter) > 1:
            raise ArgumentError(
                "einsum", f"the output has the label {letter!r} twice", got=repr(text)
            )


def _extra(text: str, k: int, labels: str, shape: tuple[Size, ...]) -> int:
    """How many axes the ellipsis of operand ``k`` stands for."""
    named = len(labels.replace("...", ""))
    if named == len(shape) or ("..." in labels and named < len(shape)):
        return len(shape) - named
    raise ShapeError(
        "einsum",
        f"operand {k} has another number of axes than its subscripts",
        expected=f"{named} for {labels!r}",
        got=shape,
    )


def _spell(labels: str, shape: tuple[Size, ...], dots: str) -> str:
    """The labels with letters for the ellipsis: the last ones, since batches align at the end."""
    count = len(shape) - len(labels.replace("...", ""))
    return labels.replace("...", dots[len(dots) - count :])


def _stretched(
    dots: str, spelled: list[str], shapes: Sequence[tuple[Size, ...]]
) -> list[list[int]]:
    dropped: list[list[int]] = [[] for _ in spelled]
    for letter in dots:
        places = [(k, labels.index(letter)) for k, labels in enumerate(spelled) if letter in labels]
        if any(shapes[k][axis] != 1 for k, axis in places):
            for k, axis in places:
                if shapes[k][axis] == 1:
                    dropped[k].append(axis)
    return dropped


# --- two operands as one matrix product -----------------------------------------------------------


def plan(first: str, second: str, output: str) -> tuple[str, str, str, str] | None:
    """The labels of batch, rows, inner and columns of the matrix product that contracts two arrays.

    None if a loop is better: nothing is summed over, or only numbers come out.

    Args:
        first, second: the labels of the two arrays, each label once.
        output: the labels of the result.

    >>> plan("ab", "bc", "ca")
    ('', 'a', 'b', 'c')
    """
    batch = "".join([a for a in output if a in first and a in second])
    inner = "".join([a for a in first if a in second and a not in output])
    rows = "".join([a for a in first if a not in second])
    columns = "".join([a for a in second if a not in first])
    if not inner or (batch and not rows and not columns):
        return None
    return batch, rows, inner, columns


def reordered(labels: str, order: str) -> tuple[int, ...]:
    """The permutation that brings axes from the order ``labels`` into ``order``."""
    return tuple(labels.index(letter) for letter in order)


def sizes_of(inputs: Sequence[str], shapes: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """The size of each label; where several are given, the first."""
    sizes: dict[str, Any] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for letter, size in zip(labels, shape, strict=True):
            sizes.setdefault(letter, size)
    return sizes
