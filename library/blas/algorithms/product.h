/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_BLAS_ALGORITHMS_PRODUCT_H
#define JALLOC_BLAS_ALGORITHMS_PRODUCT_H

/* The panels that the host's products are packed into, as workspace (host/product.c says what they
 * are). Whatever the rung, the bits are the same. On a device that packs for itself, and for a
 * product that is done in place, there are none. */

#include "blas/blas.h"

#define JI_PACKED "packed"
#define JI_PACKED_SMALL "packed-small"
#define JI_IN_PLACE "in place"

#define JI_PACKED_SMALL_BYTES ((size_t)262144) /* of packed-small, a thread */

/* In real multiplications; rows, columns. */
#define JI_PACKED_LEAST_WORK 20000
#define JI_PACKED_LEAST_SIZE 24
#define JI_PACKED_LEAST_GEMM 2097153

static inline double ji_product_work(jdatatype_t type, int64_t m, int64_t n, int64_t k) {
    return (double)m * (double)n * (double)k * (ji_is_complex(type) ? 4 : 1);
}

/* Real multiplications that a thread is worth, and how many threads so many are. */
#define JI_PRODUCT_LEAST_WORK 3e5
static inline int ji_product_threads(double work) {
    const double threads = work / JI_PRODUCT_LEAST_WORK;
    return threads >= INT16_MAX ? INT16_MAX : (int)threads;
}

/* Whether the product is jblas's own. A CBLAS packs for itself, and has none of the first two. */
static inline bool ji_product_is_own(ji_primitive_t primitive) {
    return primitive == JI_GEMMT || primitive == JI_HERKX || primitive == JI_SKEWSYMM ||
           primitive == JI_SKEWSYR2K || primitive == JI_GEMM_BY_3M || primitive == JI_GEMM_HALF ||
           primitive == JI_GEMM_EX || ji_host_primitives[JI_GEMM] == ji_host_gemm;
}

/* Whether the host has such a product packed: both operands and C may be anything (least work in
 * real multiplications), or gemm's, whose operands are read in place nearly as fast. */
static inline bool ji_product_packs(const jhandle_t *handle, ji_primitive_t primitive,
                                    jdatatype_t type, int64_t m, int64_t n, int64_t k) {
    return handle->device->kind == JDEVICE_HOST && ji_min(m, n) >= JI_PACKED_LEAST_SIZE &&
           ji_product_work(type, m, n, k) >= JI_PACKED_LEAST_WORK && ji_product_is_own(primitive);
}
static inline bool ji_gemm_packs(const jhandle_t *handle, jdatatype_t type, int64_t m, int64_t n,
                                 int64_t k) {
    return ji_product_work(type, m, n, k) >= JI_PACKED_LEAST_GEMM &&
           ji_product_packs(handle, JI_GEMM, type, m, n, k);
}

/* What products m x n of depth k want at best, and at least so as not to be done in place; 0: they
 * are. None falls when a size grows. By the head's type and threads. Products alone need nothing in
 * place; a routine that cannot do without adds it to all three. */
typedef struct ji_panel_bytes {
    size_t packed, packed_small, in_place;
} ji_panel_bytes_t;
/* The larger of each: where one follows the other. */
static inline ji_panel_bytes_t ji_panels_for_both(ji_panel_bytes_t a, ji_panel_bytes_t b) {
    return (ji_panel_bytes_t){a.packed > b.packed ? a.packed : b.packed,
                              a.packed_small > b.packed_small ? a.packed_small : b.packed_small,
                              a.in_place > b.in_place ? a.in_place : b.in_place};
}
JI_SHARED ji_panel_bytes_t ji_panel_bytes(const jhandle_t *handle, ji_primitive_t primitive,
                                          const ji_head_t *head, int64_t m, int64_t n, int64_t k);
/* Those of trmm, whose triangle has order k. */
ji_panel_bytes_t ji_trmm_bytes(const jhandle_t *handle, const ji_matmat_t *args, int64_t k);
/* Of a plain call. */
static inline ji_panel_bytes_t ji_call_panel_bytes(const jhandle_t *handle,
                                                   ji_primitive_t primitive, jdatatype_t type,
                                                   int64_t m, int64_t n, int64_t k) {
    const ji_head_t head = {.type = type, .threads = handle->threads};
    return ji_panel_bytes(handle, primitive, &head, m, n, k);
}
/* The same of a solve with a triangle (JI_TRSM, m x n on that side), and of a factorization or an
 * inverse of order n (JI_POTRF, JI_TRTRI): of their products, and of packed triangles. */
JI_SHARED ji_panel_bytes_t ji_solve_bytes(const jhandle_t *handle, const ji_matmat_t *args);
JI_SHARED ji_panel_bytes_t ji_factor_bytes(const jhandle_t *handle, const ji_matmat_t *args);

/* The rungs that lend such panels, if there are any; the last one is in place. */
JI_SHARED void ji_panel_add_rungs(jplan_t *plan, const ji_matmat_t *args, ji_panel_bytes_t bytes,
                                  uint32_t bits_class);
/* Bytes in whole cache lines. */
static inline size_t ji_whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Of a batch each thread has panels of its own, one share after the other: what all take that have
 * items. For a plain block the panels themselves. */
static inline size_t ji_panel_share(size_t panel_bytes) { return ji_whole_lines(panel_bytes); }
size_t ji_panels_of_threads(const ji_matmat_t *args, size_t bytes);
/* Puts into the block what the rung has lent. */
JI_SHARED void ji_panel_take(ji_matmat_t *args, ji_panel_bytes_t bytes, const jborrow_t *ws);

/* gemm's rungs; the last one needs nothing. */
void ji_gemm_add_rungs(jplan_t *plan, const jhandle_t *handle, const ji_matmat_t *args,
                       uint32_t bits_class);

/* The panels that a rung of these has lent. */
void ji_gemm_take_panels(ji_matmat_t *args, const jhandle_t *handle, const jborrow_t *ws);
/* What a routine adds to its rung that runs such products by ji_run_product() while it borrows. */
size_t ji_gemm_callee_bytes(const jhandle_t *handle, jdatatype_t type, int64_t m, int64_t n,
                            int64_t k);

/* A routine that is one primitive, a product m x n of depth k: its size query, and its call. */
jstatus_t ji_answer_product(jhandle_t *handle, ji_primitive_t primitive, const ji_matmat_t *args,
                            int64_t m, int64_t n, int64_t k);
jstatus_t ji_run_product(jhandle_t *handle, ji_primitive_t primitive, ji_matmat_t *args, int64_t m,
                         int64_t n, int64_t k);

/* The same by panels of which the routine itself says how many bytes it wants. */
jstatus_t ji_answer_panels(jhandle_t *handle, const ji_matmat_t *args, ji_panel_bytes_t bytes,
                           int64_t m, int64_t n, int64_t k);
jstatus_t ji_run_panels(jhandle_t *handle, ji_primitive_t primitive, ji_matmat_t *args,
                        ji_panel_bytes_t bytes, int64_t m, int64_t n, int64_t k);

#endif
