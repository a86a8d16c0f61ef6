"""What ran, and the tensors it ran on."""
