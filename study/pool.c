#include "study/pool.h"

#include <string.h>

/* After a unit, one thread at a time. */
static void count_unit(struct pool *p, int result, const struct err *inner, int *rc, struct err *e)
{
    if (result == POOL_SKIPPED)
        return;
    p->done++;
    bool go_on = !p->progress || p->progress(p->context, p->done, p->total);
    if (result && !*rc)
        *rc = err_set(e, inner->code, "%s", inner->msg);
    if (!go_on || result) {
#pragma omp atomic write
        p->stop = 1;
    }
}

int pool_run(struct pool *p, int64_t n, int64_t stride, int32_t threads, struct err *e)
{
    int rc = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t i = 0; i < n; i += stride) {
        struct err inner = { 0 };
        int stop;
#pragma omp atomic read
        stop = p->stop;
        if (stop)
            continue;
        int result = p->unit(p->data, i, &inner);
#pragma omp critical(pool_count)
        count_unit(p, result, &inner, &rc, e);
    }
    return rc;
}

int pool_keep(bool *run, int *kept_rc, char **message, int rc, struct err *e)
{
    *run = true;
    *kept_rc = rc;
    if (!rc)
        return 0;
    *message = strdup(e->msg);
    if (!*message)
        return err_nomem(e, "a message");
    return rc == ERR_NOMEM ? rc : 0;
}
