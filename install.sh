#!/usr/bin/env bash
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Installs what jalloc needs, builds it and installs it; --help says the rest. The one list of Debian packages is below;
# rtest.py and continuous integration ask for their part of it with --dependencies-only.
set -euo pipefail

# Packages of each component. jalloc needs a C compiler, and Python for headers that are made of others; what else stands
# here is for one component each. A package whose name depends on the release is written as in Debian's own lists, a|b.
packages_of() {
    case $1 in
    library)    echo gcc libc6-dev make cmake pkg-config python3 libopenblas0 ;; # the last to run, not to build
    clients)    packages_of library ;;
    hip)        echo hipcc libamdhip64-dev g++ ;; # libjalloc_hip; nvcc, for libjalloc_cuda, comes from NVIDIA
    mpi)        packages_of library; echo libopenmpi-dev openmpi-bin libscalapack-openmpi-dev ;; # libjalloc_mpi
    fortran)    packages_of library; echo gfortran python3 ;; # libjalloc_fortran
    test)       packages_of library; packages_of hip; echo g++ gfortran libopenblas-dev libgtest-dev python3 python3-numpy file dpkg-dev git perl; packages_of mpi ;;
    bench)      packages_of library; echo libopenblas-dev libjemalloc2 libboost-dev python3-scipy # the peers
                echo "libmimalloc3|libmimalloc2.0" "libtcmalloc-minimal4t64|libtcmalloc-minimal4" ;;
    docs)       echo cmake gcc libc6-dev make doxygen python3 python3-sphinx python3-breathe
                echo furo python3-sphinx-copybutton python3-sphinx-inline-tabs python3-matplotlib ;;
    clang)      echo clang libclang-rt-dev ;;
    lint)       echo clang-format clang-tidy ;;
    valgrind)   echo valgrind libc6-dbg ;;
    coverage)   echo gcovr ;;
    targets)    packages_of hip; echo clang-19 "rocm-device-libs|rocm-device-libs-17" ;; # of clients/scripts/hip_targets.py
    chroot)     echo mmdebstrap uidmap ;; # clients/package/check_debian.py
    elsewhere)  packages_of chroot; echo clang-19 mpich libmpich-dev libscalapack-mpich-dev libblas3 libblis4 libopenblas64-0
                echo musl-tools qemu-user g++-aarch64-linux-gnu ;; # what clients/scripts/elsewhere.py runs on
    python)     echo gcc libc6-dev make cmake python3 python3-venv python3-pip python3-numpy python3-pytest mypy ;; # faces/python
    programs)   echo gcc gfortran dpkg-dev binutils libblas3 liblapack3 # clients/scripts/netlib.py, and python_suites.py
                echo python3-numpy python3-scipy python3-pytest python3-hypothesis ;;
    *)          die "no component \"$1\" (there are library mpi fortran clients docs, and for development hip test bench clang lint valgrind coverage targets chroot elsewhere python programs)" ;;
    esac
}

usage() {
    cat <<'END'
usage: ./install.sh [options]

Without options: installs the packages that are missing (Debian and its descendants), builds jalloc and installs its
libraries, headers and tools in /usr/local, with libjalloc_cuda where nvcc is found, libjalloc_hip where hipcc is,
libjalloc_mpi where an MPI and ScaLAPACK are, and the Fortran module where gfortran is; the components mpi and fortran
install those. Uses sudo where it is not run by root.

  --demo                  build, then run the main job: the forecast of the CO2 record of Mauna Loa. Installs no jalloc.
  --prefix DIR            where to install                          (/usr/local)
  --components LIST       what to install, of library,mpi,fortran,clients,docs  (library,clients)
  --no-dependencies       install no packages
  --dependencies-only     install packages and stop; LIST may also name hip,test,bench,clang,lint,valgrind,coverage,
                          targets,chroot,elsewhere,python,programs
  --build-dir DIR         where to build           (build/install; of --demo, build/demo)
  --debug                 build without optimization
  -DNAME=VALUE            an option for CMake, such as -DJALLOC_MPI=OFF or -DJALLOC_CUDA=OFF
  --configure-only        run CMake and stop
  --jobs N                compile N files at a time                 (as many as there are processors)
  --help                  this text

What is compiled is what is installed: with --demo the forecast, else neither samples, benchmarks nor tests.
No BLAS is needed to build; OpenBLAS is installed along, which jblas loads where it is told to (docs/cblas.rst).
END
}

die() { echo "install.sh: $*" >&2; exit 1; }
say() { echo "== $*"; }
run() { echo "+ $*"; "$@"; }

as_root() {
    if [[ $(id -u) == 0 ]]; then
        run "$@"
    elif command -v sudo >/dev/null; then
        run sudo "$@"
    else
        die "\"$*\" has to be run as root, and there is no sudo"
    fi
}

installed() { [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
known_to_apt() { [[ -n $(apt-cache show "$1" 2>/dev/null) ]]; }

# The packages that are missing; of a|b, where neither is installed, the first that apt knows.
missing_of() {
    local package name names
    for package in "$@"; do
        IFS='|' read -r -a names <<<"$package"
        for name in "${names[@]}"; do
            if installed "$name"; then continue 2; fi
        done
        for name in "${names[@]}"; do
            if known_to_apt "$name"; then break; fi
        done
        echo "$name"
    done
}

install_missing() {
    local missing
    mapfile -t missing < <(missing_of "$@")
    say "installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
}

# Installs those of the packages that are missing. Lists of packages that are absent or older than a week are fetched
# first, and once more when the installation fails, because a mirror forgets what it has replaced.
install_packages() {
    command -v dpkg-query >/dev/null || {
        say "not a Debian system: needs what Debian calls $*"
        return 0
    }
    [[ -n $(missing_of "$@") ]] || return 0
    if [[ -z $(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mtime -7 -print -quit 2>/dev/null) ]]; then
        as_root apt-get update
    fi
    install_missing "$@" || { as_root apt-get update; install_missing "$@"; }
}

prefix=/usr/local components="" dependencies=yes dependencies_only=no build_dir="" build_type=Release demo=no
configure_only=no cmake_options=()
jobs=$(nproc 2>/dev/null || echo 2)
while [[ $# -gt 0 ]]; do
    option=$1
    case $option in --*=*) set -- "${option%%=*}" "${option#*=}" "${@:2}"; option=$1 ;; esac
    case $option in
    --prefix | --components | --build-dir | --jobs) [[ $# -ge 2 && -n $2 ]] || die "$option needs a value" ;;
    esac
    case $option in
    --demo) demo=yes ;;
    --prefix) prefix=$2; shift ;;
    --components) components=$2; shift ;;
    --no-dependencies) dependencies=no ;;
    --dependencies-only) dependencies_only=yes ;;
    --build-dir) build_dir=$2; shift ;;
    --debug) build_type=Debug ;;
    -D?*=*) cmake_options+=("$option") ;;
    --configure-only) configure_only=yes ;;
    --jobs | -j) jobs=$2; shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; die "unknown option $option" ;;
    esac
    shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "--jobs needs a number, not \"$jobs\""
if [[ -z $components ]]; then
    components=library,clients
    [[ $demo == no ]] || components=clients
fi
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $prefix == /* ]] || prefix=$PWD/$prefix
[[ -z $build_dir || $build_dir == /* ]] || build_dir=$PWD/$build_dir
[[ -n $build_dir ]] || build_dir=$source_dir/build/$(if [[ $demo == yes ]]; then echo demo; else echo install; fi)

IFS=, read -r -a component_list <<<"$components"
packages=""
for component in "${component_list[@]}"; do
    packages+=" $(packages_of "$component")"
done
if [[ $dependencies == yes ]]; then
    # shellcheck disable=SC2086 # one word, one package
    mapfile -t packages_sorted < <(printf '%s\n' $packages | sort -u)
    install_packages "${packages_sorted[@]}"
fi
[[ $dependencies_only == no ]] || exit 0

wants() { [[ ,$components, == *,$1,* ]]; }
for component in "${component_list[@]}"; do
    case $component in library | mpi | fortran | clients | docs) ;; *) die "component \"$component\" is for --dependencies-only" ;; esac
done
tools() { wants clients && [[ $demo == no ]]; }
on_off() { if "$@"; then echo ON; else echo OFF; fi; }

# The demo is built to be looked at: without modules that it does not load, and hardly optimized but for jblas's kernels,
# which name their own level. That halves the time to compile.
mpi=AUTO fortran=AUTO
if [[ $demo == yes ]]; then
    mpi=OFF fortran=OFF
    cmake_options=(-DJALLOC_CUDA=OFF -DJALLOC_HIP=OFF "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG" "${cmake_options[@]}")
else
    if wants mpi; then mpi=ON; fi
    if wants fortran; then fortran=ON; fi
fi

say "building in $build_dir"
run cmake -S "$source_dir" -B "$build_dir" -DCMAKE_BUILD_TYPE="$build_type" -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DJALLOC_BUILD_TESTS=OFF -DJALLOC_BUILD_BENCHMARKS=OFF -DJALLOC_BUILD_SAMPLES="$(on_off test "$demo" = yes)" \
    -DJALLOC_BUILD_TOOLS="$(on_off tools)" -DJALLOC_BUILD_DOCS="$(on_off wants docs)" \
    -DJALLOC_MPI="$mpi" -DJALLOC_FORTRAN="$fortran" "${cmake_options[@]}"
[[ $configure_only == no ]] || exit 0
if [[ $demo == yes ]]; then
    run cmake --build "$build_dir" --parallel "$jobs" --target co2_forecast
    say "the forecast of the CO2 record of Mauna Loa"
    # The matrices are small: on a busy machine OpenBLAS's other threads would take longer to come than they help.
    run env OPENBLAS_NUM_THREADS=1 "$build_dir/bin/co2_forecast" --output "$build_dir/co2_forecast.svg"
    exit 0
fi
run cmake --build "$build_dir" --parallel "$jobs"
if wants docs; then run cmake --build "$build_dir" --target docs; fi

install_components=()
libraries=(libjalloc libjblas libjblas_blas libjlapack libjlapack_lapack libjbuffer libjalloc_mpi libjalloc_fortran libjalloc_cuda libjalloc_hip) # those that were built
if wants library || wants mpi || wants fortran; then install_components+=("${libraries[@]}" dev dev_mpi dev_fortran); fi
if wants clients; then install_components+=("${libraries[@]}" clients); fi # the tools need the libraries
if wants docs; then install_components+=(docs); fi
# Whoever may write to the prefix needs no root for it.
writable=$prefix
while [[ ! -e $writable ]]; do writable=$(dirname "$writable"); done
for component in "${install_components[@]}"; do
    if [[ -w $writable ]]; then
        run cmake --install "$build_dir" --component "$component"
    else
        as_root cmake --install "$build_dir" --component "$component"
    fi
done
if [[ ! -w $writable || $(id -u) == 0 ]]; then
    as_root ldconfig
fi
say "installed in $prefix"
