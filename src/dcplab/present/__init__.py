"""Puts facts into words, as text and as HTML."""
