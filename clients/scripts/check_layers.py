#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""Keeps the layer order of the library true.

A folder of library/ (a layer) may include only what stands at or above it in LAYERS, blas/ nothing of buffer/: libjblas
does not need libjbuffer. Within a layer that has rooms, a room may include only what stands at or above it in ROOMS.
Public headers know each other in the order of layers and nothing of library/, those of C++ all of them; headers of other projects' BLAS, GPU
runtimes, MPI and OpenMP stay in the folders of VENDOR_IN. The order is read from the #include lines, so it holds for every
build configuration at once. --self-test plants violations in a scratch tree and fails unless each is found."""

import argparse
import pathlib
import re
import sys
import tempfile

LAYERS = ["core", "device", "memory", "shm", "handle", "program", "blas", "lapack", "buffer", "operation", "gpu", "mpi", "dropin"]
APART = {"buffer": "blas"}  # these do not know each other, whichever stands above

# The rooms of a layer, from the lowest; "" is the layer's folder itself.
ROOMS = {
    "memory": ["", "providers", "allocators", "allocators/bfc", "allocators/lru", "allocators/small", "trace", "adaptors",
               "compose"],
    "shm": ["", "heap", "segment"],
    "blas": ["primitives", "kernels", "", "algorithms", "host", "guest", "routine", "routines/level1", "routines/level2", "routines/level3"],
    "lapack": ["", "host", "guest", "vendor", "routines"],
    "gpu": ["device", "blas"],
    "dropin": ["", "lapack"],
}

# The layer whose interface a public header is. jalloc.h includes them all and is for users alone.
PUBLIC = {
    "core": ["config", "datatype", "executor", "export", "log", "metadata", "status", "tag", "version"],
    "device": ["device", "cuda", "hip"],
    "memory": ["adaptor", "allocator", "policy", "process", "provider", "quota"],
    "shm": ["segment"],
    "handle": ["handle", "borrow"],
    "program": ["requirement", "profile", "program"],
    "blas": ["jblas", "jblas_batched", "jblas_batched_ex", "jblas_batched_extensions", "jblas_batched_level1",
             "jblas_batched_level2", "jblas_batched_level3", "jblas_ex", "jblas_extensions", "jblas_level1", "jblas_level2", "jblas_level3",
             "jblas_types"],
    "lapack": ["jlapack", "jlapack_batched", "jlapack_drivers"],
    "buffer": ["buffer", "layout", "runtime"],
    "operation": ["operation"],
    "mpi": ["mpi"],
}
LAYER_OF_PUBLIC = {name: layer for layer, names in PUBLIC.items() for name in names}
UMBRELLA = "jalloc/jalloc.h"
VENDOR = re.compile(r"(cblas|lapacke?|openblas\w*|mkl\w*|omp|cuda\w*|hip\w*|mpi)(/.*|\.h)$")
VENDOR_IN = ("blas", "gpu", "mpi")
FOREIGN_PUBLIC = ("mpi", "mpi.h")  # the one public header that needs another project's: MPI_Comm differs between MPIs
SUFFIXES = {".c", ".h", ".inc", ".cpp", ".hpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def rank(layer):
    return LAYERS.index(layer)


def includes(path):
    """(line number, name, whether quoted) of each #include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(1) is not None


def layer_of_include(name):
    """The layer that an included file belongs to, None for a system header; raises KeyError when it has no place."""
    parts = name.split("/")
    if parts[0] == "jalloc":
        return LAYER_OF_PUBLIC[pathlib.PurePosixPath(name).name.removesuffix(".h")]
    return parts[0] if parts[0] in LAYERS else None


def check_room(layer, room, name):
    """A complaint about an include from a room of a layer into another of its rooms, or None."""
    target = "/".join(name.split("/")[1:-1])
    order = ROOMS.get(layer)
    if order is None:
        return None if target == room else f"{layer} has no rooms: add them to ROOMS"
    if room not in order:
        return f"the room {room} is not in ROOMS"
    if target not in order or order.index(target) > order.index(room):
        return f"{layer}/{room} may not include {name}"
    return None


def check_file(path, shown, layer, public):
    """Complaints about one file of a layer."""
    room = "/".join(shown.parts[2:-1])
    for number, name, quoted in includes(path):
        where = f"{shown}:{number}"
        try:
            target = layer_of_include(name)
        except KeyError:
            why = "is for users, not for the library" if name == UMBRELLA or name.endswith(".hpp") else "has no layer: add it to PUBLIC"
            yield f"{where}: {name} {why}"
            continue
        if ".." in name.split("/"):
            yield f"{where}: {name}: write the path from library/"
        elif target is None:
            beside = quoted and "/" not in name and (path.parent / name).exists()
            if quoted and not beside:
                yield f"{where}: {name} is neither in a layer of library/ nor beside the file"
            elif VENDOR.match(name) and (public or layer not in VENDOR_IN) and not (layer, name) == FOREIGN_PUBLIC:
                yield f"{where}: {layer} may not include {name} of another project"
        elif public and not name.startswith("jalloc/"):
            yield f"{where}: a public header includes {name} of library/"
        elif rank(target) > rank(layer) or APART.get(layer) == target:
            yield f"{where}: {layer} may not include {name}, which belongs to {target}"
        elif target == layer and not public and not name.startswith("jalloc/") and (why := check_room(layer, room, name)):
            yield f"{where}: {why}"


def check_face(path, shown):
    """A header of C++ stands above all layers: it knows public headers, and the standard library's."""
    for number, name, _ in includes(path):
        if "/" in name and not name.startswith("jalloc/") or VENDOR.match(name):
            yield f"{shown}:{number}: a header of C++ may not include {name}"


def check_tree(root):
    """(files read, complaints)"""
    count, complaints = 0, []
    for path in sorted((root / "library").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        count += 1
        shown = path.relative_to(root)
        layer = shown.parts[1]
        if layer not in LAYERS:
            complaints.append(f"{shown}: not in a folder of a layer")
            continue
        complaints += check_file(path, shown, layer, public=False)
    for path in sorted((root / "include" / "jalloc").glob("*.h*")):
        if f"jalloc/{path.name}" == UMBRELLA:
            continue
        count += 1
        shown = path.relative_to(root)
        if path.suffix == ".hpp":
            complaints += check_face(path, shown)
            continue
        layer = LAYER_OF_PUBLIC.get(path.stem)
        if layer is None:
            complaints.append(f"{shown}: has no layer: add it to PUBLIC")
            continue
        complaints += check_file(path, shown, layer, public=True)
    return count, complaints


def self_test():
    """Each planted line must be found, and a clean tree must pass."""
    planted = [
        ("library/core/a.c", '#include "handle/handle.h"'),
        ("library/core/a.c", '#include "jalloc/handle.h"'),
        ("library/memory/providers/a.c", '# include "blas/blas.h"'),
        ("library/handle/a.c", "#include <cblas.h>"),
        ("library/device/a.c", '#include "../core/core.h"'),
        ("library/blas/routine/a.c", '#include "buffer/buffer.h"'),
        ("library/buffer/a.c", '#include "blas/blas.h"'),
        ("library/operation/a.c", "#include <cblas.h>"),
        ("library/blas/algorithms/a.c", '#include "blas/host/product.h"'),
        ("library/blas/attic/a.c", '#include "blas/blas.h"'),
        ("library/memory/providers/a.c", '#include "memory/trace/trace.h"'),
        ("library/handle/attic/a.c", '#include "handle/handle.h"'),
        ("library/gpu/device/a.cu", '#include "gpu/blas/blas.h"'),
        ("library/blas/a.c", '#include "jalloc/jalloc.h"'),
        ("library/handle/a.c", '#include "nowhere.h"'),
        ("library/odd/a.c", "#include <stdio.h>"),
        ("include/jalloc/status.h", '#include "core/core.h"'),
        ("include/jalloc/device.h", '#include "jalloc/borrow.h"'),
        ("include/jalloc/jblas.h", "#include <cblas.h>"),
        ("include/jalloc/surprise.h", "#include <stddef.h>"),
        ("include/jalloc/handle.hpp", '#include "handle/handle.h"'),
        ("include/jalloc/handle.hpp", "#include <cblas.h>"),
        ("library/handle/a.c", '#include "jalloc/handle.hpp"'),
    ]
    clean = [
        ("library/core/core.h", '#include <stdio.h>\n#include "jalloc/status.h"'),
        ("library/blas/ok.c", '#include "core/core.h"\n#include "own.h"\n#include <omp.h>\n#include "jalloc/handle.h"'),
        ("library/blas/own.h", ""),
        ("library/blas/host/ok.c", '#include "blas/blas.h"\n#include "blas/primitives/primitive.h"'),
        ("library/operation/ok.c", '#include "blas/blas.h"\n#include "buffer/buffer.h"'),
        ("include/jalloc/jblas.h", '#include "jalloc/handle.h"'),
        ("include/jalloc/jalloc.h", '#include "jalloc/jblas.h"'),
        ("include/jalloc/handle.hpp", '#include <utility>\n#include "jalloc/jalloc.h"\n#include "jalloc/span.hpp"'),
    ]

    def tree(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n", encoding="utf-8")
            return check_tree(pathlib.Path(folder))[1]

    missed = [f"{name}: {text}" for name, text in planted if len(tree([(name, text)])) != 1]
    false_alarms = tree(clean)
    for line in missed:
        print(f"check_layers: self-test: not found: {line}")
    for line in false_alarms:
        print(f"check_layers: self-test: false alarm: {line}")
    print(f"check_layers: self-test: {len(planted) - len(missed)} of {len(planted)} planted violations found")
    return not missed and not false_alarms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="check the check first")
    arguments = parser.parse_args()
    if arguments.self_test and not self_test():
        return 1
    count, complaints = check_tree(arguments.root)
    for complaint in complaints:
        print(complaint)
    print(f"check_layers: {count} files, {len(complaints)} violations")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
