"""The Python interface: programs and tapes with what explains and prepares them."""
