"""Graphs in files: a zip of ``graph.json`` and one ``.npy`` member per array.

`symgrad.io.document` describes ``graph.json``. The members ``v0.npy``, ``c0.npy`` … hold the values
of variables and of large constants, so ``numpy.load`` opens the file as well. Nothing is
compressed: a file can never unpack into more than itself.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError, FormatError
from symgrad.io.document import DocumentReader, as_object, write_document
from symgrad.ir.graph import Graph
from symgrad.ir.records import records_of
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import PLACEHOLDER, VARIABLE, Symbol
from symgrad.ir.walk import reachable

File: TypeAlias = "str | os.PathLike[str] | BinaryIO"

_DOCUMENT = "graph.json"


# --------------------------------------------------------------------------- saving


def save(file: File, graph: Any, *, inputs: Sequence[Symbol] | None = None) -> None:
    """Write a graph, with the present values of its variables.

    A path is written as a whole or not at all: what stood there before stays until all is written.

    Args:
        file: a path, or an open binary file.
        graph: a `Graph`, or outputs: one symbol or several.
        inputs: for outputs, the graph's inputs; else their placeholders, in order of creation.

    Raises:
        FormatError: an attribute (a function, say) cannot be written; the file is not touched.

    >>> import io
    >>> import symgrad as sg
    >>> w, x, file = sg.variable(2.0, name="w"), sg.placeholder("x"), io.BytesIO()
    >>> save(file, w * x)
    >>> load(file)
    %0 = placeholder "x" : f64[]
    %1 = variable "w" @v0 : f64[]
    %2 = multiply(%1, %0) : f64[]
    return %2
    """
    _require_file("save", file, "write")
    whole = _as_graph(graph, inputs)
    records, symbols = records_of(whole)
    document = write_document(whole, records)
    arrays = _snapshot(symbols)
    if not isinstance(file, (str, os.PathLike)):
        _write(file, document, arrays)
        return
    path = os.path.realpath(file)
    beside = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.part")
    try:
        with open(beside, "xb") as target:
            _write(target, document, arrays)
            target.flush()
            os.fsync(target.fileno())
        os.replace(beside, path)
    except OSError as error:
        if error.errno is None:
            raise
        # Named for the file that was asked for, not for the one beside it.
        raise type(error)(error.errno, error.strerror, os.fspath(file)) from None
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def _require_file(where: str, file: Any, method: str) -> None:
    if not isinstance(file, (str, os.PathLike)) and not hasattr(file, method):
        expected, got = "a path or an open binary file", type(file).__name__
        raise ArgumentError(where, "no file", expected=expected, got=got)


def _as_graph(graph: Any, inputs: Sequence[Symbol] | None) -> Graph:
    if isinstance(graph, Graph):
        if inputs is not None:
            raise ArgumentError("save", "a graph has inputs of its own", hint="leave out inputs")
        return graph
    if inputs is not None:
        return Graph(inputs, graph)
    outputs: Any = graph
    if isinstance(graph, Symbol) or not isinstance(graph, Iterable):
        outputs = [graph]
    outputs = list(outputs)
    needed = reachable([output for output in outputs if isinstance(output, Symbol)])
    return Graph([symbol for symbol in needed if symbol.op is PLACEHOLDER], outputs)


def _snapshot(symbols: Mapping[str, Symbol]) -> dict[str, NDArray[Any]]:
    """The arrays of variables and constants, those of variables all from one moment."""
    variables = [symbol.payload for symbol in symbols.values() if symbol.op is VARIABLE]
    with ExitStack() as held:
        _lock_all(variables, held)
        return {
            name: symbol.payload.array if symbol.op is VARIABLE else symbol.payload
            for name, symbol in symbols.items()
        }


def _lock_all(storages: Iterable[Storage], held: ExitStack) -> None:
    """Hold every lock. Waits for none while holding another, so no order leads to a deadlock."""
    waiting = list(dict.fromkeys(storages))
    while waiting:
        with waiting[0].lock:
            pass  # wait until it is free, holding nothing
        for position, storage in enumerate(waiting):
            if not storage.lock.acquire(blocking=False):
                held.close()
                waiting = [storage, *waiting[:position], *waiting[position + 1 :]]
                break
            held.callback(storage.lock.release)
        else:
            return


def _write(target: BinaryIO, document: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        # Without a time of writing, equal graphs give equal files.
        archive.writestr(zipfile.ZipInfo(_DOCUMENT), document.encode())
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)


# --------------------------------------------------------------------------- loading

# What the standard library raises for files that are not what they say.
_BROKEN = (
    zipfile.BadZipFile,
    ValueError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    LookupError,
    OverflowError,
    MemoryError,
    struct.error,
    OSError,
)


def load(file: File) -> Graph:
    """Read a graph that `save` wrote. Its variables are new ones, with the saved values.

    Args:
        file: a path, or an open binary file that can seek.

    Raises:
        FormatError: the file is truncated, foreign, of another version, or not consistent; nothing
            of it is kept.
        OSError: there is no such file.
    """
    _require_file("load", file, "seek")
    if not isinstance(file, (str, os.PathLike)):
        return _load(file, "load")
    with open(file, "rb") as source:
        return _load(source, f"load {os.path.basename(file)}")


def _load(source: BinaryIO, where: str) -> Graph:
    try:
        with zipfile.ZipFile(source) as archive:
            members = _members(archive, source.seek(0, os.SEEK_END), where)
            document = as_object(json.loads(archive.read(_DOCUMENT)), where)
            reader = DocumentReader(document, where)
            arrays = {
                name: _array(archive.read(members.pop(f"{name}.npy")), name, where)
                for name in reader.arrays
                if f"{name}.npy" in members
            }
    except FormatError:
        raise
    except _BROKEN as error:
        raise FormatError(where, f"not a whole file of symgrad's: {error}") from error
    members.pop(_DOCUMENT)
    if members:
        surplus = ", ".join(map(repr, sorted(members)))
        raise FormatError(where, "members that do not belong here", got=surplus)
    return reader.graph(arrays)


def _members(archive: zipfile.ZipFile, size: int, where: str) -> dict[str, zipfile.ZipInfo]:
    """The members by name; their declared sizes must fit into the file."""
    infos = archive.infolist()
    members = {info.filename: info for info in infos}
    if len(members) != len(infos):
        raise FormatError(where, "two members of one name")
    if _DOCUMENT not in members:
        raise FormatError(where, f"no file of symgrad's: it has no member {_DOCUMENT}")
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise FormatError(where, f"the member {info.filename!r} is compressed")
    declared = sum(info.file_size for info in infos)
    if declared > size:
        raise FormatError(where, "members larger than the file", expected=size, got=declared)
    return members


_HEADER = re.compile(
    rb"\{'descr': '([<>|][a-z][0-9]+)', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9, ]*)\), \}\s*"
)
_MAGIC = b"\x93NUMPY"


def _array(data: bytes, name: str, where: str) -> NDArray[Any]:
    """The array of a ``.npy`` member. Its header is matched, not evaluated."""
    problem = f"{name}.npy is no array of numbers"
    if data[:6] != _MAGIC or len(data) < 12 or data[6] not in (1, 2, 3):
        raise FormatError(where, problem)
    start = 10 if data[6] == 1 else 12
    end = start + int.from_bytes(data[8:start], "little")
    header = _HEADER.fullmatch(data[start:end])
    if header is None:
        raise FormatError(where, problem, got=repr(data[start:end][:60].decode("latin-1")))
    dtype = np.dtype(header[1].decode())
    shape = tuple([int(part) for part in header[3].split(b",") if part.strip()])
    if dtype.hasobject or dtype.itemsize * math.prod(shape) != len(data) - end:
        raise FormatError(where, f"{name}.npy has another size than its header says")
    flat = np.frombuffer(data, dtype, offset=end)
    flat = flat.astype(dtype.newbyteorder("="), copy=False)
    return flat.reshape(shape, order="F" if header[2] == b"True" else "C")
