#!/usr/bin/env python3
# Copyright (c) 2026 the jalloc authors
# SPDX-License-Identifier: MIT
"""The training runs behind training_*.csv: a small transformer learns to forecast the sunspot numbers, in TensorFlow.

A window of months is embedded by a convolution, goes through encoder layers (attention with four heads, then a network
of two layers, each with dropout and a residual), and gives the next month. Adam, mean squared error, windows drawn at
random, written as one tf.function: TensorFlow runs a graph whose tensors come and go as its executor decides, on two
threads. Each tensor on the CPU is an allocation of its own, aligned to 64 bytes. With --lengths the windows of each
step have another length, as sentences have.

To be run by record.sh, under libjalloc_record.so."""

import argparse
import csv
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy
import tensorflow as tf

from marks import BUILD, END, STEPS, mark

WINDOW = 132  # months: a cycle of eleven years
WIDTH, HEADS, HIDDEN, DROPOUT = 64, 4, 128, 0.1


def read_series(path):
    with open(path, newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))[1:]
    values = numpy.array([float(row[2]) for row in rows], dtype=numpy.float32)
    return (values - values.mean()) / values.std()


class Forecaster(tf.Module):
    """Weights and the forward pass; nothing of Keras, so that what runs is what stands here."""

    def __init__(self, seed, layers):
        super().__init__()
        self.random = tf.random.Generator.from_seed(seed)
        self.embed = self.weight(5, 1, WIDTH)
        self.place = self.weight(WINDOW, WIDTH)
        self.layers = [self.layer() for _ in range(layers)]
        self.out = self.weight(WIDTH, 1)

    def layer(self):
        layer = {name: self.weight(WIDTH, WIDTH) for name in ("query", "key", "value", "mix")}
        layer.update(up=self.weight(WIDTH, HIDDEN), down=self.weight(HIDDEN, WIDTH))
        layer.update(scale=[tf.Variable(tf.ones([WIDTH])) for _ in range(2)])
        layer.update(shift=[tf.Variable(tf.zeros([WIDTH])) for _ in range(2)])
        return layer

    def weight(self, *shape):
        return tf.Variable(self.random.normal(shape) / tf.sqrt(float(shape[-2])))

    def normalize(self, x, layer, which):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * layer["scale"][which] + layer["shift"][which]

    def split(self, x):  # batch, month, width -> batch, head, month, width / heads
        shape = tf.shape(x)
        return tf.transpose(tf.reshape(x, [shape[0], shape[1], HEADS, WIDTH // HEADS]), [0, 2, 1, 3])

    def attend(self, x, layer):
        query, key, value = (self.split(x @ layer[name]) for name in ("query", "key", "value"))
        score = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / (WIDTH // HEADS)**0.5)
        mixed = tf.transpose(tf.nn.dropout(score, DROPOUT) @ value, [0, 2, 1, 3])
        return tf.reshape(mixed, tf.shape(x)) @ layer["mix"]

    def __call__(self, windows):
        x = tf.nn.conv1d(windows[:, :, tf.newaxis], self.embed, 1, "SAME") + self.place[:tf.shape(windows)[1]]
        for layer in self.layers:
            x += tf.nn.dropout(self.attend(self.normalize(x, layer, 0), layer), DROPOUT)
            hidden = tf.nn.gelu(self.normalize(x, layer, 1) @ layer["up"])
            x += tf.nn.dropout(hidden @ layer["down"], DROPOUT)
        return tf.squeeze(tf.reduce_mean(x, 1) @ self.out, -1)


class Adam(tf.Module):
    """Kingma and Ba, Adam: a method for stochastic optimization (2015), algorithm 1."""

    def __init__(self, variables, rate):
        super().__init__()
        self.rate, self.step = rate, tf.Variable(0.0)
        self.state = [(v, tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]

    def apply(self, gradients):
        step = self.step.assign_add(1.0)
        rate = self.rate * tf.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
        for gradient, (variable, first, second) in zip(gradients, self.state):
            first.assign(0.9 * first + 0.1 * gradient)
            second.assign(0.999 * second + 0.001 * gradient * gradient)
            variable.assign_sub(rate * first / (tf.sqrt(second) + 1e-8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", help="a file of year, month, value")
    parser.add_argument("--batch", type=int, default=32, help="windows in a step")
    parser.add_argument("--layers", type=int, default=2, help="encoder layers")
    parser.add_argument("--lengths", action="store_true", help="windows of another length in each step")
    parser.add_argument("--warm-up", type=int, default=5, help="steps before those that the trace shows")
    parser.add_argument("--steps", type=int, default=10, help="steps that the trace shows")
    parser.add_argument("--after", type=int, default=0, help="steps after those, to see that it learns")
    arguments = parser.parse_args()
    tf.random.set_seed(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.config.threading.set_intra_op_parallelism_threads(2)
    series = read_series(arguments.series)
    random = numpy.random.default_rng(1)

    mark(BUILD)
    model = Forecaster(1, arguments.layers)
    adam = Adam(model.trainable_variables, 1e-3)

    @tf.function(jit_compile=False, input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None])])
    def train(windows, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(windows) - targets)**2)
        adam.apply(tape.gradient(loss, model.trainable_variables))
        return loss

    def step():
        length = int(random.integers(WINDOW // 4, WINDOW + 1)) if arguments.lengths else WINDOW
        starts = random.integers(len(series) - length, size=arguments.batch)
        windows = numpy.stack([series[start:start + length] for start in starts])
        return float(train(tf.constant(windows), tf.constant(series[starts + length])))

    losses = [step() for _ in range(arguments.warm_up)]
    mark(STEPS)
    losses += [step() for _ in range(arguments.steps)]
    mark(END)
    losses += [step() for _ in range(arguments.after)]
    print(f"TensorFlow {tf.__version__}, loss of each step:", *(f"{loss:.3f}" for loss in losses))


if __name__ == "__main__":
    main()
