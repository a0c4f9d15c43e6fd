"""The smallest program that shows what a ring of mbarriers does when a stage goes from one warpgroup to another.

    python ring.py STAGES GROUPS      prints "right" or "wrong" and the sums; a ring that is broken may also hang, or fail

One warpgroup fills stages with the number of their step, ``groups`` take the steps in turn and add up what they find.
The fill of step 0 comes late, as a TMA copy may: when step `LATE` has been taken. Needs a GPU of sm_90.
"""

import sys

import tilelang
import tilelang.language as T
import torch

STEPS, LATE = 24, 5  # step 0 is filled after step 5 has been taken


def ring(stages, groups):
    @T.prim_func
    def ring_of_mbarriers(sums: T.Tensor((groups,), "int32")):
        with T.Kernel(1, threads=128 * (groups + 1)):
            stage = T.alloc_shared((stages,), "int32", scope="shared")
            ready = T.alloc_barrier(arrive_count=[128] * stages)
            free = T.alloc_barrier(arrive_count=[128] * stages)
            total = T.alloc_var("int32")
            tx = T.get_thread_binding()
            if tx < 128:
                for i in T.serial(STEPS):
                    # 1, 2, ..., LATE, then 0, then the rest in order.
                    step = T.if_then_else(i < LATE, i + 1, T.if_then_else(i == LATE, 0, i))
                    if i == LATE:
                        T.barrier_wait(free[LATE % stages], 0)
                        for _ in T.serial(4096):  # until whoever comes early has come
                            T.sync_threads(1, 128)
                    if step >= stages:  # a stage's first round waits for nobody
                        T.barrier_wait(free[step % stages], ((step // stages) & 1) ^ 1)
                    if tx == 0:
                        stage[step % stages] = step
                    T.barrier_arrive(ready[step % stages])
            else:
                group = tx // 128 - 1
                total = 0
                for i in T.serial(T.ceildiv(STEPS - group, groups)):
                    step = i * groups + group
                    T.barrier_wait(ready[step % stages], (step // stages) & 1)
                    total += stage[step % stages]
                    T.barrier_arrive(free[step % stages])
                if tx % 128 == 0:
                    sums[group] = total

    return ring_of_mbarriers


if __name__ == "__main__":
    stages, groups = map(int, sys.argv[1:])
    sums = torch.zeros(groups, dtype=torch.int32, device="cuda")
    tilelang.compile(ring(stages, groups), target={"kind": "cuda", "arch": "sm_90a"})(sums)
    torch.cuda.synchronize()
    right = sums.tolist() == [sum(range(g, STEPS, groups)) for g in range(groups)]
    print("right" if right else "wrong", sums.tolist())
