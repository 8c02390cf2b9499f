/** @file Bytes as a file in memory that readers can open by its path. To be included before all others. */
#ifndef TESTS_FUZZ_MEMORY_FILE_H
#define TESTS_FUZZ_MEMORY_FILE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_PATH = 64 };

/** Its descriptor: the file lasts until close(). */
static inline int memory_file(char path[MEMORY_PATH], const void *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    assert(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t got = write(fd, (const char *)data + done, size - done);
        assert(got > 0);
        done += (size_t)got;
    }
    snprintf(path, MEMORY_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
