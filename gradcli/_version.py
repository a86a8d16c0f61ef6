"""The version, and nothing else: the build and `gradcli --version` both read it here."""

__version__ = "0.1.0"
