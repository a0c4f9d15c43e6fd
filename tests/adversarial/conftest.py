from smallcourse import course, judged, ready, small  # noqa: F401 - fixtures
