/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Whether the CBLAS's products stay within their operands. BLIS 0.9's sgemm on processors with AVX2
 * does not: for small products that it does not pack it reads behind A or B, 76 bytes with a tight
 * leading dimension and more with a large one, for one shape in eight. Where operands end with the
 * last page of a mapping that ends the program. It is tried once for each type, in a child, on
 * matrices right before an inaccessible page; where it is so, the guard pages of the tests leave
 * room. */

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas/blas.h"
#include "blas/routine/entry.h"
#include "jblas_routines.h"

#define ROOM_BYTES 8192
#define MOST 33 /* order of the largest matrix */

/* The last rows x columns elements before the page. */
static void *at_the_edge(unsigned char *end, jdatatype_t type, int64_t rows, int64_t columns) {
    return end - (size_t)(rows * columns) * ji_sizeof(type);
}

static void multiply_at_the_edge(jdatatype_t type) {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 13, 26, MOST};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    unsigned char *end[3];
    for (int which = 0; which < 3; ++which)
        end[which] = (unsigned char *)jtest_guard_pages(MOST * MOST * 16) + MOST * MOST * 16;
    for (int i = 0; i < COUNT * COUNT * COUNT * 4; ++i) {
        const bool plain_a = i & 1, plain_b = i & 2;
        const int64_t m = sizes[i / 4 % COUNT], n = sizes[i / 4 / COUNT % COUNT],
                      k = sizes[i / 4 / COUNT / COUNT];
        ji_matmat_t product = {.head = {.type = type, .row = &ji_row_gemm},
                               .transa = plain_a ? JBLAS_NO_TRANSPOSE : JBLAS_TRANSPOSE,
                               .transb = plain_b ? JBLAS_NO_TRANSPOSE : JBLAS_TRANSPOSE,
                               .m = m,
                               .n = n,
                               .k = k,
                               .alpha = ji_constant(type, 1),
                               .a = at_the_edge(end[0], type, m, k),
                               .lda = plain_a ? m : k,
                               .b = at_the_edge(end[1], type, k, n),
                               .ldb = plain_b ? k : n,
                               .beta = ji_constant(type, 1),
                               .c = at_the_edge(end[2], type, m, n),
                               .ldc = m};
        ji_host_primitives[JI_GEMM](&product);
    }
}

bool blas_is_own(void) { return ji_host_primitives[JI_GEMM] == ji_host_gemm; }

static void gemm_of_another(void *block) { ji_host_gemm(block); }

void blas_hide_own_gemm(bool hide) {
    const char *isa;
    JEXPECT_OK(jblas_get_host_isa(&isa)); /* the first call fills the table */

    ji_host_function_t *const gemm = &ji_host_primitives[JI_GEMM];
    if (hide && *gemm == ji_host_gemm)
        *gemm = gemm_of_another;
    else if (!hide && *gemm == gemm_of_another)
        *gemm = ji_host_gemm;
}

bool blas_product_reads_beyond(int element) {
    enum { UNKNOWN, STAYS, BEYOND };
    static int known[4];
    if (element < JDATATYPE_F32 || element > JDATATYPE_F64_C)
        return false;
    if (known[element] == UNKNOWN) {
        int status = 0;
        fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0) {
            close(STDERR_FILENO); /* a sanitizer's report would be read as a finding */
            multiply_at_the_edge((jdatatype_t)element);
            _exit(0);
        }
        known[element] = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? STAYS : BEYOND;
    }
    return known[element] == BEYOND;
}

size_t blas_room_bytes(int element) {
    const int real = wide_real_of(element); /* which complex products are made of */
    return blas_product_reads_beyond(element) || blas_product_reads_beyond(real) ? ROOM_BYTES : 0;
}

void *blas_guard_pages(size_t bytes, int element) {
    return jtest_guard_pages(bytes + blas_room_bytes(element));
}

static const jdatatype_t product_types[] = {JDATATYPE_F32, JDATATYPE_F64, JDATATYPE_F32_C,
                                            JDATATYPE_F64_C};

JTEST_P(JblasBounds, ProductsOfTheCblasStayWithinTheirOperands, jdatatype_t, product_types) {
    if (blas_product_reads_beyond((int)*param))
        JSKIP("this CBLAS's product reads behind its operands: the guard pages of the tests leave "
              "room");
}
