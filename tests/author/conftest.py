from tinycourse import course  # noqa: F401 - a fixture
