#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The inference behind inference_ocr.csv: pages of the Mauna Loa CO2 record, drawn as pictures, are read by RapidOCR.

That finds lines by a convolutional network and reads each by a small transformer (PP-OCRv4's recognizer, SVTR: Du et
al., SVTR: Scene Text Recognition with a Single Visual Model, 2022), both on ONNX Runtime, whose arena is off as
RapidOCR has it, so each tensor is a block. Lines are of many lengths, and so are the tensors. The first page is read
before the marks: the sessions and their weights are there.

To be run by record.sh, under libjalloc_record.so."""

import argparse
import csv

import numpy
from PIL import Image, ImageDraw, ImageFont
from rapidocr_onnxruntime import RapidOCR

from marks import BUILD, END, STEPS, mark

LINES = 6  # of a page


def draw(rows, count):
    """A page of lines with so many measurements each."""
    page = Image.new("RGB", (120 + 170 * count, 60 * LINES), "white")
    pen = ImageDraw.Draw(page)
    for i in range(LINES):
        texts = [f"{int(row[1]):02}/{row[0]} {row[2]}" for row in rows[i * count:(i + 1) * count]]
        pen.text((20, 10 + 60 * i), "  ".join(texts), "black", ImageFont.load_default(24))
    return numpy.array(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", help="a file of year, month, value")
    parser.add_argument("--pages", type=int, default=3, help="that are read between the marks")
    arguments = parser.parse_args()
    with open(arguments.series, newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))[1:]

    mark(BUILD)
    engine = RapidOCR(intra_op_num_threads=2, inter_op_num_threads=1)
    engine(draw(rows, 1))
    mark(STEPS)
    for page in range(arguments.pages):
        found, _ = engine(draw(rows[100 * page:], 1 + page % 3))
        print(len(found), found[0][1])
    mark(END)


if __name__ == "__main__":
    main()
