"""Tapes: windows of the record that a user asks for derivatives."""
