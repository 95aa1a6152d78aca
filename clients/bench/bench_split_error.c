/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How accurate sgemm by split precision is, without a tensor core: elements of a product, computed
 * as the library computes them, on a model of what tensor cores do when they add. For each, the
 * error over that of plain float (a chain of fused multiply-adds) on the same data; both against
 * double, relative to the sum of absolute values.
 *
 * The model (Fasi, Higham, Mikaitis and Pranesh 2021): `step` products and the sum so far are
 * aligned to the largest of them, cut off `extra` bits below its 24, added exactly, and the result
 * is cut to 24 bits. "nearest" is a sum that is rounded instead, to show what the cutting costs;
 * 8 + 1 is an A100's, 16 + 2 an H100's.
 *
 *     bench_split_error [SECONDS] */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench.h"
#include "jalloc/datatype.h"

#define MAX_K 16384
#define SLAB 4096 /* as the tuning of library/gpu/blas/precision.cu has it */

/* The ways of library/blas/primitives/precision.h: how many parts a number has; the first products
 * join that many pairs. */
typedef struct way {
    const char *name;
    /* Of a line's largest; a part is stored larger than it is by so many bits. */
    int parts, exponent, shift;
} way_t;
static const way_t ways[] = {{"bf16", 3, 0, 0}, {"fp16", 2, 14, 11}};

typedef struct model {
    const char *name;
    int step, extra; /* step 0: added one by one and rounded to the nearest */
} model_t;
static const model_t models[] = {
    {"nearest", 0, 0}, {"8 + 0", 8, 0}, {"8 + 1", 8, 1}, {"16 + 2", 16, 2}};

/* Parts of the numbers of a line, each line scaled by a power of two; returns its exponent. */
static int split(const way_t *way, const float *x, int count, float (*parts)[3]) {
    float largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    const int scale = way->exponent - ilogbf(largest);
    for (int i = 0; i < count; i++) {
        float rest = ldexpf(x[i], scale);
        for (int p = 0; p < way->parts; p++) {
            parts[i][p] = way->parts == 2 ? jalloc_f32_from_f16(jalloc_f16_from_f32(rest))
                                          : jalloc_f32_from_bf16(jalloc_bf16_from_f32(rest));
            rest = ldexpf(rest - parts[i][p], way->shift);
        }
    }
    return scale;
}

/* sum + count products, as a tensor core adds. */
static float tensor_add(float sum, const double *products, int count, int extra) {
    double largest = fabs((double)sum);
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(products[i]));
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    const double unit = ldexp(1, exponent - 24 - extra);
    double total = trunc((double)sum / unit);
    for (int i = 0; i < count; i++)
        total += trunc(products[i] / unit);
    total *= unit;
    float rounded = (float)total;
    return fabs((double)rounded) > fabs(total) ? nextafterf(rounded, 0) : rounded;
}

/* One product of a plan: the pairs of parts whose numbers add up to `order`, those with A's
 * smallest part first. */
static float product_of(const model_t *model, float (*a)[3], float (*b)[3], int order, int depth) {
    double products[16];
    float sum = 0;
    int held = 0;
    for (int p = order; p >= 0; p--)
        for (int l = 0; l < depth; l++) {
            const double product = (double)a[l][p] * (double)b[l][order - p];
            if (model->step == 0) {
                sum = (float)((double)sum + product);
            } else {
                products[held++] = product;
                if (held == model->step || (p == 0 && l == depth - 1)) {
                    sum = tensor_add(sum, products, held, model->extra);
                    held = 0;
                }
            }
        }
    return sum;
}

static float sum_of(const way_t *way, const model_t *model, float (*a)[3], float (*b)[3], int k,
                    int panel) {
    float sum = 0;
    for (int slab = 0; slab < k; slab += SLAB) {
        const int deep = SLAB < k - slab ? SLAB : k - slab;
        for (int order = way->parts - 1; order > 0; order--)
            sum += ldexpf(product_of(model, a + slab, b + slab, order, deep), -order * way->shift);
        for (int l = 0; l < deep; l += panel)
            sum += product_of(model, a + slab + l, b + slab + l, 0,
                              panel < deep - l ? panel : deep - l);
    }
    return sum;
}

static float draw(int data, uint64_t *seed) {
    const double x = bench_random(seed);
    switch (data) {
    case 0:
        return (float)x; /* of both signs: sums stay small */
    /* Positive: cutting always errs to one side. */
    case 1: return (float)fabs(x);
    default: return (float)(x * exp2(20 * bench_random(seed))); /* of all sizes */
    }
}

int main(int argc, char **argv) {
    static const char *const datas[] = {"of both signs", "positive", "of all sizes"};
    static const int depths[] = {512, 2048, 4096, 8192, MAX_K},
                     panels[] = {256, 512, 1024, 2048, SLAB};
    static float a[MAX_K], b[MAX_K], a_parts[MAX_K][3], b_parts[MAX_K][3];
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const int samples = seconds < 0.05 ? 4 : (int)(200 * seconds);
    printf("%-14s %6s %6s %-7s %-8s  %9s %9s   %s\n", "data", "k", "panel", "way", "adds", "rms",
           "largest", "of the error of plain float");
    for (int data = 0; data < 3; data++)
        for (int d = 0; d < (seconds < 0.05 ? 1 : 5); d++)
            for (int panel = 0; panel < 5; panel++)
                for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
                    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
                        const int k = depths[d];
                        if (panel > 0 && panels[panel - 1] >= k)
                            continue;
                        double squares[2] = {0, 0}, largest[2] = {0, 0};
                        uint64_t seed = 7;
                        for (int sample = 0; sample < samples; sample++) {
                            double exact = 0, size = 0;
                            float plain = 0;
                            for (int l = 0; l < k; l++) {
                                a[l] = draw(data, &seed), b[l] = draw(data, &seed);
                                exact += (double)a[l] * (double)b[l],
                                    size += fabs((double)a[l] * (double)b[l]);
                                plain = fmaf(a[l], b[l], plain);
                            }
                            const int scale =
                                split(&ways[w], a, k, a_parts) + split(&ways[w], b, k, b_parts);
                            const float ours = ldexpf(
                                sum_of(&ways[w], &models[m], a_parts, b_parts, k, panels[panel]),
                                -scale);
                            const double errors[2] = {fabs(ours - exact) / size,
                                                      fabs(plain - exact) / size};
                            for (int i = 0; i < 2; i++)
                                squares[i] += errors[i] * errors[i],
                                    largest[i] = fmax(largest[i], errors[i]);
                        }
                        printf("%-14s %6d %6d %-7s %-8s  %9.2f %9.2f\n", datas[data], k,
                               panels[panel], ways[w].name, models[m].name,
                               sqrt(squares[0] / squares[1]), largest[0] / largest[1]);
                    }
    return 0;
}
