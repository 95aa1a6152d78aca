#!/usr/bin/env bash
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Everything that needs an NVIDIA GPU, in parts that each end within 10 minutes. The last thing printed is a table, a row
# for each part.
#
# The machine with the GPU may have nothing but a driver and the CUDA toolkit: no packages, no network. Then what it lacks
# is built elsewhere and carried there:
#
#     clients/scripts/gpu_check.sh --prepare          where there are packages: fills build/gpu_check.tar.gz, 20 MB at most
#     (bring the tree with that file to the machine)
#     clients/scripts/gpu_check.sh --first-minutes    there: properties, smoke, capture, and bench at two sizes, 4 minutes
#     clients/scripts/gpu_check.sh --only tests       then the other parts, a few in each call
#
#   --only LIST       of these parts, with commas; all if not said:
#                       properties  what the device is
#                       smoke       each routine, by the vendor's BLAS and by kernels of jalloc's, and the ways of its own
#                       tests       jalloc-gpu-test
#                       tests-own   what of it computes, with JALLOC_VENDOR_BLAS=0
#                       capture     its tests of captures, and the samples cuda_graph and cuda_stream_interop
#                       bench       bench_gpu, beside the CUDA runtime, cuBLAS and cuSOLVER
#                       forecast    the sample co2_forecast, against its reference
#                       memcheck, synccheck, racecheck, initcheck    compute-sanitizer over some tests of our kernels
#   --first-minutes   see above
#   --seconds S       for each comparison of bench                   (0.2)
#   --limit S         after which a part is stopped                  (540)
#   --device NAME     the device of all but bench and the samples    (cuda:0, which is theirs)
#   --logs DIR        where gpu_check.log and gpu_check.table go     ($OUT if that is set, else build/gpu_check_logs)
#   --prepare         see above; --targets LIST are what the module is compiled for (90: H100, H200, newer ones by PTX)
#   --fake DIR        the programs of a build, reduced, over its fake runtime
#   --rehearse DIR    tries this script so: every part, and parts that fail, hang, or have no device
#
# In the table: "worst" is the least a figure of bench reached of its aim. "unjudged": racecheck or initcheck reported
# something; whether that is ours or the vendor's is to be read in the log, so the part does not fail by it.
#
# Exit status: 0 when all that ran passed and there was a GPU; 2 when there is no GPU, which the table says too.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kit=$root/build/gpu_check packed=$root/build/gpu_check.tar.gz
most_packed=20000000 # bytes; the tree and the kit travel in 64 MiB
all=properties,smoke,tests,tests-own,capture,bench,forecast,memcheck,synccheck,racecheck,initcheck
only=$all first=no seconds=0.2 sizes=all part_limit=540 device=cuda:0 logs=${OUT:-$root/build/gpu_check_logs}
prepare=no targets=90 fake='' rehearse=''
while [[ $# -gt 0 ]]; do
    case $1 in
    --only) only=$2; shift ;;
    --first-minutes) first=yes ;;
    --seconds) seconds=$2; shift ;;
    --limit) part_limit=$2; shift ;;
    --device) device=$2; shift ;;
    --logs) logs=$2; shift ;;
    --prepare) prepare=yes ;;
    --targets) targets=$2; shift ;;
    --fake) fake=$(cd "$2" && pwd) || exit 64; shift ;;
    --rehearse) rehearse=$(cd "$2" && pwd) || exit 64; shift ;;
    *) sed -n '5,/^# Exit status/p' "$0" | sed 's/^# \{0,1\}//'; exit 64 ;;
    esac
    shift
done
die() { echo "gpu_check: $*" >&2; exit 1; }
for name in ${only//,/ }; do
    [[ ,$all, == *,$name,* ]] || die "no part $name; there are ${all//,/ }"
done

# ---- The kit: the programs, the libraries they load, and the records of the forecast, in one folder that can be moved.

make_kit() {
    local build=$root/build/gpu_release library
    mkdir -p "$root/build"
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DJALLOC_CUDA=ON -DJALLOC_HIP=OFF \
        -DJALLOC_CUDA_ARCHITECTURES="$targets" >"$build.log" 2>&1 || { tail -20 "$build.log"; die "CMake failed"; }
    cmake --build "$build" --parallel "$(nproc)" --target jalloc-gpu-test bench_gpu co2_forecast jalloc-info cuda_graph \
        cuda_stream_interop jalloc_cuda || die "the build failed"
    rm -rf "$kit"
    mkdir -p "$kit/bin" "$kit/lib" "$kit/data" "$kit/reference"
    cp "$build"/bin/{jalloc-gpu-test,bench_gpu,co2_forecast,jalloc-info,cuda_graph,cuda_stream_interop} "$kit/bin/"
    for library in "$build"/library/libj*.so.*; do # by the names that the loader asks for
        [[ -L $library || $library == *_cuda.so.* ]] && cp -L "$library" "$kit/lib/"
    done
    cp "$root"/clients/samples/co2_forecast/data/*.csv "$kit/data/"
    cp "$root"/clients/samples/co2_forecast/reference/*.csv "$kit/reference/"
    # What a bare machine lacks; CUDA's own libraries are the toolkit's there, the C library's the system's.
    for library in $(ldd "$kit"/bin/* "$kit"/lib/libjblas.so.* | awk '/=> \// {print $3}' | sort -u); do
        case $library in
        */libopenblas* | */libgfortran* | */libquadmath* | */libgomp* | */libblas* | */libcblas*) cp -L "$library" "$kit/lib/" ;;
        esac
    done
    strip --strip-debug "$kit"/bin/* "$kit"/lib/* 2>/dev/null
}

if [[ $prepare == yes ]]; then
    make_kit
    tar -czf "$packed" -C "$kit" . || die "$packed was not written"
    rm -rf "$kit" # it travels packed alone
    size=$(stat -c %s "$packed")
    echo "$packed: $size bytes"
    ((size <= most_packed)) || die "the kit has more than $most_packed bytes"
    exit 0
fi

# ---- Parts. A part says its result in status, tests, worst and note, and writes into the log.

mkdir -p "$logs" || exit 1
logs=$(cd "$logs" && pwd)
log=$logs/gpu_check.log table=$logs/gpu_check.table

# What the part that is running has written.
output() { tail -c "+$((start + 1))" "$log"; }

# A status is replaced by a worse one alone.
turn() { # STATUS NOTE
    case $status,$1 in
    FAILED,* | TIMEOUT,skipped | TIMEOUT,unjudged | TIMEOUT,passed) ;;
    *) status=$1 ;;
    esac
    note+="${note:+; }$2"
}

# Runs a program within the part's time. Its lines reach the log one by one, so that none is lost when it is stopped.
execute() { # COMMAND...
    local left=$((deadline - SECONDS)) name=$1 code
    name=${name##*/}
    if ((left < 1)); then
        turn TIMEOUT "no time was left for $name"
        return 124
    fi
    echo "-- $*" >>"$log"
    timeout --kill-after=5 "$left" stdbuf -oL "$@" >>"$log" 2>&1 </dev/null
    code=$?
    case $code in
    0) ;;
    124 | 137) turn TIMEOUT "$name was stopped" ;;
    "${reported:-0}") ;; # the caller's to judge
    *) turn FAILED "$name: exit status $code" ;;
    esac
    return $code
}

# Tests of jalloc-gpu-test, and under a sanitizer if one is named. Counted by their lines, also when stopped.
run_tests() { # FILTER [SANITIZER...]
    local filter=$1 code
    shift
    execute "$@" "$bin/jalloc-gpu-test" --gtest_filter="$filter"
    code=$?
    tests=$(output | awk '/^\[       OK \] .* ms\)$/ {ok++} /^\[  FAILED  \] .* ms\)$/ {bad++} /^\[  SKIPPED \] .* ms\)$/ {skipped++}
        END {printf "%d/%d/%d", ok, bad, skipped}')
    [[ $tests != 0/* || $status == TIMEOUT ]] || turn FAILED "no test passed"
    return $code
}

part_properties() {
    execute "$bin/jalloc-info"
    command -v nvidia-smi >/dev/null && execute nvidia-smi
    # Of the device's paragraph in jalloc-info.
    local said
    said=$(output | awk -v device="$device" '$0 == "  " device {inside = 1; next} /^  [^ ]/ {inside = 0}
        inside && /^    (status|reason|description|architecture|runtime|processors|blas|total) / {$1 = ""; printf "%s%s", comma, $0; comma = ","}')
    case $said in
    " JSTATUS_SUCCESS,"*) turn passed "${said# JSTATUS_SUCCESS, }" ;;
    *) turn NONE "${said:-jalloc-info shows no $device}" ;;
    esac
}

part_smoke() {
    export JALLOC_TEST_SCALE=0.02
    run_tests "$smoke_tests"
    JALLOC_VENDOR_BLAS=0 run_tests "$smoke_tests"
}

part_tests() { run_tests "$all_tests"; }
part_tests-own() { JALLOC_VENDOR_BLAS=0 run_tests "$own_tests"; }

part_capture() {
    run_tests "$capture_tests"
    local sample
    export JALLOC_MODULE_PATH=$sample_modules
    for sample in cuda_graph cuda_stream_interop; do
        if [[ -x $bin/$sample ]]; then
            execute "$bin/$sample"
        else
            turn "$without_device" "$sample was not built"
        fi
    done
    output | grep -q '^nothing to show:' || return
    turn "$without_device" "the samples have no CUDA device"
}

part_bench() {
    execute "$bench" "$seconds" all "$sizes"
    worst=$(output | sed -n 's/^aim: .*; \([0-9.]*\) of the aim$/\1/p' | sort -g | head -1)
    note+="${note:+; }$(output | grep -c '^aim: .*MISSED') of $(output | grep -c '^aim: ') aims missed"
    output | grep -q '^bench_gpu: nothing measured' && turn FAILED "nothing was measured"
    output | grep -q '^potrf beside cuSOLVER: skipped' && note+="; no cuSOLVER"
}

part_forecast() {
    local series
    for series in "${every_series[@]}"; do
        execute "$bin/co2_forecast" --device "$device" --series "$series" --verify --data "$data" --repeat "$repeat" \
            --output "$work/$series.svg"
    done
}

# Tests of our kernels, at few iterations: the tools make them 10 to 100 times slower. Those that plant errors are left
# out, and the vendor's BLAS, whose reports are not ours.
sanitize() { # TOOL
    if ! command -v compute-sanitizer >/dev/null; then
        turn skipped "compute-sanitizer is not on this machine"
        return
    fi
    export JALLOC_TEST_SCALE=0.05 JALLOC_VENDOR_BLAS=0
    local reported=9 said
    run_tests "$sanitized_tests" \
        compute-sanitizer --tool "$1" --error-exitcode $reported
    case $?,$1 in
    9,racecheck | 9,initcheck) turn unjudged "" ;;
    9,*) turn FAILED "" ;;
    esac
    said=$(output | sed -n 's/^=* *\(.*SUMMARY: .*\)/\1/p' | tail -1)
    note+="${note:+ }${said:-no summary}"
    output | grep -q 'Device not supported' && status=skipped note="compute-sanitizer does not support the device"
}
part_memcheck() { sanitize memcheck; }
part_synccheck() { sanitize synccheck; }
part_racecheck() { sanitize racecheck; }
part_initcheck() { sanitize initcheck; }

# Runs a part, in a shell of its own, for what it exports; its row comes back.
run_part() { # NAME
    local name=$1 began=$SECONDS
    echo "== $name" | tee -a "$log"
    (
        status=passed tests=- worst=- note='' start=$(stat -c %s "$log")
        deadline=$((SECONDS + part_limit))
        ((deadline < end)) || deadline=$end
        "part_$name"
        printf '%-11s %-8s %5d s %12s %6s  %s\n' "$name" "$status" $((SECONDS - began)) "$tests" "${worst:--}" "$note" >>"$table"
        output | grep -A1 ': Skipped$' | sed '/: Skipped$/d; /^--$/d' | sort | uniq -c | sed "s/^/$name skipped:/" >>"$work/skipped"
    )
    tail -1 "$table"
}

show_table() {
    printf '\n== gpu_check %s\n' "$(date -u +%F)"
    printf '%-11s %-8s %7s %12s %6s  %s\n' part status time "ok/bad/skip" worst note
    cat "$table" "$work/skipped"
}

run_parts() {
    local name
    echo "==== gpu_check $(date -u '+%F %T'): ${only//,/ }" >>"$log"
    : >"$table"
    : >"$work/skipped"
    run_part properties # it says whether there is a device
    if grep -q '^properties *NONE' "$table"; then
        show_table
        return 2
    fi
    for name in ${all//,/ }; do
        [[ $name == properties || ,$only, != *,$name,* ]] || run_part "$name"
    done
    show_table | tee -a "$log"
    ! grep -Eq '^[a-z-]+ +(FAILED|TIMEOUT) ' "$table"
}

# ---- The rehearsal: what the table says of parts that pass, fail, hang, or have no device.

rehearse() { # BUILD
    local build=$1 problems=0 shown=$work/shown code
    try() { # CODE ARGUMENTS...
        local expected=$1
        shift
        echo "==== gpu_check.sh $*"
        "$0" --logs "$work/logs" "$@" >"$shown" 2>&1
        code=$?
        cat "$shown"
        [[ $code == "$expected" ]] || { echo "REHEARSAL: exit status $code, not $expected"; problems=1; }
        sed '1,/^== gpu_check/d' "$shown" >"$shown.table"
    }
    row() { # PART PATTERN: the row of the last table
        grep -Eq "^$1 +$2" "$shown.table" || { echo "REHEARSAL: the row of $1 is not: $2"; problems=1; }
    }

    try 0 --fake "$build"
    local part
    for part in ${all//,/ }; do
        case $part in
        racecheck | initcheck) row "$part" 'unjudged .* 1 error' ;;
        bench) row bench 'passed .* [0-9]+\.[0-9]+ .*aims missed$' ;; # cuSOLVER's stand-in was found, too
        properties | forecast) row "$part" passed ;;
        *) row "$part" 'passed +[0-9]+ s +[1-9][0-9]*/0/' ;;
        esac
    done

    # A program that fails, or hangs after its first line, takes neither the other parts nor that line with it.
    local broken=$work/broken
    mkdir -p "$broken/bin"
    ln -s "$build/fake_gpu" "$broken/"
    ln -s "$build"/bin/* "$broken/bin/"
    rm "$broken/bin/jalloc-gpu-test"
    printf '#!/bin/sh\necho "[       OK ] A.B (1 ms)"; exit 3\n' >"$broken/bin/jalloc-gpu-test"
    chmod +x "$broken/bin/jalloc-gpu-test"
    try 1 --fake "$broken" --only tests,bench,memcheck
    row tests 'FAILED .* 1/0/0 .*exit status 3'
    row memcheck 'FAILED .* 1/0/0 '
    row bench passed
    printf '#!/bin/sh\necho "[       OK ] A.B (1 ms)"; exec sleep 60\n' >"$broken/bin/jalloc-gpu-test"
    try 1 --fake "$broken" --only tests,capture --limit 5
    row tests 'TIMEOUT .* 1/0/0 .*stopped'
    row capture 'TIMEOUT'

    try 2 --fake "$build" --device cuda:99
    row properties NONE
    try 0 --fake "$build" --first-minutes
    for part in properties smoke capture bench; do
        row $part passed
    done
    return $problems
}

# ---- What the programs are, and over what they run.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
end=$((SECONDS + 1000000)) # of all parts
if [[ -n $rehearse ]]; then
    rehearse "$rehearse"
    exit
fi
if [[ $first == yes ]]; then
    only=properties,smoke,capture,bench sizes=two end=$((SECONDS + 230))
    ((part_limit < 100)) || part_limit=100
fi

if [[ -z $fake ]]; then
    if [[ -f $packed && ! $kit/bin -nt $packed ]]; then
        rm -rf "$kit"
        mkdir -p "$kit"
        tar -xzmf "$packed" -C "$kit" || die "$packed could not be unpacked"
    fi
    [[ -x $kit/bin/jalloc-gpu-test ]] || make_kit
    bin=$kit/bin bench=$kit/bin/bench_gpu data=$kit/data sample_modules=$kit/lib without_device=FAILED repeat=3
    every_series=(co2 sunspots)
    all_tests='*'
    own_tests='GpuJblas*:GpuLevel*:GpuGemm*:GpuReduce*:GpuSolver*:GpuVendorBlas*:GpuOperation*'
    smoke_tests='GpuJblas.RandomArguments*:GpuLevel3.*:GpuReduce.SameBitsForEvery*:GpuSolver.*OnEachRung*:GpuGemm.*:GpuLapack.IsRight*'
    capture_tests='*Capture*:*Graph*'
    sanitized_tests='GpuJblas.RandomArguments*:GpuLevel3.*:GpuReduce.*:GpuSolver.*'
    for toolkit in "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda; do
        [[ -n $toolkit && -d $toolkit ]] && break
    done
    folders=$kit/lib:$toolkit/lib64:$toolkit/extras/CUPTI/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for folder in "$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)"/nvidia/*/lib; do
        [[ -d $folder ]] && folders+=:$folder # cuBLAS may be Python's and not the toolkit's
    done
    export LD_LIBRARY_PATH=$folders
    export PATH=$PATH:$toolkit/bin:$toolkit/compute-sanitizer
    export JALLOC_MODULE_PATH=$kit/lib
else
    # Reduced. CUDA's own programs know no fake device, so the samples are run without one, and bench is compiled over
    # stand-ins of CUDA; so is compute-sanitizer, which reports something where that is not to fail the part.
    bin=$fake/bin bench=$fake/bin/bench_gpu_rehearsal data=$root/clients/samples/co2_forecast/data repeat=1
    sample_modules=$work without_device=passed seconds=0.001 sizes=tiny every_series=(co2)
    all_tests='GpuRuntime.Properties*:GpuBuffer.*:GpuLevel2.LongAndWide*'
    own_tests='GpuJblas.RandomArguments/d*:GpuVendorBlas.TheDevice*' smoke_tests='GpuJblas.RandomArguments/s*'
    capture_tests='GpuCapture.GraphsRun*' sanitized_tests='GpuReduce.NoElements*'
    export JALLOC_MODULE_PATH=$fake/fake_gpu JALLOC_TEST_SCALE=0.02 OPENBLAS_NUM_THREADS=1 PATH=$work:$PATH
    cat >"$work/compute-sanitizer" <<'END'
#!/usr/bin/env bash
tool=$2 # --tool NAME --error-exitcode NUMBER PROGRAM...
"${@:5}" || exit
case $tool in
racecheck | initcheck) echo "========= ERROR SUMMARY: 1 error (a stand-in's)"; exit "$4" ;;
esac
echo "========= ERROR SUMMARY: 0 errors (a stand-in's)"
END
    chmod +x "$work/compute-sanitizer"
fi
export JALLOC_TEST_DEVICE=$device
run_parts
