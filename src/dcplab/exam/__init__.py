"""The examination: a bug report, a checkout with one planted fault, and what is handed in for it (docs/field.md)."""
