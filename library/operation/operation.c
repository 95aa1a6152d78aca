/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The way that all operations on buffers take after the checks (check.c); operation.h has the
 * picture.
 *
 * Collective operations stay together because nothing that one process finds wrong ends the
 * operation there and then: it is kept as a status until ji_operation_run() has everyone agree on
 * it, once, when all that can fail by itself (checks, stand-ins, workspace) has been tried. After
 * that message only collective steps follow, which agree by themselves, or such that cannot
 * fail. */

#include "operation/operation.h"

#include "jalloc/process.h"

#include <stdalign.h>
#include <string.h>

/* ---- Stand-ins ---- */

/* An allocator for what no other process sees: what is computed here in place of local buffers
 * among replicated ones, and copies of what is shared on a node. Nobody is asked for it, since a
 * query would, too. */
static jstatus_t make_replicated_allocator(ji_operation_t *op) {
    jbuffer_allocator_options_t options = JBUFFER_ALLOCATOR_OPTIONS_INIT;
    options.kind = JBUFFER_REPLICATED;
    options.type = op->type;
    options.device = op->handle->device;
    return ji_buffer_allocator_make_alone(op->runtime, &options, &op->replicated);
}

/* The allocators of results and temporaries, where there are any. */
static jstatus_t choose_allocators(ji_operation_t *op) {
    jbuffer_t *buffers[JI_OPERANDS];
    bool makes = false;
    for (int i = 0; i < op->count; i++) {
        buffers[i] = op->operands[i].buffer;
        makes = makes || ji_operand_is_made(&op->operands[i]);
    }

    return op->backend->distributed || makes
               ? jbuffer_propagate((size_t)op->count, buffers, &op->allocator)
               : JSTATUS_SUCCESS;
}

/* The allocator by which the memory of a temporary becomes a buffer: the result's where that is
 * distributed; of a copy the operand's own; otherwise, and instead of one that is shared, the
 * process's. */
static jstatus_t temporary_allocator(ji_operation_t *op, const ji_operand_t *operand,
                                     jbuffer_allocator_t **allocator) {
    const bool own = op->class->backend != NULL && !ji_buffer_is_shared(operand->buffer);
    if (!op->backend->distributed && !own && op->replicated == NULL)
        JTRY_RETURN(make_replicated_allocator(op));
    *allocator = op->backend->distributed ? op->allocator
                 : own                    ? ji_buffer_allocator(operand->buffer)
                                          : op->replicated;
    return JSTATUS_SUCCESS;
}

static bool needs_temporary(const ji_operation_t *op, const ji_operand_t *operand) {
    return operand->buffer != NULL && op->backend->needs_temporary(op, operand);
}

/* An operand that a result, which is written in place, shares elements with. */
static jstatus_t find_overlap(ji_operation_t *op, int number, const ji_operand_t *result) {
    ji_operand_t *operand = &op->operands[number];
    const ji_overlap_t found = ji_buffer_overlap(operand->buffer, result->buffer);
    operand->is_result = found == JI_OVERLAP_SAME;
    operand->detach = !op->class->reads_first &&
                      (found == JI_OVERLAP_SOME || (operand->is_result && !op->class->elementwise));

    /* A copy to detach it is made in the workspace, which is the handle's device's. */
    const bool far = ji_buffer_device(operand->buffer) != op->handle->device;
    if ((found == JI_OVERLAP_HERE && !needs_temporary(op, operand)) || (operand->detach && far))
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "%s: operand %d has memory of the result's, wrapped as a buffer of its own",
                       op->name, number);
    return JSTATUS_SUCCESS;
}

static jstatus_t find_overlaps(ji_operation_t *op) {
    for (int r = 0; r < op->count; r++) {
        const ji_operand_t *result = &op->operands[r];
        if (result->buffer == NULL || result->access == JI_READS)
            continue;

        for (int i = 0; i < r; i++) {
            const ji_operand_t *operand = &op->operands[i];
            if (operand->buffer == NULL)
                continue;
            if (operand->access == JI_READS && !needs_temporary(op, result))
                JTRY_RETURN(find_overlap(op, i, result));
            else if (operand->access != JI_READS &&
                     ji_buffer_overlap(operand->buffer, result->buffer) != JI_OVERLAP_NONE)
                return ji_fail(JSTATUS_INVALID_VALUE,
                               "%s: two results, operands %d and %d, share elements", op->name, i,
                               r);
        }
    }
    return JSTATUS_SUCCESS;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

jstatus_t ji_operation_count_copy(ji_operation_t *op, const jbuffer_t *destination,
                                  const jbuffer_t *source) {
    size_t best = 0, least = 0;
    JTRY_RETURN(ji_buffer_copy_bytes(destination, source, &best, &least));

    op->copy_bytes[0] = larger(op->copy_bytes[0], best);
    op->copy_bytes[1] = larger(op->copy_bytes[1], least);
    return JSTATUS_SUCCESS;
}

/* Makes the buffer object of a temporary, whose memory comes with the borrow, and asks what copying
 * it takes. */
static jstatus_t make_temporary(ji_operation_t *op, ji_operand_t *operand, size_t *bytes) {
    alignas(64) static char nowhere[64]; /* memory is not looked at before there is any */
    jbuffer_allocator_t *allocator;
    jlayout_t layout;
    JTRY_RETURN(temporary_allocator(op, operand, &allocator));

    (void)jlayout_init(&layout, operand->layout.rank, operand->layout.extents, JORDER_COLUMN_MAJOR);
    if (!operand->expand)
        layout.structure = operand->layout.structure;
    if (operand->align > 0)
        layout.blocks[0] = layout.blocks[1] = operand->align;

    JTRY_RETURN(jbuffer_allocator_get_local_bytes(allocator, &layout, bytes));
    JTRY_RETURN(jbuffer_wrap(allocator, &layout, nowhere, &operand->temporary));

    if (operand->access != JI_WRITES)
        JTRY_RETURN(ji_operation_count_copy(op, operand->temporary, operand->buffer));
    return operand->access == JI_READS
               ? JSTATUS_SUCCESS
               : ji_operation_count_copy(op, operand->buffer, operand->temporary);
}

/* New results, without memory: a query gives them so, and otherwise they take it as placeholders
 * from a query do. Where nodes share all results one process of each computes; who else writes into
 * memory that is shared, by copies, sees to that itself. */
static jstatus_t promise_results(ji_operation_t *op) {
    bool any = false, all_shared = true;
    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        if (ji_operand_is_made(operand)) {
            JTRY_RETURN(ji_buffer_promise(op->allocator, &operand->layout, &operand->made));
            operand->buffer = operand->made;
        }
        if (operand->buffer == NULL || operand->access == JI_READS)
            continue;
        any = true;
        all_shared = all_shared && ji_buffer_is_shared(operand->buffer);
    }

    op->by_leaders = op->backend == &ji_backend_jblas && any && all_shared;
    return JSTATUS_SUCCESS;
}

/* The array comes first in the operation's own workspace. */
static void count_array(ji_operation_t *op) {
    size_t array;
    if (!ji_size_round_up(op->array_bytes, JI_ALIGNMENT, &array) ||
        !ji_size_add(op->extra_bytes, array, &op->extra_bytes))
        op->extra_bytes = JALLOC_SIZE_OVERFLOW;
}

static jstatus_t prepare(ji_operation_t *op) {
    JTRY_RETURN(choose_allocators(op));
    JTRY_RETURN(promise_results(op));
    /* What is expanded or aligned is known before temporaries are made. */
    if (op->backend->distributed)
        JTRY_RETURN(ji_operation_prepare(op));

    JTRY_RETURN(find_overlaps(op));
    op->waits = op->collective || op->backend->distributed;

    for (int i = 0; i < op->count; i++)
        if (needs_temporary(op, &op->operands[i]))
            JTRY_RETURN(make_temporary(op, &op->operands[i], &op->bytes[JI_SLOT_TEMPORARY + i]));

    JTRY_RETURN(op->backend->finish(op));
    count_array(op);
    return JSTATUS_SUCCESS;
}

/* ---- The plan ---- */

#define IN_ROUNDS "rounds"
#define WITH_LEAST "least"

static void make_plan(ji_operation_t *op, jplan_t *plan) {
    const ji_matrix_t shape = ji_matrix(op->type, &op->operands[op->count - 1].layout, NULL);
    jplan_init(plan, op->handle, op->name, "mn", (const int64_t[]){shape.rows, shape.columns});

    size_t *exchange = &op->bytes[JI_SLOT_EXCHANGE];
    if (jdevice_kind(op->handle->device) == JDEVICE_HOST) {
        op->bytes[JI_SLOT_EXTRA] = op->extra_bytes;
        *exchange = op->copy_bytes[0];
    }

    jplan_add(plan, *exchange != 0 ? "exchange" : "best", 0, op->callee_bytes, JI_SLOTS, op->bytes);

    /* A second rung, where it would take less: fewer bytes of exchange, the least of jblas's. */
    const bool rounds = *exchange != 0 && op->copy_bytes[1] != op->copy_bytes[0];
    if (op->callee_bytes == op->callee_least && !rounds)
        return;
    if (rounds)
        *exchange = op->copy_bytes[1];
    jplan_add(plan, rounds ? IN_ROUNDS : WITH_LEAST, 0, op->callee_least, JI_SLOTS, op->bytes);
}

/* Whether there is anything to borrow. */
static bool wants_workspace(const ji_operation_t *op) {
    size_t any = op->callee_bytes | op->extra_bytes | op->copy_bytes[0] | op->copy_bytes[1];
    for (int i = 0; i < JI_SLOTS; i++)
        any |= op->bytes[i];
    return any != 0;
}

/* Host memory for a handle that has none. */
typedef struct host_memory {
    jallocator_t *allocator;
    void *pointer;
    size_t size_bytes;
} host_memory_t;

static jstatus_t take_host_memory(ji_operation_t *op, host_memory_t *memory) {
    jmemory_request_t request = JMEMORY_REQUEST_INIT;
    const size_t copy = ji_align_bytes(op->copy_bytes[0]);

    if (copy + op->extra_bytes == 0 || jdevice_kind(op->handle->device) == JDEVICE_HOST)
        return JSTATUS_SUCCESS;
    if (copy + op->extra_bytes < copy || copy < op->copy_bytes[0])
        return ji_fail(JSTATUS_INVALID_SIZE, "%s: the sizes of host memory overflow", op->name);

    request.gpu_compatible = true;
    JTRY_RETURN(jprocess_get_allocator(&request, &memory->allocator));
    memory->size_bytes = copy + op->extra_bytes;
    JTRY_RETURN(
        jallocator_allocate(memory->allocator, memory->size_bytes, 64, NULL, &memory->pointer));

    op->ws.ptr[JI_SLOT_EXCHANGE] = memory->pointer;
    op->ws.ptr[JI_SLOT_EXTRA] = (char *)memory->pointer + copy;
    return JSTATUS_SUCCESS;
}

void ji_operation_widen_array(const ji_operation_t *op) {
    double *wide = ji_operation_array(op);
    const float *narrow = ji_operation_array(op);
    if (ji_real_of(op->type) != JDATATYPE_F32)
        return;
    for (size_t i = op->array_bytes / sizeof *wide; i-- > 0;) {
        float value;
        memcpy(&value, &narrow[i], sizeof value);
        wide[i] = (double)value;
    }
}

/* ---- Waiting and copying ---- */

static jstatus_t wait(const ji_operation_t *op) {
    return ji_handle_wait(op->handle, op->handle->stream);
}

jstatus_t ji_operation_copy_between(const ji_operation_t *op, jbuffer_t *destination,
                                    const jbuffer_t *source) {
    const bool less = ji_is_way(&op->ws, IN_ROUNDS) || ji_is_way(&op->ws, WITH_LEAST);
    const bool best = !less || jdevice_kind(op->handle->device) != JDEVICE_HOST;
    const jstatus_t status =
        ji_buffer_copy(destination, source, op->waits ? NULL : op->handle->stream,
                       op->ws.ptr[JI_SLOT_EXCHANGE], op->copy_bytes[best ? 0 : 1]);
    /* Through an image in host memory the host waits for the pieces, which counts as once. */
    if (op->copy_bytes[0] != 0 && jdevice_kind(op->handle->device) != JDEVICE_HOST)
        ++op->handle->synchronization_count;
    return status;
}

/* ---- The results' own memory ---- */

/* Nothing can be read where there is no memory yet. */
static jstatus_t check_contents(const ji_operation_t *op) {
    for (int i = 0; i < op->count; i++)
        if (op->operands[i].buffer != NULL && op->operands[i].access != JI_WRITES)
            JTRY_RETURN(ji_buffer_check_contents(op->operands[i].buffer, op->name));
    return JSTATUS_SUCCESS;
}

/* Takes the memory of results that are placeholders: what is one process's own before all agree,
 * what is shared on a node, which is taken together, after that. */
static jstatus_t take_results(ji_operation_t *op, bool agreed) {
    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        if (operand->buffer == NULL || operand->access == JI_READS ||
            !ji_buffer_is_placeholder(operand->buffer) ||
            ji_buffer_is_shared(operand->buffer) != agreed)
            continue;
        JTRY_RETURN(ji_storage_take(operand->buffer->storage));
        operand->took = true;
    }
    return JSTATUS_SUCCESS;
}

static bool took_any(const ji_operation_t *op) {
    bool took = false;
    for (int i = 0; i < op->count; i++)
        took = took || op->operands[i].took;
    return took;
}

/* Gives new results to the caller; on an error they and the memory that was taken go back. */
static void end_results(ji_operation_t *op, jstatus_t status) {
    for (int i = 0; i < op->count; i++) {
        ji_operand_t *operand = &op->operands[i];
        if (!jstatus_is_error(status)) {
            if (operand->made != NULL)
                *operand->result = operand->made;
            continue;
        }
        if (operand->took)
            (void)ji_storage_return(operand->buffer->storage);
        (void)jbuffer_release(operand->made);
    }
}

/* ---- Carrying out ---- */

/* The status after a further step: what that reports, unless it reports nothing. */
static jstatus_t followed_by(jstatus_t status, jstatus_t next) {
    return next == JSTATUS_SUCCESS ? status : next;
}

static jstatus_t copy_in(const ji_operation_t *op) {
    for (int i = 0; i < op->count; i++)
        if (op->operands[i].temporary != NULL && op->operands[i].access != JI_WRITES)
            JTRY_RETURN(
                ji_operation_copy_between(op, op->operands[i].temporary, op->operands[i].buffer));
    return JSTATUS_SUCCESS;
}

static jstatus_t copy_out(const ji_operation_t *op, jstatus_t status) {
    for (int i = 0; i < op->count && !jstatus_is_error(status); i++)
        if (op->operands[i].temporary != NULL && op->operands[i].access != JI_READS)
            status = followed_by(status, ji_operation_copy_between(op, op->operands[i].buffer,
                                                                   op->operands[i].temporary));
    return status;
}

/* Where one process of a node has computed for all of it: what came of that, and the answers. */
static jstatus_t tell_node(ji_operation_t *op, jstatus_t status) {
    status = jruntime_agree(op->runtime, status);
    if (!jstatus_is_error(status) && op->answer != NULL)
        status =
            followed_by(status, op->runtime->ops->broadcast(op->runtime, JI_SCOPE_NODE, 0, NULL,
                                                            &op->found, sizeof op->found));
    if (!jstatus_is_error(status) && op->array_bytes > 0)
        status = followed_by(status,
                             op->runtime->ops->broadcast(op->runtime, JI_SCOPE_NODE, 0, NULL,
                                                         ji_operation_array(op), op->array_bytes));
    return status;
}

/* Everything behind the agreement, in host mode. */
static jstatus_t carry_out(ji_operation_t *op) {
    jstatus_t status = JSTATUS_SUCCESS;
    JTRY(take_results(op, true));
    for (int i = 0; i < op->count; i++)
        if (op->operands[i].temporary != NULL)
            op->operands[i].temporary->storage->pointer = op->ws.ptr[JI_SLOT_TEMPORARY + i];

    if (op->waits)
        JTRY(wait(op));
    JTRY(copy_in(op));
    if (op->class->finite)
        JTRY(ji_operation_check_finite(op));

    if (!op->by_leaders || op->runtime->info.node_rank == 0)
        status = (op->backend->run != NULL ? op->backend->run : op->way->run)(op);
    if (op->waits && !jstatus_is_error(status))
        status = followed_by(status, wait(op));

    if (op->collective && op->by_leaders)
        status = tell_node(op, status);
    status = copy_out(op, status);
done:
    /* Before memory that the stream still writes is given back: the results' own, the host's, that
     * of `found`. */
    if (jstatus_is_error(status) && (took_any(op) || op->waits || op->answer != NULL))
        (void)wait(op);
    return status;
}

/* Scalars were copied to the host at the entry, so the handle is in host mode meanwhile, whatever
 * the caller's pointer mode is. */
static jstatus_t carry_out_in_host_mode(ji_operation_t *op) {
    const jpointer_mode_t mode = op->handle->pointer_mode;
    jstatus_t status = jhandle_set_pointer_mode(op->handle, JPOINTER_MODE_HOST);
    if (status == JSTATUS_SUCCESS)
        status = carry_out(op);
    (void)jhandle_set_pointer_mode(op->handle, mode);
    return status;
}

/* ---- The way ---- */

/* What all processes should have passed alike; only looked at where none has found anything
 * wrong. */
static uint64_t hash_arguments(const ji_operation_t *op) {
    const int options[] = {(int)op->operation[0], (int)op->operation[1], (int)op->side,
                           (int)op->diagonal, (int)op->norm};

    uint64_t hash = ji_arguments_add(0, op->name, strlen(op->name));
    hash = ji_arguments_add(hash, options, sizeof options);
    /* What each does to its own part may be by a number of its own. */
    if (op->way != &op->class->way)
        hash = ji_arguments_add(hash, op->values, sizeof op->values);

    for (int i = 0; i < op->count; i++)
        if (op->operands[i].buffer == NULL ||
            ji_buffer_check(op->operands[i].buffer, op->name) == JSTATUS_SUCCESS)
            hash = ji_arguments_add_buffer(hash, op->operands[i].buffer);
    return hash;
}

/* Takes all memory that the operation needs, agrees on what came of everything up to there, and
 * carries it out. `plan`: NULL, where nothing is to be borrowed. */
static jstatus_t take_and_carry_out(ji_operation_t *op, jplan_t *plan, jstatus_t status) {
    host_memory_t memory = {NULL, NULL, 0};
    if (plan != NULL)
        status = jborrow_begin_plan(&op->ws, op->handle, plan);
    if (!jstatus_is_error(status))
        status = followed_by(status, take_host_memory(op, &memory));

    /* As they were passed: a result that has memory is another argument than one that takes it. */
    const uint64_t arguments = op->collective ? hash_arguments(op) : 0;
    if (!jstatus_is_error(status))
        status = followed_by(status, take_results(op, false));
    if (op->collective)
        status = ji_runtime_agree_on(op->runtime, status, arguments);

    if (!jstatus_is_error(status))
        status = followed_by(status, carry_out_in_host_mode(op));
    if (!jstatus_is_error(status) && op->array_bytes > 0)
        memcpy(op->array, ji_operation_array(op), op->array_bytes);

    if (op->ws.ok)
        (void)jborrow_end(&op->ws);
    if (memory.pointer != NULL)
        (void)jallocator_deallocate(memory.allocator, memory.pointer, memory.size_bytes, NULL);
    return status;
}

jstatus_t ji_operation_run(ji_operation_t *op) {
    const bool queries = op->handle != NULL && jhandle_is_size_query(op->handle);
    jstatus_t status = ji_operation_check(op);
    if (status == JSTATUS_SUCCESS && !queries)
        status = check_contents(op);
    if (status == JSTATUS_SUCCESS)
        status = prepare(op);

    jplan_t plan;
    const bool plans = status == JSTATUS_SUCCESS && (queries || wants_workspace(op));
    if (plans)
        make_plan(op, &plan);
    if (!queries)
        status = take_and_carry_out(op, plans ? &plan : NULL, status);
    else if (plans)
        status = jhandle_answer_plan(op->handle, &plan);

    end_results(op, status);
    for (int i = 0; i < op->count; i++)
        (void)jbuffer_release(op->operands[i].temporary);
    (void)jbuffer_allocator_release(op->allocator);
    (void)jbuffer_allocator_release(op->replicated);

    if (jstatus_is_error(status))
        return jhandle_fail(ji_operation_check_handle(op) == JSTATUS_SUCCESS ? op->handle : NULL,
                            status, "%s", jstatus_last_message());
    if (op->answer != NULL && !queries)
        memcpy(op->answer, &op->found, sizeof op->found);
    return status;
}
