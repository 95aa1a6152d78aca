#!/usr/bin/env bash
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Everything that needs an NVIDIA GPU, in one call: the GPU tests, the benchmarks beside cuBLAS and the CUDA runtime, the
# forecast, and compute-sanitizer over a part of the tests. The last thing printed is a table.
#
# The machine with the GPU may have nothing but a driver and the CUDA toolkit: no packages, no network. Then what it lacks
# is built elsewhere and carried there:
#
#     clients/scripts/gpu_check.sh --prepare        where there are packages: builds, and fills build/gpu_check
#     (bring the tree with build/gpu_check to the machine)
#     clients/scripts/gpu_check.sh                  there: uses build/gpu_check if it is there, else builds it first
#
#   --only LIST    some of tests,bench,forecast,sanitizer
#   --seconds S    for each comparison of the benchmarks          (0.2)
#   --device NAME  the device                                     (cuda:0)
#   --targets LIST what the module is compiled for                (90: H100, H200, and newer ones by PTX)
#   --logs DIR     where the whole output goes                    (build/gpu_check/logs)
#
# Exit status: 0 when all that ran passed and there was a GPU; 2 when there is no GPU, which the table says too.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kit=$root/build/gpu_check
only=tests,bench,forecast,sanitizer seconds=0.2 device=cuda:0 logs=$kit/logs prepare=no targets=90
while [[ $# -gt 0 ]]; do
    case $1 in
    --prepare) prepare=yes ;;
    --only) only=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --device) device=$2; shift ;;
    --logs) logs=$2; shift ;;
    --targets) targets=$2; shift ;;
    *) sed -n '5,21p' "$0" | sed 's/^# \{0,1\}//'; exit 64 ;;
    esac
    shift
done
die() { echo "gpu_check: $*" >&2; exit 1; }
wants() { [[ ,$only, == *,$1,* ]]; }

# The programs, the libraries they load, and the records of the forecast, in one folder that can be moved.
make_kit() {
    local build=$root/build/gpu_release library
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DJALLOC_CUDA=ON -DJALLOC_HIP=OFF \
        -DJALLOC_CUDA_ARCHITECTURES="$targets" >"$build.log" 2>&1 || { tail -20 "$build.log"; die "CMake failed"; }
    cmake --build "$build" --parallel "$(nproc)" --target jalloc-gpu-test bench_gpu co2_forecast jalloc-info \
        jalloc_cuda || die "the build failed"
    rm -rf "$kit"
    mkdir -p "$kit/bin" "$kit/lib" "$kit/data" "$kit/reference"
    cp "$build"/bin/{jalloc-gpu-test,bench_gpu,co2_forecast,jalloc-info} "$kit/bin/"
    for library in "$build"/library/libj*.so.*; do # by the names that the loader asks for
        [[ -L $library || $library == *_cuda.so.0 ]] && cp -L "$library" "$kit/lib/"
    done
    cp "$root"/clients/samples/co2_forecast/data/*.csv "$kit/data/"
    cp "$root"/clients/samples/co2_forecast/reference/*.csv "$kit/reference/"
    # What a bare machine lacks; CUDA's own libraries are the toolkit's there, the C library's the system's.
    for library in $(ldd "$kit"/bin/* "$kit"/lib/libjblas.so.* | awk '/=> \// {print $3}' | sort -u); do
        case $library in
        */libopenblas* | */libgfortran* | */libquadmath* | */libgomp* | */libblas* | */libcblas*) cp -L "$library" "$kit/lib/" ;;
        esac
    done
    strip --strip-debug "$kit"/bin/* "$kit"/lib/libj* 2>/dev/null
    du -sh "$kit"
}

if [[ $prepare == yes ]]; then
    mkdir -p "$root/build"
    make_kit
    exit 0
fi
if [[ ! -x $kit/bin/jalloc-gpu-test ]]; then
    mkdir -p "$root/build"
    make_kit
fi
mkdir -p "$logs"
for toolkit in "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda; do
    [[ -n $toolkit && -d $toolkit ]] && break
done
export LD_LIBRARY_PATH=$kit/lib:$toolkit/lib64:$toolkit/extras/CUPTI/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH=$PATH:$toolkit/bin:$toolkit/compute-sanitizer
export JALLOC_MODULE_PATH=$kit/lib JALLOC_TEST_DEVICE=$device

table=() failed=0
row() { table+=("$(printf '%-58s %s' "$1" "$2")"); }

"$kit/bin/jalloc-info" >"$logs/info" 2>&1
cat "$logs/info"
if ! "$kit/bin/co2_forecast" --device "$device" --data "$kit/data" --repeat 1 --output "$logs/first.svg" \
    >"$logs/device" 2>&1 && grep -q "^co2_forecast: $device: " "$logs/device"; then
    row "device" "NONE: $(sed -n 's/^co2_forecast: //p' "$logs/device" | head -1)"
    printf '%s\n' "" "== gpu_check $(date -u +%F)" "${table[@]}"
    exit 2
fi
row "device" "$(command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"

run() { # NAME SECONDS COMMAND...: its output goes to a log, its last lines here
    local name=$1 limit=$2
    shift 2
    echo "== $name"
    timeout --kill-after=10 "$limit" "$@" >"$logs/$name" 2>&1
    local code=$?
    tail -n 6 "$logs/$name"
    return $code
}

count_tests() { # NAME CODE
    local passed broken
    passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$logs/$1" | tail -1)
    broken=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$logs/$1" | tail -1)
    row "$1" "${passed:-0} passed, ${broken:-0} failed$([[ $2 == 0 ]] || echo ", exit status $2")"
    [[ $2 == 0 && ${passed:-0} -gt 0 ]] || failed=1
}

if wants tests; then
    run tests 400 "$kit/bin/jalloc-gpu-test" --gtest_brief=1
    count_tests tests $?
fi
if wants forecast; then
    for series in co2 sunspots; do
        run "forecast-$series" 120 "$kit/bin/co2_forecast" --device "$device" --series $series --verify --data "$kit/data" \
            --repeat 3 --output "$logs/$series.svg"
        code=$?
        row "forecast of $series, against the reference" "$([[ $code == 0 ]] && echo passed || echo "FAILED ($code)")"
        [[ $code == 0 ]] || failed=1
    done
fi
if wants bench; then
    run bench 400 "$kit/bin/bench_gpu" "$seconds"
    code=$?
    [[ $code == 0 ]] || { row "bench_gpu" "FAILED ($code)"; failed=1; }
    while IFS= read -r line; do table+=("$line"); done < <(sed -n '/^aim  .*measured/,$p' "$logs/bench" | tail -n +2)
fi
if wants sanitizer; then
    if command -v compute-sanitizer >/dev/null; then
        # A part of the tests, at few iterations: each tool is 10 to 100 times slower. Tests that plant errors are left out.
        for tool in memcheck racecheck initcheck synccheck; do
            JALLOC_TEST_SCALE=0.05 run "sanitizer-$tool" 150 compute-sanitizer --tool "$tool" --error-exitcode 9 \
                "$kit/bin/jalloc-gpu-test" --gtest_brief=1 --gtest_filter='GpuJblas.RandomArguments*:GpuReduce*:GpuSolver*'
            code=$?
            row "compute-sanitizer $tool" "$(grep -h 'SUMMARY' "$logs/sanitizer-$tool" | tail -1 | sed 's/=* *//') (exit $code)"
            [[ $code == 0 ]] || failed=1
        done
    else
        row "compute-sanitizer" "not on this machine"
    fi
fi
printf '%s\n' "" "== gpu_check $(date -u +%F)" "${table[@]}"
exit $failed
