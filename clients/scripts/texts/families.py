# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The families of BLAS: what each consists of in the field, and what of it the headers of jblas declare."""

import collections
import re

from texts.names import DECLARED
from texts.rows import HEADERS

# Letters of types and the names behind them; those without letters are whole names.
FAMILIES = {
    "BLAS, level 1":
        """sdcz: axpy copy scal swap rotg
           sd: asum dot nrm2 rot rotm rotmg
           cz: dotu dotc
           : scasum dzasum scnrm2 dznrm2 csscal zdscal csrot zdrot isamax idamax icamax izamax dsdot sdsdot""",
    "BLAS, level 2":
        """sdcz: gemv gbmv trmv tbmv tpmv trsv tbsv tpsv
           sd: ger symv sbmv spmv syr spr syr2 spr2
           cz: geru gerc hemv hbmv hpmv her hpr her2 hpr2""",
    "BLAS, level 3":
        """sdcz: gemm symm syrk syr2k trmm trsm
           cz: hemm herk her2k""",
    "New in the reference":
        """sdcz: axpby gemmtr
           sd: skewsymv skewsyr2 skewsymm skewsyr2k""",
    "Extensions":
        """sdcz: gemmt geam omatcopy imatcopy dgmm trttp tpttr syrkx
           cz: symv syr syr2 herkx gemm3m
           hb: gemm
           : isamin idamin icamin izamin""",
    "Types as arguments": ": gemm_ex axpy_ex dot_ex dotc_ex nrm2_ex asum_ex scal_ex rot_ex trsm_ex",
}

# have and lacking are names without jblas_; batched those of have that have both batched forms.
Family = collections.namedtuple("Family", "title have lacking batched")


def names(text):
    """What a family consists of."""
    found = []
    for line in text.splitlines():
        letters, stems = line.split(":")
        found += [letter + stem for letter in letters.strip() or [""] for stem in stems.split()]
    return found


def declared(tree):
    """The routines that the headers declare, without jblas_."""
    return {
        name.removeprefix("jblas_")
        for header in tree.files(HEADERS)
        for name in DECLARED.findall(tree.code(header))
        if re.search(rf"\b{name}\(\s*jhandle_t", tree.code(header))
    }


def families(tree):
    """Each family, the plain form of its routines; last those that are in none."""
    there = declared(tree)
    known = set()
    for title, text in FAMILIES.items():
        whole = names(text)
        known.update(whole)
        have = [name for name in whole if name in there]
        yield Family(title, have, [name for name in whole if name not in there],
                     [n for n in have if {f"{n}_batched", f"{n}_strided_batched"} <= there])
    odd = sorted(name for name in there - known if not re.search(r"_batched$", name))
    yield Family("In no family", odd, [], [])


def check_families(tree, _build):
    """Each routine of jblas is in a family, so that the manual's table counts it; README says that BLAS is whole when
    it is."""
    found = list(families(tree))
    for name in found[-1].have:
        yield f"clients/scripts/texts/families.py:1: jblas_{name} is in no family"
    lacking = [name for family in found if family.title.startswith("BLAS") for name in family.lacking]
    if ("levels 1 to 3 of BLAS, whole" in tree.read("README.md")) != (not lacking):
        yield f"README.md:1: of BLAS there lack {' '.join(lacking) or 'none'}"
