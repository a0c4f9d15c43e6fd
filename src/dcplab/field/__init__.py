"""A second server, its faults, and how each is proved."""
