"""The learner's side of a closed book: the `dcplab` of a checkout that `./course release --learners` made.

It asks the class's grading service for everything and knows nothing itself. In the course's own checkout it is a package of
`dcplab.closed`; in the learner's it is `dcplab`, and names that only the service has are forwarded.
"""

__version__ = "0.1.0"

if __name__ == "dcplab":
    from . import forwarded

    forwarded.install()
