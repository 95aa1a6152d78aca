#!/usr/bin/env bash
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# Brings the libraries that bench_product compares with, and prints the options that name them to it:
#
#     bin/bench_product --best $(clients/scripts/peers.sh FOLDER)
#
# FOLDER (build/peers unless given) gets OpenBLAS as SciPy builds it and MKL, both from PyPI, and Debian's packages of BLIS
# and OpenBLAS, unpacked. Nothing is installed and nothing outside of FOLDER is written; what is there already stays. A library
# that cannot be had is left out, which standard error says.
set -uo pipefail

case ${1-} in
-*) sed -n '5,/^# that cannot/p' "$0" | sed 's/^# \{0,1\}//'; exit 64 ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$root/build/peers}
mkdir -p "$folder/debian" && folder=$(cd "$folder" && pwd) || exit 1

# A prefix, since with --target pip loses what a package puts into lib.
from_pypi() { # PACKAGE FILE
    found "$folder/python" "$2" > /dev/null ||
        python3 -m pip install --quiet --disable-pip-version-check --ignore-installed --no-warn-script-location \
            --prefix "$folder/python" "$1" >&2
}
from_debian() { # PACKAGE FILE
    found "$folder/debian" "$2" > /dev/null ||
        (cd "$folder/debian" && apt-get download --quiet "$1" >&2 && dpkg-deb --extract "$1"_*.deb . && rm "$1"_*.deb)
}
found() { # WHERE FILE
    local file
    file=$(find "$1" -name "$2" -not -type d 2> /dev/null | sort | head -n 1)
    [[ -n $file ]] && printf '%s\n' "$file"
}
option() { # NAME WHERE FILE
    local file
    if file=$(found "$2" "$3"); then printf -- '--peer %s=%s\n' "$1" "$file"; else echo "peers.sh: no $1" >&2; fi
}

from_debian libopenblas0-pthread 'libopenblas.so.0'
from_debian libblis4-openmp 'libblis.so.4'
from_pypi scipy-openblas32 'libscipy_openblas.so'
from_pypi mkl 'libmkl_rt.so.*'
option debian "$folder/debian" 'libopenblas.so.0'
option pypi "$folder/python" 'libscipy_openblas.so'
option mkl "$folder/python" 'libmkl_rt.so.*'
option blis "$folder/debian" 'libblis.so.4'
