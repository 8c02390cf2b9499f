/* Any bytes as a CSV of examples: refused with a message, or examples within their limits, and the same file
 * is a test file of its own. For libFuzzer. */
#include "tests/fuzz/memory_file.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/gossip/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    char path[MEMORY_PATH];
    int fd = memory_file(path, data, size);
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
