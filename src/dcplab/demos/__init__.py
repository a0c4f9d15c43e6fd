"""Demonstrations that labs show beside their exercises, one a module. A demonstration that could end its process runs in a new
one."""
