/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The drop-in beside the reference, name by name: random calls of every function, by Fortran's and
 * by CBLAS's name, in both orders, with 32-bit and with 64-bit integers. All that the two leave in
 * memory is compared, and what they return. The reference is Debian's package libblas3, or the
 * library that JALLOC_TEST_REFERENCE names; without one the test is skipped. */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dropin_call.h"
#include "jtest.h"

/* ---- Signatures ---- */

/* One letter for each argument:
 *
 *     S U T V D    side, uplo, trans of A, of B, diag       a b   alpha, beta
 *     m n k l u    sizes; kl and ku of a band               r q   alpha, beta of a real type
 *     A B C        matrices with their leading dimensions   c s   a rotation's
 *     P            a packed one                             h     rotm's parameters
 *     x y          vectors with their increments            e f g i  rotg's and rotmg's numbers
 *
 * Of a shape there is `of`: p of products, s beside a side, u of updates, g general, q square,
 * b general band, t square band, v of vectors. */
typedef struct signature {
    const char *names[4]; /* for s d c z */
    char of;
    const char *arguments;
    char result; /* e: an element, r: a real, i: an index, d: double whatever the type, -: none */
} signature_t;

#define SDCZ(name)                                                                                 \
    { "s" name, "d" name, "c" name, "z" name }
#define SD(name)                                                                                   \
    { "s" name, "d" name, NULL, NULL }
#define CZ(name)                                                                                   \
    { NULL, NULL, "c" name, "z" name }

static const signature_t signatures[] = {
    {SDCZ("gemm"), 'p', "TVmnkaABbC", '-'},
    {SDCZ("symm"), 's', "SUmnaABbC", '-'},
    {CZ("hemm"), 's', "SUmnaABbC", '-'},
    {SDCZ("syrk"), 'u', "UTnkaAbC", '-'},
    {CZ("herk"), 'u', "UTnkrAqC", '-'},
    {SDCZ("syr2k"), 'u', "UTnkaABbC", '-'},
    {CZ("her2k"), 'u', "UTnkaABqC", '-'},
    {SDCZ("trmm"), 's', "SUTDmnaAB", '-'},
    {SDCZ("trsm"), 's', "SUTDmnaAB", '-'},
    {SDCZ("gemv"), 'g', "TmnaAxby", '-'},
    {SDCZ("gbmv"), 'b', "TmnluaAxby", '-'},
    {SD("ger"), 'g', "mnaxyA", '-'},
    {CZ("geru"), 'g', "mnaxyA", '-'},
    {CZ("gerc"), 'g', "mnaxyA", '-'},
    {SD("symv"), 'q', "UnaAxby", '-'},
    {CZ("hemv"), 'q', "UnaAxby", '-'},
    {SD("sbmv"), 't', "UnkaAxby", '-'},
    {CZ("hbmv"), 't', "UnkaAxby", '-'},
    {SD("spmv"), 'q', "UnaPxby", '-'},
    {CZ("hpmv"), 'q', "UnaPxby", '-'},
    {SD("syr"), 'q', "UnaxA", '-'},
    {CZ("her"), 'q', "UnrxA", '-'},
    {SD("spr"), 'q', "UnaxP", '-'},
    {CZ("hpr"), 'q', "UnrxP", '-'},
    {SD("syr2"), 'q', "UnaxyA", '-'},
    {CZ("her2"), 'q', "UnaxyA", '-'},
    {SD("spr2"), 'q', "UnaxyP", '-'},
    {CZ("hpr2"), 'q', "UnaxyP", '-'},
    {SDCZ("trmv"), 'q', "UTDnAx", '-'},
    {SDCZ("trsv"), 'q', "UTDnAx", '-'},
    {SDCZ("tbmv"), 't', "UTDnkAx", '-'},
    {SDCZ("tbsv"), 't', "UTDnkAx", '-'},
    {SDCZ("tpmv"), 'q', "UTDnPx", '-'},
    {SDCZ("tpsv"), 'q', "UTDnPx", '-'},
    {SDCZ("axpy"), 'v', "naxy", '-'},
    {SDCZ("copy"), 'v', "nxy", '-'},
    {SDCZ("swap"), 'v', "nxy", '-'},
    {SDCZ("scal"), 'v', "nax", '-'},
    {{NULL, NULL, "csscal", "zdscal"}, 'v', "nrx", '-'},
    {SD("dot"), 'v', "nxy", 'e'},
    {CZ("dotu"), 'v', "nxy", 'e'},
    {CZ("dotc"), 'v', "nxy", 'e'},
    {{"dsdot", NULL, NULL, NULL}, 'v', "nxy", 'd'},
    {{"sdsdot", NULL, NULL, NULL}, 'v', "naxy", 'e'},
    {{"snrm2", "dnrm2", "scnrm2", "dznrm2"}, 'v', "nx", 'r'},
    {{"sasum", "dasum", "scasum", "dzasum"}, 'v', "nx", 'r'},
    {{"isamax", "idamax", "icamax", "izamax"}, 'v', "nx", 'i'},
    {{"srot", "drot", "csrot", "zdrot"}, 'v', "nxycs", '-'},
    {SD("rotm"), 'v', "nxyh", '-'},
    {SD("rotg"), 'v', "efgi", '-'},
    {CZ("rotg"), 'v', "eagi", '-'},
    {SD("rotmg"), 'v', "efgah", '-'},
    {{NULL, NULL, "scabs1", "dcabs1"}, 'v', "e", 'r'},
};
enum { SIGNATURES = sizeof signatures / sizeof *signatures };

/* ---- One call ---- */

enum { MOST = 300, ARRAYS = 7 };
/* What may be written: A B C P, x y, and the numbers of rotations. */
enum { ARRAY_A, ARRAY_B, ARRAY_C, ARRAY_X, ARRAY_Y, ARRAY_PARAMETERS, ARRAY_NUMBERS };

typedef struct call {
    const signature_t *signature;
    int type; /* s d c z */
    bool by_c, row_major;
    int64_t m, n, k, kl, ku, lda, ldb, ldc, incx, incy;
    char side, uplo, transa, transb, diag;
    double scalar[4][2]; /* alpha, beta, c, s */
    size_t bytes[ARRAYS];
    unsigned char *filled[ARRAYS];
} call_t;

static bool is_complex(const call_t *c) { return c->type >= 2; }
static bool is_single(const call_t *c) { return c->type % 2 == 0; }
static bool has(const call_t *c, char letter) {
    return strchr(c->signature->arguments, letter) != NULL;
}
static bool begins(const call_t *c, const char *stem) {
    return strncmp(c->signature->names[c->type] + 1, stem, strlen(stem)) == 0;
}

static void put_real(const call_t *c, void *array, int64_t index, double value) {
    if (is_single(c))
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}
static double get_real(const call_t *c, const void *array, int64_t index) {
    return is_single(c) ? (double)((const float *)array)[index] : ((const double *)array)[index];
}

static int64_t draw_size(bool large) {
    const int64_t kind = jtest_random_between(0, 19);
    return kind == 0   ? 0
           : kind < 10 ? jtest_random_between(1, 8)
           : kind < 19 ? jtest_random_between(9, 40)
                       : jtest_random_between(41, large ? MOST : 90);
}
static int64_t draw_increment(bool may_be_0) {
    static const int64_t increments[] = {1, 1, 1, 2, 3, -1, -2, 0};
    return increments[jtest_random_between(0, may_be_0 ? 7 : 6)];
}
static void draw_scalar(double scalar[2]) {
    static const double usual[] = {0, 1, -1};
    const int64_t kind = jtest_random_between(0, 5);
    scalar[0] = kind < 3 ? usual[kind] : (double)(float)jtest_random_double(-2, 2);
    scalar[1] = kind < 3 ? 0 : (double)(float)jtest_random_double(-2, 2);
}

static int64_t leading(const call_t *c, int64_t rows, int64_t columns) {
    const int64_t least = c->row_major ? columns : rows;
    return (least > 1 ? least : 1) + jtest_random_between(0, 2);
}

static void draw_leading(call_t *c) {
    const bool plain_a = c->transa == 'N', plain_b = c->transb == 'N';
    const int64_t order = c->side == 'L' ? c->m : c->n;
    switch (c->signature->of) {
    case 'p':
        c->lda = plain_a ? leading(c, c->m, c->k) : leading(c, c->k, c->m);
        c->ldb = plain_b ? leading(c, c->k, c->n) : leading(c, c->n, c->k);
        c->ldc = leading(c, c->m, c->n);
        break;
    case 's':
        c->lda = leading(c, order, order);
        c->ldb = leading(c, c->m, c->n), c->ldc = leading(c, c->m, c->n);
        break;
    case 'u':
        c->lda = plain_a ? leading(c, c->n, c->k) : leading(c, c->k, c->n);
        c->ldb = plain_a ? leading(c, c->n, c->k) : leading(c, c->k, c->n);
        c->ldc = leading(c, c->n, c->n);
        break;
    case 'g': c->lda = leading(c, c->m, c->n); break;
    case 'b': c->lda = leading(c, c->kl + c->ku + 1, c->kl + c->ku + 1); break;
    case 't': c->lda = leading(c, c->k + 1, c->k + 1); break;
    default: c->lda = leading(c, c->n, c->n); break;
    }
}

/* Triangles that are divided by have a diagonal that is larger than all else in a row. */
static void make_solvable(const call_t *c, unsigned char *a) {
    const int parts = is_complex(c) ? 2 : 1;
    const bool upper = (c->uplo == 'U') != c->row_major;
    const int64_t order = c->signature->of == 's' && c->side == 'L' ? c->m : c->n;
    const size_t real_bytes = is_single(c) ? sizeof(float) : sizeof(double);
    const int64_t reals = (int64_t)(c->bytes[ARRAY_A] / real_bytes);
    for (int64_t i = 0; i < reals; i++)
        put_real(c, a, i, get_real(c, a, i) / (double)(order + 1));

    int64_t at = 0;
    for (int64_t j = 0; j < order; j++) {
        int64_t diagonal = j + j * c->lda;
        if (c->signature->of == 't')
            diagonal = (upper ? c->k : 0) + j * c->lda;
        if (has(c, 'P'))
            diagonal = upper ? at + j : at, at += upper ? j + 1 : order - j;
        put_real(c, a, diagonal * parts, 1 + jtest_random_double(0, 1));
    }
}

static call_t *draw_call(const signature_t *signature, int type, bool by_c, bool row_major) {
    call_t *c = calloc(1, sizeof *c);
    if (c == NULL)
        abort();
    c->signature = signature, c->type = type, c->by_c = by_c, c->row_major = row_major;
    const bool level3 = signature->of == 'p' || signature->of == 's' || signature->of == 'u';
    c->m = draw_size(!level3), c->n = draw_size(!level3), c->k = draw_size(false);
    if (row_major && (signature->of == 'g' || signature->of == 'b')) {
        /* The reference's cblas_cgemv and cblas_cgbmv do not return from one without rows. */
        c->m += c->m == 0, c->n += c->n == 0;
    }
    c->kl = draw_size(false), c->ku = draw_size(false);
    c->incx = draw_increment(signature->of == 'v'), c->incy = draw_increment(signature->of == 'v');
    c->side = jtest_random_bool() ? 'L' : 'R', c->uplo = jtest_random_bool() ? 'U' : 'L';
    c->diag = jtest_random_bool() ? 'U' : 'N';
    c->transa = "NTC"[jtest_random_between(0, 2)], c -> transb = "NTC"[jtest_random_between(0, 2)];
    if (signature->of == 'u' && c->transa != 'N' && is_complex(c))
        c->transa = begins(c, "her") ? 'C' : 'T';
    for (int i = 0; i < 4; i++)
        draw_scalar(c->scalar[i]);
    draw_leading(c);

    const size_t element =
        (is_single(c) ? sizeof(float) : sizeof(double)) * (is_complex(c) ? 2 : 1);
    const int64_t most[ARRAYS] = {
        c->lda * (MOST + 1), c->ldb * (MOST + 1), c->ldc * (MOST + 1), 3 * MOST, 3 * MOST, 8, 64};
    for (int i = 0; i < ARRAYS; i++) {
        c->bytes[i] = (size_t)(most[i] > 0 ? most[i] : 1) * element;
        c->filled[i] = malloc(c->bytes[i]);
        if (c->filled[i] == NULL)
            abort();
        for (size_t at = 0; at < c->bytes[i] / (is_single(c) ? sizeof(float) : sizeof(double));
             at++)
            put_real(c, c->filled[i], (int64_t)at, jtest_random_double(-1, 1));
    }
    if (begins(c, "trs") || begins(c, "tbs") || begins(c, "tps"))
        make_solvable(c, c->filled[ARRAY_A]);
    put_real(c, c->filled[ARRAY_PARAMETERS], 0, (double)jtest_random_between(-2, 1));
    return c;
}

static void free_call(call_t *c) {
    for (int i = 0; i < ARRAYS; i++)
        free(c->filled[i]);
    free(c);
}

/* ---- Its arguments ---- */

typedef struct passing {
    const call_t *c;
    dropin_arguments_t arguments;
    unsigned char *array[ARRAYS];
    int64_t integers[16]; /* by reference; of 32 bits a half of it */
    int integer_count;
    char letters[8];
    int letter_count;
    unsigned char scalars[4][16]; /* as the type has them */
    unsigned char result[16];
} passing_t;

static void pass_word(passing_t *p, intptr_t word) {
    p->arguments.word[p->arguments.words++] = word;
}
static void pass_pointer(passing_t *p, const void *pointer) { pass_word(p, (intptr_t)pointer); }

static void pass_integer(passing_t *p, int64_t value) {
    if (p->c->by_c) {
        pass_word(p, (intptr_t)value);
        return;
    }
    p->integers[p->integer_count] = value;
    pass_pointer(p, &p->integers[p->integer_count++]);
}

static void pass_setting(passing_t *p, char letter, const char *letters, int first) {
    if (p->c->by_c) {
        pass_word(p, first + (strchr(letters, letter) - letters));
        return;
    }
    p->letters[p->letter_count] = letter;
    pass_pointer(p, &p->letters[p->letter_count++]);
}

static void pass_scalar(passing_t *p, int which, bool real) {
    const call_t *c = p->c;
    put_real(c, p->scalars[which], 0, c->scalar[which][0]);
    if (is_complex(c))
        put_real(c, p->scalars[which], 1, c->scalar[which][1]);
    if (!c->by_c || (is_complex(c) && !real)) {
        pass_pointer(p, p->scalars[which]);
        return;
    }
    memcpy(&p->arguments.real[p->arguments.reals++], p->scalars[which], sizeof(double));
}

/* rotg's and rotmg's numbers are apart, and are written. */
static void pass_number(passing_t *p, int which) {
    pass_pointer(p, p->array[ARRAY_NUMBERS] + which * 2 * 16);
}

static void pass(passing_t *p, char letter) {
    const call_t *c = p->c;
    switch (letter) {
    case 'S': pass_setting(p, c->side, "LR", 141); break;
    case 'U': pass_setting(p, c->uplo, "UL", 121); break;
    case 'T': pass_setting(p, c->transa, "NTC", 111); break;
    case 'V': pass_setting(p, c->transb, "NTC", 111); break;
    case 'D': pass_setting(p, c->diag, "NU", 131); break;
    case 'm': pass_integer(p, c->m); break;
    case 'n': pass_integer(p, c->n); break;
    case 'k': pass_integer(p, c->k); break;
    case 'l': pass_integer(p, c->kl); break;
    case 'u': pass_integer(p, c->ku); break;
    case 'a': pass_scalar(p, 0, false); break;
    case 'b': pass_scalar(p, 1, false); break;
    case 'r': pass_scalar(p, 0, true); break;
    case 'q': pass_scalar(p, 1, true); break;
    case 'c': pass_scalar(p, 2, true); break;
    case 's': pass_scalar(p, 3, true); break;
    case 'A': pass_pointer(p, p->array[ARRAY_A]), pass_integer(p, c->lda); break;
    case 'B': pass_pointer(p, p->array[ARRAY_B]), pass_integer(p, c->ldb); break;
    case 'C': pass_pointer(p, p->array[ARRAY_C]), pass_integer(p, c->ldc); break;
    case 'P': pass_pointer(p, p->array[ARRAY_A]); break;
    case 'x': pass_pointer(p, p->array[ARRAY_X]), pass_integer(p, c->incx); break;
    case 'y': pass_pointer(p, p->array[ARRAY_Y]), pass_integer(p, c->incy); break;
    case 'h': pass_pointer(p, p->array[ARRAY_PARAMETERS]); break;
    default: pass_number(p, (int)(strchr("efgi", letter) - "efgi")); break;
    }
}

static dropin_result_t result_of(const call_t *c) {
    switch (c->signature->result) {
    case 'e': return (dropin_result_t)(DROPIN_FLOAT + c->type);
    case 'r': return is_single(c) ? DROPIN_FLOAT : DROPIN_DOUBLE;
    case 'd': return DROPIN_DOUBLE;
    case 'i': return c->by_c ? DROPIN_SIZE : DROPIN_INT;
    default: return DROPIN_NOTHING;
    }
}

static void make_call(passing_t *p, const call_t *c, void *function) {
    memset(p, 0, sizeof *p);
    p->c = c;
    for (int i = 0; i < ARRAYS; i++) {
        p->array[i] = malloc(c->bytes[i]);
        if (p->array[i] == NULL)
            abort();
        memcpy(p->array[i], c->filled[i], c->bytes[i]);
    }

    if (c->by_c && c->signature->of != 'v')
        pass_word(p, c->row_major ? 101 : 102);
    for (const char *letter = c->signature->arguments; *letter != '\0'; letter++)
        pass(p, *letter);

    dropin_result_t kind = result_of(c);
    if (c->by_c && (kind == DROPIN_FLOAT_COMPLEX || kind == DROPIN_DOUBLE_COMPLEX)) {
        pass_pointer(p, p->result);
        kind = DROPIN_NOTHING;
    }
    dropin_call(function, &p->arguments, kind, p->result);
}

static void end_call(passing_t *p) {
    for (int i = 0; i < ARRAYS; i++)
        free(p->array[i]);
}

/* ---- Comparing ---- */

static bool agree(const call_t *c, double a, double b) {
    const double eps = is_single(c) ? 0x1p-23 : 0x1p-52;
    const double most = fmax(fabs(a), fabs(b));
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 400 * eps * (most + 4);
}

static bool same_memory(const call_t *c, const passing_t *p, const passing_t *q, int array) {
    const size_t reals = c->bytes[array] / (is_single(c) ? sizeof(float) : sizeof(double));
    for (size_t i = 0; i < reals; i++)
        if (!agree(c, get_real(c, p->array[array], (int64_t)i),
                   get_real(c, q->array[array], (int64_t)i)))
            return false;
    return true;
}

static bool same_result(const call_t *c, const passing_t *p, const passing_t *q) {
    const char kind = c->signature->result;
    if (kind == 'i' || kind == '-')
        return memcmp(p->result, q->result, sizeof p->result) == 0;
    if (kind == 'd') {
        double a, b;
        memcpy(&a, p->result, sizeof a), memcpy(&b, q->result, sizeof b);
        return fabs(a - b) <= 1e-12 * (fabs(a) + 4);
    }
    return agree(c, get_real(c, p->result, 0), get_real(c, q->result, 0)) &&
           (kind == 'r' || !is_complex(c) ||
            agree(c, get_real(c, p->result, 1), get_real(c, q->result, 1)));
}

static void compare_once(const signature_t *signature, int type, bool by_c, bool row_major,
                         void *own, void *reference) {
    call_t *c = draw_call(signature, type, by_c, row_major);
    passing_t p, q;
    make_call(&p, c, own);
    make_call(&q, c, reference);

    bool same = same_result(c, &p, &q);
    for (int i = 0; i < ARRAYS; i++)
        same &= same_memory(c, &p, &q, i);
    if (!same)
        JFAIL("%s by %s: %c%c%c%c%c m=%ld n=%ld k=%ld kl=%ld ku=%ld lda=%ld incx=%ld "
              "incy=%ld alpha=%g%+gi beta=%g%+gi",
              signature->names[type],
              !by_c       ? "Fortran"
              : row_major ? "rows"
                          : "columns",
              c->side, c->uplo, c->transa, c->transb, c->diag, (long)c->m, (long)c->n, (long)c->k,
              (long)c->kl, (long)c->ku, (long)c->lda, (long)c->incx, (long)c->incy, c->scalar[0][0],
              c->scalar[0][1], c->scalar[1][0], c->scalar[1][1]);
    end_call(&p);
    end_call(&q);
    free_call(c);
}

/* ---- All names ---- */

typedef struct library {
    const char *path, *fortran_suffix, *c_suffix;
} library_t;

static void *find(void *library, const library_t *names, const call_t *kind, const char *name) {
    char symbol[64];
    const bool is_sub = kind->by_c && kind->signature->result == 'e' && kind->type >= 2;
    snprintf(symbol, sizeof symbol, "%s%s%s%s", kind->by_c ? "cblas_" : "", name,
             is_sub ? "_sub" : "", kind->by_c ? names->c_suffix : names->fortran_suffix);
    return dlsym(library, symbol);
}

static void *open_reference(void) {
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/blas/libblas.so.3",
                                         "/usr/lib/aarch64-linux-gnu/blas/libblas.so.3"};
    const char *named = getenv("JALLOC_TEST_REFERENCE");
    if (named != NULL)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    return NULL;
}

static void compare_library(const library_t *names) {
    static const library_t plain = {NULL, "_", ""};
    void *reference = open_reference();
    if (reference == NULL)
        JSKIP("no reference BLAS is installed");
    void *own = dlopen(names->path, RTLD_NOW | RTLD_LOCAL);
    JASSERT_TRUE(own != NULL);

    for (int s = 0; s < SIGNATURES; s++)
        for (int type = 0; type < 4; type++) {
            const char *name = signatures[s].names[type];
            if (name == NULL)
                continue;
            for (int way = 0; way < 3; way++) { /* Fortran; CBLAS by columns, by rows */
                const call_t kind = {.signature = &signatures[s], .type = type, .by_c = way > 0};
                if (way == 2 && signatures[s].of == 'v')
                    continue;
                void *function = find(own, names, &kind, name);
                void *theirs = find(reference, &plain, &kind, name);
                if (theirs == NULL || function == NULL) /* names are check_dropin.py's matter */
                    continue;
                for (int64_t round = jtest_iterations(40); round > 0; round--)
                    compare_once(&signatures[s], type, way > 0, way == 2, function, theirs);
            }
        }
    dlclose(own);
    dlclose(reference);
}

JTEST(Dropin, AgreesWithTheReference) {
    static const library_t names = {JALLOC_DROPIN, "_", ""};
    compare_library(&names);
}

JTEST(Dropin, AgreesWithTheReferenceIn64Bits) {
    static const library_t names = {JALLOC_DROPIN64, "_64_", "64_"};
    compare_library(&names);
}
