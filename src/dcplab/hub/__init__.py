"""Runs a hub for a class on one machine: accounts, JupyterHub and its proxy, limits, what is missing. Only root uses it;
JupyterHub itself is asked for when a hub is made and is no dependency of the course."""
