/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The table of primitives of a GPU.
 *
 * For each primitive: the vendor's way where its library is there and has one, a kernel of jalloc
 * otherwise. The library is looked for when a primitive is first run, so that a program which only
 * wants memory never loads it.
 *
 * Results. A kernel cannot write to the caller's ordinary memory. In host pointer mode it writes to
 * a slot of the device, which is copied to the caller's in stream order, and the call waits for the
 * copy. There are GPU_RESULTS slots; a call holds its own until it has waited, so calls of several
 * threads and streams never share one, and with all slots held a call waits for one. Their memory
 * is taken when the device is opened, so that no call allocates it; if there was none then, by the
 * first call that needs a slot. A batch's results come as many at a time as a slot holds. */

#include "gpu/blas/blas.h"
#include "gpu/blas/vector.h"

#include <condition_variable>
#include <mutex>

#include "blas/primitives/reduce.h"

#define GPU_RESULTS 64
#define GPU_RESULT_BYTES 256

struct gpu_blas_t {
    ji_blas_ops_t ops;
    gpu_primitive_t primitives[JI_PRIMITIVE_COUNT]; /* under `once` */
    std::once_flag once;
    std::mutex mutex; /* of the rest */
    std::condition_variable freed;
    char *results; /* NULL until the first */
    uint64_t held; /* bit i: slot i */
};

static const gpu_primitive_t gpu_own_primitives[JI_PRIMITIVE_COUNT] = {
#define JI_PRIMITIVE_(enumerator, function) gpu_##function,
#define JI_NONE_(enumerator, function) nullptr,
    JI_COMMON_PRIMITIVE_LIST(JI_PRIMITIVE_) JI_HOST_PRIMITIVE_LIST(JI_NONE_)
        JI_GPU_PRIMITIVE_LIST(JI_PRIMITIVE_)
#undef JI_NONE_
#undef JI_PRIMITIVE_
};

static gpu_blas_t *blas_of(jdevice_t *device) { return gpu_device(device)->blas; }

static void blas_choose(gpu_device_t *device) {
    for (int i = 0; i < JI_PRIMITIVE_COUNT; ++i) {
        gpu_primitive_t vendor = gpu_vendor_primitive(device, (ji_primitive_t)i);
        device->blas->primitives[i] = vendor != nullptr ? vendor : gpu_own_primitives[i];
    }

    const char *name = gpu_vendor_blas_name(device);
    __atomic_store_n(&device->blas->ops.name, name != nullptr ? name : "jalloc's kernels",
                     __ATOMIC_RELEASE);
}

/* What is known of a primitive's result by its block. */
struct blas_result_t {
    void **pointer; /* in the block; NULL: the primitive has no result */
    size_t bytes, block_bytes;
};

static blas_result_t blas_result(ji_primitive_t primitive, void *block) {
    ji_vector_t *vector = (ji_vector_t *)block;
    ji_matmat_t *matmat = (ji_matmat_t *)block;
    ji_reduce_t *reduce = (ji_reduce_t *)block;

    switch (primitive) {
    case JI_DOT:
    case JI_DOTC:
    case JI_DOT_EX:
    case JI_DOTC_EX:
    case JI_SDSDOT: return {&vector->result, ji_sizeof(vector->head.type), sizeof *vector};
    case JI_NRM2:
    case JI_ASUM:
    case JI_NRM2_EX:
    case JI_ASUM_EX:
        return {&vector->result, ji_sizeof(ji_real_of(vector->head.type)), sizeof *vector};
    case JI_DSDOT: return {&vector->result, sizeof(double), sizeof *vector};
    case JI_IAMAX:
    case JI_IAMIN: return {&vector->result, sizeof(int64_t), sizeof *vector};
    case JI_REDUCE_COMBINE:
        return {&reduce->vector.result,
                ji_reduce_result_bytes(reduce->reduction, reduce->vector.head.type),
                sizeof *reduce};
    case JI_SET_INFO:
    case JI_TRTRI:
    case JI_TRIANGLE_STORE:
    case JI_PIVOT_INFO:
    case JI_SOLVER_FINISH: return {(void **)&matmat->info, sizeof(int64_t), sizeof *matmat};
    default: return {};
    }
}

static jstatus_t blas_take_results(jdevice_t *device) {
    gpu_blas_t *blas = blas_of(device);
    std::lock_guard<std::mutex> lock(blas->mutex);
    if (blas->results != nullptr)
        return JSTATUS_SUCCESS;

    void *memory = nullptr;
    jstatus_t status = gpu_allocate(device, JMEMORY_DEVICE, GPU_RESULTS * GPU_RESULT_BYTES,
                                    GPU_RESULT_BYTES, &memory);
    blas->results = (char *)memory;
    return status;
}

/* A free slot, once there is one. */
static int blas_hold(gpu_blas_t *blas) {
    std::unique_lock<std::mutex> lock(blas->mutex);
    blas->freed.wait(lock, [blas] { return blas->held != UINT64_MAX; });
    const int slot = __builtin_ctzll(~blas->held);
    blas->held |= UINT64_C(1) << slot;
    return slot;
}

static void blas_let_go(gpu_blas_t *blas, int slot) {
    {
        std::lock_guard<std::mutex> lock(blas->mutex);
        blas->held &= ~(UINT64_C(1) << slot);
    }
    blas->freed.notify_one();
}

/* As many items of a batch as have room for their results in a slot. Its pointers are moved on by
 * `done` items, and its results by none. */
static int64_t blas_take_items(ji_vector_t *vector, const ji_vector_t *all, int64_t done,
                               size_t result_bytes) {
    if (all->head.form == JI_FORM_PLAIN)
        return 1;

    const int64_t most = GPU_RESULT_BYTES / (int64_t)result_bytes, left = all->batch.count - done,
                  size = (int64_t)ji_sizeof(all->head.type);
    const bool by_pointers = all->head.form == JI_FORM_POINTERS;
    const int64_t step_x = by_pointers ? (int64_t)sizeof(void *) : all->batch.stride_x * size,
                  step_y = by_pointers ? (int64_t)sizeof(void *) : all->batch.stride_y * size;

    vector->batch.count = left < most ? left : most;
    if (all->x != nullptr)
        vector->x = (const char *)all->x + done * step_x;
    if (all->y != nullptr)
        vector->y = (char *)all->y + done * step_y;
    return vector->batch.count;
}

/* Runs with the result in a slot of the device, then brings it to the caller's memory. */
static jstatus_t blas_run_with_result(const gpu_call_t *call, ji_primitive_t primitive,
                                      gpu_primitive_t run, const void *block,
                                      uint64_t *host_waits) {
    static_assert(GPU_RESULTS == 64, "a bit for each");
    uint64_t capture = 0;
    JTRY_RETURN(gpu_call_capture(call, &capture));
    if (capture != 0)
        return gpu_services->fail(
            JSTATUS_CAPTURING,
            "%s: a result cannot come to the host while the stream is being captured; use device "
            "pointer mode",
            call->device->name);

    union {
        ji_vector_t vector;
        ji_matmat_t matmat;
        ji_reduce_t reduce;
    } copy;
    memcpy(&copy, block, blas_result(primitive, const_cast<void *>(block)).block_bytes);
    const blas_result_t result = blas_result(primitive, &copy);
    void *callers = *result.pointer;

    jstatus_t status = blas_take_results(call->device);
    if (status != JSTATUS_SUCCESS)
        return status;

    const ji_vector_t *all = (const ji_vector_t *)block;
    const int64_t count = ji_takes_batch(primitive) ? many_count(all->head, all->batch) : 1;
    const int slot = blas_hold(call->blas);
    *result.pointer = call->blas->results + slot * GPU_RESULT_BYTES;

    for (int64_t done = 0, items = 1; done < count && status == JSTATUS_SUCCESS; done += items) {
        if (ji_takes_batch(primitive))
            items = blas_take_items(&copy.vector, all, done, result.bytes);
        status = run(call, &copy);
        if (status == JSTATUS_SUCCESS)
            status = gpu_check(call->device,
                               gpuMemcpyAsync((char *)callers + done * (int64_t)result.bytes,
                                              *result.pointer, (size_t)items * result.bytes,
                                              gpuMemcpyDefault, call->stream),
                               "gpuMemcpyAsync");

        jstatus_t waited = gpu_check(call->device, gpuStreamSynchronize(call->stream),
                                     "gpuStreamSynchronize"); /* before anybody gets the slot */
        *host_waits += waited == JSTATUS_SUCCESS;
        if (status == JSTATUS_SUCCESS)
            status = waited;
    }

    blas_let_go(call->blas, slot);
    return status;
}

jstatus_t gpu_call_capture(const gpu_call_t *call, uint64_t *capture) {
    if (!call->capture_known) {
        JTRY_RETURN(gpu_capture(call->device, call->jstream, &call->capture, nullptr));
        call->capture_known = true;
    }
    *capture = call->capture;
    return JSTATUS_SUCCESS;
}

static jstatus_t blas_run(jdevice_t *device, jstream_t *stream, ji_primitive_t primitive,
                          const void *block, uint64_t *host_waits) {
    GPU_ENTER(device);
    /* A kernel's first launch may load it, and the vendor's library takes memory. */
    gpu_relaxed relaxed;
    gpu_blas_t *blas = blas_of(device);
    std::call_once(blas->once, blas_choose, gpu_device(device));

    /* The vendor has no batch of most of them, and each item is small, or there would be none. */
    const bool is_batch =
        ji_takes_batch(primitive) && ((const ji_head_t *)block)->form != JI_FORM_PLAIN;
    gpu_primitive_t run = (is_batch ? gpu_own_primitives : blas->primitives)[primitive];
    if (run == nullptr)
        return gpu_services->fail(JSTATUS_INTERNAL_ERROR, "%s has no primitive %d", device->name,
                                  (int)primitive);

    gpu_call_t call = {device, gpu_native(stream), stream, blas, false, 0};
    uint64_t capture;
    if (gpu_is_default(stream)) {
        /* A kernel in it would spoil a capture that it must not run beside. */
        JTRY_RETURN(gpu_call_capture(&call, &capture));
    }

    if (host_waits != nullptr &&
        blas_result(primitive, const_cast<void *>(block)).pointer != nullptr)
        return blas_run_with_result(&call, primitive, run, block, host_waits);
    return run(&call, block);
}

jstatus_t gpu_blas_init(gpu_device_t *device) {
    device->blas = new (std::nothrow) gpu_blas_t();
    if (device->blas == nullptr)
        return gpu_services->fail(JSTATUS_MEMORY_ERROR, "%s: no memory for bookkeeping",
                                  device->base.name);

    /* Not measured on a GPU yet. */
    ji_blas_ops_t ops = {};
    ops.name = "";
    ops.tuning.integer_max = INT64_MAX;
    ops.tuning.processors = device->properties.multiprocessors;
    ops.tuning.gemm3m_least = 1024;
    ops.tuning.gemm3m_k_panel = INT64_MAX; /* whole: launches cost more than memory */
    ops.tuning.gemm3m_n_panel = 4096;

    /* Counted for an H100: a halving saves n^3 / 4 flops, and its 14 additions move 39 quarters of
     * a matrix. dgemm of 8192: 2.3 ms for 1.7 of 18, and halves are multiplied about 2 % slower:
     * 1.01. Of 16384: 18 ms for 7 of 147, 1.06. In float the additions move half as much. */
    ops.tuning.strassen_least[0] = 8192;
    ops.tuning.strassen_least[1] = 16384;

    gpu_split_tuning(&device->base, &ops.tuning);
    gpu_triangle_tuning(&ops.tuning);
    ji_tuning_complete(&ops.tuning);

    ops.run = blas_run;
    ops.solver_find = gpu_solver_find;
    ops.solver_bytes = gpu_solver_bytes;
    ops.has_mixed = gpu_has_mixed;
    ops.has_emulated = gpu_has_emulated;

    device->blas->ops = ops;
    device->base.blas = &device->blas->ops;
    (void)blas_take_results(&device->base);
    return JSTATUS_SUCCESS;
}
