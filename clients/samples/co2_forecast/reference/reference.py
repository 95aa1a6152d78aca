#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The numbers that co2_forecast has to reproduce, computed without jalloc, BLAS or LAPACK.

Gaussian-process regression as in Rasmussen and Williams, Gaussian Processes for Machine Learning (2006): covariance of
section 5.4.3, prediction and log marginal likelihood by algorithm 2.1. Written from the book's formulas in numpy, whose
products of long doubles (64 bits of mantissa, 11 more than double) are plain loops, so rounding here is some two
thousand times smaller than in the program under test. The log marginal likelihood is computed a second time by the
Durbin-Levinson recursion, which uses no factorization at all; the two must agree.

    reference.py co2 --digits 40 > co2.csv     468 months in 40 decimal digits: needs mpmath, two minutes
    reference.py sunspots > sunspots.csv       3,177 months in long doubles: half a minute

In long doubles the CO2 numbers differ from those in 40 digits by less than 2e-13 of their size.
"""
import argparse
import csv
import os
import sys

import numpy

FORECAST_MONTHS = 120
FILES = {"co2": "co2-mauna-loa-monthly.csv", "sunspots": "sunspots-monthly.csv"}


class LongDouble:
    """Arithmetic in numpy's long double."""

    number = numpy.longdouble
    exp, sin, log, sqrt = numpy.exp, numpy.sin, numpy.log, numpy.sqrt
    pi = 4 * numpy.arctan(numpy.longdouble(1))
    dtype = numpy.longdouble

    @staticmethod
    def text(x):
        return numpy.format_float_scientific(x, precision=20, unique=False)


class Digits:
    """Arithmetic in any number of decimal digits, on numpy arrays of objects."""

    dtype = object

    def __init__(self, digits):
        import mpmath

        mpmath.mp.dps = digits
        self.number, self.pi = mpmath.mpf, +mpmath.mp.pi
        for name in "exp", "sin", "log", "sqrt":
            setattr(self, name, numpy.frompyfunc(getattr(mpmath, name), 1, 1))
        self.text = lambda x: mpmath.nstr(x, 21, min_fixed=0, max_fixed=0)


def covariance(series, lag, a):
    """k(x, x') for an array of |x - x'| in whole months, one observation a month (so equal months are one observation)."""
    f = a.number
    d = lag / f(12)
    noise = numpy.where(lag == 0, f(1), f(0))
    if series == "co2":
        t = [None] + [f(s) for s in "66 67 2.4 90 1.3 0.66 1.2 0.78 0.18".split()] + [f("1.6") / 12, f("0.19")]
        k1 = t[1] ** 2 * a.exp(-(d**2) / (2 * t[2] ** 2))
        k2 = t[3] ** 2 * a.exp(-(d**2) / (2 * t[4] ** 2) - 2 * a.sin(a.pi * d) ** 2 / t[5] ** 2)
        k3 = t[6] ** 2 * (1 + d**2 / (2 * t[8] * t[7] ** 2)) ** -t[8]
        k4 = t[9] ** 2 * a.exp(-(d**2) / (2 * t[10] ** 2)) + t[11] ** 2 * noise
        return k1 + k2 + k3 + k4
    activity = f("1.45") ** 2 * a.exp(-(d**2) / (2 * f("1.5") ** 2))
    phase = a.sin(a.pi * d / f("10.9")) ** 2
    cycle = f("3.2") ** 2 * a.exp(-(d**2) / (2 * f("22") ** 2) - 2 * phase / f("1.6") ** 2)
    rotation = f("1.03") ** 2 * (1 + d**2 / (2 * f("0.67") * f("0.042") ** 2)) ** -f("0.67")
    return activity + cycle + rotation + f("0.35") ** 2 * noise


def cholesky(k):
    """The lower factor, column by column."""
    n, factor = len(k), numpy.zeros_like(k)
    for j in range(n):
        column = k[j:, j] - factor[j:, :j] @ factor[j, :j]
        factor[j:, j] = column / column[0] ** 0.5
    return factor


def solve_lower(factor, right):
    """factor^-1 right, by substitution."""
    x = right.copy()
    for i in range(len(x)):
        x[i] = (x[i] - factor[i, :i] @ x[:i]) / factor[i, i]
    return x


def likelihood_by_recursion(r, y, a):
    """The log marginal likelihood of a stationary process from its one-step prediction errors (Durbin-Levinson)."""
    v, total = r[0], y[0] ** 2 / r[0] + a.log(r[0])
    phi = numpy.zeros(0, dtype=a.dtype)
    for t in range(1, len(y)):
        last = (r[t] - phi @ r[t - 1 : 0 : -1]) / v if t > 1 else r[1] / v
        phi = numpy.append(phi - last * phi[::-1], last)
        v = v * (1 - last**2)
        error = y[t] - phi @ y[t - 1 :: -1]
        total += error**2 / v + a.log(v)
    return -(total + len(y) * a.log(2 * a.pi)) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", choices=FILES)
    parser.add_argument("--digits", type=int, help="decimal digits, by mpmath; default: long double")
    options = parser.parse_args()
    a = Digits(options.digits) if options.digits else LongDouble
    if not options.digits and numpy.finfo(numpy.longdouble).nmant < 63:
        sys.exit("long double is no longer than double here; use --digits")

    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "data", FILES[options.series])
    with open(data, newline="") as file:
        rows = list(csv.reader(file))[1:]
    month = numpy.array([12 * int(r[0]) + int(r[1]) - 1 for r in rows])
    value = numpy.array([a.number(r[2]) for r in rows], dtype=a.dtype)
    if options.series == "sunspots":
        value = a.sqrt(value)
    future = month[-1] + 1 + numpy.arange(FORECAST_MONTHS)
    mean = value.sum() / len(value)
    y = value - mean

    by_lag = covariance(options.series, numpy.arange(future[-1] - month[0] + 1), a)
    k = by_lag[abs(month[:, None] - month[None, :])]
    cross = by_lag[abs(month[:, None] - future[None, :])]
    prior = by_lag[abs(future[:, None] - future[None, :])]

    factor = cholesky(k)
    z = solve_lower(factor, y)
    v = solve_lower(factor, cross)
    likelihood = -(z @ z) / 2 - a.log(numpy.diagonal(factor)).sum() - len(y) * a.log(2 * a.pi) / 2
    forecast = mean + v.T @ z
    posterior = prior - v.T @ v
    weight = numpy.zeros((FORECAST_MONTHS, FORECAST_MONTHS // 12), dtype=a.dtype)
    for year in range(FORECAST_MONTHS // 12):
        weight[12 * year : 12 * year + 12, year] = a.number(1) / 12

    if (month == month[0] + numpy.arange(len(month))).all():
        again = likelihood_by_recursion(by_lag[: len(month)], y, a)
        difference = abs(again / likelihood - 1)
        print("log marginal likelihood by Durbin-Levinson differs by", float(difference), file=sys.stderr)
        if difference > 1e-11:
            sys.exit("the two ways to the log marginal likelihood disagree")

    label = ["%d-%02d" % (m // 12, m % 12 + 1) for m in future]
    print("quantity,month,value")
    print("log_marginal_likelihood,,%s" % a.text(likelihood))
    for name, numbers, labels in (
        ("mean", forecast, label),
        ("variance", numpy.diagonal(posterior), label),
        ("year_mean", weight.T @ forecast, label[::12]),
        ("year_variance", numpy.diagonal(weight.T @ posterior @ weight), label[::12]),
    ):
        for when, number in zip(labels, numbers):
            print("%s,%s,%s" % (name, when, a.text(number)))


if __name__ == "__main__":
    main()
