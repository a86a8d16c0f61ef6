"""Which derivatives can differ from 0, and how few sweeps find all of them."""
