"""nbgrader's configuration for this course. `dcplab release DIR` copies it into the course; edit that copy.

Nothing of a learner's notebook runs in the grader: each check cell gets its points from `dcplab`, which runs the answer in a
disposable child, as `dcplab grade` does. So a crash, a hang or `os._exit` costs one part its points.
"""

import os
import sys

from dcplab.grade import nbgrader

c = get_config()  # noqa: F821 - nbgrader defines it

c.CourseDirectory.course_id = "dcplab"

c.Autograde.sanitize_preprocessors = nbgrader.SANITIZE
c.Autograde.autograde_preprocessors = nbgrader.AUTOGRADE

# nbgrader starts `alembic` by name: it lies beside this Python, which need not be on the PATH.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")

# Where learners on this machine fetch from and submit to; the folder must exist, with mode 777.
# c.Exchange.root = "/srv/nbgrader/exchange"
