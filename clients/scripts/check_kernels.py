#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The sums of the products' tiles stay in registers: no innermost loop of such a function in libjblas that multiplies vectors
has one of them on the stack. Compilers decide about that, and a change beside the loop can undo it: once packed products with
AVX-512 took nearly twice their time, while those with AVX2 had gained and all results were right.

Real tiles with AVX2 and AVX-512 are looked at, as objdump shows them; complex ones store sums within their loops over items,
by way of the stack, where a scalar has an imaginary part. On other processors there are no such kernels, and nothing to look at."""

import argparse
import pathlib
import platform
import re
import subprocess
import sys

TILE = re.compile(r"[sd]_(?:whole_tile|tiles|plain_\dx\d+|tile_\dx\d+)_(?:avx2|avx512)\b")
FUNCTION = re.compile(r"[0-9a-f]+ <([\w.]+)>:$")
INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\s+(.*)$")
JUMP = re.compile(r"j\w+\s+([0-9a-f]+)\b")
PRODUCT = re.compile(r"vfn?madd")
ON_STACK = re.compile(r"(?=.*[yz]mm).*\(%r[sb]p[,)]")
LEAST_PRODUCTS = 4  # of a loop: fewer are what is done to C


def functions(lines):
    """Each function of a disassembly: its name and its instructions, by address."""
    name, instructions = None, []
    for line in lines:
        if begin := FUNCTION.match(line):
            if name:
                yield name, instructions
            name, instructions = begin.group(1), []
        elif instruction := INSTRUCTION.match(line):
            instructions.append((int(instruction.group(1), 16), instruction.group(2)))
    if name:
        yield name, instructions


def innermost_loops(instructions):
    """The texts of loops that have none within."""
    index = {address: i for i, (address, _) in enumerate(instructions)}
    loops = set()
    for i, (_, text) in enumerate(instructions):
        jump = JUMP.match(text)
        target = index.get(int(jump.group(1), 16)) if jump else None
        if target is not None and target <= i:
            loops.add((target, i))
    for first, last in sorted(loops):
        if not any((first, last) != (a, b) and first <= a and b <= last for a, b in loops):
            yield [text for _, text in instructions[first:last + 1]]


def findings(lines):
    """How many tiles there are, and a line for each loop with a vector on the stack."""
    tiles, found = 0, []
    for name, instructions in functions(lines):
        if not TILE.match(name):
            continue
        tiles += 1
        for loop in innermost_loops(instructions):
            products = sum(bool(PRODUCT.match(text)) for text in loop)
            spilt = [text for text in loop if ON_STACK.match(text)]
            if products >= LEAST_PRODUCTS and spilt:
                found.append(f"{name}: a loop of {products} products has vectors on the stack {len(spilt)} times: {spilt[0]}")
    return tiles, found


def self_test():
    body = ["vmovupd (%rax),%zmm1"] + [f"vfmadd231pd (%rbx){{1to8}},%zmm1,%zmm{i}" for i in range(2, 7)]

    def found(name, loop, before=()):
        texts = [*before, *loop, "jne    10"]
        first = 0x10 - len(before)
        lines = [f"00000000 <{name}>:"] + [f"  {first + i:x}:\t{text}" for i, text in enumerate(texts)]
        return len(findings(lines)[1])

    spill = "vmovapd %zmm7,0x40(%rsp)"
    checks = [found("d_whole_tile_avx512", body) == 0, found("d_whole_tile_avx512", [*body, spill]) == 1,
              found("s_plain_2x12_avx512", [spill, *body]) == 1, found("d_tile_3x4_avx2", body, [spill]) == 0,
              found("d_tile_3x4_avx2", [*body[:3], spill]) == 0, found("z_tile_3x4_avx2", [*body, spill]) == 0,
              found("d_whole_tile_avx512", [*body, "mov %rax,0x40(%rsp)"]) == 0]
    for number, good in enumerate(checks):
        if not good:
            print(f"check_kernels: planted case {number} was not told")
    return all(checks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true", help="planted loops first")
    arguments = parser.parse_args()
    if arguments.self_test and not self_test():
        return 1
    library = arguments.build / "library" / "libjblas.so"
    shown = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", str(library)], text=True, stdout=subprocess.PIPE,
                           check=True).stdout
    tiles, found = findings(shown.splitlines())
    for line in found:
        print(line)
    print(f"check_kernels: {tiles} tiles, {len(found)} findings")
    return 1 if found or (not tiles and platform.machine() == "x86_64") else 0


if __name__ == "__main__":
    sys.exit(main())
