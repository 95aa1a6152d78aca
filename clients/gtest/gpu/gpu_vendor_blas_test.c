/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The vendor's BLAS behind the primitives, over the fake one: what it is used for, several threads
 * and streams at once, captures, failures, and what happens where it is not there. Results are
 * exact: small integers, which no order of additions rounds. On a real GPU, on the fake one that
 * has no vendor's BLAS, and with JALLOC_VENDOR_BLAS=0, only the results are looked at. */

#include "blas/primitives/primitive.h"
#include "fake_blas_control.h"
#include "gpu_device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file of the fake module. */
static const char *module_file(void) {
    Dl_info info;
    return gpu_fake() != NULL && dladdr(gpu_fake(), &info) != 0 ? info.dli_fname : NULL;
}

/* Also where it is not to be used. */
static const fake_blas_control_t *fake_blas_there(void) {
    void *library = module_file() != NULL ? dlopen(module_file(), RTLD_NOW | RTLD_NOLOAD) : NULL;
    const fake_blas_control_t *control =
        library != NULL ? dlsym(library, "fake_blas_control") : NULL;
    if (library != NULL)
        dlclose(library);
    return control;
}

/* NULL: a real GPU, or a fake one without. */
static const fake_blas_control_t *fake_blas(void) {
    return gpu_vendor_blas_is_off() ? NULL : fake_blas_there();
}

static jhandle_t *make_handle(jstream_t *stream, jpointer_mode_t mode) {
    jhandle_t *handle = gpu_make_handle();
    JEXPECT_OK(jhandle_set_stream(handle, stream));
    JEXPECT_OK(jhandle_set_pointer_mode(handle, mode));
    return handle;
}

static void *native(jstream_t *stream) { return jstream_native(gpu_device(), stream); }

/* ---- A product of small integers ---- */

#define ORDER 24
#define ELEMENTS ((size_t)ORDER * ORDER)
#define BYTES (ELEMENTS * sizeof(float))

typedef struct product {
    float a[ORDER * ORDER], b[ORDER * ORDER], c[ORDER * ORDER];
    float alpha, beta;
    float *device; /* a, b, c, a sum, alpha, beta */
} product_t;

#define PRODUCT_BYTES (4 * BYTES + 2 * sizeof(float))

static void product_make(product_t *p, uint64_t seed) {
    uint64_t state = seed;
    for (size_t i = 0; i < ELEMENTS; ++i) {
        p->a[i] = (float)((int)(jtest_random_next(&state) % 7) - 3);
        p->b[i] = (float)((int)(jtest_random_next(&state) % 7) - 3);
        p->c[i] = (float)((int)(jtest_random_next(&state) % 7) - 3);
    }
    p->alpha = 2, p->beta = -3;
    p->device = gpu_take(PRODUCT_BYTES);
}

static void product_upload(product_t *p) {
    gpu_upload(p->device, p->a, BYTES);
    gpu_upload(p->device + ELEMENTS, p->b, BYTES);
    gpu_upload(p->device + 2 * ELEMENTS, p->c, BYTES);
    gpu_upload(p->device + 4 * ELEMENTS, &p->alpha, sizeof p->alpha);
    gpu_upload(p->device + 4 * ELEMENTS + 1, &p->beta, sizeof p->beta);
}

/* C = alpha A^T B + beta C. */
static jstatus_t product_run(product_t *p, jhandle_t *handle, jpointer_mode_t mode) {
    const bool host = mode == JPOINTER_MODE_HOST;
    return jblas_sgemm(handle, JBLAS_TRANSPOSE, JBLAS_NO_TRANSPOSE, ORDER, ORDER, ORDER,
                       host ? &p->alpha : p->device + 4 * ELEMENTS, p->device, ORDER,
                       p->device + ELEMENTS, ORDER, host ? &p->beta : p->device + 4 * ELEMENTS + 1,
                       p->device + 2 * ELEMENTS, ORDER);
}

/* alpha A + beta B, which is the vendor's with scalars on either side. */
static jstatus_t product_sum(product_t *p, jhandle_t *handle, jpointer_mode_t mode) {
    const bool host = mode == JPOINTER_MODE_HOST;
    return jblas_sgeam(handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, ORDER, ORDER,
                       host ? &p->alpha : p->device + 4 * ELEMENTS, p->device, ORDER,
                       host ? &p->beta : p->device + 4 * ELEMENTS + 1, p->device + ELEMENTS, ORDER,
                       p->device + 3 * ELEMENTS, ORDER);
}

static void product_sum_right(const product_t *p) {
    float sum[ORDER * ORDER];
    gpu_download(sum, p->device + 3 * ELEMENTS, BYTES);
    for (size_t i = 0; i < ELEMENTS && !jtest_has_failure(); ++i)
        JEXPECT_EQ(sum[i], p->alpha * p->a[i] + p->beta * p->b[i]);
}

/* Whether C is what so many runs make of it. */
static bool product_right(const product_t *p, int runs) {
    static _Thread_local float c[ORDER * ORDER];
    gpu_download(c, p->device + 2 * ELEMENTS, BYTES);
    for (int j = 0; j < ORDER; ++j)
        for (int i = 0; i < ORDER; ++i) {
            float sum = 0, want = p->c[i + j * ORDER];
            for (int k = 0; k < ORDER; ++k)
                sum += p->a[k + i * ORDER] * p->b[k + j * ORDER];
            for (int run = 0; run < runs; ++run)
                want = p->alpha * sum + p->beta * want;
            if (c[i + j * ORDER] != want) {
                JFAIL("C(%d, %d) is %g and not %g", i, j, (double)c[i + j * ORDER], (double)want);
                return false;
            }
        }
    return true;
}

static void product_free(product_t *p) { gpu_give(p->device, PRODUCT_BYTES); }

/* ---- What it is used for ---- */

static const char *const vendor_routines[] = {
    "gemv",         "ger",
    "geru",         "gerc",
    "symv",         "hemv",
    "syr",          "her",
    "syr2",         "her2",
    "trmv",         "trsv",
    "gemm",         "symm",
    "syrk",         "herk",
    "syr2k",        "her2k",
    "trmm",         "geam",
    "gemm_batched", "gemm_strided_batched",
};

static bool is_vendors(const blas_function_t *function) {
    if (strcmp(function->routine->name, "gemm_batched") == 0 && function->type >= JDATATYPE_F32_C)
        return false; /* nobody can look at the alignment behind pointers */
    if (strcmp(function->routine->name, "gemm_strided_batched") == 0 &&
        wide_is_half((int)function->type))
        return false; /* an item at a time */
    for (size_t i = 0; i < sizeof vendor_routines / sizeof vendor_routines[0]; ++i)
        if (strcmp(function->routine->name, vendor_routines[i]) == 0)
            return true;
    return false;
}

/* Cases whose operands lie as the vendor wants them: the first byte of a case's operand is what
 * follows its canary, so its alignment is the element's, and a complex one's may be half of
 * that. */
static bool is_aligned(const gpu_case_t *g) {
    for (int which = 0; which < BLAS_OPERANDS; ++which)
        if (g->region[which] != NULL && g->table[which] == NULL &&
            (uintptr_t)g->c->pointer[which] % wide_sizeof(g->c->operand[which].element) != 0)
            return false;
    return true;
}

/* All the work of a plain call is one call of the vendor's. */
JTEST_EACH_FUNCTION(GpuVendorBlas, DoesWhatItIsUsedFor) {
    const fake_blas_control_t *vendor = fake_blas();
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_HOST);
    const int64_t high = param->routine->level == 2 ? 60 : 40;
    for (int64_t i = jtest_iterations(6); i > 0 && !jtest_has_failure(); --i) {
        BLAS_CASE(c, param, .low = 2, .high = high, .plain = true, .tight = true);
        gpu_case_t g;
        gpu_case_begin(&g, handle, c);
        if (vendor != NULL)
            vendor->reset_counts();
        JEXPECT_OK(blas_call(handle, c));
        if (vendor != NULL && is_vendors(param) && is_aligned(&g) &&
            !(wide_is_complex((int)param->type) && gpu_conjugates_alone(c)))
            JEXPECT_EQ(vendor->count(NULL), 1);
        else if (vendor != NULL && param->routine->level == 1)
            JEXPECT_EQ(vendor->count(NULL), 0);
        JEXPECT_OK(jstream_synchronize(gpu_device(), NULL));
        gpu_case_end(&g, true);
        blas_right(c);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(GpuVendorBlas, TheDeviceNamesIt) {
    product_t p;
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_HOST);
    product_make(&p, 1);
    product_upload(&p);
    JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST));
    product_right(&p, 1);
    JEXPECT_OK(jdevice_get_properties(gpu_device(), &properties));
    if (fake_blas() != NULL)
        JEXPECT_STREQ(properties.blas, "fake cuBLAS 1.0");
    else if (gpu_fake() != NULL)
        JEXPECT_NULL(strstr(properties.blas, "cuBLAS"));
    product_free(&p);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* An alpha on the device may be 0, and then NaN in A and B must not show; a beta there is the
 * vendor's affair. */
JTEST(GpuVendorBlas, AnAlphaOnTheDeviceKeepsZeroAwayFromNan) {
    const fake_blas_control_t *vendor = fake_blas();
    product_t p;
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_DEVICE);
    product_make(&p, 2);
    for (size_t i = 0; i < ELEMENTS; ++i)
        p.a[i] = __builtin_nanf("");
    p.alpha = 0;
    product_upload(&p);
    if (vendor != NULL)
        vendor->reset_counts();
    JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_DEVICE));
    memset(p.a, 0, sizeof p.a);
    product_right(&p, 1);
    if (vendor != NULL)
        JEXPECT_EQ(vendor->count(NULL), 0);
    product_free(&p);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* A solve with alpha on the device multiplies by a -1 of its own beside it. */
JTEST(GpuVendorBlas, ConstantsStandBesideScalarsOfTheDevice) {
    const fake_blas_control_t *vendor = fake_blas();
    static const int functions[] = {BLAS_INDEX_strsm, BLAS_INDEX_dtrsm, BLAS_INDEX_ctrsm,
                                    BLAS_INDEX_ztrsm, BLAS_INDEX_strmm, BLAS_INDEX_dtrmm,
                                    BLAS_INDEX_ctrmm, BLAS_INDEX_ztrmm, BLAS_INDEX_sgeam,
                                    BLAS_INDEX_dgeam, BLAS_INDEX_cgeam, BLAS_INDEX_zgeam};
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_DEVICE);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && !jtest_has_failure(); ++i) {
        uint64_t computed = 0;
        for (int round = 0; round < 4 && !jtest_has_failure(); ++round) {
            BLAS_CASE(c, &blas_functions[functions[i]], .low = 100, .high = 300,
                      .plain = round != 1, .alpha_zero = round == 1);
            if (vendor != NULL)
                vendor->reset_counts();
            JEXPECT_OK(gpu_blas_call(handle, c));
            blas_right(c);
            if (vendor != NULL)
                computed += vendor->count(NULL);
        }
        if (vendor != NULL)
            JEXPECT_GT(computed, 0);
    }
    JEXPECT_OK(jhandle_destroy(handle));
}

/* In C a complex double lies at any multiple of 8 bytes; the vendor wants 16. */
JTEST(GpuVendorBlas, ComplexNumbersBetweenTwoPlacesAreNotIts) {
    const fake_blas_control_t *vendor = fake_blas();
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    double a[2] = {2, 1}, b[2] = {3, -1}, c[2] = {0, 0};
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_HOST);
    char *memory = gpu_take(64);
    for (size_t off = 0; off <= 8; off += 8) {
        gpu_upload(memory + off, a, sizeof a);
        gpu_upload(memory + 16 + off, b, sizeof b);
        if (vendor != NULL)
            vendor->reset_counts();
        JEXPECT_OK(jblas_zgemm(
            handle, JBLAS_NO_TRANSPOSE, JBLAS_NO_TRANSPOSE, 1, 1, 1, (const jcomplex_f64_t *)one,
            (const jcomplex_f64_t *)(memory + off), 1, (const jcomplex_f64_t *)(memory + 16 + off),
            1, (const jcomplex_f64_t *)zero, (jcomplex_f64_t *)(memory + 32 + off), 1));
        gpu_download(c, memory + 32 + off, sizeof c);
        JEXPECT_EQ(c[0], 7);
        JEXPECT_EQ(c[1], 1);
        if (vendor != NULL)
            JEXPECT_EQ(vendor->count(NULL), off == 0);
    }
    gpu_give(memory, 64);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Threads and streams ---- */

#define THREADS 6
#define STREAMS 3
#define RUNS 40

typedef struct worker {
    pthread_t thread;
    product_t product;
    jstream_t *stream;
    jpointer_mode_t mode;
    jstatus_t status;
    pthread_barrier_t *start;
} worker_t;

static void *work(void *data) {
    worker_t *w = data;
    jhandle_t *handle = make_handle(w->stream, w->mode);
    pthread_barrier_wait(w->start);
    for (int run = 0; run < RUNS && w->status == JSTATUS_SUCCESS; ++run) {
        w->status = product_run(&w->product, handle, w->mode);
        if (w->status == JSTATUS_SUCCESS)
            w->status = product_sum(&w->product, handle, w->mode);
    }
    JEXPECT_OK(jhandle_destroy(handle));
    return NULL;
}

/* Threads that share streams, with scalars on either side: a mode, a stream or a workspace that one
 * thread set is never another's. The fake BLAS calls a handle or a workspace that two use at once a
 * fault. */
JTEST(GpuVendorBlas, ThreadsShareStreams) {
    const fake_gpu_control_t *fake = gpu_fake();
    static worker_t workers[THREADS];
    jstream_t *streams[STREAMS] = {NULL};
    pthread_barrier_t start;
    JASSERT_EQ(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int64_t round = jtest_iterations(4); round > 0 && !jtest_has_failure(); --round) {
        for (int i = 1; i < STREAMS; ++i)
            JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
        for (int i = 0; i < THREADS; ++i) {
            memset(&workers[i], 0, sizeof workers[i]);
            product_make(&workers[i].product, jtest_random());
            workers[i].stream = streams[i % STREAMS];
            workers[i].product.beta = 1; /* so that results stay small integers */
            product_upload(&workers[i].product);
            workers[i].start = &start;
            workers[i].mode = i % 4 == 3 ? JPOINTER_MODE_DEVICE : JPOINTER_MODE_HOST;
        }
        for (int i = 0; i < THREADS; ++i)
            JASSERT_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        for (int i = 0; i < THREADS; ++i)
            pthread_join(workers[i].thread, NULL);
        for (int i = 0; i < STREAMS; ++i)
            JEXPECT_OK(jstream_synchronize(gpu_device(), streams[i]));
        for (int i = 0; i < THREADS; ++i) {
            JEXPECT_OK(workers[i].status);
            product_right(&workers[i].product, RUNS);
            product_sum_right(&workers[i].product);
            product_free(&workers[i].product);
        }
        for (int i = 1; i < STREAMS; ++i)
            JEXPECT_OK(jstream_destroy(streams[i]));
        if (fake != NULL)
            JEXPECT_EQ(fake->faults(), 0);
    }
    pthread_barrier_destroy(&start);
}

/* The first call on a stream takes a handle and a workspace, the others nothing, and the next
 * stream gets them. */
JTEST(GpuVendorBlas, StreamsHandOnWhatTheyHad) {
    const fake_gpu_control_t *fake = gpu_fake();
    const fake_blas_control_t *vendor = fake_blas();
    product_t p;
    product_make(&p, 3);
    for (int round = 0; round < 6 && !jtest_has_failure(); ++round) {
        jstream_t *stream = NULL;
        JASSERT_OK(jstream_create(gpu_device(), &stream));
        jhandle_t *handle = make_handle(stream, JPOINTER_MODE_HOST);
        product_upload(&p);
        const uint64_t handles = vendor != NULL ? vendor->count_handles() : 0;
        for (int run = 0; run < 3; ++run) {
            if (fake != NULL && run + round > 0)
                fake->reset_counts();
            JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST));
            if (fake != NULL && run + round > 0) {
                JEXPECT_EQ(fake->count_allocations(), 0);
                JEXPECT_EQ(fake->count_frees(), 0);
                JEXPECT_EQ(fake->count_waits(), 0);
            }
        }
        if (vendor != NULL && round > 0)
            JEXPECT_EQ(vendor->count_handles(), handles);
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        product_right(&p, 3);
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(stream));
    }
    product_free(&p);
}

/* How often the runtime is asked about captures, and the library's handle is told something, in one
 * call. */
static void expect_said(product_t *p, jhandle_t *handle, jpointer_mode_t mode, int streams,
                        int workspaces, int modes) {
    const fake_gpu_control_t *fake = gpu_fake();
    const fake_blas_control_t *vendor = fake_blas();
    fake->reset_counts();
    vendor->reset_counts();
    JEXPECT_OK(jhandle_set_pointer_mode(handle, mode));
    JEXPECT_OK(product_sum(p, handle, mode));
    JEXPECT_EQ(vendor->count(NULL), 1);
    JEXPECT_EQ(vendor->count("SetStream"), streams);
    JEXPECT_EQ(vendor->count("SetWorkspace"), workspaces);
    JEXPECT_EQ(vendor->count("SetPointerMode"), modes);
    JEXPECT_EQ(fake->count("StreamGetCaptureInfo"), 1);
}

/* A handle's settings stay until a call wants others. */
JTEST(GpuVendorBlas, OnlyWhatHasChangedIsSaid) {
    if (fake_blas() == NULL)
        JSKIP("there is no fake vendor's BLAS");
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    product_t p;
    product_make(&p, 10);
    product_upload(&p);
    options.device = gpu_device();
    options.never_captured = true;            /* else it is the handle that asks, too */
    for (int round = 0; round < 3; ++round) { /* what one stream has left is set up for the next */
        jhandle_t *handle = NULL;
        JASSERT_OK(jstream_create(gpu_device(), &options.stream));
        JASSERT_OK(jhandle_create(&options, &handle));
        expect_said(&p, handle, JPOINTER_MODE_HOST, 1, 1, 1);
        expect_said(&p, handle, JPOINTER_MODE_HOST, 0, 0, 0);
        expect_said(&p, handle, JPOINTER_MODE_DEVICE, 0, 0, 1);
        expect_said(&p, handle, JPOINTER_MODE_DEVICE, 0, 0, 0);
        expect_said(&p, handle, JPOINTER_MODE_HOST, 0, 0, 1);
        JEXPECT_OK(jstream_synchronize(gpu_device(), options.stream));
        JEXPECT_OK(jhandle_destroy(handle));
        JEXPECT_OK(jstream_destroy(options.stream));
    }
    product_free(&p);
}

/* ---- Captures ---- */

static void do_nothing(void *arguments) { (void)arguments; }

/* Waits until what graphs kept has been let go of, by the thread that runs functions as well. */
static void settle(jstream_t *stream) {
    JEXPECT_OK(jstream_launch(gpu_device(), stream, do_nothing, NULL, 0));
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
}

/* A graph's workspace is its own: it runs while the stream it was captured from works on, and
 * beside another graph. */
JTEST(GpuVendorBlas, GraphsHaveWorkspacesOfTheirOwn) {
    const fake_gpu_control_t *program = gpu_program(), *fake = gpu_fake();
    if (program == NULL)
        JSKIP(GPU_NO_PROGRAM);
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    JASSERT_OK(jdevice_get_properties(gpu_device(), &properties));
    product_t captured[2], eager;
    void *graphs[2];
    jstream_t *stream = NULL, *other = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    JASSERT_OK(jstream_create(gpu_device(), &other));
    jhandle_t *handle = make_handle(stream, JPOINTER_MODE_HOST);
    product_make(&captured[0], 4);
    product_make(&captured[1], 5);
    product_make(&eager, 6);
    for (int round = 0; round < 3 && !jtest_has_failure(); ++round) {
        product_upload(&captured[0]);
        product_upload(&captured[1]);
        product_upload(&eager);
        JEXPECT_OK(product_run(&eager, handle, JPOINTER_MODE_HOST));
        if (fake != NULL)
            fake->reset_counts();
        for (int i = 0; i < 2; ++i) {
            JEXPECT_EQ(program->begin_capture(native(stream)), 0);
            JEXPECT_OK(product_run(&captured[i], handle, JPOINTER_MODE_HOST));
            JEXPECT_OK(product_run(&captured[i], handle, JPOINTER_MODE_HOST));
            graphs[i] = program->end_capture(native(stream));
            JASSERT_NOT_NULL(graphs[i]);
        }
        if (fake_blas() != NULL)
            /* Then those of the graphs that are gone. */
            JEXPECT_LE(fake->count_allocations(), round == 0 ? 2 : 0);
        JEXPECT_EQ(program->launch_graph(graphs[0], native(other)), 0);
        JEXPECT_OK(product_run(&eager, handle, JPOINTER_MODE_HOST));
        JEXPECT_EQ(program->launch_graph(graphs[1], native(stream)), 0);
        JEXPECT_OK(product_run(&eager, handle, JPOINTER_MODE_HOST));
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        JEXPECT_OK(jstream_synchronize(gpu_device(), other));
        product_right(&captured[0], 2);
        product_right(&captured[1], 2);
        product_right(&eager, 3);
        program->destroy_graph(graphs[0]);
        program->destroy_graph(graphs[1]);
        settle(other);
        if (fake != NULL)
            JEXPECT_EQ(fake->faults(), 0);
    }
    product_free(&captured[0]);
    product_free(&captured[1]);
    product_free(&eager);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

/* On a new stream: a capture's product and sum, and what they come to. */
static void capture_and_check(product_t *p) {
    const fake_gpu_control_t *program = gpu_program();
    jstream_t *stream = NULL;
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    jhandle_t *handle = make_handle(stream, JPOINTER_MODE_HOST);
    product_upload(p);
    JEXPECT_EQ(program->begin_capture(native(stream)), 0);
    JEXPECT_OK(product_run(p, handle, JPOINTER_MODE_HOST));
    JEXPECT_OK(product_sum(p, handle, JPOINTER_MODE_HOST));
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    for (int i = 0; i < 2; ++i)
        JEXPECT_EQ(program->launch_graph(graph, native(stream)), 0);
    JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
    product_right(p, 2);
    product_sum_right(p);
    program->destroy_graph(graph);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
}

/* A stream gets the name of one that is gone, and a handle is lent to it that was last told that
 * one. The same of a stream of the program's, whose wrapper was given back in a capture, when
 * nothing can be waited for. */
JTEST(GpuVendorBlas, AStreamWithTheNameOfOneThatIsGoneIsAnother) {
    const fake_gpu_control_t *program = gpu_program();
    if (program == NULL)
        JSKIP(GPU_NO_PROGRAM);
    product_t p;
    product_make(&p, 11);
    for (int in_capture = 0; in_capture < 2; ++in_capture) {
        void *own = program->create_stream(false);
        jstream_t *stream = NULL;
        JASSERT_OK(jstream_wrap(gpu_device(), own, &stream));
        jhandle_t *handle = make_handle(stream, JPOINTER_MODE_HOST);
        product_upload(&p);
        JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST));
        JEXPECT_OK(jstream_synchronize(gpu_device(), stream));
        JEXPECT_OK(jhandle_destroy(handle));
        if (in_capture)
            JEXPECT_EQ(program->begin_capture(own), 0);
        JEXPECT_OK(jstream_destroy(stream));
        if (in_capture)
            program->destroy_graph(program->end_capture(own));
        JEXPECT_EQ(program->destroy_stream(own), 0);
        capture_and_check(&p); /* on the next stream */
    }
    product_free(&p);
}

/* In a process of its own, where nobody has a handle of the vendor's yet. */
JTEST_ONLY_WITH("JALLOC_TEST_COLD", GpuVendorBlasCold, NoHandleIsMadeInACapture) {
    const fake_gpu_control_t *program = gpu_program();
    const fake_blas_control_t *vendor = fake_blas();
    jstream_t *stream = NULL, *other = NULL;
    worker_t worker = {.mode = JPOINTER_MODE_HOST};
    product_t captured, beside;
    pthread_barrier_t start;
    product_make(&captured, 11);
    product_make(&beside, 12);
    product_make(&worker.product, 13);
    worker.product.beta = 1; /* so that results stay small integers */
    product_upload(&worker.product);
    JASSERT_OK(jstream_create(gpu_device(), &stream));
    JASSERT_OK(jstream_create(gpu_device(), &other));

    capture_and_check(&captured); /* by kernels of ours */
    if (vendor != NULL) {
        JEXPECT_EQ(vendor->count(NULL), 0);
        JEXPECT_EQ(vendor->count("Create"), 0);
    }

    /* Beside a capture of this thread. */
    jhandle_t *handle = make_handle(other, JPOINTER_MODE_HOST);
    product_upload(&beside);
    JEXPECT_EQ(program->begin_capture(native(stream)), 0);
    JEXPECT_OK(product_run(&beside, handle, JPOINTER_MODE_HOST));
    void *graph = program->end_capture(native(stream));
    JASSERT_NOT_NULL(graph);
    program->destroy_graph(graph);
    JEXPECT_OK(product_run(&beside, handle, JPOINTER_MODE_HOST));
    JEXPECT_OK(jstream_synchronize(gpu_device(), other));
    product_right(&beside, 2);
    if (vendor != NULL) {
        JEXPECT_EQ(vendor->count(NULL), 1);
        JEXPECT_EQ(vendor->count_handles_refused(), 1);
        JEXPECT_EQ(vendor->count_handles(), 1);
    }

    /* The one handle there is serves its own stream and captures of others, at once. */
    worker.stream = other;
    worker.start = &start;
    JASSERT_EQ(pthread_barrier_init(&start, NULL, 2), 0);
    JASSERT_EQ(pthread_create(&worker.thread, NULL, work, &worker), 0);
    pthread_barrier_wait(&start);
    for (int round = 0; round < 10 && !jtest_has_failure(); ++round)
        capture_and_check(&captured);
    pthread_join(worker.thread, NULL);
    /* And of new streams by an old one's name. */
    for (int round = 0; round < 10 && !jtest_has_failure(); ++round)
        capture_and_check(&captured);
    JEXPECT_OK(worker.status);
    JEXPECT_OK(jstream_synchronize(gpu_device(), other));
    product_right(&worker.product, RUNS);
    product_sum_right(&worker.product);
    if (vendor != NULL) {
        JEXPECT_EQ(vendor->count(NULL), 1 + 2 * RUNS + 40);
        JEXPECT_EQ(vendor->count_handles(), 1);
        JEXPECT_EQ(gpu_fake()->faults(), 0);
    }

    pthread_barrier_destroy(&start);
    product_free(&captured);
    product_free(&beside);
    product_free(&worker.product);
    JEXPECT_OK(jhandle_destroy(handle));
    JEXPECT_OK(jstream_destroy(stream));
    JEXPECT_OK(jstream_destroy(other));
}

/* Runs the tests of a name in a process of their own. */
static void run_child(const char *tests, const char *variable, const char *vendor_blas) {
    char output[8192], path[4200], device[64], use[64];
    snprintf(path, sizeof path, "JALLOC_MODULE_PATH=%s", gpu_module_path());
    snprintf(device, sizeof device, "JALLOC_TEST_DEVICE=%s", gpu_device_name());
    snprintf(use, sizeof use, "JALLOC_VENDOR_BLAS=%s", vendor_blas);
    const char *const environment[] = {variable, path, device, use, NULL};
    const int result = jtest_run_self(tests, environment, output, sizeof output);
    if (result != 0 || strstr(output, "1 test from") == NULL)
        JFAIL("%s: %d: %s", variable, result, output);
}

JTEST(GpuVendorBlas, NoHandleIsMadeInACapture) {
    if (gpu_program() == NULL)
        JSKIP(GPU_NO_PROGRAM);
    run_child("GpuVendorBlasCold.*", "JALLOC_TEST_COLD=1", gpu_vendor_blas_is_off() ? "0" : "1");
}

/* ---- Failures ---- */

/* Each call of the library failing, and each of the runtime below it: a status that names it, or
 * kernels of ours; and the next call is as if nothing had been. In a capture the same. */
static void fail_each_call(bool of_library, int failure, bool capture) {
    const fake_gpu_control_t *fake = gpu_fake();
    const fake_blas_control_t *vendor = fake_blas();
    product_t p;
    product_make(&p, 7);
    for (uint64_t n = 1; !jtest_has_failure(); ++n) {
        JSCOPED_TRACE("call %d, failure %d%s", (int)n, failure, capture ? ", capture" : "");
        jstream_t *streams[2] = {NULL, NULL}; /* the second finds nothing left by another */
        void *graph = NULL;
        for (int i = 0; i < 2; ++i)
            JASSERT_OK(jstream_create(gpu_device(), &streams[i]));
        jhandle_t *handle = make_handle(streams[1], JPOINTER_MODE_HOST);
        product_upload(&p);
        if (capture)
            JEXPECT_EQ(fake->begin_capture(native(streams[1])), 0);
        if (of_library)
            vendor->fail_after(n, (fake_blas_failure_t)failure);
        else
            fake->fail_after(n, (fake_gpu_error_t)failure);
        const jstatus_t status = product_run(&p, handle, JPOINTER_MODE_HOST);
        const bool failed = of_library ? vendor->has_failed() : fake->has_failed();
        vendor->fail_after(0, FAKE_BLAS_NO_MEMORY);
        fake->fail_after(0, FAKE_GPU_OUT_OF_MEMORY);
        if (status != JSTATUS_SUCCESS) {
            JEXPECT_TRUE(failed);
            JEXPECT_TRUE(status == JSTATUS_MEMORY_ERROR || status == JSTATUS_DEVICE_ERROR);
            if (of_library) {
                JEXPECT_SUBSTR(jhandle_last_message(handle), "fakeblas");
                JEXPECT_STATUS(status, failure == FAKE_BLAS_NO_MEMORY ? JSTATUS_MEMORY_ERROR
                                                                      : JSTATUS_DEVICE_ERROR);
            }
        }
        const int runs = status == JSTATUS_SUCCESS ? 2 : 1;
        JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST));
        if (capture) {
            graph = fake->end_capture(native(streams[1]));
            JEXPECT_NOT_NULL(graph);
            if (graph != NULL)
                JEXPECT_EQ(fake->launch_graph(graph, native(streams[1])), 0);
        }
        JEXPECT_OK(jstream_synchronize(gpu_device(), streams[1]));
        product_right(&p, runs);
        if (graph != NULL)
            fake->destroy_graph(graph);
        settle(streams[0]);
        JEXPECT_OK(jhandle_destroy(handle));
        for (int i = 0; i < 2; ++i)
            JEXPECT_OK(jstream_destroy(streams[i]));
        JEXPECT_EQ(fake->last_error(), 0);
        JEXPECT_EQ(fake->faults(), 0);
        if (!failed)
            break;
    }
    product_free(&p);
}

JTEST(GpuVendorBlas, FailuresAreToldAndLeaveNothingBehind) {
    if (fake_blas() == NULL)
        JSKIP("there is no fake vendor's BLAS");
    for (int capture = 0; capture < 2; ++capture) {
        fail_each_call(true, FAKE_BLAS_NO_MEMORY, capture != 0);
        fail_each_call(true, FAKE_BLAS_EXECUTION_FAILED, capture != 0);
        fail_each_call(true, FAKE_BLAS_NOT_SUPPORTED, capture != 0);
        fail_each_call(false, FAKE_GPU_OUT_OF_MEMORY, capture != 0);
        fail_each_call(false, FAKE_GPU_UNKNOWN_ERROR, capture != 0);
    }
}

/* A call that the library does not support is done by kernels of ours, and what the program left of
 * an error stays. */
JTEST(GpuVendorBlas, WhatItDoesNotSupportIsDoneAllTheSame) {
    const fake_blas_control_t *vendor = fake_blas();
    if (vendor == NULL)
        JSKIP("there is no fake vendor's BLAS");
    product_t p;
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_HOST);
    product_make(&p, 8);
    product_upload(&p);
    JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST)); /* makes what it needs */
    vendor->fail_after(1, FAKE_BLAS_NOT_SUPPORTED);          /* all is set already */
    gpu_fake()->leave_error();
    JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST));
    JEXPECT_TRUE(vendor->has_failed());
    JEXPECT_NE(gpu_fake()->last_error(), 0);
    product_right(&p, 2);
    product_free(&p);
    JEXPECT_OK(jhandle_destroy(handle));
}

/* ---- Where it is not there ---- */

/* In a process of its own, because the library is looked for once. */
JTEST_ONLY_WITH("JALLOC_TEST_VENDOR_BLAS", GpuVendorBlasChild, KernelsOfOursServe) {
    const fake_blas_control_t *vendor = fake_blas_there();
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    const char *how = getenv("JALLOC_TEST_VENDOR_BLAS");
    product_t p;
    JEXPECT_EQ(strcmp(how, "off") == 0, gpu_vendor_blas_is_off());
    if (strcmp(how, "absent") == 0)
        vendor->set_present(false);
    else if (strcmp(how, "off") != 0)
        vendor->set_missing(how);
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_HOST);
    product_make(&p, 9);
    product_upload(&p);
    JEXPECT_OK(product_run(&p, handle, JPOINTER_MODE_HOST));
    product_right(&p, 1);
    if (vendor != NULL) {
        JEXPECT_EQ(vendor->count(NULL), 0);
        JEXPECT_EQ(vendor->count_handles(), 0);
    }
    JEXPECT_OK(jdevice_get_properties(gpu_device(), &properties));
    JEXPECT_STREQ(properties.blas, "jalloc's kernels");
    product_free(&p);
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(GpuVendorBlas, KernelsOfOursServeWithoutIt) {
    /* Which is not there; "off": it may be, and is not to be used. Only the fake one can be made to
     * lack something. */
    static const char *const ways[] = {"off", "absent", "fakeblasZgeam_64", "fakeblasGemmEx_64",
                                       "fakeblasSetStream"};
    const size_t count = fake_blas_there() != NULL ? sizeof ways / sizeof ways[0] : 1;
    for (size_t i = 0; i < count; ++i) {
        char way[64];
        snprintf(way, sizeof way, "JALLOC_TEST_VENDOR_BLAS=%s", ways[i]);
        run_child("GpuVendorBlasChild.*", way, i > 0 ? "1" : "0");
    }
}

/* ---- The vendor's emulation of float ---- */

/* The case by rung 0 or as the handle is set up: how often the library was asked for which
 * product. */
static void emulation_case(jhandle_t *handle, blas_case_t *c, uint64_t emulated, uint64_t plain) {
    const fake_blas_control_t *vendor = fake_blas_there();
    blas_restore(c);
    vendor->reset_counts();
    JEXPECT_OK(gpu_blas_call(handle, c));
    JEXPECT_EQ(vendor->count("GemmEx"), emulated);
    JEXPECT_EQ(vendor->count("Sgemm"), plain);
    blas_right(c);
}

/* In a process of its own, because a device's architecture never changes. */
JTEST_ONLY_WITH("JALLOC_TEST_EMULATION", GpuEmulationChild, IsTheOnlyRungWhereItIs) {
    static const fake_blas_failure_t failures[] = {FAKE_BLAS_NO_MEMORY, FAKE_BLAS_EXECUTION_FAILED};
    const fake_blas_control_t *vendor = fake_blas_there();
    const bool there = strcmp(getenv("JALLOC_TEST_EMULATION"), "there") == 0;
    ji_tuning_t *tuning = (ji_tuning_t *)(uintptr_t)&gpu_device()->blas->tuning;
    jhandle_t *handle = make_handle(NULL, JPOINTER_MODE_HOST);
    tuning->split_least = 8;
    tuning->strassen_least[0] = INT64_MAX;
    ji_tuning_complete(tuning);
    BLAS_CASE(c, &blas_functions[BLAS_INDEX_sgemm], .low = 20, .high = 60, .plain = true);

    JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
    JEXPECT_TRUE(gpu_device()->blas->has_mixed(gpu_device()));
    JEXPECT_EQ(gpu_device()->blas->has_emulated(gpu_device()), there);
    JEXPECT_EQ(blas_query(handle, c) == 0, there);
    if (there) {
        jhandle_stats_t stats = {.struct_size = sizeof stats};
        emulation_case(handle, c, 1, 0);
        emulation_case(handle, c, 1, 0);
        JEXPECT_OK(jhandle_get_stats(handle, &stats));
        JEXPECT_EQ(stats.rung_count[0], 2);

        /* Declined: its product of floats. What else fails is said. */
        const uint64_t before = vendor->count("SetStream") + vendor->count("SetWorkspace") +
                                vendor->count("SetPointerMode");
        vendor->fail_after(before + 1, FAKE_BLAS_NOT_SUPPORTED);
        emulation_case(handle, c, 1, 1);
        JEXPECT_TRUE(vendor->has_failed());
        for (int i = 0; i < 2; ++i) {
            vendor->fail_after(before + 1, failures[i]);
            JEXPECT_STATUS(gpu_blas_call(handle, c),
                           i ? JSTATUS_DEVICE_ERROR : JSTATUS_MEMORY_ERROR);
            JEXPECT_SUBSTR(jhandle_last_message(handle), "GemmEx");
        }

        /* Not with the bits of the device's own product, nor componentwise, nor for an alpha of
         * 0. */
        JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_SAME_BITS));
        emulation_case(handle, c, 0, 1);
        JEXPECT_OK(jhandle_set_result_policy(handle, JRESULT_POLICY_FAST));
        JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_COMPONENTWISE));
        emulation_case(handle, c, 0, 1);
        JEXPECT_OK(jhandle_set_accuracy(handle, JACCURACY_NORMWISE));
        BLAS_CASE(zero, &blas_functions[BLAS_INDEX_sgemm], .low = 20, .high = 60,
                  .alpha_zero = true);
        emulation_case(handle, zero, 0, 0);
    }
    /* An alpha that is not known may be 0. */
    JEXPECT_OK(jhandle_set_pointer_mode(handle, JPOINTER_MODE_DEVICE));
    JEXPECT_GT(blas_query(handle, c), 0);
    emulation_case(handle, c, 3, 0); /* one slab of split-bf16 */
    JEXPECT_OK(jhandle_destroy(handle));
}

JTEST(GpuVendorBlas, EmulatesFloatWhereItCan) {
    static const struct {
        const char *capability, *emulation;
    } ways[] = {{"100", "there"}, {"103", "there"}, {"90", "not there"}, {"120", "not there"}};
    if (fake_blas() == NULL)
        JSKIP("needs the fake vendor's BLAS");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        char poses[64], way[64], output[8192], path[4200], device[64];
        snprintf(poses, sizeof poses, "FAKE_GPU_CAPABILITY=%s", ways[i].capability);
        snprintf(way, sizeof way, "JALLOC_TEST_EMULATION=%s", ways[i].emulation);
        snprintf(path, sizeof path, "JALLOC_MODULE_PATH=%s", gpu_module_path());
        snprintf(device, sizeof device, "JALLOC_TEST_DEVICE=%s", gpu_device_name());
        const char *const environment[] = {poses, way, path, device, NULL};
        const int result =
            jtest_run_self("GpuEmulationChild.*", environment, output, sizeof output);
        if (result != 0 || strstr(output, "1 test from") == NULL)
            JFAIL("sm_%s: %d: %s", ways[i].capability, result, output);
    }
}
