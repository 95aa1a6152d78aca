#!/bin/sh
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Records the traces of this folder anew: record.sh LIBJALLOC_RECORD_SO [FOLDER]
# The frameworks are installed in a temporary folder (2 GB) and removed with it; CalculiX is Debian's (calculix-ccx).
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
"$python" -m pip install --quiet tensorflow-cpu==2.21.0 numpy==2.4.6 scipy==1.17.1 \
  rapidocr-onnxruntime==1.4.4 onnxruntime==1.32.0

# record COMMAND...: blocks of at least 1 KiB, to recorded.csv
record() {
  JALLOC_RECORD_HEAP=$scratch/recorded.csv JALLOC_RECORD_HEAP_MIN_BYTES=1024 LD_PRELOAD=$recorder "$@"
}

# cut NAME OPTIONS...: from recorded.csv
cut() {
  name=$1
  shift
  "$python" "$here/cut_trace.py" "$@" "$scratch/recorded.csv" "$output/$name.csv"
}

record "$python" "$here/make_training_trace.py" "$data/sunspots-monthly.csv"
cut training_transformer --alignment 64 --allocator tensorflow
record "$python" "$here/make_training_trace.py" "$data/sunspots-monthly.csv" --lengths
cut training_lengths --alignment 64 --allocator tensorflow
record "$python" "$here/make_training_trace.py" "$data/sunspots-monthly.csv" --batch 4 --layers 1 --steps 3
cut training_scratch
record "$python" "$here/make_dense_trace.py" "$data/co2-mauna-loa-monthly.csv"
cut dense_gaussian_process
record "$python" "$here/make_inference_trace.py" "$data/co2-mauna-loa-monthly.csv"
cut inference_ocr
"$python" "$here/make_beam_input.py" 8 2 > "$scratch/beam.inp"
record ccx -i "$scratch/beam"
cut finite_elements --whole
