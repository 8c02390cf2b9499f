#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/interval/knapsack_work.h"

struct subsets {
    struct knapsack_work *w;
    unsigned char *start; /* shape [n], owned: what is out from the beginning */
    int32_t *set;         /* shape [k], owned: indices, rising */
    bool *take;           /* shape [n], owned: scratch */
};

/* The set in, what is worth more than the least of it out. False: the set does not fit. */
static bool fix_set(struct subsets *s, int32_t size)
{
    struct knapsack_work *w = s->w;
    double least = INFINITY, used[KNAPSACK_MAX_ROWS], value;
    memset(s->take, 0, (size_t)w->n * sizeof *s->take);
    for (int32_t i = 0; i < size; i++) {
        if (s->start[s->set[i]] == KNAPSACK_OUT)
            return false;
        s->take[s->set[i]] = true;
        least = fmin(least, w->lp.value[s->set[i]]);
    }
    if (!knapsack_fill(w, s->take, used, &value))
        return false;
    for (int32_t j = 0; j < w->n; j++)
        w->lp.fix[j] = s->take[j] ? KNAPSACK_IN : w->lp.value[j] > least ? KNAPSACK_OUT : s->start[j];
    return true;
}

/* The vertex has at most n_rows fractions; rounded down it is the scheme's choice for this set. */
static void try_set(struct subsets *s, int32_t size)
{
    struct knapsack_work *w = s->w;
    double used[KNAPSACK_MAX_ROWS], value;
    if (!fix_set(s, size))
        return;
    w->nodes++;
    bool vertex = knapsack_lp_solve(&w->lp);
    for (int32_t j = 0; j < w->n; j++)
        s->take[j] = w->lp.fix[j] == KNAPSACK_IN || (vertex && w->lp.x[j] >= 1);
    bool fits = knapsack_fill(w, s->take, used, &value);
    if (value > w->best && (fits || (vertex && w->lp.n_fractions == 0))) {
        w->best = value;
        memcpy(w->chosen, s->take, (size_t)w->n * sizeof *s->take);
    }
}

/* The next set of this size in lexicographic order; false after the last. */
static bool next_set(struct subsets *s, int32_t size)
{
    int32_t i = size - 1;
    while (i >= 0 && s->set[i] == s->w->n - size + i)
        i--;
    if (i < 0)
        return false;
    s->set[i]++;
    for (i++; i < size; i++)
        s->set[i] = s->set[i - 1] + 1;
    return true;
}

static void try_all(struct subsets *s, int32_t most)
{
    struct knapsack_work *w = s->w;
    memcpy(s->start, w->lp.fix, (size_t)w->n);
    for (int32_t size = 0; size <= most; size++) {
        for (int32_t i = 0; i < size; i++)
            s->set[i] = i;
        do {
            if (w->nodes >= w->max_nodes) {
                w->complete = false;
                return;
            }
            try_set(s, size);
        } while (next_set(s, size));
    }
}

int knapsack_subsets(struct knapsack_work *w, int32_t k, struct err *e)
{
    const int32_t most = k < w->n ? k : w->n;
    struct subsets s = { .w = w };
    int rc = 0;
    s.start = malloc((size_t)w->n + 1);
    s.set = calloc((size_t)most + 1, sizeof *s.set);
    s.take = calloc((size_t)w->n + 1, sizeof *s.take);
    if (s.start && s.set && s.take)
        try_all(&s, most);
    else
        rc = err_nomem(e, "subsets");
    free(s.start);
    free(s.set);
    free(s.take);
    return rc;
}
