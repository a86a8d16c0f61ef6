"""Workers: this process, several on this machine, or a Dask cluster.

All are the `Executor` of `concurrent.futures`.
"""
