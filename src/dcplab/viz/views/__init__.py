"""Pictures with a state, a folder each: the state (pure), the scene drawn from it, the live view."""
