"""Builds and releases labs from their single source, ``solutions/NN_name/NN_name.py``."""
