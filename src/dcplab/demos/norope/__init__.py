"""Lab 03's demonstrations: the norope write, the read side and the merge, in the engine and on the real kernels.

What the engine shows runs on the CPU in torch, in this process. Kernels run in a process of their own.
"""

from dcplab.demos.norope.answers import half_fixes, needle
from dcplab.demos.norope.copies import replicas
from dcplab.demos.norope.decode import real_decode
from dcplab.demos.norope.signs import minus_one
from dcplab.demos.norope.stores import tma
from dcplab.demos.norope.walk import times

__all__ = ["half_fixes", "minus_one", "needle", "real_decode", "replicas", "times", "tma"]
