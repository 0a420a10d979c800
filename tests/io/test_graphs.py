"""Graphs in files: what comes back, and what hostile files do (nothing)."""

from __future__ import annotations

import gc
import io
import json
import os
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ArgumentError, FeedError, FormatError
from symgrad.io import load, save
from symgrad.ir.graph import Graph
from symgrad.ir.op import OPS, Op
from symgrad.ir.symbol import CONSTANT, VARIABLE, Origin, Symbol, building
from symgrad.ir.verify import verify
from symgrad.ops.families import Array, nondifferentiable
from symgrad.types import Dim, TupleType, fresh_dim


def values(graph: Graph, *feeds: Any) -> list[np.ndarray]:
    """The values of the outputs, by each op's reference kernel."""
    known: dict[Symbol, Any] = dict(zip(graph.inputs, map(np.asarray, feeds), strict=True))
    for symbol in graph.symbols:
        if symbol not in known:
            stored = symbol.op in (VARIABLE, CONSTANT)
            operands = [known[arg] for arg in symbol.args]
            known[symbol] = symbol.value if stored else symbol.op.run(operands, symbol.attrs)
    return [known[output] for output in graph.outputs]


def saved(graph: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    save(file, graph, **options)
    return file.getvalue()


def loaded(data: bytes) -> Graph:
    return load(io.BytesIO(data))


def sample() -> Graph:
    x = sg.placeholder("x", ("n", 3))
    w, b = sg.variable([[1.0, -2.0, 3.0]], name="w"), sg.variable(np.float32(0.5))
    big = sg.constant(np.arange(300.0).reshape(100, 3))
    h = sg.sin(x * w) + sg.constant([0.1, np.inf, -0.0])
    return Graph([x], [h, sg.astype(h, "float32") * b, sg.tanh(big), w * w])


@pytest.fixture
def declare() -> Iterator[Callable[..., Op]]:
    """Declares an op for one test."""
    declared: list[str] = []

    def declaration(kernel: Any, type: Any, **facets: Any) -> Op:
        op = nondifferentiable(type=type, reason="a test", namespace=None, **facets)(kernel)
        declared.append(op.name)
        return op

    yield declaration
    for name in declared:
        del OPS[name]


def sample_tagged(x: Array, /, *, value: Any = None) -> Array:
    return x


# --- what comes back ------------------------------------------------------------------------------


def test_the_same_graph_and_the_same_values(tmp_path: Path) -> None:
    graph = sample()
    save(tmp_path / "g.npz", graph)
    again = load(tmp_path / "g.npz")
    verify(again)
    assert str(again) == str(graph)
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    for new, old in zip(values(again, x), values(graph, x), strict=True):
        assert new.dtype == old.dtype
        assert new.tobytes() == old.tobytes()


def test_variables_are_new_and_stay_shared() -> None:
    graph = sample()
    again = loaded(saved(graph))
    w, b = again.variables
    assert w.name == "w"
    assert b.name is None
    assert not set(again.variables) & set(graph.variables)
    w.value = [[0.0, 0.0, 1.0]]
    assert values(again, np.zeros((1, 3)))[3].tolist() == [[0.0, 0.0, 1.0]]
    assert graph.variables[0].value.tolist() == [[1.0, -2.0, 3.0]]


def test_the_present_value_is_saved() -> None:
    w = sg.variable([1.0, 2.0])
    w.value = [3.0, 4.0]
    assert loaded(saved(w)).variables[0].value.tolist() == [3.0, 4.0]


def test_outputs_instead_of_a_graph() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("y")
    assert [s.name for s in loaded(saved(y - x)).inputs] == ["x", "y"]
    assert [s.name for s in loaded(saved([y, x], inputs=[y, x])).inputs] == ["y", "x"]
    h = sg.sin(x)
    assert str(loaded(saved(h * y, inputs=[h, y]))) == str(Graph([h, y], [h * y]))
    with pytest.raises(FeedError, match="placeholder 'y'"):
        saved(y - x, inputs=[x])
    with pytest.raises(ArgumentError, match="save: a graph has inputs of its own"):
        saved(Graph([x], [x]), inputs=[x])
    with pytest.raises(ArgumentError, match=r"outputs\[0\] is no symbol"):
        saved([1.0])


def test_numpy_opens_the_arrays(tmp_path: Path) -> None:
    save(tmp_path / "g.npz", sample())
    with np.load(tmp_path / "g.npz", allow_pickle=False) as file:
        assert sorted(file.files) == ["c0", "graph.json", "v0", "v1"]
        assert file["v0"].tolist() == [[1.0, -2.0, 3.0]]
        assert json.loads(file["graph.json"])["format"] == "symgrad graph"


def test_equal_graphs_give_equal_files() -> None:
    assert saved(sample()) == saved(sample())


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64", "complex128"])
def test_arrays_of_all_kinds(dtype: str) -> None:
    arrays = [np.ones(()), np.zeros((0, 3)), np.arange(100.0), np.asfortranarray(np.eye(9)[:, ::2])]
    leaves = [make(a.astype(dtype)) for a in arrays for make in (sg.variable, sg.constant)]
    again = loaded(saved(Graph([], leaves)))
    for new, old in zip(again.outputs, leaves, strict=True):
        assert new.op is old.op
        assert new.type == old.type
        assert (
            np.ascontiguousarray(new.value).tobytes() == np.ascontiguousarray(old.value).tobytes()
        )


def test_attributes_of_all_kinds(declare: Callable[..., Op]) -> None:
    op = declare(sample_tagged, lambda x, *, value: x)
    x = y = sg.placeholder("x", ("n",))
    n = Dim.named("n")
    for value in [
        None,
        True,
        1,
        -0.0,
        np.nan,
        1j,
        'a"b',
        np.dtype("int8"),
        (1, (n + 1,)),
        n,
        10**30,
    ]:
        y = op(y, value=value)
    graph = Graph([x], [y])
    assert str(loaded(saved(graph))) == str(graph)


def sample_parted(x: Array, /) -> Any:
    return x, x


def test_tuples(declare: Callable[..., Op]) -> None:
    op = declare(sample_parted, lambda x: TupleType([x, x]))
    x = sg.placeholder("x", ("n",))
    graph = Graph([x], [OPS["item"](op(x), index=1)])
    assert str(loaded(saved(graph))) == str(graph)


def test_derivatives_stay_marked() -> None:
    x = sg.placeholder("x")
    y = sg.sin(x)
    building.origin = Origin(y, "sin")
    slope = sg.cos(x)
    building.origin = None
    again = loaded(saved(Graph([x], [y, slope], primal_outputs=1)))
    assert again.primal_outputs == 1
    assert [s.op.name for s in again.derivative_symbols] == ["cos"]
    assert again.outputs[1].origin == (again.outputs[0], "sin")
    by_origin = loaded(saved(Graph([x], [slope])))
    assert by_origin.derivative_symbols == by_origin.outputs
    assert str(by_origin) == str(Graph([x], [slope]))


def test_names_of_fresh_dimensions_do_not_collide() -> None:
    x = sg.placeholder("x", (None, None))
    data = saved(sg.sin(x))
    ours = set(loaded(data).dims)
    assert not ours & set(Graph([x], [x]).dims)
    number = int(str(fresh_dim())[1:]) + 100
    document = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("graph.json"))
    text = json.dumps(document).replace(f'"{x.shape[0]}"', f'"_{number}"')
    other = archive(text.replace(f"[{x.shape[0]},", f"[_{number},"))
    kept = loaded(other).dims
    assert kept[0] == f"_{number}"
    assert kept[1] not in Graph([x], [x]).dims
    assert int(str(fresh_dim())[1:]) > number


def test_the_snapshot_is_of_one_moment() -> None:
    a, b = sg.variable(0.0), sg.variable(0.0)
    stop = threading.Event()

    def advance() -> None:
        count = 0.0
        while not stop.is_set():
            count += 1.0
            with b.payload.lock, a.payload.lock:
                a.payload.replace(np.array(count))
                b.payload.replace(np.array(count))

    thread = threading.Thread(target=advance)
    thread.start()
    try:
        for _ in range(30):
            one, other = loaded(saved([a, b])).variables
            assert one.value == other.value
    finally:
        stop.set()
        thread.join()


def test_large_graphs() -> None:
    x = y = sg.placeholder("x", ("n",))
    for _ in range(20_000):
        y = sg.sin(y)
    assert str(loaded(saved(y))) == str(Graph([x], [y]))


# --- writing is all or nothing --------------------------------------------------------------------


def test_what_cannot_be_written_leaves_the_file(declare: Callable[..., Op], tmp_path: Path) -> None:
    op = declare(sample_tagged, lambda x, *, value: x)
    path = tmp_path / "g.npz"
    path.write_bytes(b"before")
    x = sg.placeholder("x")
    with pytest.raises(FormatError) as caught:
        save(path, op(x, value=print))
    assert str(caught.value).startswith(
        "save: symbol %1 (sample_tagged): a value has no text form: got a "
        "builtin_function_or_method; created at test_graphs.py:"
    )
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["g.npz"]


def test_a_failing_disk_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.npz"
    path.write_bytes(b"before")

    def full(*_args: Any, **_options: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="no space left"):
        save(path, sample())
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["g.npz"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    save(tmp_path / "g.npz", sample())
    (tmp_path / "other").touch()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "g.npz")
    save(str(tmp_path / "link"), sample())
    assert (tmp_path / "link").is_symlink()
    load(tmp_path / "real" / "g.npz")


# --- files that are not what they say -------------------------------------------------------------

GOOD = saved(sample())
NPY = {
    f"{name}.npy": zipfile.ZipFile(io.BytesIO(GOOD)).read(f"{name}.npy")
    for name in ("v0", "v1", "c0")
}
DOCUMENT: dict[str, Any] = json.loads(zipfile.ZipFile(io.BytesIO(GOOD)).read("graph.json"))


def archive(
    document: str | bytes, members: dict[str, bytes] | None = None, **options: Any
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as target:
        target.writestr("graph.json", document)
        for name, data in (members or {}).items():
            target.writestr(name, data)
    return file.getvalue()


def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The sample's file with another document."""
    document = json.loads(json.dumps(DOCUMENT))
    change(document)
    return archive(json.dumps(document), NPY)


def npy(array: np.ndarray, **options: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def test_the_sample_is_good() -> None:
    assert str(loaded(changed(lambda d: None))) == str(sample())


def at(position: int, **entries: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda d: d["symbols"][position].update(entries)


# %0 x, %1 w, %2 x * w, %3 sin, %4 small constant, %5 add, %6 astype, %7 b, …
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "no graph of symgrad's: expected 'symgrad graph', "),
        (lambda d: d.clear(), "no graph of symgrad's: expected 'symgrad graph', got N"),
        (lambda d: d.update(version=2), "unknown version: expected 1, got 2; hint: a newer"),
        (lambda d: d.update(version=True), "unknown version"),
        (lambda d: d.update(extra=1), "other entries: expected dims, format"),
        (lambda d: d.pop("outputs"), "other entries"),
        (lambda d: d.update(symbols={}), "not a list: got dict"),
        (lambda d: d.update(dims=[]), "symbol %0: a dimension is not listed: got 'n'"),
        (lambda d: d.update(dims=["n", "1n"]), "no name of a dimension: got '1n'"),
        (lambda d: d.update(dims=["n", 3]), "not a string: got 3"),
        (lambda d: d.update(outputs=[99]), "unknown symbol: expected a position below"),
        (lambda d: d.update(outputs=[-1]), "unknown symbol: expected a position below"),
        (lambda d: d.update(outputs=[True]), "unknown symbol"),
        (lambda d: d.update(inputs=[]), "the outputs need what is not among the inputs: plac"),
        (lambda d: d.update(inputs=[0, 0]), "the input <placeholder 'x': f64[n, 3]> is given t"),
        (lambda d: d.update(primal_outputs=9), "no number of outputs: got 9"),
        (lambda d: d["symbols"].append([]), "symbol %12: not an object: got list"),
        (at(3, op="sinn"), "symbol %3: unknown op: got 'sinn'"),
        (at(3, op=3), "symbol %3: not a string: got 3"),
        (at(3, op="constant"), "symbol %3: other entries for constant"),
        (at(3, args=[3]), "symbol %3: unknown symbol: expected a position below 3, got 3"),
        (at(3, args=[5]), "symbol %3: unknown symbol: expected a position below 3, got 5"),
        (at(3, args=[-1]), "symbol %3: unknown symbol"),
        (at(3, args=[0.0]), "symbol %3: unknown symbol"),
        (at(3, args="2"), "symbol %3: not a list: got str"),
        (at(3, args=[2, 2]), "symbol %3: sin has other operands: expected 1, got 2"),
        (at(3, args=[0]), ""),  # another graph, but a legal one
        (at(3, type="f32[n, 3]"), "symbol %3: the type is another: expected f64[n, 3], got f32["),
        (at(3, type="f64[m, 3]"), "symbol %3: a dimension is not listed: got 'm'"),
        (at(3, type="f64"), "symbol %3: not a type"),
        (at(3, more=1), "symbol %3: other entries for sin: expected args, attrs, op, origin, type"),
        (at(3, attrs={"axis": "1"}), "symbol %3: sin has no attribute 'axis': expected none"),
        (at(3, attrs=[]), "symbol %3: not an object: got list"),
        (at(6, attrs={"dtype": 'print("a")'}), "symbol %6: not a value"),
        (at(6, attrs={"dtype": 1}), "symbol %6: not a string: got 1"),
        (at(6, attrs={"dtype": "float31"}), "symbol %6: a dimension is not listed: got 'float31'"),
        (at(6, attrs={"dtype": "3"}), "symbol %6: astype refuses its operands: dtype: not an"),
        (at(6, attrs={}), "symbol %6: astype needs the attribute 'dtype'"),
        (at(3, origin=[99, "sin"]), "symbol %3: unknown symbol"),
        (at(3, origin="sin"), "not a list: got str"),
        (at(3, origin=[2]), "symbol %3: not a string: got None"),
        (at(4, value="[1.0]"), "symbol %4: not a constant: expected as many elements as"),
        (at(4, value="[" + "1.0, " * 10**5 + "1.0]"), "symbol %4: not a constant"),
        (at(4, type="f64[10000000000000]"), "symbol %4: not a constant"),
        (at(4, array="c0"), "symbol %4: a constant has either a value or an array"),
        (at(1, array="v9"), "members that do not belong here: got 'v0.npy'"),
        (at(1, array="c0"), "members that do not belong here: got 'v0.npy'"),
        (at(1, array="../v0"), "members that do not belong here: got 'v0.npy'"),
        (at(1, array="v1"), "members that do not belong here"),
        (at(1, type="f64[3]"), "symbol %1: array 'v0' has another type: expected f64[3], got f"),
        (at(1, type="f32[1, 3]"), "symbol %1: array 'v0' has another type: expected f32[1, 3]"),
        (at(1, type="f64[n, 3]"), "symbol %1: array 'v0' has another type"),
        (at(1, type="(f64[1, 3],)"), "symbol %1: not a type"),
        (at(1, type="(f64[1, 3], f64[])"), "symbol %1: a variable is no tuple"),
    ],
)  # fmt: skip
def test_wrong_documents(change: Callable[[dict[str, Any]], Any], message: str) -> None:
    data = changed(change)
    if not message:
        loaded(data)
        return
    with pytest.raises(FormatError) as caught:
        loaded(data)
    assert str(caught.value).startswith(f"load: {message}")


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (npy(np.zeros((1, 3), object), allow_pickle=True), "v0.npy is no array of numbers"),
        (npy(np.zeros((1, 3), "f8,f8")), "v0.npy is no array of numbers"),
        (npy(np.zeros((1, 3), "M8[s]")), "v0.npy is no array of numbers"),
        (npy(np.zeros((1, 3), "U1")), "v0.npy is no array of numbers"),
        (npy(np.zeros((1, 3)))[:-1], "v0.npy has another size than its header says"),
        (npy(np.zeros((1, 3))) + b"0", "v0.npy has another size than its header says"),
        (npy(np.zeros((1, 3)))[:20], "v0.npy is no array of numbers"),
        (b"", "v0.npy is no array of numbers"),
        (b"\x93NUMPY\x01\x00\xff\xff", "v0.npy is no array of numbers"),
        (npy(np.zeros((1, 3))).replace(b"(1, 3)", b"(9, 3)"), "v0.npy has another size"),
        (
            npy(np.zeros((1, 3))).replace(b"(1, 3), }   ", b"(1, 3000), }"),
            "v0.npy has another size",
        ),
        (npy(np.zeros((1, 3))).replace(b"<f8", b"|O8"), "v0.npy is no array of numbers"),
        (npy(np.zeros((1, 3))).replace(b"(1, 3)", b"f(1,3)"), "v0.npy is no array of numbers"),
        (npy(np.zeros((3, 1))), "symbol %1: array 'v0' has another type"),
    ],
)
def test_wrong_arrays(member: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        loaded(archive(json.dumps(DOCUMENT), NPY | {"v0.npy": member}))
    assert str(caught.value).startswith(f"load: {message}")


def test_other_byte_orders_and_versions_load() -> None:
    array = np.array([[1.0, -2.0, 3.0]])
    for member in (
        npy(array.astype(">f8")),
        npy(array, version=(2, 0)),
        npy(np.asfortranarray(array)),
    ):
        again = loaded(archive(json.dumps(DOCUMENT), NPY | {"v0.npy": member}))
        assert again.variables[0].value.tolist() == array.tolist()


def test_missing_and_surplus_members() -> None:
    text = json.dumps(DOCUMENT)
    for name in NPY:
        rest = {key: data for key, data in NPY.items() if key != name}
        with pytest.raises(FormatError, match=f"symbol %[0-9]+: the array '{name[:2]}' is missing"):
            loaded(archive(text, rest))
    with pytest.raises(
        FormatError, match=r"members that do not belong here: got '\.\./x', 'v7\.npy'"
    ):
        loaded(archive(text, NPY | {"v7.npy": NPY["v0.npy"], "../x": b""}))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        pytest.raises(FormatError, match="two members of one name"),
    ):
        loaded(archive(text, NPY | {"graph.json": b"{}"}))


def test_bombs() -> None:
    with pytest.raises(FormatError, match=r"load: the member 'graph\.json' is compressed"):
        loaded(archive(" " * 10**7, compression=zipfile.ZIP_DEFLATED))
    data = bytearray(GOOD)
    central = data.index(b"PK\x01\x02")
    data[central + 20 : central + 28] = b"\xf0\xff\xff\xff" * 2  # both sizes of the first member
    with pytest.raises(FormatError, match="load: members larger than the file: expected"):
        loaded(bytes(data))


def test_foreign_files(tmp_path: Path) -> None:
    for data in (b"", b"hello", b"PK", GOOD[: len(GOOD) // 2], GOOD[:-1], GOOD[10:200]):
        (tmp_path / "g.npz").write_bytes(data)
        with pytest.raises(FormatError, match=r"^load g\.npz: not a whole file of symgrad's: "):
            load(tmp_path / "g.npz")
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    with pytest.raises(
        FormatError, match=r"load a\.npz: no file of symgrad's: it has no member graph"
    ):
        load(tmp_path / "a.npz")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "document",
    [b"", b"[]", b"{", b"null", b"\xff\xfe", b"[" * 100_000, b"1" * 5000, b'{"format": NaN}'],
)
def test_documents_that_are_none(document: bytes) -> None:
    with pytest.raises(FormatError, match="load: "):
        loaded(archive(document))


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 8), st.binary(max_size=6))
def test_changed_bytes(place: int, length: int, piece: bytes) -> None:
    try:
        graph = loaded(GOOD[:place] + piece + GOOD[place + length :])
    except FormatError:
        return
    verify(graph)


TEXT = json.dumps(DOCUMENT)
PIECES = st.sampled_from(
    [*'{}[]",:0123456789ntf(', "null", "1e9", "true", '"op"', "-1", "[0]", "n*n"]
)


@given(st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 4), PIECES), max_size=3))
def test_changed_documents(edits: list[tuple[int, int, str]]) -> None:
    text = TEXT
    for place, length, piece in edits:
        text = text[:place] + piece + text[place + length :]
    try:
        graph = loaded(archive(text, NPY))
    except FormatError:
        return
    verify(graph)


@given(st.integers(0, 127), st.integers(0, 8), st.binary(max_size=6))
def test_changed_arrays(place: int, length: int, piece: bytes) -> None:
    data = NPY["v0.npy"]
    try:
        graph = loaded(
            archive(TEXT, NPY | {"v0.npy": data[:place] + piece + data[place + length :]})
        )
    except FormatError:
        return
    verify(graph)


def test_a_failed_load_keeps_nothing() -> None:
    def living() -> int:
        gc.collect()
        return sum(isinstance(thing, Symbol) for thing in gc.get_objects())

    before = living()
    with pytest.raises(FormatError):
        loaded(changed(lambda d: d.update(outputs=[99])))
    assert living() == before
