"""What every room stands on: errors and their sources, lazy NumPy, workers. No mathematics."""
