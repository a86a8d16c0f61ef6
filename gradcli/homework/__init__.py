"""Classes: problem sheets, submissions, and the checking and marking of them."""
