"""The graph language: ops, symbols, graphs. It knows no particular op."""
