"""Builds the course as a static site: docs, unsolved labs, pictures that can be stepped through without a kernel.

Everything is read from its source when the site is built. Sphinx makes the pages, with myst-nb and the theme furo: all three
come from a package index, build offline and need no Node.
"""
