#!/usr/bin/env bash
# Every kernel under compute-sanitizer: alone, and as the engine launches it, side by side.
#   tests/gpu/sanitize.sh OUT memcheck|racecheck
# Leaves OUT/TOOL-NAME.txt and prints each program's summary. Exit status 1 where one failed or has an error.
set -uo pipefail
out=$1 tool=$2 bad=0
cd "$(dirname "$0")/../.." && mkdir -p "$out"
export PYTORCH_NO_CUDA_MEMORY_CACHING=1 # memcheck sees only what torch asks the driver for, allocation by allocation
# Kernels are compiled outside the sanitizer, which would follow the compilers too.
python3 tests/kernels/tl_smoke.py >"$out/compiled.txt" 2>&1 & python3 tests/gpu/engine_smoke.py >>"$out/compiled.txt" 2>&1 & wait
# The engine's torch kernels are torch's to check, and with them a server of some seconds takes many minutes.
ours=(); for word in indexer_ sparse_mla_ topk_ combine _kernel; do ours+=(--kernel-name "kns=$word"); done
declare -A programs=([triton]="tests/kernels/smoke.py" [tilelang]="tests/kernels/tl_smoke.py")
small=; [[ $tool == racecheck ]] && small=small
for way in plain mixed draft; do programs[$way]="tests/gpu/engine_smoke.py $small $way"; done
for name in "${!programs[@]}"; do
    compute-sanitizer --tool "$tool" --error-exitcode 9 "${ours[@]}" python3 ${programs[$name]} >"$out/$tool-$name.txt" 2>&1 &
    pids[$!]=$name
done
for pid in "${!pids[@]}"; do
    wait "$pid"; status=$?; name=${pids[$pid]}
    [[ $status -eq 0 ]] || bad=1
    echo "$tool $name: exit $status; $(grep -E 'SUMMARY' "$out/$tool-$name.txt" | tail -1)"
done
exit $bad
