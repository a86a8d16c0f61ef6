"""A class at a time: problem sheets, what students handed in, and who checks it."""
