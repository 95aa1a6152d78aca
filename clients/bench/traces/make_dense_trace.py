#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The dense computation behind dense_gaussian_process.csv: Gaussian-process regression of the Mauna Loa CO2 record, in
NumPy and SciPy.

The covariance is that of Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), section 5.4.3: a
trend, a season that changes, irregularities of medium length, and noise. For each of several origins the months until
then are the data: eleven parameters are improved by a few steps of L-BFGS-B on the log marginal likelihood and its
gradient (equations 2.30 and 5.9: a Cholesky factorization, solutions, an inverse, a matrix of derivatives for each
parameter), and the two years that follow are predicted with their variance. So matrices of seven orders come and go,
beside vectors and the work arrays of LAPACK.

To be run by record.sh, under libjalloc_record.so."""

import argparse
import csv

import numpy
import scipy
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from marks import BUILD, END, STEPS, mark

# Section 5.4.3: the magnitudes and lengths that it found, in ppm and years; noise last.
START = [66.0, 67.0, 2.4, 90.0, 1.3, 0.66, 1.2, 0.78, 0.18, 1.6 / 12, 0.19]
AHEAD = 24  # months predicted


def read_series(path):
    with open(path, newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))[1:]
    months = numpy.array([float(row[0]) + (float(row[1]) - 0.5) / 12 for row in rows])
    return months, numpy.array([float(row[2]) for row in rows])


def covariance(theta, x, y, derivatives):
    """The covariance of the months x with the months y and its derivatives by the logarithms of the parameters."""
    t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11 = numpy.exp(theta)
    distance = x[:, None] - y[None, :]
    square = distance**2
    trend = t1**2 * numpy.exp(-square / (2 * t2**2))
    sine = numpy.sin(numpy.pi * distance)**2
    season = t3**2 * numpy.exp(-square / (2 * t4**2) - 2 * sine / t5**2)
    base = 1 + square / (2 * t8 * t7**2)
    medium = t6**2 * base**-t8
    short = t9**2 * numpy.exp(-square / (2 * t10**2))
    same = t11**2 * (distance == 0)
    total = trend + season + medium + short + same
    if not derivatives:
        return total, None
    return total, [
        2 * trend, trend * square / t2**2,
        2 * season, season * square / t4**2, 4 * season * sine / t5**2,
        2 * medium, medium * square / (t7**2 * base), medium * (square / (2 * t7**2 * base) - t8 * numpy.log(base)),
        2 * short, short * square / t10**2,
        2 * same,
    ]


def negative_log_likelihood(theta, x, values):
    total, derivatives = covariance(theta, x, x, True)
    factor = cholesky(total, lower=True)
    alpha = cho_solve((factor, True), values)
    inverse = cho_solve((factor, True), numpy.eye(len(x)))
    likelihood = -0.5 * values @ alpha - numpy.log(numpy.diag(factor)).sum() - 0.5 * len(x) * numpy.log(2 * numpy.pi)
    weight = numpy.outer(alpha, alpha) - inverse
    return -likelihood, numpy.array([-0.5 * numpy.sum(weight * derivative) for derivative in derivatives])


def predict(theta, x, values, ahead):
    factor = cholesky(covariance(theta, x, x, False)[0], lower=True)
    cross, _ = covariance(theta, x, ahead, False)
    mean = cross.T @ cho_solve((factor, True), values)
    between = solve_triangular(factor, cross, lower=True)
    return mean, numpy.diag(covariance(theta, ahead, ahead, False)[0]) - numpy.sum(between**2, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", help="a file of year, month, value")
    parser.add_argument("--steps", type=int, default=2, help="steps of L-BFGS-B at each origin")
    arguments = parser.parse_args()

    mark(BUILD)
    months, values = read_series(arguments.series)
    theta = numpy.log(numpy.array(START))
    mark(STEPS)
    for origin in range(len(months) - 7 * AHEAD, len(months), AHEAD):
        level = values[:origin].mean()
        x, y, ahead = months[:origin], values[:origin] - level, months[origin:origin + AHEAD]
        result = minimize(negative_log_likelihood, theta, (x, y), "L-BFGS-B", True,
                          options={"maxiter": arguments.steps})
        theta = result.x
        mean, variance = predict(theta, x, y, ahead)
        error = numpy.sqrt(numpy.mean((mean + level - values[origin:origin + AHEAD])**2))
        print(f"{origin} months: {result.nfev} evaluations, log likelihood {-result.fun:.2f}, error of the next "
              f"{AHEAD} {error:.2f} ppm, expected {numpy.sqrt(variance.mean()):.2f}")
    mark(END)
    print(f"NumPy {numpy.__version__}, SciPy {scipy.__version__}")


if __name__ == "__main__":
    main()
