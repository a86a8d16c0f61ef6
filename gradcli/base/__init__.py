"""The ground floor of all rooms: errors and their sources, lazy NumPy, workers. No mathematics."""
