"""Tapes: who asks the record for derivatives, and how."""
