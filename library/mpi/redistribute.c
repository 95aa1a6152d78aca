/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* Copies of which one side, or both, is distributed.
 *
 * Who shares elements with whom, and which, every process works out by itself (pattern.h); messages
 * go between those that share any, and only then. Each has a slot in the workspace for each of
 * them, large enough for all of it or, in less memory, for a piece: as soon as a piece has gone or
 * been taken out, the next one follows.
 *
 *     workspace  | peers | requests | slot | slot | slot | ...
 *                                     to 1   to 2   from 1
 *
 * What lies in one span of memory is sent from there or received into it, without the slot. So one
 * loop does both the whole exchange at once and the one in pieces. How large a piece is has to be
 * the same for the two that exchange it, so all agree on the smallest, in the same reduction that
 * tells whether somebody cannot take part at all: nobody waits for a message of a process that has
 * given up. Where no messages are needed (both sides distributed alike, or a source that everybody
 * has), there is no such reduction, and no workspace is touched.
 *
 * A structured source is more than it stores: what a general destination, or one that stores the
 * other triangle, wants beside that comes in a second pass from the mirrored element (rows and
 * columns of the source change roles), or is zero.
 *
 * What lies on a device is packed and unpacked run by run by the device's own copies. */

#include "mpi/distributed.h"
#include "mpi/pattern.h"

#include <string.h>

#define REDISTRIBUTE_TAG 0x6a61
#define REDISTRIBUTE_LEAST ((size_t)1 << 20) /* workspace asked for at least, if more is better */
#define REDISTRIBUTE_PIECE ((size_t)1 << 10) /* bytes of the smallest slot, if they are very many */
#define REDISTRIBUTE_TILE 256                /* rows of a window where they lie apart */
#define REDISTRIBUTE_HUGE ((int64_t)1 << 40) /* a block; products with counts of processes fit */

/* ---- Sides ---- */

/* One side of a copy, seen from this process of those that take part. */
typedef struct side {
    bool everywhere;    /* every holder has all of it */
    int holders;        /* processes that have something */
    int coordinates[2]; /* this process's row and column; -1: it is no holder */
    ji_distribution_t distribution[2];
    jstructure_t structure;
    jdevice_t *device; /* NULL: the host */
    char *data;
} side_t;

static side_t side_of(const jruntime_info_t *info, const jbuffer_t *buffer, bool source) {
    const ji_storage_t *storage = buffer->storage;
    const jlayout_t *layout = &buffer->layout;
    jdevice_t *device = ji_buffer_device(buffer);
    side_t side = {.structure = layout->structure,
                   .device = jdevice_kind(device) == JDEVICE_HOST ? NULL : device};

    if (ji_buffer_kind(buffer) == JBUFFER_DISTRIBUTED) {
        const jdistribution_t *whole = &storage->distribution;
        side.holders = whole->grid[0] * whole->grid[1];
        side.data = storage->pointer;
        for (int d = 0; d < 2; ++d) {
            const int64_t huge =
                whole->extents[d] > REDISTRIBUTE_HUGE ? whole->extents[d] : REDISTRIBUTE_HUGE;
            side.coordinates[d] = whole->coordinates[d];
            side.distribution[d] =
                (ji_distribution_t){whole->blocks[d] < huge ? whole->blocks[d] : huge,
                                    whole->grid[d], d == 0 ? whole->grid[1] : 1, buffer->starts[d],
                                    d == 0 ? 1 : storage->leading_dimension};
        }
        return side;
    }

    const bool root = source && ji_buffer_kind(buffer) == JBUFFER_LOCAL;
    const bool holder = root ? info->rank == 0 : source || ji_buffer_writes(buffer);
    side.everywhere = !root;
    side.holders = root                                     ? 1
                   : ji_buffer_is_shared(buffer) && !source ? info->nodes
                                                            : info->processes;

    side.data = ji_buffer_data(buffer);
    for (int d = 0; d < 2; ++d) {
        side.coordinates[d] = holder ? 0 : -1;
        side.distribution[d] =
            (ji_distribution_t){1, 1, 1, 0, layout->rank > d ? layout->strides[d] : 1};
    }
    return side;
}

static bool side_is_holder(const side_t *side) {
    return side->coordinates[0] >= 0 && side->coordinates[1] >= 0;
}

/* The most indices that a process can have of a view's. */
static int64_t side_most(const ji_distribution_t *distribution, int64_t extent) {
    const int64_t turns =
        (extent / distribution->block + 2 + distribution->count - 1) / distribution->count;
    return distribution->count == 1 || turns > extent / distribution->block
               ? extent
               : turns * distribution->block;
}

/* ---- A copy ---- */

typedef struct copy {
    jruntime_t *runtime;
    side_t source, destination;
    int64_t extents[2];
    jdatatype_t type;
    size_t element; /* bytes */
    bool leaders_receive;
    ji_part_t parts[2]; /* a pass each */
    int part_count;
} copy_t;

/* false: the shapes differ. */
static bool copy_begin(jruntime_t *runtime, const jbuffer_t *destination, const jbuffer_t *source,
                       bool transposed, copy_t *copy) {
    const jbuffer_t *distributed =
        ji_buffer_kind(destination) == JBUFFER_DISTRIBUTED ? destination : source;
    const jdatatype_t type = ji_buffer_type(distributed);
    int64_t extents[2], destination_extents[2];

    *copy = (copy_t){.runtime = runtime,
                     .source = side_of(&runtime->info, source, true),
                     .destination = side_of(&runtime->info, destination, false),
                     .type = type,
                     .element = jhandle_sizeof_datatype(type),
                     .leaders_receive = ji_buffer_is_shared(destination)};

    copy->part_count =
        ji_structure_parts(copy->destination.structure, copy->source.structure, copy->parts);
    if (transposed) /* of a general matrix all of it is in one part */
        copy->parts[0].origin = JI_ORIGIN_MIRRORED;

    ji_mpi_extents(&destination->layout, copy->extents);
    ji_mpi_extents(&source->layout, extents);
    if (distributed == source && !transposed) /* what all processes have in common */
        memcpy(copy->extents, extents, sizeof extents);
    ji_mpi_extents(&destination->layout, destination_extents);

    return destination_extents[0] == extents[transposed] &&
           destination_extents[1] == extents[!transposed] &&
           ji_buffer_type(source) == ji_buffer_type(destination);
}

/* What comes from nowhere is made where it is wanted. */
static const side_t *copy_source(const copy_t *copy, const ji_part_t *part) {
    return part->origin == JI_ORIGIN_ZERO ? &copy->destination : &copy->source;
}

static ji_transfer_t copy_transfer(const copy_t *copy, const ji_part_t *part) {
    const side_t *source = copy_source(copy, part);
    const bool mirrored = ji_origin_is_mirrored(part->origin);
    return (ji_transfer_t){
        .extents = {copy->extents[0], copy->extents[1]},
        .source = {source->distribution[mirrored], source->distribution[!mirrored]},
        .destination = {copy->destination.distribution[0], copy->destination.distribution[1]},
        .region = part->region,
        .type = copy->type,
        .element = copy->element,
        .conjugate = part->origin == JI_ORIGIN_CONJUGATED && ji_type_is_complex(copy->type),
        .from_device = source->device,
        .to_device = copy->destination.device,
        .from = source->data,
        .to = copy->destination.data,
        .tile = INT64_MAX};
}

static bool transfer_lies_apart(const ji_transfer_t *transfer) {
    return transfer->source[0].stride != 1 || transfer->destination[0].stride != 1;
}

static bool copy_needs_messages(const copy_t *copy, const ji_transfer_t *transfer) {
    return copy->runtime->info.processes > 1 && !copy->source.everywhere &&
           (copy->destination.everywhere || !ji_transfer_is_aligned(transfer));
}

/* Whether what a process has for itself goes through a slot, too: no device can do all of it. */
static bool copy_needs_slot(const ji_transfer_t *transfer) {
    return (transfer->from_device != NULL || transfer->to_device != NULL) &&
           (transfer->conjugate || (transfer->from_device != NULL && transfer->to_device != NULL &&
                                    transfer->from_device != transfer->to_device));
}

/* What this process has on both sides, where it has anything. */
static bool copy_own_share(const copy_t *copy, const ji_part_t *part, const ji_transfer_t *transfer,
                           ji_share_t *share) {
    const side_t *source = copy_source(copy, part);
    const bool mirrored = ji_origin_is_mirrored(part->origin);

    if (!side_is_holder(source) || !side_is_holder(&copy->destination))
        return false;

    *share =
        (ji_share_t){.from = {source->coordinates[mirrored], source->coordinates[!mirrored]},
                     .to = {copy->destination.coordinates[0], copy->destination.coordinates[1]}};
    ji_share_begin(transfer, share);
    return share->left > 0;
}

static jstatus_t share_move_directly(const ji_transfer_t *transfer, ji_share_t *share,
                                     ji_move_t move) {
    int64_t moved;
    ji_transfer_t tiled = *transfer;
    tiled.tile = transfer_lies_apart(transfer) ? REDISTRIBUTE_TILE : INT64_MAX;
    return ji_share_move(&tiled, share, move, INT64_MAX, tiled.to, &moved);
}

/* Through a slot: out of the one memory, into the other. */
static jstatus_t share_move_by_slot(const ji_transfer_t *transfer, ji_share_t *share, char *slot,
                                    size_t slot_bytes) {
    ji_share_t into = *share;
    const int64_t most = (int64_t)(slot_bytes / transfer->element);
    jstatus_t status = JSTATUS_SUCCESS;
    int64_t moved;

    while (share->left > 0 && status == JSTATUS_SUCCESS) {
        JTRY(ji_share_move(transfer, share, JI_MOVE_PACK, most, slot, &moved));
        JTRY(ji_share_move(transfer, &into, JI_MOVE_UNPACK, most, slot, &moved));
    }
done:
    return status;
}

/* ---- Peers ---- */

/* Who a process exchanges with, in one direction. */
typedef struct peer {
    ji_share_t share;
    int rank;
    bool receives; /* from it; else sends to it */
    bool in_place; /* the piece that is being received needs no unpacking */
    char *slot;
} peer_t;

/* The peer with that number in a pass, from 0: first those that are sent to, then those that are
 * received from, each beginning behind this process, so that not all turn to the same one at once.
 * False: the number is none, or nothing is shared. */
static bool peer_number(const copy_t *copy, const ji_part_t *part, const ji_transfer_t *transfer,
                        int number, peer_t *peer) {
    const side_t *source = &copy->source, *destination = &copy->destination;
    const int mirrored = ji_origin_is_mirrored(part->origin), me = copy->runtime->info.rank;
    const bool receives = number >= destination->holders;
    const side_t *own = receives ? destination : source, *theirs = receives ? source : destination;

    if (!side_is_holder(own))
        return false;

    number = ((receives ? number - destination->holders : number) + me + 1) % theirs->holders;
    *peer = (peer_t){.receives = receives, .rank = number};

    int other[2] = {0, 0};
    if (theirs->everywhere) {
        const int *leader_of = ji_mpi_of(copy->runtime)->leader_of;
        for (int rank = 0, left = number; copy->leaders_receive && left >= 0; ++rank) {
            left -= leader_of[rank] == rank;
            peer->rank = rank;
        }
    } else {
        other[0] = number / theirs->distribution[1].count;
        other[1] = number % theirs->distribution[1].count;
    }

    if (peer->rank == me)
        return false;

    for (int d = 0; d < 2; ++d) {
        /* The dimension of the source that the rows or columns come from. */
        const int from = d ^ mirrored;
        peer->share.from[d] = receives ? other[from] : source->coordinates[from];
        peer->share.to[d] = receives ? destination->coordinates[d] : other[d];
    }
    ji_share_begin(transfer, &peer->share);
    return peer->share.left > 0;
}

/* Bytes of the tables, which do not depend on the process. */
static size_t peer_table_bytes(const copy_t *copy) {
    const size_t most = (size_t)copy->source.holders + (size_t)copy->destination.holders;
    return ji_align_bytes(most * sizeof(peer_t)) + ji_align_bytes(most * sizeof(MPI_Request));
}

static size_t peer_slot_bytes(const copy_t *copy, int64_t elements) {
    const size_t bytes = (size_t)elements * copy->element;
    return ji_align_bytes(bytes < JI_MPI_MAX_BYTES ? bytes : JI_MPI_MAX_BYTES);
}

/* ---- Exchange ---- */

typedef struct exchange {
    const ji_transfer_t *transfer;
    MPI_Comm communicator;
    peer_t *peers;
    MPI_Request *requests;
    int count;
    int64_t most;     /* elements of a piece */
    jstatus_t status; /* the first error of a device: the exchange goes on */
} exchange_t;

/* Sends the next piece, or makes ready to receive it; nothing where none is left. */
static jstatus_t exchange_post(exchange_t *exchange, int number) {
    peer_t *peer = &exchange->peers[number];
    MPI_Request *request = &exchange->requests[number];
    const int64_t size = (int64_t)exchange->transfer->element;
    char *bytes = peer->slot;
    int64_t count;

    if (peer->share.left == 0)
        return JSTATUS_SUCCESS;

    const bool in_place = ji_share_span(exchange->transfer, &peer->share,
                                        peer->receives ? JI_MOVE_UNPACK : JI_MOVE_PACK,
                                        exchange->most, &bytes, &count);

    if (peer->receives) {
        peer->in_place = in_place;
        if (!in_place)
            count = peer->share.left < exchange->most ? peer->share.left : exchange->most;
        return JI_MPI(MPI_Irecv(bytes, (int)(count * size), MPI_BYTE, peer->rank, REDISTRIBUTE_TAG,
                                exchange->communicator, request));
    }

    if (!in_place) {
        const jstatus_t packed = ji_share_move(exchange->transfer, &peer->share, JI_MOVE_PACK,
                                               exchange->most, bytes, &count);
        exchange->status = exchange->status != JSTATUS_SUCCESS ? exchange->status : packed;
    }
    return JI_MPI(MPI_Isend(bytes, (int)(count * size), MPI_BYTE, peer->rank, REDISTRIBUTE_TAG,
                            exchange->communicator, request));
}

/* Waits for pieces and goes on with the next ones, until there are none. */
static jstatus_t exchange_finish(exchange_t *exchange) {
    jstatus_t status = JSTATUS_SUCCESS;
    for (;;) {
        int number;
        JTRY(JI_MPI(MPI_Waitany(exchange->count, exchange->requests, &number, MPI_STATUS_IGNORE)));
        if (number == MPI_UNDEFINED)
            return exchange->status;

        peer_t *peer = &exchange->peers[number];
        if (peer->receives && !peer->in_place) {
            int64_t moved;
            const jstatus_t unpacked =
                ji_share_move(exchange->transfer, &peer->share, JI_MOVE_UNPACK, exchange->most,
                              peer->slot, &moved);
            exchange->status = exchange->status != JSTATUS_SUCCESS ? exchange->status : unpacked;
        }

        JTRY(exchange_post(exchange, number));
    }
done:
    return status;
}

/* After an error of MPI: nothing may still arrive in workspace that is about to be somebody else's.
 * What is still to be received is cancelled, which no other process is needed for; what is still to
 * be sent is left to MPI. */
static void exchange_abandon(exchange_t *exchange) {
    for (int k = 0; k < exchange->count; ++k) {
        MPI_Request *request = &exchange->requests[k];
        if (*request == MPI_REQUEST_NULL)
            continue;
        if (exchange->peers[k].receives) {
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
        } else {
            MPI_Request_free(request);
        }
    }
}

/* Finds the peers of a pass and how many elements of a piece this process has room for. */
static jstatus_t exchange_begin(const copy_t *copy, const ji_part_t *part,
                                const ji_transfer_t *transfer, const ji_share_t *own,
                                void *workspace, size_t size_bytes, exchange_t *exchange) {
    const size_t tables = peer_table_bytes(copy);
    const int most = copy->source.holders + copy->destination.holders;

    if (size_bytes < tables)
        return ji_fail(JSTATUS_MEMORY_ERROR,
                       "a copy between %d and %d processes: %zu bytes of workspace are too few",
                       copy->source.holders, copy->destination.holders, size_bytes);

    exchange->peers = workspace;
    exchange->requests =
        (MPI_Request *)((char *)workspace + ji_align_bytes((size_t)most * sizeof *exchange->peers));

    size_t wanted = own != NULL ? peer_slot_bytes(copy, own->left) : 0;
    for (int k = 0; k < most; ++k)
        if (peer_number(copy, part, transfer, k, &exchange->peers[exchange->count])) {
            wanted += peer_slot_bytes(copy, exchange->peers[exchange->count].share.left);
            exchange->requests[exchange->count++] = MPI_REQUEST_NULL;
        }

    exchange->most = (int64_t)(JI_MPI_MAX_BYTES / copy->element);
    if (wanted > size_bytes - tables) {
        const size_t slots = (size_t)exchange->count + (own != NULL);
        const size_t slot = ((size_bytes - tables) / slots) & ~(size_t)(JI_ALIGNMENT - 1);
        exchange->most = (int64_t)(slot / copy->element);
        if (exchange->most == 0)
            return ji_fail(JSTATUS_MEMORY_ERROR,
                           "a copy with %d processes: %zu bytes of workspace are too few",
                           exchange->count, size_bytes);
    }
    return JSTATUS_SUCCESS;
}

/* One pass with messages. `status`: what has happened here so far; on an error anywhere nothing is
 * moved, and the error returned only where it happened. *go_on: nobody had one. */
static jstatus_t exchange_pass(const copy_t *copy, const ji_part_t *part, ji_transfer_t *transfer,
                               void *workspace, size_t size_bytes, jstatus_t status, bool *go_on) {
    exchange_t exchange = {.transfer = transfer, .communicator = ji_mpi_of(copy->runtime)->all};
    ji_share_t own;
    const bool has_own = copy_own_share(copy, part, transfer, &own),
               by_slot = has_own && copy_needs_slot(transfer);

    if (status == JSTATUS_SUCCESS)
        status = exchange_begin(copy, part, transfer, by_slot ? &own : NULL, workspace, size_bytes,
                                &exchange);

    const bool holder = side_is_holder(&copy->source) || side_is_holder(&copy->destination);
    int64_t mine[3] = {status == JSTATUS_SUCCESS, exchange.most,
                       !(holder && transfer_lies_apart(transfer))};
    int64_t all[3];

    const jstatus_t told =
        JI_MPI(MPI_Allreduce(mine, all, 3, MPI_INT64_T, MPI_MIN, exchange.communicator));
    *go_on = told == JSTATUS_SUCCESS && all[0] != 0;
    if (!*go_on)
        return status != JSTATUS_SUCCESS ? status : told;

    exchange.most = all[1];
    transfer->tile = all[2] != 0 ? INT64_MAX : REDISTRIBUTE_TILE;

    char *slot = (char *)workspace + peer_table_bytes(copy);
    for (int k = 0; k < exchange.count; ++k) {
        peer_t *peer = &exchange.peers[k];
        peer->slot = slot;
        slot += peer_slot_bytes(copy, peer->share.left < exchange.most ? peer->share.left
                                                                       : exchange.most);
    }

    /* Receives first, so that what is sent finds them waiting. */
    for (int receives = 1; receives >= 0; --receives)
        for (int k = 0; k < exchange.count; ++k)
            if (exchange.peers[k].receives == receives)
                JTRY(exchange_post(&exchange, k));

    /* While the messages are under way. */
    if (has_own) {
        const int64_t piece = own.left < exchange.most ? own.left : exchange.most;
        exchange.status =
            by_slot ? share_move_by_slot(transfer, &own, slot, (size_t)piece * copy->element)
                    : share_move_directly(transfer, &own, JI_MOVE_DIRECT);
    }

    JTRY(exchange_finish(&exchange));
done:
    if (status != JSTATUS_SUCCESS)
        exchange_abandon(&exchange);
    return status;
}

/* ---- The table's functions ---- */

jstatus_t ji_mpi_move_bytes(jruntime_t *runtime, const jbuffer_t *destination,
                            const jbuffer_t *source, bool transposed, size_t *best, size_t *least) {
    copy_t copy;
    size_t most_best = 0, most_least = 0;

    (void)copy_begin(runtime, destination, source, transposed, &copy);
    for (int k = 0; k < copy.part_count && copy.extents[0] > 0 && copy.extents[1] > 0; ++k) {
        const ji_part_t *part = &copy.parts[k];
        const ji_transfer_t transfer = copy_transfer(&copy, part);
        const bool messages =
            part->origin != JI_ORIGIN_ZERO && copy_needs_messages(&copy, &transfer);
        if (part->origin == JI_ORIGIN_ZERO || (!messages && !copy_needs_slot(&transfer)))
            continue;

        const int slots = 1 + (messages ? copy.source.holders + copy.destination.holders : 0);
        const size_t tables = messages ? peer_table_bytes(&copy) : 0;
        int64_t largest = 1; /* message that there can be */
        for (int d = 0; d < 2; ++d) {
            const int64_t from = side_most(&transfer.source[d], copy.extents[d]);
            const int64_t to = side_most(&transfer.destination[d], copy.extents[d]);
            largest *= from < to ? from : to;
        }

        size_t slot =
            tables < REDISTRIBUTE_LEAST ? (REDISTRIBUTE_LEAST - tables) / (size_t)slots : 0;
        slot =
            (slot > REDISTRIBUTE_PIECE ? slot : REDISTRIBUTE_PIECE) & ~(size_t)(JI_ALIGNMENT - 1);
        slot = slot < peer_slot_bytes(&copy, largest) ? slot : peer_slot_bytes(&copy, largest);
        const size_t pass_least = tables + (size_t)slots * slot;

        ji_share_t own;
        peer_t peer;
        size_t pass_best = tables;
        if (copy_needs_slot(&transfer) && copy_own_share(&copy, part, &transfer, &own))
            pass_best += peer_slot_bytes(&copy, own.left);
        for (int number = 0; messages && number < slots - 1; ++number)
            if (peer_number(&copy, part, &transfer, number, &peer))
                pass_best += peer_slot_bytes(&copy, peer.share.left);

        most_least = most_least > pass_least ? most_least : pass_least;
        most_best = most_best > pass_best ? most_best : pass_best;
    }

    *best = most_best > most_least ? most_best : most_least;
    *least = most_least;
    return JSTATUS_SUCCESS;
}

jstatus_t ji_mpi_move(jruntime_t *runtime, jbuffer_t *destination, const jbuffer_t *source,
                      bool transposed, void *workspace, size_t size_bytes) {
    JTRY_RETURN(ji_mpi_check_alive());
    jstatus_t status = JSTATUS_SUCCESS;

    copy_t copy;
    if (!copy_begin(runtime, destination, source, transposed, &copy))
        status = ji_fail(JSTATUS_INVALID_SIZE, "a copy between buffers of different shape or type");

    bool go_on = copy.extents[0] > 0 && copy.extents[1] > 0;
    for (int k = 0; k < copy.part_count && go_on; ++k) {
        const ji_part_t *part = &copy.parts[k];
        ji_transfer_t transfer = copy_transfer(&copy, part);

        ji_share_t own;
        if (part->origin != JI_ORIGIN_ZERO && copy_needs_messages(&copy, &transfer)) {
            status = exchange_pass(&copy, part, &transfer, workspace, size_bytes, status, &go_on);
        } else if (status == JSTATUS_SUCCESS && copy_own_share(&copy, part, &transfer, &own)) {
            if (part->origin == JI_ORIGIN_ZERO)
                status = share_move_directly(&transfer, &own, JI_MOVE_ZERO);
            else if (copy_needs_slot(&transfer) && size_bytes < copy.element)
                status =
                    ji_fail(JSTATUS_MEMORY_ERROR, "a copy of a device's memory has no workspace");
            else if (copy_needs_slot(&transfer))
                status = share_move_by_slot(&transfer, &own, workspace, size_bytes);
            else
                status = share_move_directly(&transfer, &own, JI_MOVE_DIRECT);
        }
    }

    /* The diagonal of a Hermitian matrix is real, whatever stands in its imaginary parts. */
    const ji_part_t diagonal = {ji_region_diagonal, JI_ORIGIN_ZERO};
    const ji_transfer_t transfer = copy_transfer(&copy, &diagonal);
    ji_share_t own;

    if (go_on && status == JSTATUS_SUCCESS && ji_type_is_complex(copy.type) &&
        ji_structure_is_hermitian(copy.source.structure) &&
        copy_own_share(&copy, &diagonal, &transfer, &own))
        status = share_move_directly(&transfer, &own, JI_MOVE_REAL);
    return status;
}

jstatus_t ji_mpi_copy_bytes(jruntime_t *runtime, const jbuffer_t *destination,
                            const jbuffer_t *source, size_t *best, size_t *least) {
    return ji_mpi_move_bytes(runtime, destination, source, false, best, least);
}

jstatus_t ji_mpi_copy(jruntime_t *runtime, jbuffer_t *destination, const jbuffer_t *source,
                      void *workspace, size_t size_bytes) {
    return ji_mpi_move(runtime, destination, source, false, workspace, size_bytes);
}

jstatus_t ji_mpi_get(const jbuffer_t *buffer, const int64_t indices[2], void *value) {
    JTRY_RETURN(ji_mpi_check_alive());
    jstatus_t status = JSTATUS_SUCCESS;

    jruntime_t *runtime = ji_buffer_runtime(buffer);
    const ji_storage_t *storage = buffer->storage;
    const jdistribution_t *whole = &storage->distribution;
    const size_t size = jhandle_sizeof_datatype(ji_buffer_type(buffer));
    const int owner[2] = {jdistribution_owner(whole, 0, indices[0]),
                          jdistribution_owner(whole, 1, indices[1])};

    const bool on_host = jdevice_kind(ji_buffer_device(buffer)) == JDEVICE_HOST;
    if (owner[0] == whole->coordinates[0] && owner[1] == whole->coordinates[1]) {
        const int64_t at =
            jdistribution_to_local(whole, 0, indices[0]) +
            jdistribution_to_local(whole, 1, indices[1]) * storage->leading_dimension;
        status = jdevice_copy(ji_buffer_device(buffer), NULL, value,
                              (char *)storage->pointer + (size_t)at * size, size);
        if (status == JSTATUS_SUCCESS)
            status = jstream_synchronize(ji_buffer_device(buffer), NULL);
    }

    if (!on_host) /* a device may fail, and all wait for its process */
        status = ji_mpi_agree(runtime, JI_SCOPE_ALL, status);
    if (status == JSTATUS_SUCCESS)
        status = JI_MPI(MPI_Bcast(value, (int)size, MPI_BYTE, owner[0] * whole->grid[1] + owner[1],
                                  ji_mpi_of(runtime)->all));
    return status;
}
