"""One module per kind of command: options in, one library call, one renderer."""
