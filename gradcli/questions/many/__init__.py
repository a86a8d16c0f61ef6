"""One question at many points: traces with guards, rows, prepared questions."""
