/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Elements from one array in host memory to another: any strides, any two types, triangles.
 *
 * Two layouts of one shape are a walk (walk.h), ordered by the destination's strides. It is carried
 * out two dimensions at a time, by a tile:
 *
 *     the source runs fastest where       elsewhere: a transposition
 *     the destination does
 *     runs side by side: memcpy, or a     squares of a cache line by a cache line, in larger
 *                                         squares
 *     loop for short ones                 that the TLB and the second cache hold, so that every
 *                                         line that is touched is used up
 *     dst |====|  |====|  |====|
 *     src |====|    |====|    |====|
 *
 * A fill is a walk whose source stands still: all its strides are 0.
 *
 * A triangle is halved until it is small: two triangles of half the order and the square between
 * them, which is a walk. The other triangle of a symmetric matrix is the same with the source's two
 * strides exchanged. Of all seven structures the parts are made of three: the diagonal, what is
 * below it, what is above it.
 *
 * Elements of one type are moved as bytes. Otherwise they go through double, which holds every
 * value of every type: one function to load and one to store for each type, in pieces that stay in
 * the first cache. */

#include "buffer/walk.h"

/* ---- Conversion ---- */

#define ELEMENTS_CHUNK 256 /* elements at once: two arrays of 2 KiB */

/* Elements as double, real and imaginary parts apart. */
typedef struct elements_chunk {
    double re[ELEMENTS_CHUNK], im[ELEMENTS_CHUNK];
    bool single; /* they came from a type whose values float holds */
} elements_chunk_t;

/* To float so that rounding on to 16 bits is correct: what is not exact becomes the odd one of the
 * two neighbours (Boldo and Melquiond, "When double rounding is odd", 2005). */
static inline float elements_float_odd(double x) {
    const float nearest = (float)x;
    const double back = nearest;
    uint32_t bits = jalloc_f32_bits_(nearest);
    const uint32_t away = (back < 0 ? -back : back) > (x < 0 ? -x : x) ? 1u : 0u;
    return back == x || x != x ? nearest : jalloc_f32_of_bits_((bits - away) | 1u);
}

/* To the nearest integer within the limits; NaN gives 0. The sum has no bits for fractions. */
static inline int32_t elements_integer(double x, double low, double high) {
    const double shift = 6755399441055744.0; /* 1.5 * 2^52 */
    x = x == x ? x : 0.0;
    x = x < low ? low : x;
    x = x > high ? high : x;
    return (int32_t)((x + shift) - shift);
}

/* For each real type: its name here, what it is in memory, a value of it as double, a double as its
 * value, and the same where the double is a float. */
#define ELEMENTS_REAL_TYPES(X)                                                                     \
    X(f32, float, v, (float)x, (float)x)                                                           \
    X(f64, double, v, x, x)                                                                        \
    X(f16, jfloat16_t, jalloc_f32_from_f16(v), jalloc_f16_from_f32(elements_float_odd(x)),         \
      jalloc_f16_from_f32((float)x))                                                               \
    X(bf16, jbfloat16_t, jalloc_f32_from_bf16(v), jalloc_bf16_from_f32(elements_float_odd(x)),     \
      jalloc_bf16_from_f32((float)x))                                                              \
    X(i8, int8_t, v, (int8_t)elements_integer(x, -128.0, 127.0),                                   \
      (int8_t)elements_integer(x, -128.0, 127.0))                                                  \
    X(i32, int32_t, v, elements_integer(x, -2147483648.0, 2147483647.0),                           \
      elements_integer(x, -2147483648.0, 2147483647.0))

/* Loops over neighbours apart: the compiler makes vectors of those. */
#define ELEMENTS_EACH(statement)                                                                   \
    if (stride == 1) {                                                                             \
        for (int64_t i = 0, at = 0; i < count; at = ++i)                                           \
            statement;                                                                             \
    } else {                                                                                       \
        for (int64_t i = 0, at = 0; i < count; ++i, at += stride)                                  \
            statement;                                                                             \
    }
#define ELEMENTS_DEFINE_REAL(name, type, to_double, from_double, from_float)                       \
    static inline double elements_double_##name(type v) { return to_double; }                      \
    static inline type elements_make_##name(double x) { return from_double; }                      \
    static inline type elements_make_single_##name(double x) { return from_float; }                \
    static void elements_load_##name(elements_chunk_t *chunk, const void *from, int64_t stride,    \
                                     int64_t count) {                                              \
        const type *source = from;                                                                 \
        ELEMENTS_EACH(chunk->re[i] = elements_double_##name(source[at]))                           \
    }                                                                                              \
    static void elements_store_##name(void *to, int64_t stride, const elements_chunk_t *chunk,     \
                                      int64_t count) {                                             \
        type *destination = to;                                                                    \
        if (chunk->single)                                                                         \
            ELEMENTS_EACH(destination[at] = elements_make_single_##name(chunk->re[i]))             \
        else                                                                                       \
            ELEMENTS_EACH(destination[at] = elements_make_##name(chunk->re[i]))                    \
    }
ELEMENTS_REAL_TYPES(ELEMENTS_DEFINE_REAL)

#define ELEMENTS_DEFINE_COMPLEX(name, type)                                                        \
    static void elements_load_##name(elements_chunk_t *chunk, const void *from, int64_t stride,    \
                                     int64_t count) {                                              \
        const type *source = from;                                                                 \
        for (int64_t i = 0; i < count; ++i) {                                                      \
            chunk->re[i] = source[2 * i * stride];                                                 \
            chunk->im[i] = source[2 * i * stride + 1];                                             \
        }                                                                                          \
    }                                                                                              \
    static void elements_store_##name(void *to, int64_t stride, const elements_chunk_t *chunk,     \
                                      int64_t count) {                                             \
        type *destination = to;                                                                    \
        for (int64_t i = 0; i < count; ++i) {                                                      \
            destination[2 * i * stride] = (type)chunk->re[i];                                      \
            destination[2 * i * stride + 1] = (type)chunk->im[i];                                  \
        }                                                                                          \
    }
ELEMENTS_DEFINE_COMPLEX(f32_c, float)
ELEMENTS_DEFINE_COMPLEX(f64_c, double)

static const struct {
    void (*load)(elements_chunk_t *chunk, const void *from, int64_t stride, int64_t count);
    void (*store)(void *to, int64_t stride, const elements_chunk_t *chunk, int64_t count);
} elements_conversions[] = {
    [JDATATYPE_F32] = {elements_load_f32, elements_store_f32},
    [JDATATYPE_F64] = {elements_load_f64, elements_store_f64},
    [JDATATYPE_F32_C] = {elements_load_f32_c, elements_store_f32_c},
    [JDATATYPE_F64_C] = {elements_load_f64_c, elements_store_f64_c},
    [JDATATYPE_F16] = {elements_load_f16, elements_store_f16},
    [JDATATYPE_BF16] = {elements_load_bf16, elements_store_bf16},
    [JDATATYPE_I8] = {elements_load_i8, elements_store_i8},
    [JDATATYPE_I32] = {elements_load_i32, elements_store_i32},
};

/* ---- Tiles ---- */

/* What happens to an element on its way. */
typedef struct elements_way {
    jdatatype_t to, from;
    bool conjugate;
    size_t to_bytes, from_bytes; /* of one element */
} elements_way_t;

static elements_way_t elements_make_way(jdatatype_t to, jdatatype_t from, bool conjugate) {
    return (elements_way_t){to, from, conjugate && ji_type_is_complex(from),
                            jhandle_sizeof_datatype(to), jhandle_sizeof_datatype(from)};
}

/* One side of two dimensions: the first element, and the strides in elements. */
typedef struct elements_to {
    char *data;
    int64_t stride[2];
} elements_to_t;
typedef struct elements_from {
    const char *data;
    int64_t stride[2];
} elements_from_t;

static void elements_convert(const elements_way_t *way, elements_to_t to, elements_from_t from,
                             int64_t n0, int64_t n1) {
    elements_chunk_t chunk;
    chunk.single = way->from != JDATATYPE_F64 && way->from != JDATATYPE_I32;
    if (!ji_type_is_complex(way->from) && ji_type_is_complex(way->to))
        memset(chunk.im, 0, sizeof chunk.im);

    for (int64_t j = 0; j < n1; ++j)
        for (int64_t i = 0; i < n0; i += ELEMENTS_CHUNK) {
            const int64_t count = n0 - i < ELEMENTS_CHUNK ? n0 - i : ELEMENTS_CHUNK;
            elements_conversions[way->from].load(
                &chunk,
                from.data + (i * from.stride[0] + j * from.stride[1]) * (int64_t)way->from_bytes,
                from.stride[0], count);
            elements_conversions[way->to].store(to.data + (i * to.stride[0] + j * to.stride[1]) *
                                                              (int64_t)way->to_bytes,
                                                to.stride[0], &chunk, count);
        }
}

/* Bytes of an element, wherever they lie and whatever they are. */
#define ELEMENTS_ANYWHERE __attribute__((may_alias, aligned(1)))
typedef uint8_t elements_1_t;
typedef uint16_t ELEMENTS_ANYWHERE elements_2_t;
typedef uint32_t ELEMENTS_ANYWHERE elements_4_t;
typedef uint64_t ELEMENTS_ANYWHERE elements_8_t;
typedef struct {
    elements_8_t half[2];
} elements_16_t;

/* For each size: a tile of n0 x n1 elements, and one that is known to be a cache line each way and
 * a transposition. */
#define ELEMENTS_DEFINE_TILE(size)                                                                 \
    static void elements_tile_##size(elements_to_t to, elements_from_t from, int64_t n0,           \
                                     int64_t n1) {                                                 \
        const int64_t t0 = to.stride[0], f0 = from.stride[0];                                      \
        for (int64_t j = 0; j < n1; ++j) {                                                         \
            elements_##size##_t *restrict d = (elements_##size##_t *)to.data + j * to.stride[1];   \
            const elements_##size##_t *restrict s =                                                \
                (const elements_##size##_t *)from.data + j * from.stride[1];                       \
            if (t0 == 1 && f0 == 1)                                                                \
                for (int64_t i = 0; i < n0; ++i)                                                   \
                    d[i] = s[i];                                                                   \
            else if (t0 == 1 && f0 == 0)                                                           \
                for (int64_t i = 0; i < n0; ++i)                                                   \
                    d[i] = *s;                                                                     \
            else                                                                                   \
                for (int64_t i = 0; i < n0; ++i)                                                   \
                    d[i * t0] = s[i * f0];                                                         \
        }                                                                                          \
    }                                                                                              \
    static void elements_square_##size(elements_to_t to, elements_from_t from) {                   \
        elements_##size##_t *restrict d = (elements_##size##_t *)to.data;                          \
        const elements_##size##_t *restrict s = (const elements_##size##_t *)from.data;            \
        for (int64_t j = 0; j < ELEMENTS_LINE_BYTES / size; ++j)                                   \
            for (int64_t i = 0; i < ELEMENTS_LINE_BYTES / size; ++i)                               \
                d[j * to.stride[1] + i] = s[i * from.stride[0] + j];                               \
    }
#define ELEMENTS_LINE_BYTES 64
#define ELEMENTS_SHORT_BYTES 128 /* runs below this are not worth a call of memcpy each */
ELEMENTS_DEFINE_TILE(1)
ELEMENTS_DEFINE_TILE(2)
ELEMENTS_DEFINE_TILE(4)
ELEMENTS_DEFINE_TILE(8)
ELEMENTS_DEFINE_TILE(16)

static void elements_move(size_t size, elements_to_t to, elements_from_t from, int64_t n0,
                          int64_t n1) {
    switch (size) {
    case 1: elements_tile_1(to, from, n0, n1); break;
    case 2: elements_tile_2(to, from, n0, n1); break;
    case 4: elements_tile_4(to, from, n0, n1); break;
    case 8: elements_tile_8(to, from, n0, n1); break;
    default: elements_tile_16(to, from, n0, n1); break;
    }
}

/* What is filled with zeros is filled from here. */
static const _Alignas(16) char elements_zero[16];

static void elements_conjugate(const elements_way_t *way, elements_to_t to, int64_t n0,
                               int64_t n1) {
    const int64_t size = (int64_t)way->to_bytes;
    for (int64_t j = 0; j < n1; ++j)
        ji_conjugate(way->to, to.data + j * to.stride[1] * size, to.stride[0] * size, n0);
}

/* A tile whose sides both run along dimension 0, or that is small. */
static void elements_tile(const elements_way_t *way, elements_to_t to, elements_from_t from,
                          int64_t n0, int64_t n1) {
    const size_t size = way->to_bytes, run_bytes = (size_t)n0 * size;
    if (way->to != way->from) {
        elements_convert(way, to, from, n0, n1);
    } else if (to.stride[0] == 1 && from.stride[0] == 1 && run_bytes >= ELEMENTS_SHORT_BYTES) {
        for (int64_t j = 0; j < n1; ++j)
            memcpy(to.data + j * to.stride[1] * (int64_t)size,
                   from.data + j * from.stride[1] * (int64_t)size, run_bytes);
    } else if (to.stride[0] == 1 && from.data == elements_zero) {
        for (int64_t j = 0; j < n1; ++j)
            memset(to.data + j * to.stride[1] * (int64_t)size, 0, run_bytes);
    } else {
        elements_move(size, to, from, n0, n1);
    }
    if (way->conjugate)
        elements_conjugate(way, to, n0, n1);
}

static elements_to_t elements_to_at(const elements_way_t *way, elements_to_t to, int64_t i,
                                    int64_t j) {
    to.data += (i * to.stride[0] + j * to.stride[1]) * (int64_t)way->to_bytes;
    return to;
}
static elements_from_t elements_from_at(const elements_way_t *way, elements_from_t from, int64_t i,
                                        int64_t j) {
    from.data += (i * from.stride[0] + j * from.stride[1]) * (int64_t)way->from_bytes;
    return from;
}

/* A square of at most ELEMENTS_LARGE each way, transposed line by line. */
static void elements_transpose(const elements_way_t *way, elements_to_t to, elements_from_t from,
                               int64_t n0, int64_t n1) {
    if (way->to != way->from || to.stride[0] != 1 || from.stride[1] != 1) {
        elements_tile(way, to, from, n0, n1);
        return;
    }

    const int64_t line = ELEMENTS_LINE_BYTES / (int64_t)way->to_bytes, whole0 = n0 - n0 % line,
                  whole1 = n1 - n1 % line;

    for (int64_t i = 0; i < whole0; i += line)
        for (int64_t j = 0; j < whole1; j += line) {
            /* Along the source: loads wait, stores do not. */
            const elements_to_t d = elements_to_at(way, to, i, j);
            const elements_from_t s = elements_from_at(way, from, i, j);
            switch (way->to_bytes) {
            case 1: elements_square_1(d, s); break;
            case 2: elements_square_2(d, s); break;
            case 4: elements_square_4(d, s); break;
            case 8: elements_square_8(d, s); break;
            default: elements_square_16(d, s); break;
            }
        }

    if (way->conjugate)
        elements_conjugate(way, to, whole0, whole1);
    elements_tile(way, elements_to_at(way, to, whole0, 0), elements_from_at(way, from, whole0, 0),
                  n0 - whole0, whole1);
    elements_tile(way, elements_to_at(way, to, 0, whole1), elements_from_at(way, from, 0, whole1),
                  n0, n1 - whole1);
}

/* ---- Walks ---- */

/* Elements each way that a transposition does before it goes on: so many pages at most. */
#define ELEMENTS_LARGE 128

/* Carries a walk out, whose sides are the destination and the source. */
static void elements_go(const elements_way_t *way, ji_walk_t *walk, char *to, const char *from) {
    int across = 0; /* where the source runs fastest */
    for (int d = 1; d < walk->rank; ++d)
        if (walk->dimensions[d].strides[1] < walk->dimensions[across].strides[1])
            across = d;

    const bool transposes = across != 0;
    if (transposes)
        ji_walk_bring(walk, across);

    ji_walk_begin(walk, 2);
    const ji_walk_dimension_t *d0 = &walk->dimensions[0], *d1 = &walk->dimensions[1];
    const int64_t n0 = d0->extent, n1 = d1->extent;

    const int64_t step = transposes ? ELEMENTS_LARGE : n0 > n1 ? n0 : n1;
    elements_to_t here = {to, {d0->strides[0], d1->strides[0]}};
    elements_from_t there = {from, {d0->strides[1], d1->strides[1]}};

    while (ji_walk_next(walk)) {
        here.data = to + walk->at[0] * (int64_t)way->to_bytes;
        there.data = from + walk->at[1] * (int64_t)way->from_bytes;
        for (int64_t j = 0; j < n1; j += step)
            for (int64_t i = 0; i < n0; i += step) {
                const int64_t m0 = n0 - i < step ? n0 - i : step,
                              m1 = n1 - j < step ? n1 - j : step;
                (transposes ? elements_transpose
                            : elements_tile)(way, elements_to_at(way, here, i, j),
                                             elements_from_at(way, there, i, j), m0, m1);
            }
    }
}

static void elements_rectangle(const elements_way_t *way, elements_to_t to, elements_from_t from,
                               int64_t n0, int64_t n1) {
    ji_walk_t walk;

    ji_walk_init(&walk);
    ji_walk_add(&walk, (ji_walk_dimension_t){n0, {to.stride[0], from.stride[0]}});
    ji_walk_add(&walk, (ji_walk_dimension_t){n1, {to.stride[1], from.stride[1]}});
    ji_walk_join(&walk);
    elements_go(way, &walk, to.data, from.data);
}

/* ---- Triangles ---- */

#define ELEMENTS_SMALL_TRIANGLE 32

/* What is strictly below the diagonal of a matrix of order n. */
static void elements_below(const elements_way_t *way, elements_to_t to, elements_from_t from,
                           int64_t n) {
    if (n > ELEMENTS_SMALL_TRIANGLE) {
        const int64_t half = n / 2;
        elements_below(way, to, from, half);
        elements_rectangle(way, elements_to_at(way, to, half, 0),
                           elements_from_at(way, from, half, 0), n - half, half);
        elements_below(way, elements_to_at(way, to, half, half),
                       elements_from_at(way, from, half, half), n - half);
        return;
    }

    for (int64_t k = 0; k < n; ++k) {
        if (to.stride[0] <= to.stride[1]) { /* columns are runs */
            elements_tile(way, elements_to_at(way, to, k + 1, k),
                          elements_from_at(way, from, k + 1, k), n - k - 1, 1);
        } else {
            elements_to_t row = elements_to_at(way, to, k, 0);
            elements_from_t from_row = elements_from_at(way, from, k, 0);
            row.stride[0] = row.stride[1];
            from_row.stride[0] = from_row.stride[1];
            elements_tile(way, row, from_row, k, 1);
        }
    }
}

/* What of a part is beside the diagonal, below (0) or above (1). Above is below, transposed. */
static void elements_copy_side(const elements_way_t *way, elements_to_t to, elements_from_t from,
                               int side, int64_t n) {
    const elements_to_t to_side = {to.data, {to.stride[side], to.stride[!side]}};
    const elements_from_t from_side = {from.data, {from.stride[side], from.stride[!side]}};
    elements_below(way, to_side, from_side, n);
}

static void elements_copy_part(const ji_elements_t *destination, const ji_elements_t *source,
                               const ji_part_t *part) {
    const int64_t n = destination->layout.extents[0], *strides = source->layout.strides;
    const bool mirrored = ji_origin_is_mirrored(part->origin),
               zero = part->origin == JI_ORIGIN_ZERO;

    const elements_way_t way =
        elements_make_way(destination->type, zero ? destination->type : source->type,
                          part->origin == JI_ORIGIN_CONJUGATED);
    const elements_to_t to = {destination->data,
                              {destination->layout.strides[0], destination->layout.strides[1]}};

    elements_from_t from = {source->data, {strides[mirrored], strides[!mirrored]}};
    if (zero)
        from = (elements_from_t){elements_zero, {0, 0}};

    if (part->region.low <= 0 && part->region.high > 0)
        elements_tile(&way, (elements_to_t){to.data, {to.stride[0] + to.stride[1], 1}},
                      (elements_from_t){from.data, {from.stride[0] + from.stride[1], 1}}, n, 1);
    if (part->region.high > 1)
        elements_copy_side(&way, to, from, 0, n);
    if (part->region.low < 0)
        elements_copy_side(&way, to, from, 1, n);
}

static void elements_copy_structured(ji_elements_t destination, ji_elements_t source) {
    jlayout_t *to = &destination.layout, *from = &source.layout;
    if (to->extents[0] == 1) /* then strides may be anything, and are added to each other here */
        to->strides[0] = to->strides[1] = from->strides[0] = from->strides[1] = 1;

    ji_part_t parts[2];
    const int count = ji_structure_parts(to->structure, from->structure, parts);
    for (int k = 0; k < count; ++k)
        elements_copy_part(&destination, &source, &parts[k]);

    if (!ji_structure_is_hermitian(from->structure) || !ji_type_is_complex(destination.type))
        return;
    const size_t size = jhandle_sizeof_datatype(destination.type);
    for (int64_t i = 0; i < to->extents[0]; ++i) /* real, whatever is stored there */
        memset((char *)destination.data + (size_t)(i * (to->strides[0] + to->strides[1])) * size +
                   size / 2,
               0, size / 2);
}

/* ---- Copies and fills ---- */

jstatus_t ji_elements_copy_host(const ji_elements_t *destination, const ji_elements_t *source) {
    JREQUIRE(jlayout_same_shape(&destination->layout, &source->layout), JSTATUS_INVALID_SIZE);
    if (ji_type_is_complex(source->type) && !ji_type_is_complex(destination->type))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "elements of %s have an imaginary part, the destination's of %s have none",
                       jdatatype_name(source->type), jdatatype_name(destination->type));

    const jlayout_t *to = &destination->layout, *from = &source->layout;
    int64_t count = 0;
    (void)jlayout_get_count(to, &count);
    if (count == 0)
        return JSTATUS_SUCCESS;

    if (to->structure != JSTRUCTURE_GENERAL || from->structure != JSTRUCTURE_GENERAL) {
        elements_copy_structured(*destination, *source);
        return JSTATUS_SUCCESS;
    }

    const elements_way_t way = elements_make_way(destination->type, source->type, false);
    ji_walk_t walk;
    ji_walk_layouts(&walk, 2, (const jlayout_t *const[]){to, from});
    elements_go(&way, &walk, destination->data, source->data);
    return JSTATUS_SUCCESS;
}

void ji_elements_fill_host(const ji_elements_t *destination, const void *value) {
    /* The same elements, of a source that stands still. */
    ji_elements_t still = *destination;
    memset(still.layout.strides, 0, sizeof still.layout.strides);
    still.data = (void *)(uintptr_t)(value != NULL ? value : elements_zero);
    still.layout.structure = JSTRUCTURE_GENERAL;
    (void)ji_elements_copy_host(destination, &still);
}
