"""Pictures: plain data drawn by matplotlib into files or by plotille into a terminal."""
