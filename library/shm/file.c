/* Copyright (c) 2026 the jalloc authors
 * SPDX-License-Identifier: MIT */

/* The file behind a segment: its names, making it, opening one that exists.
 *
 * A new segment is a file without a name until it is complete; then one call links it to its name,
 * which fails if the name is taken. Where the file system has no unnamed files, it has a name of
 * its own until then.
 *
 * A file that exists is looked at before it is opened, because opening a device can do something;
 * and again after, because the name may mean another file by then. Only a regular file of this user
 * that nobody else may write to is mapped. Its owner could still make it shorter under those who
 * have mapped it, and they would get a SIGBUS; a memfd is sealed against that. */

#include "shm/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3 */
#endif

#define FILE_POSIX_DIRECTORY "/dev/shm" /* where the C libraries put POSIX shared memory */

/* ---- Names ---- */

jstatus_t shm_file_set_name(shm_backing_t *backing, const char *name) {
    const bool posix = backing->backend == JSEGMENT_POSIX;
    if (name == NULL)
        return ji_fail(JSTATUS_INVALID_VALUE, "the segment needs a name");

    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    const size_t length = strlen(name), before = posix ? strlen(FILE_POSIX_DIRECTORY) : 0;

    if (posix && slash != name)
        return ji_fail(JSTATUS_INVALID_VALUE,
                       "\"%s\" cannot name shared memory: it begins with a slash and has no other",
                       name);
    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "\"%s\" does not name a file", name);
    if (strlen(last) > NAME_MAX || before + length >= PATH_MAX)
        return ji_fail(JSTATUS_INVALID_VALUE, "\"%.64s...\": a name of %zu characters is too long",
                       name, length);

    jstatus_t status = JSTATUS_SUCCESS;
    JTRY_ALLOC(backing->path = ji_metadata_alloc(before + length + 1));
    memcpy(backing->path, FILE_POSIX_DIRECTORY, before);
    memcpy(backing->path + before, name, length + 1);
    backing->name = backing->path + before;
done:
    return status;
}

/* A name in the same directory that nobody else uses. */
static jstatus_t file_set_temporary(shm_backing_t *backing) {
    const char *slash = strrchr(backing->path, '/');
    const int directory = slash != NULL ? (int)(slash + 1 - backing->path) : 0;
    const size_t bytes = strlen(backing->path) + 64;
    unsigned long long number = 0;
    (void)getrandom(&number, sizeof number, GRND_NONBLOCK);

    jstatus_t status = JSTATUS_SUCCESS;
    ji_metadata_free(backing->temporary);
    JTRY_ALLOC(backing->temporary = ji_metadata_alloc(bytes));
    snprintf(backing->temporary, bytes, "%.*s.%.200s.jalloc-%ld-%016llx", directory, backing->path,
             backing->path + directory, (long)getpid(), number);
done:
    return status;
}

void shm_file_drop_temporary(shm_backing_t *backing) {
    if (backing->temporary != NULL)
        (void)unlink(backing->temporary);
    ji_metadata_free(backing->temporary);
    backing->temporary = NULL;
}

/* ---- A new one ---- */

/* A file without a name in the directory of the path. Success without a descriptor: the file system
 * or the system has none. */
static jstatus_t file_open_unnamed(shm_backing_t *backing) {
    char directory[PATH_MAX], self[48];
    const char *slash = strrchr(backing->path, '/');
    if (slash == NULL)
        snprintf(directory, sizeof directory, ".");
    else
        snprintf(directory, sizeof directory, "%.*s",
                 (int)(slash > backing->path ? slash - backing->path : 1), backing->path);

    backing->descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, SHM_FILE_MODE);
    if (backing->descriptor < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOSYS &&
        errno != EINVAL)
        return shm_backing_fail(backing, "a new file in its directory");

    snprintf(self, sizeof self, "/proc/self/fd/%d", backing->descriptor);
    if (backing->descriptor >= 0 && access(self, F_OK) == 0)
        return JSTATUS_SUCCESS;
    if (backing->descriptor >= 0) /* without /proc it could never be given a name */
        close(backing->descriptor);
    backing->descriptor = -1;
    return JSTATUS_SUCCESS;
}

/* A file with a temporary name. */
static jstatus_t file_open_temporary(shm_backing_t *backing) {
    for (int attempt = 0; attempt < 16 && backing->descriptor < 0; ++attempt) {
        JTRY_RETURN(file_set_temporary(backing));
        backing->descriptor = open(
            backing->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, SHM_FILE_MODE);
        if (backing->descriptor < 0) {
            int error = errno;
            ji_metadata_free(backing->temporary); /* it is not ours */
            backing->temporary = NULL;
            errno = error;
            if (error != EEXIST && error != EINTR)
                break;
        }
    }
    return backing->descriptor >= 0 ? JSTATUS_SUCCESS
                                    : shm_backing_fail(backing, "a new file in its directory");
}

jstatus_t shm_file_open_new(shm_backing_t *backing) {
    struct stat there;
    /* Asked again when it is published; this saves the work. */
    if (lstat(backing->path, &there) == 0)
        return ji_fail(JSTATUS_EXISTS, "\"%s\" exists", backing->name);

    if ((shm_backing_without & SHM_WITHOUT_TMPFILE) == 0)
        JTRY_RETURN(file_open_unnamed(backing));
    return backing->descriptor >= 0 ? JSTATUS_SUCCESS : file_open_temporary(backing);
}

jstatus_t shm_file_open_memfd(shm_backing_t *backing, const char *name) {
    char label[128];
    snprintf(label, sizeof label, "%.120s", name != NULL ? name : "jalloc");
    /* Kernels that know the flag may insist on it; those that do not refuse it. */
    backing->descriptor = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (backing->descriptor < 0 && errno == EINVAL)
        backing->descriptor = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return backing->descriptor >= 0 ? JSTATUS_SUCCESS : shm_backing_fail(backing, "memfd_create");
}

jstatus_t shm_backing_publish(shm_backing_t *backing) {
    if (backing->path == NULL)
        return JSTATUS_SUCCESS;

    char self[48];
    snprintf(self, sizeof self, "/proc/self/fd/%d", backing->descriptor);
    const int result = backing->temporary != NULL
                           ? link(backing->temporary, backing->path)
                           : linkat(AT_FDCWD, self, AT_FDCWD, backing->path, AT_SYMLINK_FOLLOW);
    if (result != 0)
        return shm_backing_fail(backing, "cannot be given its name");

    shm_file_drop_temporary(backing);
    return JSTATUS_SUCCESS;
}

/* ---- One that exists ---- */

static jstatus_t file_judge(const shm_backing_t *backing, const struct stat *file) {
    const char *label = shm_backing_label(backing);
    if (!S_ISREG(file->st_mode))
        return ji_fail(JSTATUS_UNSAFE, "\"%s\" is not a regular file", label);
    if (file->st_uid != geteuid())
        return ji_fail(JSTATUS_UNSAFE, "\"%s\" belongs to user %u, and this process is of user %u",
                       label, (unsigned)file->st_uid, (unsigned)geteuid());
    if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return ji_fail(JSTATUS_UNSAFE, "\"%s\" has mode %03o: others may write to it", label,
                       (unsigned)(file->st_mode & 0777));
    return JSTATUS_SUCCESS;
}

static jstatus_t file_fail_open(const shm_backing_t *backing) {
    if (errno == ENOENT || errno == ENOTDIR)
        return ji_fail(JSTATUS_NOT_FOUND, "\"%s\": %s", shm_backing_label(backing),
                       strerror(errno));
    if (errno == ELOOP)
        return ji_fail(JSTATUS_UNSAFE, "\"%s\": %s", shm_backing_label(backing), strerror(errno));
    return shm_backing_fail(backing, "open");
}

/* Opens what has been judged, and judges what has been opened. */
static jstatus_t file_open(shm_backing_t *backing, const char *path, int follow) {
    const int flags =
        (backing->read_only ? O_RDONLY : O_RDWR) | follow | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat file;
    do
        backing->descriptor = open(path, flags);
    while (backing->descriptor < 0 && errno == EINTR);

    if (backing->descriptor < 0)
        return file_fail_open(backing);
    if (fstat(backing->descriptor, &file) != 0)
        return shm_backing_fail(backing, "fstat");
    return file_judge(backing, &file);
}

jstatus_t shm_file_open_path(shm_backing_t *backing) {
    struct stat file;
    if (lstat(backing->path, &file) != 0)
        return file_fail_open(backing);
    jstatus_t status = file_judge(backing, &file);
    return status == JSTATUS_SUCCESS ? file_open(backing, backing->path, O_NOFOLLOW) : status;
}

jstatus_t shm_file_open_descriptor(shm_backing_t *backing, int descriptor) {
    struct stat file;
    char path[48];
    if (fstat(descriptor, &file) != 0)
        return ji_fail(JSTATUS_INVALID_VALUE, "descriptor %d: %s", descriptor, strerror(errno));

    JTRY_RETURN(file_judge(backing, &file));

    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    jstatus_t status = file_open(backing, path, 0);
    if (status == JSTATUS_NOT_FOUND)
        return ji_fail(JSTATUS_NOT_IMPLEMENTED, "a descriptor can be opened anew only with /proc");
    return status;
}

jstatus_t shm_backing_unlink(const shm_backing_t *backing) {
    if (backing->path == NULL)
        return JSTATUS_SUCCESS;

    struct stat ours, named;
    if (fstat(backing->descriptor, &ours) != 0)
        return shm_backing_fail(backing, "fstat");
    if (lstat(backing->path, &named) != 0)
        return file_fail_open(backing);

    if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
        return ji_fail(JSTATUS_NOT_FOUND, "\"%s\" names another file by now", backing->name);
    return unlink(backing->path) == 0 ? JSTATUS_SUCCESS : file_fail_open(backing);
}
