"""The command `gradcli`, which is `python -m gradcli`."""

import gc


def script() -> None:
    """Run the command line and end the process."""
    # One answer and the process ends: looking for garbage doubles the time of a large file, and
    # takes part of the time of the imports.
    gc.disable()
    from gradcli.cli.main import run_process

    run_process()


if __name__ == "__main__":
    script()
