/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_LAPACK_HOST_GRAM_H
#define JALLOC_LAPACK_HOST_GRAM_H

/* The reflectors of long columns, all at once by what their products with each other are. */

#include "lapack/lapack.h"

#define JI_GRAM_MOST 32 /* columns */

/* A = Q R of the first of `count` columns, as geqrf leaves it: of as many as products tell well
 * enough, which it gives; 0 where they are too few to be worth it, and nothing is written.
 * `products` becomes the upper triangle of V2^H V2, of what is below their square. rows > count. */
int64_t ji_gram_reflect(const ji_matmat_t *call, void *a, int64_t lda, int64_t rows, int64_t count,
                        void *tau, void *products, int64_t ld_products);

#endif
