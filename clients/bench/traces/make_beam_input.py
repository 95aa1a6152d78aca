#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""What finite_elements.csv computes: a cantilever beam of 20-node bricks, clamped at one end and bent at the other, as
an input file of CalculiX (Debian: calculix-ccx): its stresses, and its first ten frequencies, by the sparse direct
solver SPOOLES and ARPACK.

    make_beam_input.py LENGTH WIDTH > beam.inp      so many bricks of 1 cm, WIDTH of them high, too"""

import sys

# The places of a brick's nodes in half bricks, in the order of Abaqus and CalculiX.
CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
MIDDLES = [(1, 0, 0), (2, 1, 0), (1, 2, 0), (0, 1, 0), (1, 0, 2), (2, 1, 2), (1, 2, 2), (0, 1, 2),
           (0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1)]


def main():
    length, width = int(sys.argv[1]), int(sys.argv[2])
    nodes = {}

    def number(*place):
        return nodes.setdefault(place, len(nodes) + 1)

    bricks = [[number(2 * i + x, 2 * j + y, 2 * k + z) for x, y, z in CORNERS + MIDDLES]
              for i in range(length) for j in range(width) for k in range(width)]
    print("*NODE, NSET=ALL")
    for (x, y, z), node in nodes.items():
        print(f"{node}, {0.005 * x}, {0.005 * y}, {0.005 * z}")
    print("*ELEMENT, TYPE=C3D20, ELSET=BEAM")
    for element, brick in enumerate(bricks, 1):
        print(f"{element}, {', '.join(map(str, brick[:10]))},\n{', '.join(map(str, brick[10:]))}")
    for name, at in (("CLAMPED", 0), ("END", 2 * length)):
        print(f"*NSET, NSET={name}")
        print(",\n".join(str(node) for (x, _, _), node in nodes.items() if x == at))
    print("*BOUNDARY\nCLAMPED, 1, 3\n*MATERIAL, NAME=STEEL\n*ELASTIC\n210E9, 0.3\n*DENSITY\n7850\n"
          "*SOLID SECTION, ELSET=BEAM, MATERIAL=STEEL\n"
          "*STEP\n*STATIC\n*CLOAD\nEND, 3, -10\n*NODE FILE\nU\n*EL FILE\nS\n*END STEP\n"
          "*STEP\n*FREQUENCY\n10\n*NODE FILE\nU\n*END STEP")


if __name__ == "__main__":
    main()
