"""The small server in which the incident happens. What stands for what, and in which order to read: ``docs/engine.md``."""
