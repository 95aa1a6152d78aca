/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* jalloc on an NVIDIA GPU beside the CUDA runtime, cuBLAS and cuSOLVER, in one process, in turn.
 *
 *     bench_gpu [SECONDS per comparison [all|borrow|products|solves|factors|reductions
 *     [tiny|two|all]]]
 *
 * The accuracy is normwise, which is what has the ways to be measured. Data is random, and drawn
 * anew for each size: a product of zeros is faster than one of numbers. Times are those of the GPU,
 * between two events in the stream, but for borrows, which the host alone does. Each line is
 * written as soon as it is known, a part that fails does not end the others, and the last lines are
 * the aims. */

#include <math.h>
#include <string.h>

#include "bench_gpu.h"

typedef struct aim {
    char what[72];
    double value, aim;
    bool bound;
} aim_t;

static aim_t aims[128];
static int aim_count;

void gpu_aim(const char *what, double value, double aim, bool bound) {
    if (aim_count == (int)(sizeof aims / sizeof *aims))
        return;
    aim_t *a = &aims[aim_count++];
    snprintf(a->what, sizeof a->what, "%s", what);
    a->value = value, a->aim = aim, a->bound = bound;
    const double reached = bound ? aim / value : value / aim;
    printf("aim: %s: %.2f %s %.2f, %s; %.2f of the aim\n", what, value, bound ? "<=" : ">=", aim,
           reached >= 1 ? "reached" : "MISSED", reached);
}

void gpu_print_aims(void) {
    printf("\n%-72s %10s %10s\n", "aim", "measured", "aimed at");
    for (int i = 0; i < aim_count; i++) {
        bool reached = aims[i].bound ? aims[i].value <= aims[i].aim : aims[i].value >= aims[i].aim;
        printf("%-72s %10.2f %2s %7.2f  %s\n", aims[i].what, aims[i].value,
               aims[i].bound ? "<=" : ">=", aims[i].aim, reached ? "reached" : "MISSED");
    }
}

static double sample(gpu_bench_t *bench, cudaEvent_t from, cudaEvent_t to,
                     bench_function_t function, void *context, size_t repeat) {
    float milliseconds = 0;
    gpu_expect_cuda(bench, cudaEventRecord(from, bench->native), "cudaEventRecord");
    for (size_t i = 0; i < repeat; i++)
        function(context);
    gpu_expect_cuda(bench, cudaEventRecord(to, bench->native), "cudaEventRecord");
    gpu_expect_cuda(bench, cudaEventSynchronize(to), "cudaEventSynchronize");
    gpu_expect_cuda(bench, cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    return 1e-3 * (double)milliseconds / (double)repeat;
}

/* A sample is at least this long, so that the gap before the first kernel does not count. */
#define SAMPLE_SECONDS 1e-3

static size_t calibrate(gpu_bench_t *bench, cudaEvent_t from, cudaEvent_t to,
                        bench_function_t function, void *context) {
    (void)sample(bench, from, to, function, context, 1); /* loads, allocates */
    const double once = sample(bench, from, to, function, context, 1);
    return once < SAMPLE_SECONDS ? (size_t)(SAMPLE_SECONDS / (once > 1e-6 ? once : 1e-6)) + 1 : 1;
}

bench_result_t gpu_compare(gpu_bench_t *bench, bench_function_t ours, bench_function_t peer,
                           void *context) {
    static double our_samples[BENCH_MAX_SAMPLES], peer_samples[BENCH_MAX_SAMPLES];
    cudaEvent_t from, to;
    gpu_expect_cuda(bench, cudaEventCreate(&from), "cudaEventCreate");
    gpu_expect_cuda(bench, cudaEventCreate(&to), "cudaEventCreate");
    size_t our_repeat = calibrate(bench, from, to, ours, context), count = 0;
    size_t peer_repeat = calibrate(bench, from, to, peer, context);
    double deadline = bench_now() + bench->seconds;
    while (bench->good && count < BENCH_MAX_SAMPLES &&
           (count < BENCH_MIN_SAMPLES || bench_now() < deadline)) {
        our_samples[count] = sample(bench, from, to, ours, context, our_repeat);
        peer_samples[count] = sample(bench, from, to, peer, context, peer_repeat);
        count++;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    bench_result_t result = {0, 0, 0, count};
    if (count > 0) {
        result.ours = bench_median(our_samples, count);
        result.peer = bench_median(peer_samples, count);
        result.ratio = result.peer / result.ours;
    }
    return result;
}

/* Each `every`-th number, from the first, is `special` if every > 0, the others are random. */
static void *make(gpu_bench_t *bench, size_t reals, bool is_double, uint64_t seed, size_t every,
                  double special, double scale) {
    size_t bytes = reals * (is_double ? sizeof(double) : sizeof(float));
    void *host = malloc(bytes), *device = NULL;
    if (host == NULL || cudaMalloc(&device, bytes) != cudaSuccess) {
        fprintf(stderr, "bench_gpu: no memory for %zu bytes\n", bytes);
        bench->good = false;
        free(host);
        return NULL;
    }
    for (size_t i = 0; i < reals; i++) {
        double value = every > 0 && i % every == 0 ? special : scale * bench_random(&seed);
        if (is_double)
            ((double *)host)[i] = value;
        else
            ((float *)host)[i] = (float)value;
    }
    gpu_copy(bench, device, host, bytes, cudaMemcpyHostToDevice);
    free(host);
    return device;
}

void *gpu_random(gpu_bench_t *bench, size_t reals, bool is_double, uint64_t seed) {
    return make(bench, reals, is_double, seed, 0, 0, 1);
}

void *gpu_matrix(gpu_bench_t *bench, int order, bool is_double, double diagonal, double beside) {
    return make(bench, (size_t)order * (size_t)order, is_double, 7, (size_t)order + 1, diagonal,
                beside);
}

void gpu_release(void *pointer) { cudaFree(pointer); }

void gpu_copy(gpu_bench_t *bench, void *to, const void *from, size_t bytes,
              enum cudaMemcpyKind kind) {
    gpu_expect_cuda(bench, cudaMemcpyAsync(to, from, bytes, kind, bench->native),
                    "cudaMemcpyAsync");
    gpu_expect_cuda(bench, cudaStreamSynchronize(bench->native), "cudaStreamSynchronize");
}

double gpu_difference(gpu_bench_t *bench, const void *x, const void *y, size_t reals,
                      bool is_double, double *largest) {
    size_t bytes = reals * (is_double ? 8 : 4);
    void *hx = malloc(bytes), *hy = malloc(bytes);
    double most = 0;
    *largest = 0;
    if (hx == NULL || hy == NULL) {
        bench->good = false;
    } else {
        gpu_copy(bench, hx, x, bytes, cudaMemcpyDeviceToHost);
        gpu_copy(bench, hy, y, bytes, cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < reals; i++) {
            double u = is_double ? ((double *)hx)[i] : ((float *)hx)[i];
            double v = is_double ? ((double *)hy)[i] : ((float *)hy)[i];
            double apart = fabs(u - v);
            if (!(apart <= most)) /* a NaN counts */
                most = apart;
            if (fabs(v) > *largest)
                *largest = fabs(v);
        }
    }
    free(hx);
    free(hy);
    return most;
}

static void complain(gpu_bench_t *bench, const char *what, const char *why) {
    if (bench->good)
        fprintf(stderr, "bench_gpu: %s: %s\n", what, why);
    bench->good = false;
}

void gpu_expect(gpu_bench_t *bench, jstatus_t status, const char *what) {
    if (status != JSTATUS_SUCCESS)
        complain(bench, what,
                 jstatus_is_error(status) ? jstatus_last_message() : jstatus_name(status));
}
void gpu_expect_cuda(gpu_bench_t *bench, cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        complain(bench, what, cudaGetErrorString(error));
}
void gpu_expect_cublas(gpu_bench_t *bench, cublasStatus_t status, const char *what) {
    if (status != CUBLAS_STATUS_SUCCESS)
        complain(bench, what, cublasGetStatusString(status));
}

int gpu_rung(gpu_bench_t *bench) {
    jhandle_stats_t stats = {.struct_size = sizeof stats};
    gpu_expect(bench, jhandle_get_stats(bench->handle, &stats), "jhandle_get_stats");
    int most = 0;
    for (int i = 1; i < JHANDLE_MAX_RUNGS; i++)
        if (stats.rung_count[i] > stats.rung_count[most])
            most = i;
    return most;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(gpu_bench_t *bench);
    } parts[] = {{"borrow", bench_gpu_borrow},
                 {"products", bench_gpu_products},
                 {"solves", bench_gpu_solves},
                 {"factors", bench_gpu_factors},
                 {"reductions", bench_gpu_reductions}};
    static const char *const sizes[] = {"tiny", "two", "all"};
    gpu_bench_t bench = {.seconds = argc > 1 ? atof(argv[1]) : 0.3, .good = true};
    bench.sizes = bench.seconds < 0.05 ? GPU_TINY : GPU_ALL;
    for (int i = GPU_TINY; i <= GPU_ALL; i++)
        if (argc > 3 && strcmp(argv[3], sizes[i]) == 0)
            bench.sizes = (gpu_sizes_t)i;
    setvbuf(stdout, NULL, _IOLBF, 0); /* also into a file: who is stopped keeps what was measured */
    if (jdevice_get("cuda:0", &bench.device) != JSTATUS_SUCCESS) {
        printf("bench_gpu: nothing measured: %s\n", jstatus_last_message());
        return 0;
    }
    jdevice_properties_t properties = JDEVICE_PROPERTIES_INIT;
    gpu_expect(&bench, jdevice_get_properties(bench.device, &properties), "jdevice_get_properties");
    gpu_expect(&bench, jstream_create(bench.device, &bench.stream), "jstream_create");
    bench.native = jcuda_stream_native(bench.device, bench.stream);
    gpu_expect_cublas(&bench, cublasCreate(&bench.cublas), "cublasCreate");
    gpu_expect_cublas(&bench, cublasSetStream(bench.cublas, bench.native), "cublasSetStream");
    jhandle_options_t options = JHANDLE_OPTIONS_INIT;
    options.device = bench.device;
    options.stream = bench.stream;
    options.accuracy = JACCURACY_NORMWISE;
    gpu_expect(&bench, jhandle_create(&options, &bench.handle), "jhandle_create");
    printf("device: %s (%s), %s\n", properties.description, properties.architecture,
           properties.runtime);
    const bool begun = bench.good;
    bool good = begun;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && begun; i++)
        if (argc < 3 || strcmp(argv[2], "all") == 0 || strcmp(argv[2], parts[i].name) == 0) {
            bench.good = true;
            parts[i].run(&bench);
            if (!bench.good)
                printf("bench_gpu: %s FAILED\n", parts[i].name);
            good &= bench.good;
        }
    gpu_print_aims();
    jhandle_destroy(bench.handle);
    cublasDestroy(bench.cublas);
    jstream_destroy(bench.stream);
    return good ? 0 : 1;
}
