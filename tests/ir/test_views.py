"""networkx's algorithms on our graphs, and pictures in Graphviz's language."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import networkx
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ExtraMissing
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import Origin, Symbol, building


@pytest.fixture(autouse=True)
def symbols_copy_as_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    # networkx copies all attributes deeply when it makes an undirected graph.
    if not hasattr(Symbol, "__deepcopy__"):
        monkeypatch.setattr(Symbol, "__deepcopy__", lambda self, memo: self, raising=False)


@pytest.fixture
def graph() -> Graph:
    x, w = sg.placeholder("x", ("n", 3)), sg.variable(np.ones(3), name='w "1" & <b>\\')
    product = sg.subtract(x * x, w)
    y = sg.astype(sg.sin(product), sg.float32)
    building.origin = Origin(y, "sin")
    dy = sg.cos(product)
    building.origin = None
    return Graph([x], [y, dy], primal_outputs=1)


def test_nodes(graph: Graph) -> None:
    network = graph.to_networkx()
    assert isinstance(network, networkx.MultiDiGraph)
    assert list(network) == [f"%{k}" for k in range(len(graph.symbols))]
    x = network.nodes["%0"]
    assert (x["op"], x["label"], x["type"], x["origin"]) == ("placeholder", "x", "f64[n, 3]", None)
    assert x["symbol"] is graph.inputs[0]
    cast = network.nodes[graph.name_of(graph.outputs[0])]
    assert cast["attrs"]["dtype"] == "float32"
    assert network.nodes[graph.name_of(graph.outputs[1])]["origin"] == graph.name_of(
        graph.outputs[0]
    )
    assert network.graph == {
        "inputs": ["%0"],
        "outputs": [graph.name_of(output) for output in graph.outputs],
    }


def test_edges(graph: Graph) -> None:
    square = graph.name_of(graph.symbols[1])
    network = graph.to_networkx()
    assert network.number_of_edges("%0", square) == 2
    assert sorted(d["position"] for _, _, d in network.in_edges(square, data=True)) == [0, 1]
    simple = graph.to_networkx(simple=True)
    assert type(simple) is networkx.DiGraph
    assert simple.edges["%0", square]["positions"] == (0, 1)


@pytest.mark.parametrize("simple", [False, True])
def test_algorithms(graph: Graph, simple: bool) -> None:
    network = graph.to_networkx(simple=simple)
    order = list(networkx.topological_sort(network))
    places = {name: place for place, name in enumerate(order)}
    assert all(places[a] < places[b] for a, b in network.edges())
    last = graph.name_of(graph.outputs[0])
    assert networkx.ancestors(network, last) | {last} == {
        name for name in network if name != graph.name_of(graph.outputs[1])
    }
    assert networkx.dag_longest_path(network)[-1] in network.graph["outputs"]
    assert networkx.is_directed_acyclic_graph(network)
    assert networkx.number_connected_components(network.to_undirected()) == 1
    for _, node in network.nodes(data=True):
        del node["symbol"]
    plain = json.loads(json.dumps(networkx.node_link_data(network, edges="edges")))
    again = networkx.node_link_graph(plain, edges="edges")
    assert set(again.edges()) == set(network.edges())


def test_cut_and_unused_inputs() -> None:
    x, unused = sg.placeholder("x"), sg.placeholder("unused")
    h = sg.sin(x)
    network = Graph([unused, h], [h * h]).to_networkx(simple=True)
    assert list(network.edges()) == [("%1", "%2")]
    assert network.nodes["%0"]["label"] == "unused"


def test_symgrad_does_not_load_networkx() -> None:
    code = (
        "import sys, symgrad; from symgrad.ir import graph, text; print('networkx' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def test_networkx_missing(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ExtraMissing, match="to_networkx: networkx is not installed; hint: pip"):
        graph.to_networkx()


def test_dot(graph: Graph) -> None:
    text = graph.to_dot()
    assert text.startswith("digraph symgrad {\n")
    assert text.count("{") == text.count("}") == 2
    placeholder, variable = (
        re.search(rf'"{graph.name_of(s)}" \[(.*)\]', text)[1]  # type: ignore[index]
        for s in (graph.inputs[0], graph.variables[0])
    )
    assert "shape=ellipse" in placeholder
    assert "shape=cylinder" in variable
    assert r"\"w \\\"1\\\" &amp; <b>\\\\\"\nf64[3]" in variable
    framed = text[text.index("subgraph cluster_derivative") :]
    assert 'style="dashed,rounded"' in framed
    assert f'"{graph.name_of(graph.outputs[1])}" [label="' in framed[: framed.index("  }\n")]
    assert "astype\\ndtype=float32\\nf32[n, 3]" in text
    assert '"%0" -> ' in text


def test_dot_edges_tell_operands_apart() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("y")
    text = Graph([x, y], [x - y]).to_dot()
    assert '"%0" -> "%2" [headlabel=0]' in text
    assert '"%1" -> "%2" [headlabel=1]' in text
    assert "headlabel" not in Graph([x, y], [x + y]).to_dot()
    assert "cluster" not in text


def test_dot_shortens_long_lines() -> None:
    x = sg.placeholder("n" * 500)
    long = sg.constant(np.arange(60.0))
    text = Graph([x], [x + long]).to_dot()
    assert "n" * 41 not in text
    assert "…" in text
