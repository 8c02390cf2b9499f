/*
 * Section of docs/validation.md: steps measured on accelerators of other makers than NVIDIA. The table
 * (train_other_chips.csv: table, id, a network and a workload as fragments of a study, the step) is not part
 * of this repository: it is looked for as validate_measured.c looks for its own; without it the section says
 * so.
 *
 * Two things are read otherwise than they stand. A torus in the table has the bandwidth of one axis; weft's
 * is that of all links of an NPU, so it is multiplied by the number of axes. And an NPU written out is a
 * stand-in from before weft had a file of that part: the file is taken. Nothing else depends on the row.
 */
#include "base/table.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/support.h"
#include "tests/validate/verdict.h"

#include <unistd.h>

#define STUDY "tests/validate/training.yaml"

/* Mean errors asked, in per cent. */
static const struct goal {
    const char *table;
    double mean;
    const char *missed; /* why, where that is known */
} goals[] = {
    { "tpu_v7_dense", 8, NULL },
    { "tpu_v7_moe", 15, "missed: GPT-OSS takes longer than its products and gathers" },
    { "tpu_v5p", 10, NULL },
    { "tpu_v6e", 10, NULL },
    { "amd_mi350x", 8, NULL },
    { "amd_mi355x", 8, NULL },
};

/* Parts that the table writes out, and their files. */
static const struct {
    const char *begin, *file;
} parts[] = {
    { "npu: { name: v6e,", "tpu-v6e.yaml" },
    { "npu: { name: m350,", "mi350x.yaml" },
};

/* ---- a row as a study ---- */

static void cell(struct text *out, const struct table *t, int64_t row, const char *column)
{
    int32_t col = table_find(t, column);
    assert_true(col >= 0);
    text_clear(out);
    table_cell_text(out, t, row, col);
}

/* "sizes: [4, 8, 8], bw_GBps: 200" of a torus: how many axes; 1 elsewhere. */
static int count_axes(const char *network, const char *bandwidth)
{
    int axes = 1;
    const char *sizes = strstr(network, "shape: torus, sizes: [");
    for (const char *s = sizes; s && s < bandwidth && *s != ']'; s++)
        axes += *s == ',' && s > strchr(sizes, '[');
    return axes;
}

/* The map behind "network:", as weft has it today. */
static void put_network(struct text *out, const char *network)
{
    static const char bandwidth[] = "bw_GBps: ", npu[] = "npu: ", folder[] = "npu: configs/npus/";
    const char *s = strchr(network, '{');
    assert_non_null(s);
    while (*s) {
        size_t p = 0;
        while (p < COUNT_OF(parts) && strncmp(s, parts[p].begin, strlen(parts[p].begin)) != 0)
            p++;
        if (p < COUNT_OF(parts)) {
            text_printf(out, "%s%s", folder, parts[p].file);
            s = strchr(s, '}') + 1;
        } else if (strncmp(s, bandwidth, sizeof bandwidth - 1) == 0) {
            char *end;
            double each = strtod(s + sizeof bandwidth - 1, &end);
            text_printf(out, "%s%g", bandwidth, each * count_axes(network, s));
            s = end;
        } else if (strncmp(s, npu, sizeof npu - 1) == 0) {
            text_puts(out, folder);
            s += sizeof npu - 1;
        } else {
            text_add(out, s++, 1);
        }
    }
}

/* ---- prices ---- */

static double price(const char *network, const char *workload)
{
    const struct study_override set[] = { { "network", network }, { "workload", workload } };
    KEEP(struct design_point, study, design_point_free) = { 0 };
    KEEP(struct design, d, design_free) = { 0 };
    MUST(design_point_load(&study, STUDY, set, COUNT_OF(set), DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH,
                           e));
    MUST(design_evaluate(&d, &study, NULL, e));
    return d.time_s;
}

struct errors {
    double sum_abs, sum, most;
    int n;
};

static void print_row(struct errors *x, const struct table *t, int64_t row)
{
    KEEP(struct text, id, text_free) = { 0 };
    KEEP(struct text, from, text_free) = { 0 };
    KEEP(struct text, network, text_free) = { 0 };
    KEEP(struct text, workload, text_free) = { 0 };
    cell(&from, t, row, "network");
    put_network(&network, text_str(&from));
    cell(&workload, t, row, "workload");
    double got_s = price(text_str(&network), text_str(&workload));
    cell(&id, t, row, "step_time_s");
    double step_s = strtod(text_str(&id), NULL), error = got_s / step_s - 1;
    cell(&id, t, row, "id");
    printf("| %s | %.3f | %.3f | %+.1f |\n", text_str(&id), step_s, got_s, 100 * error);
    x->sum_abs += fabs(error);
    x->sum += error;
    x->most = fmax(x->most, fabs(error));
    x->n++;
}

static void print_rows(struct errors sums[COUNT_OF(goals)], const struct table *t)
{
    puts("| run | measured s | weft s | error % |\n|---|--:|--:|--:|");
    for (int64_t row = 0; row < t->n_rows; row++) {
        KEEP(struct text, table, text_free) = { 0 };
        size_t g = 0;
        cell(&table, t, row, "table");
        while (g < COUNT_OF(goals) && strcmp(goals[g].table, text_str(&table)) != 0)
            g++;
        assert_true(g < COUNT_OF(goals));
        print_row(&sums[g], t, row);
    }
}

static int print_goals(const struct errors sums[COUNT_OF(goals)])
{
    int wrong = 0;
    puts("\n| table | rows | mean error % | largest | mean of signed | asked | "
         "|\n|---|--:|--:|--:|--:|--:|---|");
    for (size_t g = 0; g < COUNT_OF(goals); g++) {
        const struct errors *x = &sums[g];
        if (!x->n)
            continue;
        double mean = 100 * x->sum_abs / x->n;
        bool met = mean <= goals[g].mean;
        printf("| %s | %d | %.1f | %.0f | %+.1f | %g | %s |\n", goals[g].table, x->n, mean, 100 * x->most,
               100 * x->sum / x->n, goals[g].mean,
               !met && goals[g].missed ? goals[g].missed : verdict(met, &wrong));
    }
    return wrong;
}

int main(void)
{
    KEEP(struct table, t, table_free) = { 0 };
    struct errors sums[COUNT_OF(goals)] = { { 0 } };
    const char *folder = getenv("WEFT_REFERENCE");
    char path[1024];
    snprintf(path, sizeof path, "%s/train_other_chips.csv",
             folder && *folder ? folder : "../shared/reference");
    puts("\n## Steps measured on other makers' chips\n");
    if (access(path, R_OK) != 0) {
        puts("The table of measurements, train_other_chips.csv, is not there; nothing is held against it.");
        return 0;
    }
    puts("Published steps of TPUs (MaxText) and AMD's GPUs (MLPerf), each a fragment of a study. A torus of "
         "the table "
         "has the bandwidth of one axis: it is multiplied by the axes, for weft's is that of all links of an "
         "NPU. NPUs "
         "that the table writes out are read from weft's own file of the part. Which figures of those files "
         "steps "
         "chose (grade F) each file says; products of TPU v6e and v7 are measured.\n");
    MUST(table_read_csv(&t, path, e));
    print_rows(sums, &t);
    return print_goals(sums) > 0;
}
