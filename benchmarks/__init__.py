"""What gradcli costs beside other engines: `python benchmarks/run.py`."""
