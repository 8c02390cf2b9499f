#include "tests/validate/cases.h"

#include "tests/support.h"

/* Names in the tables, and files in configs/workloads. */
TABLE_OF(workloads, const char *name, *config) = {
    { "GPT_3", "gpt3" }, { "MSFT_1T", "msft1t" }, { "Turing_NLG", "turing-nlg" }, { "ResNet_50", "resnet50" },
    { "DLRM", "dlrm" },  { "17B", "v1-17b" },     { "175B", "v1-175b" },          { "1T", "v1-1t" },
};

static const char *config_of(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(workloads); i++)
        if (strlen(workloads[i].name) == length && strncmp(workloads[i].name, name, length) == 0)
            return workloads[i].config;
    fail_msg("no configuration for %s", name);
    return NULL;
}

void case_read(struct table *t, const char *name, int64_t n_rows)
{
    char path[128];
    snprintf(path, sizeof path, "tests/reference/%s", name);
    MUST(table_read_csv(t, path, e));
    assert_int_equal(t->n_rows, n_rows);
}

const char *case_text(const struct table *t, int64_t row, const char *column)
{
    int32_t col = table_find(t, column);
    assert_true(col >= 0);
    const char *text = table_cell(t, row, col)->text;
    return text ? text : "";
}

double case_number(const struct table *t, int64_t row, const char *column)
{
    int32_t col = table_find(t, column);
    assert_true(col >= 0);
    return table_number(t, row, col);
}

static void add_total(struct split *s, double total_GBps)
{
    char row[64];
    snprintf(row, sizeof row, "total == %.17g", total_GBps);
    split_row(s, row);
}

void case_open_public(struct split *s, const char *dims, const char *workload, double total_GBps)
{
    char network[32], parts[32];
    const char *config = config_of(workload, strlen(workload));
    snprintf(network, sizeof network, "libra-%s-4096", dims);
    snprintf(parts, sizeof parts, "libra-2024-%s", dims);
    split_open(s, network, parts, &config, 1);
    add_total(s, total_GBps);
}

void case_open_artifact(struct split *s, const char *dims, const char *names)
{
    char network[32];
    const char *configs[SPLIT_MAX_WORKLOADS];
    int n = 0;
    for (size_t length; *names; names += length + (names[length] == '+')) {
        length = strcspn(names, "+");
        assert_true(n < SPLIT_MAX_WORKLOADS);
        configs[n++] = config_of(names, length);
    }
    snprintf(network, sizeof network, "v1-1024-%s", dims);
    split_open(s, network, "libra-2022", configs, n);
    add_total(s, 100);
}

enum alloc_objective case_objective(const char *word)
{
    if (strcmp(word, "perf_per_cost") == 0)
        return ALLOC_PERF_PER_COST;
    assert_true(strcmp(word, "perf") == 0 || strcmp(word, "time") == 0);
    return ALLOC_TIME;
}

double case_value(const struct split *s, const double *bw_Bps)
{
    double time_s = step_time(&s->step, bw_Bps);
    return s->problem.objective == ALLOC_TIME ? time_s : time_s * alloc_cost_usd(&s->problem, bw_Bps);
}

void case_solve(struct proved *out, const struct split *s)
{
    const struct step_tree *trees[SPLIT_MAX_WORKLOADS];
    double scale[SPLIT_MAX_WORKLOADS];
    struct verify_report r;
    MUST(alloc_solve(&out->answer, &s->problem, e));
    for (int i = 0; i < s->n_workloads; i++) {
        trees[i] = &s->trees[i];
        scale[i] = 1;
    }
    const struct verify_steps steps = { .trees = trees, .scale = scale, .n = s->n_workloads, .net = &s->net };
    MUST(alloc_verify(&r, &out->answer, &s->problem, &steps, e));
    out->gap = fmax(out->answer.gap, r.gap);
    out->ok = out->answer.status == ALLOC_SOLVED && r.ok && out->gap <= ALLOC_GAP &&
              fabs(r.value - out->answer.value) <= 1e-13 * r.value &&
              out->answer.lower_bound <= r.value * (1 + 1e-15);
}

const char *case_gap(char buf[16], double gap)
{
    int power = -12;
    while (power < 0 && !(gap <= pow(10, power)))
        power++;
    snprintf(buf, 16, "1e%d", power);
    return buf;
}
