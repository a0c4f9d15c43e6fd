"""From what was expected and what was done to a verdict. Nothing here runs anything."""
