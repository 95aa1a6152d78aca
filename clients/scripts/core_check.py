#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""core_check.py BUILD: whether JALLOC_HOST_ISA, or else OPENBLAS_CORETYPE, names kernels that run here. Exit status 0: they
do, and jblas got them. 77: this processor lacks an instruction that they need, or the CBLAS has no such kernels; it would
silently take others."""

import os
import pathlib
import subprocess
import sys

AVX2 = {"avx2", "fma"}
AVX512 = AVX2 | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
# What each needs beyond the kernels that every x86-64 runs, in the words of /proc/cpuinfo.
FLAGS = {
    "Prescott": {"pni"},
    "Nehalem": {"sse4_2"},
    "Sandybridge": {"avx"},
    "Haswell": AVX2,
    "Zen": AVX2,
    "SkylakeX": AVX512,
    "Cooperlake": AVX512 | {"avx512_bf16"},
    "SapphireRapids": AVX512 | {"avx512_bf16", "amx_tile"},
    # jblas's own
    "generic": set(),
    "avx2": AVX2,
    "avx512": AVX512,
}


def reason_against(core, build):
    """Why the kernels cannot be used; None where they can."""
    if core not in FLAGS:
        return "not among those known to core_check.py"
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    if FLAGS[core] - flags:
        return f"the processor lacks {' '.join(sorted(FLAGS[core] - flags))}"
    info = subprocess.run([str(build / "bin/jalloc-info")], text=True, stdout=subprocess.PIPE, check=True).stdout
    named = [line.strip() for line in info.splitlines() if "OpenBLAS" in line or line.strip().startswith("kernels")]
    if not any(core in line.split() for line in named):
        return f"they are not taken: {'; '.join(named)}"
    return None


def main():
    core = os.environ.get("JALLOC_HOST_ISA") or os.environ.get("OPENBLAS_CORETYPE", "")
    reason = reason_against(core, pathlib.Path(sys.argv[1]))
    print(f"{core} kernels: " + (f"skipped: {reason}" if reason else "can be run"))
    return 77 if reason else 0


if __name__ == "__main__":
    sys.exit(main())
