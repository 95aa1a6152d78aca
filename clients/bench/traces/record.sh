#!/bin/sh
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Records the traces of this folder anew: record.sh LIBJALLOC_RECORD_SO [FOLDER]
# The frameworks are installed in a temporary folder (2 GB) and removed with it.
set -eu
recorder=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
output=$(realpath "${2:-$here}")
data=$here/../../samples/co2_forecast/data
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1

python3 -m venv "$scratch/venv"
python=$scratch/venv/bin/python
"$python" -m pip install --quiet tensorflow-cpu==2.21.0 numpy==2.4.6 scipy==1.17.1

# record PROGRAM ARGUMENTS...: blocks of at least 1 KiB, to recorded.csv
record() {
  program=$1
  shift
  JALLOC_RECORD_HEAP=$scratch/recorded.csv JALLOC_RECORD_HEAP_MIN_BYTES=1024 LD_PRELOAD=$recorder \
    "$python" "$here/$program" "$@"
}

# cut NAME OPTIONS...: from recorded.csv
cut() {
  name=$1
  shift
  "$python" "$here/cut_trace.py" "$@" "$scratch/recorded.csv" "$output/$name.csv"
}

record make_training_trace.py "$data/sunspots-monthly.csv"
cut training_transformer --alignment 64 --allocator tensorflow
record make_training_trace.py "$data/sunspots-monthly.csv" --lengths
cut training_lengths --alignment 64 --allocator tensorflow
record make_training_trace.py "$data/sunspots-monthly.csv" --batch 4 --layers 1 --steps 3
cut training_scratch
record make_dense_trace.py "$data/co2-mauna-loa-monthly.csv"
cut dense_gaussian_process
