#include "workloads/step_fn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = TOPO_MAX_DIMS };

static int reserve(struct step_fn *out, const struct step_fn *const *f, int32_t n, bool take_max,
                   struct err *e)
{
    size_t terms = 1, leaves = 0, maxima = take_max, nodes = 0;
    for (int32_t i = 0; i < n; i++) {
        assert(f[i]->n_dims == f[0]->n_dims);
        terms += (size_t)f[i]->n_terms;
        leaves += (size_t)f[i]->n_leaves;
        maxima += (size_t)f[i]->n_maxima;
        nodes += (size_t)f[i]->n_nodes;
    }
    *out = (struct step_fn){ .n_dims = f[0]->n_dims };
    out->const_s = calloc(terms, sizeof *out->const_s);
    out->leaf_begin = calloc(terms + 1, sizeof *out->leaf_begin);
    out->max_begin = calloc(terms + 1, sizeof *out->max_begin);
    out->term_begin = calloc(maxima + 1, sizeof *out->term_begin);
    out->traffic_B = calloc(leaves * DIMS + 1, sizeof *out->traffic_B);
    out->leaf_of = calloc(nodes + 1, sizeof *out->leaf_of);
    if (out->const_s && out->leaf_begin && out->max_begin && out->term_begin && out->traffic_B &&
        out->leaf_of)
        return 0;
    step_fn_free(out);
    return err_nomem(e, "joined training steps");
}

/* One term of an input waiting to be laid out. */
struct pending {
    int32_t fn, term;
};

static void copy_leaves(struct step_fn *out, const struct step_fn *f, int32_t term, double scale,
                        int32_t *new_leaf)
{
    for (int32_t l = f->leaf_begin[term]; l < f->leaf_begin[term + 1]; l++) {
        double *to = &out->traffic_B[(size_t)out->n_leaves * DIMS];
        for (int32_t d = 0; d < f->n_dims; d++)
            to[d] = scale * f->traffic_B[(size_t)l * DIMS + (size_t)d];
        new_leaf[l] = out->n_leaves++;
    }
}

static void copy_maxima(struct step_fn *out, const struct step_fn *f, struct pending from,
                        struct pending *queue)
{
    for (int32_t j = f->max_begin[from.term]; j < f->max_begin[from.term + 1]; j++) {
        out->term_begin[out->n_maxima++] = out->n_terms;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            queue[out->n_terms++] = (struct pending){ from.fn, c };
    }
}

static void copy_term(struct step_fn *out, const struct step_fn *const *f, const double *scale,
                      struct pending from, bool drop_const, int32_t **new_leaf, int32_t k)
{
    const struct step_fn *g = f[from.fn];
    if (!drop_const)
        out->const_s[k] += scale[from.fn] * g->const_s[from.term];
    copy_leaves(out, g, from.term, scale[from.fn], new_leaf[from.fn]);
}

/* Breadth first, like step_compile(): term 0 first, then whatever it queued. */
static void lay_out(struct step_fn *out, const struct step_fn *const *f, const double *scale, int32_t n,
                    struct step_join how, struct pending *queue, int32_t **new_leaf)
{
    out->n_terms = 1;
    if (how.take_max) {
        out->term_begin[out->n_maxima++] = 1;
        for (int32_t i = 0; i < n; i++)
            queue[out->n_terms++] = (struct pending){ i, 0 };
    } else {
        for (int32_t i = 0; i < n; i++)
            copy_term(out, f, scale, (struct pending){ i, 0 }, how.drop_const, new_leaf, 0);
        for (int32_t i = 0; i < n; i++)
            copy_maxima(out, f[i], (struct pending){ i, 0 }, queue);
    }
    for (int32_t k = 1; k < out->n_terms; k++) {
        out->leaf_begin[k] = out->n_leaves;
        out->max_begin[k] = out->n_maxima;
        copy_term(out, f, scale, queue[k], how.drop_const, new_leaf, k);
        copy_maxima(out, f[queue[k].fn], queue[k], queue);
    }
    out->leaf_begin[out->n_terms] = out->n_leaves;
    out->max_begin[out->n_terms] = out->n_maxima;
    out->term_begin[out->n_maxima] = out->n_terms;
}

int step_fn_join(struct step_fn *out, const struct step_fn *const *f, const double *scale, int32_t n,
                 struct step_join how, struct err *e)
{
    assert(n >= 1);
    int rc = reserve(out, f, n, how.take_max, e);
    if (rc)
        return rc;

    size_t terms = 1;
    int32_t **new_leaf = calloc((size_t)n, sizeof *new_leaf);
    for (int32_t i = 0; i < n; i++)
        terms += (size_t)f[i]->n_terms;
    struct pending *queue = calloc(terms, sizeof *queue);
    bool ok = new_leaf && queue;
    for (int32_t i = 0; ok && i < n; i++)
        ok = (new_leaf[i] = calloc((size_t)f[i]->n_leaves + 1, sizeof **new_leaf)) != NULL;
    if (ok) {
        lay_out(out, f, scale, n, how, queue, new_leaf);
        for (int32_t i = 0; i < n; i++)
            for (int32_t node = 0; node < f[i]->n_nodes; node++) {
                int32_t leaf = f[i]->leaf_of[node];
                out->leaf_of[out->n_nodes++] = leaf < 0 ? -1 : new_leaf[i][leaf];
            }
    } else {
        step_fn_free(out);
        rc = err_nomem(e, "joined training steps");
    }
    for (int32_t i = 0; new_leaf && i < n; i++)
        free(new_leaf[i]);
    free(new_leaf);
    free(queue);
    return rc;
}
