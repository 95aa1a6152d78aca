/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Where a buffer lives whose allocator chooses.
 *
 * ji_choice_decide() is the table of buffer.h and looks at nothing but its question. Around it:
 * what the environment names, what the operands propagate, and the line in the log that says what
 * was chosen and why. Over several processes all of them must come to the same answer although
 * memory and environment differ between machines; so both the wish and the decision are rank 0's,
 * and what goes wrong anywhere is agreed upon before anybody goes on. */

#include "buffer/choose.h"

#include <stdio.h>
#include <string.h>

/* Below this nothing is gained by moving to a GPU by itself. */
#define CHOICE_GPU_BYTES ((size_t)8 << 20)
/* Room for a buffer, its operand and its result, or a workspace. */
#define CHOICE_GPU_COPIES 3
/* From here on one process should not have it all; nor where it is more than this part of a
 * process's memory. */
#define CHOICE_DISTRIBUTE_BYTES ((size_t)64 << 20)
#define CHOICE_DISTRIBUTE_PART 4

/* ---- What the environment names ---- */

static jstatus_t choice_read_environment(ji_choice_wish_t *wish) {
    jconfig_entry_t entry;
    jstatus_t status = ji_config_require(JCONFIG_JALLOC_BUFFER, &entry);
    if (status == JSTATUS_SUCCESS)
        (void)ji_config_buffer(entry.value, &wish->kind, wish->device);
    return status;
}

/* ---- The decision ---- */

/* The GPU for a buffer of one process: the one that is wished for, or the one with most memory
 * free. NULL: none. */
static jdevice_t *choice_find_gpu(const ji_choice_question_t *question) {
    const jruntime_device_t *best = NULL;
    if (question->wished == NULL && question->size_bytes < CHOICE_GPU_BYTES)
        return NULL;

    for (int i = 0; i < question->info->devices; ++i) {
        const jruntime_device_t *device = &question->devices[i];
        if (jdevice_kind(device->device) != JDEVICE_HOST &&
            (question->wished == NULL || question->wished == device->device) &&
            device->available_bytes / CHOICE_GPU_COPIES >= question->size_bytes &&
            (best == NULL || device->available_bytes > best->available_bytes))
            best = device;
    }

    return best != NULL ? best->device : NULL;
}

/* Every line of the table but the first. */
static ji_choice_t choice_decide_unnamed(const ji_choice_question_t *question) {
    const jruntime_info_t *info = question->info;
    if (question->operands != NULL)
        return (ji_choice_t){question->operands->kind, question->operands->device,
                             "as its operands"};

    if (info->processes == 1) {
        jdevice_t *gpu = choice_find_gpu(question);
        if (gpu != NULL)
            return (ji_choice_t){JBUFFER_LOCAL, gpu,
                                 "one process, and the GPU has room for three such"};
        return (ji_choice_t){JBUFFER_LOCAL, jdevice_host(), "one process, and no GPU for it"};
    }

    const size_t available = info->node_available_bytes / (size_t)info->node_processes;
    if (question->can_distribute && question->rank == 2) {
        if (question->size_bytes >= CHOICE_DISTRIBUTE_BYTES)
            return (ji_choice_t){JBUFFER_DISTRIBUTED, jdevice_host(), "a matrix of 64 MiB or more"};
        if (question->size_bytes > available / CHOICE_DISTRIBUTE_PART)
            return (ji_choice_t){JBUFFER_DISTRIBUTED, jdevice_host(),
                                 "a matrix of more than a quarter of a process's memory"};
    }

    return (ji_choice_t){JBUFFER_REPLICATED, jdevice_host(),
                         "several processes, and no large matrix"};
}

ji_choice_t ji_choice_decide(const ji_choice_question_t *question) {
    ji_choice_t choice = choice_decide_unnamed(question);
    const ji_choice_wish_t *named = &question->named;
    if (named->kind >= 0) {
        /* The line of one process puts local buffers on a GPU, no others. */
        if (question->operands == NULL && named->kind != (int)JBUFFER_LOCAL)
            choice.device = jdevice_host();
        choice.kind = (jbuffer_kind_t)named->kind;
    }

    if (named->device[0] != '\0')
        choice.device = NULL;
    if (named->kind >= 0 || named->device[0] != '\0')
        choice.why = "JALLOC_BUFFER names it";
    return choice;
}

/* ---- Choosing ---- */

/* What rank 0 decided, as it can be sent. */
typedef struct choice_message {
    jbuffer_kind_t kind;
    char device[JI_DEVICE_NAME_BYTES];
} choice_message_t;

static jstatus_t choice_agree(jruntime_t *runtime, jstatus_t status) {
    return runtime->info.processes > 1 ? jruntime_agree(runtime, status) : status;
}

/* Ends a step: rank 0's bytes for all, if nobody has failed. */
static jstatus_t choice_share(jruntime_t *runtime, jstatus_t status, void *bytes,
                              size_t size_bytes) {
    status = choice_agree(runtime, status);
    if (status == JSTATUS_SUCCESS && runtime->info.processes > 1)
        status = choice_agree(
            runtime, runtime->ops->broadcast(runtime, JI_SCOPE_ALL, 0, NULL, bytes, size_bytes));
    return status;
}

/* Rank 0's decision, its device found in this process. */
static jstatus_t choice_make(jruntime_t *runtime, const ji_choice_question_t *question,
                             ji_choice_t *choice) {
    *choice = ji_choice_decide(question);
    choice_message_t message = {.kind = choice->kind};
    snprintf(message.device, sizeof message.device, "%s",
             choice->device != NULL ? jdevice_name(choice->device) : question->named.device);

    JTRY_RETURN(choice_share(runtime, JSTATUS_SUCCESS, &message, sizeof message));
    jstatus_t status = JSTATUS_SUCCESS;

    choice->kind = message.kind;
    if (choice->device == NULL || strcmp(jdevice_name(choice->device), message.device) != 0)
        status = jdevice_get(message.device, &choice->device);
    return choice_agree(runtime, status);
}

/* The allocator for a choice: the operands', or one by the wishes of the best one. */
static jstatus_t choice_carry_out(const jbuffer_allocator_t *best, const ji_choice_t *choice,
                                  jbuffer_allocator_t *operands, jbuffer_allocator_t **chosen) {
    if (operands != NULL && operands->options.kind == choice->kind &&
        operands->options.device == choice->device)
        return jbuffer_allocator_rebind(operands, choice->kind, best->options.type, chosen);

    jbuffer_allocator_options_t options = best->options;
    options.kind = choice->kind;
    options.device = choice->device;

    if (options.allocator != NULL && jallocator_device(options.allocator) != choice->device)
        options.allocator = NULL;
    if (jdevice_kind(choice->device) != JDEVICE_HOST)
        options.shared_on_node = false;

    jstatus_t status = ji_buffer_allocator_make(best->runtime, &options, chosen);
    if (status == JSTATUS_NOT_IMPLEMENTED) /* no line of the table but the first leads there */
        status = ji_fail(JSTATUS_INVALID_CONFIGURATION,
                         "JALLOC_BUFFER names what cannot be had: %s", jstatus_last_message());
    return status;
}

static void choice_log(const jlayout_t *layout, jdatatype_t type,
                       const ji_choice_question_t *question, const ji_choice_t *choice) {
    char text[JLAYOUT_TEXT_BYTES] = "";

    if (jlog_level() < JLOG_INFO)
        return;

    (void)jlayout_format(layout, &type, text, sizeof text);
    size_t available = 0;
    for (int i = 0; i < question->info->devices; ++i)
        if (question->devices[i].device == choice->device)
            available = question->devices[i].available_bytes;

    jlog_write(JLOG_INFO, NULL,
               "buffer %s, %zu bytes: %s on %s: %s (%d process(es), %d on this machine; %zu bytes "
               "available on %s)",
               text, question->size_bytes, jbuffer_kind_name(choice->kind),
               jdevice_name(choice->device), choice->why, question->info->processes,
               question->info->node_processes, available, jdevice_name(choice->device));
}

static jstatus_t choice_best(const jbuffer_allocator_t *best, const jlayout_t *layout, size_t count,
                             jbuffer_t *const *operands, jbuffer_allocator_t **chosen) {
    jruntime_t *runtime = best->runtime;
    jbuffer_allocator_t *propagated = NULL, *made = NULL;
    jruntime_device_t devices[JI_RUNTIME_MAX_DEVICES];

    ji_lock_acquire(&runtime->lock);
    const jruntime_info_t info = runtime->info;
    memcpy(devices, runtime->devices, (size_t)info.devices * sizeof devices[0]);
    ji_lock_release(&runtime->lock);

    ji_choice_question_t question = {.wished = best->options.device,
                                     .rank = layout->rank,
                                     .can_distribute = runtime->ops->open_grid != NULL,
                                     .info = &info,
                                     .devices = devices};
    ji_choice_t choice;

    jstatus_t status = jlayout_get_bytes(layout, best->options.type, &question.size_bytes);
    if (status == JSTATUS_SUCCESS)
        status = ji_operands_check(count, "jbuffer_allocator_choose");
    if (status == JSTATUS_SUCCESS)
        status = choice_read_environment(&question.named);
    JTRY(choice_share(runtime, status, &question.named, sizeof question.named));

    bool any = false;
    for (size_t i = 0; i < count; ++i)
        any = any || operands[i] != NULL;
    if (any && (question.named.kind < 0 || question.named.device[0] == '\0')) {
        JTRY(choice_agree(runtime, jbuffer_propagate(count, operands, &propagated)));
        question.operands = &propagated->options;
    }

    JTRY(choice_make(runtime, &question, &choice));
    JTRY(choice_agree(runtime, choice_carry_out(best, &choice, propagated, &made)));

    choice_log(layout, best->options.type, &question, &choice);

    *chosen = made;
    made = NULL;
done:
    (void)jbuffer_allocator_release(made);
    (void)jbuffer_allocator_release(propagated);
    return status;
}

jstatus_t jbuffer_allocator_choose(jbuffer_allocator_t *allocator, const jlayout_t *layout,
                                   size_t count, jbuffer_t *const *operands,
                                   jbuffer_allocator_t **chosen) {
    JREQUIRE(layout != NULL && chosen != NULL && (operands != NULL || count == 0),
             JSTATUS_INVALID_POINTER);
    JTRY_RETURN(ji_object_check(allocator, JI_OBJECT_BUFFER_ALLOCATOR, __func__));
    if (allocator->options.kind == JBUFFER_BEST)
        return choice_best(allocator, layout, count, operands, chosen);

    JTRY_RETURN(jlayout_check(layout));
    JTRY_RETURN(ji_operands_check(count, __func__));
    jstatus_t status = jbuffer_allocator_retain(allocator);
    if (status == JSTATUS_SUCCESS)
        *chosen = allocator;
    return status;
}
