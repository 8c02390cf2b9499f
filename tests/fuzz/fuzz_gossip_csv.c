/* Any bytes as a CSV of examples: refused with a message, or examples within their limits, and the same file
 * is a test file of its own. For libFuzzer. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create() */
#endif

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/gossip/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory that readers can open by its path. */
static int make_file(char path[64], const void *data, size_t size)
{
    int fd = memfd_create("examples", MFD_CLOEXEC);
    assert(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t got = write(fd, (const char *)data + done, size - done);
        assert(got > 0);
        done += (size_t)got;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_examples(const struct gossip_data *d, const struct gossip_labels *l)
{
    double most = sqrt((double)d->n) * (1 + 1e-6);
    assert(d->n >= 2 && d->n_features == l->n_features && d->n_features >= 1);
    assert(d->n_classes == l->n_classes && d->n_classes >= 2 && d->n_classes <= GOSSIP_MAX_CLASSES);
    for (int64_t i = 0; i < d->n * d->n_features; i++)
        assert(fabsf(d->x[i]) <= most);
    for (int64_t i = 0; i < d->n; i++)
        assert(d->y[i] >= 0 && d->y[i] < d->n_classes);
    for (int32_t k = 0; k < l->n_features; k++)
        assert(isfinite(l->mean[k]) && isfinite(l->deviation[k]) && l->deviation[k] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = make_file(path, data, size);
    struct gossip_labels labels = { 0 };
    struct gossip_data train, test;
    struct err e = { 0 };
    int rc = gossip_data_read_csv(&train, &labels, path, NULL, &e);
    assert(rc == 0 ? e.code == 0 : e.code == (enum err_code)rc && e.msg[0] && !train.x && !labels.label);
    if (rc == 0) {
        check_examples(&train, &labels);
        assert(gossip_data_read_csv(&test, &labels, path, NULL, &e) == 0 && test.n == train.n);
        size_t cells = (size_t)(train.n * train.n_features);
        assert(memcmp(train.x, test.x, cells * sizeof *train.x) == 0);
        assert(memcmp(train.y, test.y, (size_t)train.n * sizeof *train.y) == 0);
        gossip_data_free(&test);
    }
    gossip_data_free(&train);
    gossip_labels_free(&labels);
    close(fd);
    return 0;
}
