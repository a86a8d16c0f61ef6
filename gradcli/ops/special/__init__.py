"""Values and derivatives of special functions."""
