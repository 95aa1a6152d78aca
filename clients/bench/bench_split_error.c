/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* How accurate sgemm by split precision is, without a tensor core: elements of a product, computed as the library
 * computes them, on a model of what tensor cores do when they add. For each, the error over that of plain float (a
 * chain of fused multiply-adds) on the same data; both against double, relative to the sum of absolute values.
 *
 * The model (Fasi, Higham, Mikaitis and Pranesh 2021): `step` products and the sum so far are aligned to the largest of
 * them, cut off `extra` bits below its 24, added exactly, and the result is cut to 24 bits. "nearest" is a sum that is
 * rounded instead, to show what the cutting costs.
 *
 *     bench_split_error [SECONDS] */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "bench.h"
#include "jalloc/datatype.h"

#define MAX_K 16384

typedef struct way {
    const char *name;
    bool tf32;
    int products;
    signed char a[9], b[9]; /* as in library/blas/precision.h */
} way_t;
static const way_t ways[] = {{"bf16x6", false, 6, {2, 1, 0, 1, 0, 0}, {0, 1, 2, 0, 1, 0}},
                             {"bf16x9", false, 9, {2, 2, 1, 2, 1, 0, 1, 0, 0}, {2, 1, 2, 0, 1, 2, 0, 1, 0}},
                             {"tf32x3", true, 3, {1, 0, 0}, {0, 1, 0}}};

typedef struct model {
    const char *name;
    int bf16_step, tf32_step, extra; /* step 0: added one by one and rounded to the nearest */
} model_t;
static const model_t models[] = {{"nearest", 0, 0, 0}, {"8/4 +0", 8, 4, 0}, {"8/4 +1", 8, 4, 1}, {"16/8 +2", 16, 8, 2}};

static float tf32_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x0fffu + (bits >> 13 & 1u)) & ~UINT32_C(0x1fff);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void split(float x, bool tf32, float part[3]) {
    for (int i = 0; i < 3; i++) {
        part[i] = tf32 ? tf32_of(x) : jalloc_f32_from_bf16(jalloc_bf16_from_f32(x));
        x -= part[i];
    }
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

static float panel_of(const way_t *way, const model_t *model, float (*a)[3], float (*b)[3], int depth) {
    const int step = way->tf32 ? model->tf32_step : model->bf16_step;
    double products[16];
    float sum = 0;
    int held = 0;
    for (int p = 0; p < way->products; p++)
        for (int l = 0; l < depth; l++) {
            const double product = (double)a[l][(int)way->a[p]] * (double)b[l][(int)way->b[p]];
            if (step == 0) {
                sum = (float)((double)sum + product);
            } else {
                products[held++] = product;
                if (held == step || (p == way->products - 1 && l == depth - 1)) {
                    sum = tensor_add(sum, products, held, model->extra);
                    held = 0;
                }
            }
        }
    return sum;
}

static float draw(int data, uint64_t *seed) {
    const double x = bench_random(seed);
    switch (data) {
    case 0: return (float)x;                                    /* of both signs: sums stay small */
    case 1: return (float)fabs(x);                              /* positive: cutting always errs to one side */
    default: return (float)(x * exp2(20 * bench_random(seed))); /* of all sizes */
    }
}

int main(int argc, char **argv) {
    static const char *const datas[] = {"of both signs", "positive", "of all sizes"};
    static const int depths[] = {512, 2048, 4096, MAX_K}, panels[] = {256, 512, 1024, MAX_K};
    static float a[MAX_K], b[MAX_K], a_parts[MAX_K][3], b_parts[MAX_K][3];
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const int samples = seconds < 0.05 ? 4 : (int)(200 * seconds);
    printf("%-14s %6s %6s %-7s %-8s  %9s %9s   %s\n", "data", "k", "panel", "way", "adds", "rms", "largest",
           "of the error of plain float");
    for (int data = 0; data < 3; data++)
        for (int d = 0; d < (seconds < 0.05 ? 1 : 4); d++)
            for (int panel = 0; panel < 4; panel++)
                for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
                    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
                        const int k = depths[d], depth = panels[panel] < k ? panels[panel] : k;
                        if (panel > 0 && panels[panel - 1] >= k)
                            continue;
                        double squares[2] = {0, 0}, largest[2] = {0, 0};
                        uint64_t seed = 7;
                        for (int sample = 0; sample < samples; sample++) {
                            double exact = 0, size = 0;
                            float plain = 0, ours = 0;
                            for (int l = 0; l < k; l++) {
                                a[l] = draw(data, &seed), b[l] = draw(data, &seed);
                                exact += (double)a[l] * (double)b[l], size += fabs((double)a[l] * (double)b[l]);
                                plain = fmaf(a[l], b[l], plain);
                                split(a[l], ways[w].tf32, a_parts[l]), split(b[l], ways[w].tf32, b_parts[l]);
                            }
                            for (int l = 0; l < k; l += depth)
                                ours += panel_of(&ways[w], &models[m], a_parts + l, b_parts + l,
                                                 depth < k - l ? depth : k - l);
                            const double errors[2] = {fabs(ours - exact) / size, fabs(plain - exact) / size};
                            for (int i = 0; i < 2; i++)
                                squares[i] += errors[i] * errors[i], largest[i] = fmax(largest[i], errors[i]);
                        }
                        printf("%-14s %6d %6d %-7s %-8s  %9.2f %9.2f\n", datas[data], k, depth, ways[w].name,
                               models[m].name, sqrt(squares[0] / squares[1]), largest[0] / largest[1]);
                    }
    return 0;
}
