"""Lab 03's demonstrations: the norope write, the read side and the merge, in the engine and on the real kernels.

The engine runs on the CPU in torch, in this process. Kernels run in a new process.
"""

from dcplab.demos.norope.compaction import times
from dcplab.demos.norope.needle_test import half_fixes, needle
from dcplab.demos.norope.negative_division import minus_one
from dcplab.demos.norope.replica_counts import replicas
from dcplab.demos.norope.three_writers import real_decode
from dcplab.demos.norope.tma_store import tma

__all__ = ["half_fixes", "minus_one", "needle", "real_decode", "replicas", "times", "tma"]
