#include "study/campaign_front.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "study/fleet.h"

/* Both ends are the same program on machines of one kind: numbers go as they lie in memory. */
static void put_set(struct text *out, const struct front_set *s)
{
    text_add(out, (const char *)&s->n_cols, sizeof s->n_cols);
    text_add(out, (const char *)&s->n, sizeof s->n);
    for (int32_t g = 0; g < s->n; g++) {
        const struct front *f = &s->fronts[g];
        text_add(out, s->groups[g], strlen(s->groups[g]) + 1);
        text_add(out, (const char *)&f->n_sorted, sizeof f->n_sorted);
        text_add(out, (const char *)f->x, (size_t)(f->n_sorted * f->n_cols) * sizeof *f->x);
        text_add(out, (const char *)f->id, (size_t)f->n_sorted * sizeof *f->id);
    }
}

/* The next bytes, which need not be aligned. */
static void take_bytes(void *to, const char **at, size_t n)
{
    memcpy(to, *at, n);
    *at += n;
}

static int take_front(struct front_set *s, const char **at, struct err *e)
{
    const char *group = *at;
    int64_t n, id;
    double x[FRONT_MAX_COLUMNS];
    bool on;
    int rc = 0;
    *at += strlen(group) + 1;
    take_bytes(&n, at, sizeof n);
    const char *values = *at, *ids = values + (size_t)(n * s->n_cols) * sizeof *x;
    for (int64_t i = 0; i < n && !rc; i++) {
        take_bytes(x, &values, (size_t)s->n_cols * sizeof *x);
        take_bytes(&id, &ids, sizeof id);
        rc = front_set_offer(s, group, x, id, &on, NULL, e);
    }
    *at = ids;
    return rc;
}

int campaign_share_front(struct front_set *to, const struct front_set *from, struct err *e)
{
    static const struct front_set none = { 0 };
    struct text packed = { 0 };
    void *bytes = NULL;
    size_t n = 0;
    int rc = 0;
    front_set_free(to);
    if (fleet_rank() == 0) {
        put_set(&packed, from ? from : &none);
        rc = text_check(&packed, e);
        bytes = packed.s;
        n = packed.n;
    }
    if (!rc)
        rc = fleet_share(&bytes, &n, e);
    const char *at = bytes;
    int32_t groups = 0;
    if (!rc) {
        take_bytes(&to->n_cols, &at, sizeof to->n_cols);
        take_bytes(&groups, &at, sizeof groups);
    }
    for (int32_t g = 0; g < groups && !rc; g++)
        rc = take_front(to, &at, e);
    free(bytes);
    return rc;
}
