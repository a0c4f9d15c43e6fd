"""Describes a lab as data: its parts, cases, bank and source."""
