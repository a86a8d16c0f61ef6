"""What is true of a formula of one variable: bounds of its values, its zeros, its growth."""
