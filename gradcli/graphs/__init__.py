"""The record as a graph: plain data, and that as DOT, Mermaid or, through Graphviz, a picture."""
