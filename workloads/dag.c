#include "workloads/dag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

void dag_free(struct dag *g)
{
    free(g->task);
    free(g->begin);
    free(g->waits);
    *g = (struct dag){ 0 };
}

/* Who waits for each task: the waits turned round. */
struct turned {
    int32_t *begin, *who;
};

static int turn_round(struct turned *t, int32_t n, const int32_t *begin, const int32_t *waits, struct err *e)
{
    t->begin = calloc((size_t)n + 2, sizeof *t->begin);
    t->who = malloc(((size_t)begin[n] + 1) * sizeof *t->who);
    if (!t->begin || !t->who)
        return err_nomem(e, "dependencies");
    for (int32_t k = 0; k < begin[n]; k++)
        t->begin[waits[k] + 2]++;
    for (int32_t i = 0; i < n; i++)
        t->begin[i + 2] += t->begin[i + 1];
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = begin[i]; k < begin[i + 1]; k++)
            t->who[t->begin[waits[k] + 1]++] = i;
    return 0;
}

/* Kahn's algorithm, the least number first. open: shape [n], work space. */
static int issue(struct dag *g, int32_t *place, int32_t *open, int32_t n, const int32_t *begin,
                 const struct turned *t, struct err *e)
{
    struct heap ready = { 0 };
    bool ok = true;
    for (int32_t i = 0; i < n && ok; i++) {
        open[i] = begin[i + 1] - begin[i];
        if (open[i] == 0)
            ok = heap_push(&ready, (struct heap_item){ i, i, 0 });
    }
    while (ready.n > 0 && ok) {
        int32_t i = heap_pop(&ready).id;
        place[i] = g->n;
        g->task[g->n++] = i;
        for (int32_t k = t->begin[i]; k < t->begin[i + 1] && ok; k++)
            if (--open[t->who[k]] == 0)
                ok = heap_push(&ready, (struct heap_item){ t->who[k], t->who[k], 0 });
    }
    heap_free(&ready);
    return ok ? 0 : err_nomem(e, "the order of issue");
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Waits in places of the order, sorted, each once, with the task before on the lane. */
static void renumber(struct dag *g, const int32_t *begin, const int32_t *waits, const int32_t *place,
                     const signed char *lane)
{
    int32_t last[DAG_LANES] = { -1, -1 }, used = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t first = used, from = g->task[i], kept;
        int on = lane[from] < 0 ? DAG_NO_LANE : (unsigned char)lane[from];
        g->begin[i] = first;
        for (int32_t k = begin[from]; k < begin[from + 1]; k++)
            g->waits[used++] = place[waits[k]];
        if (on != DAG_NO_LANE) {
            if (last[on] >= 0)
                g->waits[used++] = last[on];
            last[on] = i;
        }
        if (used - first > 1)
            qsort(g->waits + first, (size_t)(used - first), sizeof *g->waits, by_number);
        kept = first;
        for (int32_t k = first; k < used; k++)
            if (k == first || g->waits[k] != g->waits[kept - 1])
                g->waits[kept++] = g->waits[k];
        used = kept;
    }
    g->begin[g->n] = used;
}

/* Of each task the last place on the lane that it comes after, itself included (-1: none), and the first
 * that comes after it (g->n: none). */
static void reach(const struct dag *g, const signed char *lane, int on, int32_t *back, int32_t *ahead)
{
    for (int32_t i = 0; i < g->n; i++) {
        bool here = lane[g->task[i]] == on;
        back[i] = here ? i : -1;
        ahead[i] = here ? i : g->n;
        for (int32_t k = g->begin[i]; k < g->begin[i + 1] && !here; k++)
            if (back[g->waits[k]] > back[i])
                back[i] = back[g->waits[k]];
    }
    for (int32_t i = g->n; i-- > 0;)
        for (int32_t k = g->begin[i]; k < g->begin[i + 1]; k++)
            if (ahead[i] < ahead[g->waits[k]])
                ahead[g->waits[k]] = ahead[i];
}

/*
 * "i waits for u" says nothing new when i also waits for another task w, and a task of the lane that comes
 * after u is, or comes before, one that w comes after: ahead[u] <= back[w]. All such waits can go at once: a
 * wait that no path of two or more others implies is never among them.
 */
static void drop_implied(struct dag *g, const int32_t *back, const int32_t *ahead)
{
    int32_t used = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t first = g->begin[i], end = g->begin[i + 1], best = -1, second = -1, best_at = -1;
        for (int32_t k = first; k < end; k++) {
            int32_t b = back[g->waits[k]];
            if (b > best) {
                second = best;
                best = b;
                best_at = k;
            } else if (b > second) {
                second = b;
            }
        }
        g->begin[i] = used;
        for (int32_t k = first; k < end; k++)
            if (ahead[g->waits[k]] > (k == best_at ? second : best))
                g->waits[used++] = g->waits[k];
    }
    g->begin[g->n] = used;
}

/* From a task that was not issued back along others that were not: a task that is met twice is on a cycle. */
static int32_t find_cycle(const int32_t *begin, const int32_t *waits, const int32_t *open, int32_t n)
{
    int32_t at = 0;
    char *met = calloc((size_t)n, 1);
    while (at < n && open[at] <= 0)
        at++;
    while (met && at < n && !met[at]) {
        int32_t k = begin[at];
        met[at] = 1;
        while (k < begin[at + 1] && open[waits[k]] <= 0)
            k++;
        at = k < begin[at + 1] ? waits[k] : n;
    }
    free(met);
    return at < n ? at : 0;
}

int dag_build(struct dag *g, int32_t n, const int32_t *begin, const int32_t *waits, const signed char *lane,
              int32_t *cycle, struct err *e)
{
    struct turned t = { 0 };
    int32_t *place = malloc(((size_t)n + 1) * sizeof *place), *open = malloc(((size_t)n + 1) * sizeof *open);
    size_t room = (size_t)begin[n] + (size_t)n + 1;
    *g = (struct dag){ .task = malloc(((size_t)n + 1) * sizeof *g->task),
                       .begin = malloc(((size_t)n + 1) * sizeof *g->begin),
                       .waits = malloc(room * sizeof *g->waits) };
    int rc = place && open && g->task && g->begin && g->waits ? 0 : err_nomem(e, "dependencies");
    if (!rc)
        rc = turn_round(&t, n, begin, waits, e);
    if (!rc)
        rc = issue(g, place, open, n, begin, &t, e);
    if (!rc && g->n < n) {
        *cycle = find_cycle(begin, waits, open, n);
        rc = err_set(e, ERR_RANGE, "dependencies go round in a cycle");
    }
    if (!rc) {
        renumber(g, begin, waits, place, lane);
        for (int on = 0; on < DAG_LANES; on++) {
            reach(g, lane, on, place, open);
            drop_implied(g, place, open);
        }
    }
    free(t.begin);
    free(t.who);
    free(place);
    free(open);
    if (rc)
        dag_free(g);
    return rc;
}
