/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The slow way to do what the element engine does. Types of 16 bits are read from their bits by the
 * formula, and written by looking for the neighbours among all of them: nothing is shared with the
 * library's conversions. */

#include "buffer_reference.h"

#include <math.h>
#include <string.h>

bool reference_is_complex(jdatatype_t type) {
    return type == JDATATYPE_F32_C || type == JDATATYPE_F64_C;
}

size_t reference_size(jdatatype_t type) {
    static const size_t sizes[REFERENCE_TYPES] = {4, 8, 8, 16, 2, 2, 1, 4};
    return sizes[type];
}

/* ---- 16 bits ---- */

static long double small_value(uint32_t bits, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const long double fraction = (long double)(bits & ((1u << fraction_bits) - 1));
    const long double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1.0L : 1.0L;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? (long double)NAN : sign * (long double)INFINITY;
    if (exponent == 0)
        return sign * ldexpl(fraction, 1 - bias - fraction_bits);
    return sign * ldexpl(fraction + ldexpl(1, fraction_bits), exponent - bias - fraction_bits);
}

/* The nearest: of magnitudes, which grow with their bits. Infinity counts as the next power of
 * two. */
static uint16_t small_nearest(long double x, int exponent_bits, int fraction_bits) {
    const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    const uint32_t sign = signbit(x) ? 0x8000u : 0;
    if (isnan(x))
        return (uint16_t)(sign | (infinity + (1u << (fraction_bits - 1))));
    const long double magnitude = fabsl(x);
    if (isinf(x))
        return (uint16_t)(sign | infinity);
    uint32_t low = 0, high = infinity;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (small_value(middle, exponent_bits, fraction_bits) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const long double below = small_value(low, exponent_bits, fraction_bits);
    const long double above = high == infinity ? ldexpl(1, 1 << (exponent_bits - 1))
                                               : small_value(high, exponent_bits, fraction_bits);
    const long double middle = below + (above - below) / 2; /* exact: few bits */
    const bool up = magnitude > middle || (magnitude == middle && (low & 1));
    return (uint16_t)(sign | (up ? high : low));
}

/* ---- Elements ---- */

reference_number_t reference_decode(jdatatype_t type, const void *element) {
    reference_number_t number = {0, 0};
    uint16_t bits;
    float f[2];
    double d[2];
    int32_t i;
    switch (type) {
    case JDATATYPE_F32:
        memcpy(f, element, 4);
        number.re = f[0];
        break;
    case JDATATYPE_F64:
        memcpy(d, element, 8);
        number.re = d[0];
        break;
    case JDATATYPE_F32_C:
        memcpy(f, element, 8);
        number = (reference_number_t){f[0], f[1]};
        break;
    case JDATATYPE_F64_C:
        memcpy(d, element, 16);
        number = (reference_number_t){d[0], d[1]};
        break;
    case JDATATYPE_F16:
        memcpy(&bits, element, 2);
        number.re = small_value(bits, 5, 10);
        break;
    case JDATATYPE_BF16:
        memcpy(&bits, element, 2);
        number.re = small_value(bits, 8, 7);
        break;
    case JDATATYPE_I8: number.re = *(const int8_t *)element; break;
    case JDATATYPE_I32:
        memcpy(&i, element, 4);
        number.re = i;
        break;
    }
    return number;
}

static long double reference_integer(long double x, long double low, long double high) {
    return isnan(x) ? 0 : x < low ? low : x > high ? high : rintl(x);
}

void reference_encode(jdatatype_t type, reference_number_t number, void *element) {
    const float f[2] = {(float)number.re, (float)number.im};
    const double d[2] = {(double)number.re, (double)number.im};
    uint16_t bits;
    int8_t byte;
    int32_t word;
    switch (type) {
    case JDATATYPE_F32:
    case JDATATYPE_F32_C: memcpy(element, f, reference_size(type)); break;
    case JDATATYPE_F64:
    case JDATATYPE_F64_C: memcpy(element, d, reference_size(type)); break;
    case JDATATYPE_F16:
        bits = small_nearest(number.re, 5, 10);
        memcpy(element, &bits, 2);
        break;
    case JDATATYPE_BF16:
        bits = small_nearest(number.re, 8, 7);
        memcpy(element, &bits, 2);
        break;
    case JDATATYPE_I8:
        byte = (int8_t)reference_integer(number.re, -128, 127);
        memcpy(element, &byte, 1);
        break;
    case JDATATYPE_I32:
        word = (int32_t)reference_integer(number.re, -2147483648.0L, 2147483647.0L);
        memcpy(element, &word, 4);
        break;
    }
}

bool reference_same(jdatatype_t type, const void *a, const void *b) {
    if (memcmp(a, b, reference_size(type)) == 0)
        return true;
    const reference_number_t x = reference_decode(type, a), y = reference_decode(type, b);
    const bool re =
        (isnan(x.re) && isnan(y.re)) || (x.re == y.re && signbit(x.re) == signbit(y.re));
    return re && ((isnan(x.im) && isnan(y.im)) || (x.im == y.im && signbit(x.im) == signbit(y.im)));
}

/* ---- Layouts ---- */

int64_t reference_offset(const jlayout_t *layout, const int64_t *indices) {
    int64_t offset = 0;
    for (int d = 0; d < layout->rank; ++d)
        offset += indices[d] * layout->strides[d];
    return offset;
}

int64_t reference_count(const jlayout_t *layout) {
    int64_t count = 1;
    for (int d = 0; d < layout->rank; ++d)
        count *= layout->extents[d];
    return count;
}

int64_t reference_span(const jlayout_t *layout) {
    int64_t span = 1;
    for (int d = 0; d < layout->rank; ++d)
        span += (layout->extents[d] - 1) * layout->strides[d];
    return reference_count(layout) == 0 ? 0 : span;
}

void reference_indices(const jlayout_t *layout, int64_t number, int64_t *indices) {
    for (int d = 0; d < layout->rank; ++d) {
        indices[d] = number % layout->extents[d];
        number /= layout->extents[d];
    }
}

bool reference_is_stored(const jlayout_t *layout, const int64_t *indices) {
    switch (layout->structure) {
    case JSTRUCTURE_GENERAL: return true;
    case JSTRUCTURE_SYMMETRIC_UPPER:
    case JSTRUCTURE_HERMITIAN_UPPER:
    case JSTRUCTURE_TRIANGULAR_UPPER: return indices[0] <= indices[1];
    default: return indices[0] >= indices[1];
    }
}

reference_number_t reference_get(const jlayout_t *layout, jdatatype_t type, const void *data,
                                 const int64_t *indices) {
    const jstructure_t structure = layout->structure;
    const bool hermitian =
        structure == JSTRUCTURE_HERMITIAN_UPPER || structure == JSTRUCTURE_HERMITIAN_LOWER;
    const bool stored = reference_is_stored(layout, indices);
    if (!stored &&
        (structure == JSTRUCTURE_TRIANGULAR_UPPER || structure == JSTRUCTURE_TRIANGULAR_LOWER))
        return (reference_number_t){0, 0};
    const int64_t mirrored[2] = {layout->rank == 2 ? indices[1] : 0,
                                 layout->rank == 2 ? indices[0] : 0};
    const int64_t at = reference_offset(layout, stored ? indices : mirrored);
    reference_number_t number =
        reference_decode(type, (const char *)data + (size_t)at * reference_size(type));
    if (hermitian && reference_is_complex(type)) {
        if (indices[0] == indices[1])
            number.im = 0;
        else if (!stored)
            number.im = -number.im;
    }
    return number;
}

void reference_copy(const jlayout_t *to, jdatatype_t to_type, void *destination,
                    const jlayout_t *from, jdatatype_t from_type, const void *source) {
    int64_t indices[JLAYOUT_MAX_RANK] = {0};
    for (int64_t n = 0; n < reference_count(to); ++n) {
        reference_indices(to, n, indices);
        if (reference_is_stored(to, indices))
            reference_encode(to_type, reference_get(from, from_type, source, indices),
                             (char *)destination +
                                 (size_t)reference_offset(to, indices) * reference_size(to_type));
    }
}

/* ---- Random ---- */

void reference_random_extents(int rank, int64_t most, int64_t *extents) {
    for (int d = 0; d < rank; ++d)
        extents[d] = jtest_random_between(0, 40) == 0 ? 0 : 1;
    for (int k = 0; k < 3 * rank; ++k) {
        const int d = (int)jtest_random_between(0, rank - 1);
        int64_t others = 1;
        for (int e = 0; e < rank; ++e)
            others *= extents[e] > 0 && e != d ? extents[e] : 1;
        if (extents[d] != 0)
            extents[d] = jtest_random_between(1, most / others > 1 ? most / others : 1);
        if (extents[d] > 9 && jtest_random_bool())
            extents[d] = jtest_random_between(1, 9);
    }
}

jlayout_t reference_random_layout(int rank, const int64_t *extents) {
    jlayout_t layout = {.rank = rank};
    int order[JLAYOUT_MAX_RANK];
    for (int d = 0; d < rank; ++d) {
        const int other = (int)jtest_random_between(0, d);
        layout.extents[d] = extents[d];
        if (other != d)
            order[d] = order[other];
        order[other] = d;
    }
    /* column-major, row-major, any order, any order with holes */
    const int style = (int)jtest_random_between(0, 3);
    int64_t stride = 1;
    for (int k = 0; k < rank; ++k) {
        const int d = style == 0 ? k : style == 1 ? rank - 1 - k : order[k];
        if (style == 3 || (k == 1 && jtest_random_bool()))
            stride += jtest_random_between(0, 3);
        layout.strides[d] = stride;
        stride *= extents[d] > 1 ? extents[d] : 1;
    }
    return layout;
}

static long double reference_random_real(void) {
    static const long double special[] = {
        0.0L,     -0.0L,    0.5L,     1.5L,      2.5L,          -0.5L,          -1.5L,
        127.5L,   -128.5L,  65504.0L, 65519.9L,  65520.0L,      65536.0L,       -65520.0L,
        6e-8L,    2.98e-8L, 3e-8L,    1e-40L,    1.5e-45L,      3.4e38L,        3.4028236e38L,
        -3.5e38L, 1e300L,   -1e-300L, 1.0e-310L, 2147483647.5L, -2147483648.5L, 4e9L};
    switch (jtest_random_between(0, 7)) {
    case 0:
        return special[jtest_random_between(0, (int64_t)(sizeof special / sizeof special[0]) - 1)];
    case 1:
        return jtest_random_between(0, 2) == 0 ? (long double)NAN
               : jtest_random_bool()           ? (long double)INFINITY
                                               : -(long double)INFINITY;
    case 2: return (long double)jtest_random_between(-600, 600) / 2;
    case 3: /* near the middle of two neighbours of 16 bits */
        return (1.0L + ldexpl((long double)jtest_random_between(0, 4095), -12) +
                ldexpl((long double)jtest_random_between(-1, 1), -40)) *
               ldexpl(1, (int)jtest_random_between(-30, 20));
    case 4: return ldexpl(jtest_random_double(-1, 1), (int)jtest_random_between(-140, 130));
    default: return jtest_random_double(-300, 300);
    }
}

void reference_random_fill(jdatatype_t type, void *data, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        const reference_number_t number = {reference_random_real(), reference_random_real()};
        reference_encode(type, number, (char *)data + (size_t)i * reference_size(type));
    }
}

void reference_expect_span(jdatatype_t type, const void *actual, const void *expected, int64_t span,
                           const char *file, int line) {
    const size_t size = reference_size(type);
    for (int64_t i = 0; i < span; ++i) {
        const char *a = (const char *)actual + (size_t)i * size,
                   *b = (const char *)expected + (size_t)i * size;
        if (!reference_same(type, a, b)) {
            const reference_number_t x = reference_decode(type, a), y = reference_decode(type, b);
            jtest_fail(file, line,
                       "element %lld of the span (%s) is %.20Lg%+.20Lgi, should be %.20Lg%+.20Lgi",
                       (long long)i, jdatatype_name(type), x.re, x.im, y.re, y.im);
            return;
        }
    }
}
