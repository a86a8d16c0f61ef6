"""The command line: thin. Parse options, one library call, one renderer."""
