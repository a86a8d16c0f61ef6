"""Pictures of functions and their derivatives: sampled by the executor of points, drawn by
matplotlib into files or by plotille into a terminal. Both are imported when something is drawn.
"""
