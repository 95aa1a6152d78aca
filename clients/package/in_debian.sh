#!/usr/bin/env bash
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
#
# What check_debian.py does inside of its bare Debian, as root: /srv has jalloc's packages (debs) and these files (package).
# First what only runs, where there is no compiler, and after its removal every file is as before. Then all packages, with
# compilers; what these leave behind of their own is not ours to judge, so jalloc's files are looked for. What is found wrong
# is said in a line that begins with in_debian, and ends the check.
set -euo pipefail
# Nothing of the environment outside counts here, such as a compiler's launcher.
[[ ${1-} == alone ]] || exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash "$0" alone
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

debs=/srv/debs
multiarch=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
libblas=$multiarch/libblas.so.3

die() { echo "in_debian: $*" >&2; exit 1; }
step() { echo "== ${SECONDS}s: $*"; }
apt() { apt-get -qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Options::=--force-unsafe-io "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; die "apt-get $* failed"; }; }

# Every file but those of apt and dpkg about themselves: kind, mode, where a link leads, path.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /srv -o -path /var/cache \
        -o -path /var/log -o -path /var/lib/apt -o -path '/var/lib/dpkg/*-old' -o -path /etc/ld.so.cache \) -prune -o -printf '%y %m %p %l\n' | sort
}

# jalloc's packages that are installed, or leave their configuration.
ours() { dpkg-query --show --showformat '${Package}\n' | grep -E '^(lib)?(jalloc|jblas|jlapack|jbuffer)'; }

# The library that a program is given for libblas.so.3.
blas() { readlink --canonicalize-existing "$libblas" || echo none; }

step "what runs, on a Debian that has nothing else"
for deb in $debs/*.deb; do # an archive of ours, so that apt finds by itself what a package needs
    dpkg-deb --field "$deb" | sed "/^$/d"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat --format %s "$deb")" "$(sha256sum "$deb" | cut -d ' ' -f 1)"
done >$debs/Packages
echo "deb [trusted=yes] file:$debs ./" >/etc/apt/sources.list.d/ours.list
apt update
files >/tmp/before
apt install jalloc-tools
jblas-run true || die "jalloc-tools does not bring what jblas-run runs"
[[ $(blas) == none ]] || die "the tools change the system's BLAS to $(blas)"
apt install libjblas-blas
[[ $(blas) == /usr/lib/jblas/libjblas_blas.so ]] || die "libblas.so.3 is $(blas)"
for program in /usr/bin/jalloc-* /usr/bin/jblas-*; do
    [[ $("$program" --version) == "$(basename "$program") "[0-9]* ]] || die "$program --version"
done
jalloc-info | grep -q jblas || die "jalloc-info says nothing of jblas"
mapfile -t installed < <(ours)
apt purge "${installed[@]}"
apt autoremove --purge
files | diff /tmp/before - || die "what is left of the packages is above"

step "all packages, and compilers"
mapfile -t packages < <(sed -n 's/^Package: //p' $debs/Packages)
apt install "${packages[@]}" gcc g++ gfortran cmake make pkg-config python3-minimal libpython3-stdlib libblas3 man-db bash-completion \
    libopenmpi-dev libscalapack-openmpi-dev openmpi-bin
dpkg --listfiles "${packages[@]}" | sort -u >/tmp/ours
step "C, C++ and Fortran against them"
cd /tmp
python3 /srv/package/check.py --installed /usr

step "pages and completions"
man jalloc-info | grep -q -e --check || die "no page jalloc-info(1)"
completed=$(bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader jalloc-info
    COMP_WORDS=(jalloc-info --che) COMP_CWORD=1; _jalloc_info; echo "${COMPREPLY[@]}"')
[[ $completed == --check ]] || die "jalloc-info --che is completed as '$completed'"

step "libblas.so.3 by Debian's alternatives"
alternative=libblas.so.3-$(basename "$multiarch")
reference=$multiarch/blas/libblas.so.3
[[ $(blas) == /usr/lib/jblas/libjblas_blas.so ]] || die "before the reference's is $(blas)"
gfortran /srv/package/product.f90 -o product "$libblas"
report() { JALLOC_BLAS_REPORT=1 "$@" 2>&1 | grep dgemm >/dev/null; } # -q would leave while others write
report ./product || die "a program linked with libblas.so.3 does not call jblas"
update-alternatives --set "$alternative" "$reference"
if report ./product; then die "the reference was chosen, and jblas is called"; fi
report jblas-run ./product || die "jblas-run does not bring jblas"
update-alternatives --set "$alternative" /usr/lib/jblas/libblas.so.3
for undone in remove deconfigure; do # as dpkg does where what follows fails
    /var/lib/dpkg/info/libjblas-blas.prerm "$undone"
    [[ $(blas) == "$(readlink --canonicalize "$reference")" ]] || die "after prerm $undone libblas.so.3 is $(blas)"
    /var/lib/dpkg/info/libjblas-blas.postinst "abort-$undone"
    [[ $(blas) == /usr/lib/jblas/libjblas_blas.so ]] || die "after postinst abort-$undone libblas.so.3 is $(blas)"
done
apt remove libjblas-blas
[[ $(blas) == "$(readlink --canonicalize "$reference")" ]] || die "after removal libblas.so.3 is $(blas)"
if update-alternatives --query "$alternative" | grep -q jblas; then die "the alternative is still registered"; fi
./product

step "nothing is left"
apt purge "${packages[@]}"
if ours; then die "dpkg still knows them"; fi
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /srv -o -path /var/log -o -path /var/cache -o -path /var/lib/apt \) -prune -o \
    \( -name '*jalloc*' -o -name '*jblas*' -o -name '*jlapack*' -o -name '*jbuffer*' \) -print)
[[ -z $left ]] || die "left: $left"
while read -r file; do # of ours, with whatever name
    [[ ! -e $file && ! -L $file ]] || dpkg --search "$file" >/dev/null || die "left: $file"
done </tmp/ours
step done
