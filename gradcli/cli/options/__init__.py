"""Options, arguments, summaries and examples of commands, as data."""
