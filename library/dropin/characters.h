/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */
#ifndef JALLOC_DROPIN_CHARACTERS_H
#define JALLOC_DROPIN_CHARACTERS_H

/* Enumerators from the letters of Fortran, TAKE_<which>(letter) as the rows name them. What is none
 * of the letters is no enumerator, and jblas will say so. */

#include "jalloc/jblas_types.h"

static inline char ji_upper_case(char letter) {
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

static inline jblas_operation_t ji_operation_of(const char *letter) {
    switch (ji_upper_case(*letter)) {
    case 'N': return JBLAS_NO_TRANSPOSE;
    case 'T': return JBLAS_TRANSPOSE;
    case 'C': return JBLAS_CONJUGATE_TRANSPOSE;
    default: return (jblas_operation_t)0;
    }
}

static inline int ji_one_of(const char *letter, char first, int first_value, char second,
                            int second_value) {
    const char given = ji_upper_case(*letter);
    return given == first ? first_value : given == second ? second_value : 0;
}

#define TAKE_SIDE(letter) (jblas_side_t) ji_one_of(letter, 'L', JBLAS_LEFT, 'R', JBLAS_RIGHT)
#define TAKE_UPLO(letter) (jblas_uplo_t) ji_one_of(letter, 'U', JBLAS_UPPER, 'L', JBLAS_LOWER)
#define TAKE_DIAGONAL(letter)                                                                      \
    (jblas_diagonal_t) ji_one_of(letter, 'N', JBLAS_NON_UNIT, 'U', JBLAS_UNIT)
#define TAKE_OPERATION(letter) ji_operation_of(letter)
#define TAKE_ANY_OPERATION(letter) ji_operation_of(letter)
#define TAKE_SYMMETRIC_OPERATION(letter) ji_operation_of(letter)
#define TAKE_HERMITIAN_OPERATION(letter) ji_operation_of(letter)

#endif
