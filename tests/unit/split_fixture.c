#include "tests/unit/split_fixture.h"

#include "tests/support.h"

static yaml_id open_config(struct split *s, const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "configs/%s/%s.yaml", folder, name);
    MUST(yaml_read_file(&s->docs[s->n_docs], path, e));
    return s->docs[s->n_docs++].root;
}

void split_open(struct split *s, const char *network, const char *parts, const char *const *workloads, int n)
{
    struct topo_dim_price prices[TOPO_MAX_DIMS];
    yaml_id root = open_config(s, "networks", network);
    MUST(topo_read_network(&s->net, &s->docs[s->n_docs - 1], root, e));
    s->net.whole_parts = !s->physical;
    root = open_config(s, "parts", parts);
    MUST(topo_read_parts(&s->parts, &s->docs[s->n_docs - 1], root, e));
    MUST(topo_prices(prices, &s->net, &s->parts, e));

    const struct step_fn *each[SPLIT_MAX_WORKLOADS];
    const double scale[SPLIT_MAX_WORKLOADS] = { 1, 1, 1, 1 };
    for (int i = 0; i < n; i++) {
        root = open_config(s, "workloads", workloads[i]);
        MUST(step_read(&s->trees[i], &s->docs[s->n_docs - 1], root, &s->net, e));
        MUST(step_compile(&s->fns[i], &s->trees[i], &s->net, e));
        each[i] = &s->fns[i];
    }
    s->n_workloads = n;
    MUST(step_fn_join(&s->step, each, scale, n, (struct step_join){ 0 }, e));

    s->problem = (struct alloc_problem){ .step = &s->step, .dim_names = s->names };
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        s->names[d] = s->net.dims[d].name;
        s->problem.usd_per_Bps[d] = prices[d].usd_per_Bps;
        s->nic_usd_per_Bps[d] = prices[d].nic_usd_per_Bps;
    }
}

void split_row(struct split *s, const char *text)
{
    const struct alloc_prices prices = { .rates = { s->problem.usd_per_Bps, s->nic_usd_per_Bps },
                                         .fixed = { s->problem.usd_fixed } };
    MUST(alloc_add_text(&s->rows, &s->net, &prices, text, e));
    s->problem.rows = s->rows.rows;
    s->problem.n_rows = s->rows.n;
}

void split_free(struct split *s)
{
    alloc_rows_free(&s->rows);
    step_fn_free(&s->step);
    for (int i = 0; i < s->n_workloads; i++) {
        step_fn_free(&s->fns[i]);
        step_free(&s->trees[i]);
    }
    topo_parts_free(&s->parts);
    for (int i = 0; i < s->n_docs; i++)
        yaml_free(&s->docs[i]);
    *s = (struct split){ 0 };
}
