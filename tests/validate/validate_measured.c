/*
 * Section of docs/validation.md: steps measured on A100 to GB300, 16 to 4 bits, dense and with experts,
 * family by family. The table (train_measured.csv) is not part of this repository: it is looked for in the
 * folder WEFT_REFERENCE, else in ../shared/reference beside the repository; without it the section says so.
 *
 * ROWS=PREFIX lists the rows of the tables whose names begin so, with where weft's time goes, instead of the
 * section; ROWS=all every row; STUDIES=PREFIX the keys of each row's study. EVIDENCE=FILE writes the table
 * that predictions quote (kinds/design/answer/evidence.inc) instead; the section says whether the one in the
 * program is still what the rows come to.
 */
#include "tests/validate/measured_fit.h"
#include "tests/validate/verdict.h"

enum { MOST_TABLES = 64, MOST_ROWS = 2048 };

/* Means and medians asked, in per cent, of the tables together that a line names. Where they are known to be
 * missed, why. */
struct goal {
    const char *tables[5];
    double mean, median;
    const char *missed;
};

#define BY_TABLE "missed: B200's ceiling by its operators; by steps see below"

static const struct goal goals[] = {
    { { "mpt_h100_short" }, 8, 6, NULL },
    { { "mpt_h100_fp8" }, 8, 6, NULL },
    { { "mpt_a100_80_short" }, 8, 6, NULL },
    { { "mpt_a100_40" }, 8, 6, NULL },
    { { "mpt_h100_long" }, 6, 5, NULL },
    { { "mpt_a100_80_long" }, 6, 5, NULL },
    { { "titan_bf16" }, 9, 7, NULL },
    { { "titan_fp8" }, 9, 7, NULL },
    { { "titan_cp" }, 9, 7, NULL },
    { { "simumax_dense" }, 6, 5, BY_TABLE },
    { { "simumax_cp" }, 6, 5, BY_TABLE },
    { { "simumax_moe" }, 13, 13, NULL },
    { { "bridge_dense_h100", "bridge_dense_b200", "bridge_dense_gb200", "bridge_dense_gb300",
        "bridge_nvfp4" },
      8,
      6,
      NULL },
    { { "bridge_moe_h100", "bridge_moe_b200", "bridge_moe_b300", "bridge_moe_gb200", "bridge_moe_gb300" },
      13,
      9,
      NULL },
    { { "mlperf" }, 12, 8, NULL },
    { { "vtrain_single" }, 10, 9, NULL },
};

/* ---- errors ---- */

struct errors {
    double abs[MOST_ROWS], sum_abs, sum;
    int n, left_out;
};

static void add_error(struct errors *x, const struct measured *m)
{
    double error = m->got_s / m->step_s - 1;
    if (isnan(error)) {
        x->left_out++;
        return;
    }
    assert_true(x->n < MOST_ROWS);
    x->abs[x->n++] = fabs(error);
    x->sum_abs += fabs(error);
    x->sum += error;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const struct errors *x)
{
    return x->n ? 100 * x->sum_abs / x->n : NAN;
}

static double median_of(struct errors *x)
{
    qsort(x->abs, (size_t)x->n, sizeof *x->abs, by_size);
    return !x->n ? NAN : x->n % 2 ? 100 * x->abs[x->n / 2] : 50 * (x->abs[x->n / 2 - 1] + x->abs[x->n / 2]);
}

static void print_line(const char *name, struct errors *x)
{
    double median = median_of(x);
    printf("| %s | %d | %.1f | %.1f | %.0f | %+.1f |", name, x->n, mean_of(x), median,
           x->n ? 100 * x->abs[x->n - 1] : NAN, x->n ? 100 * x->sum / x->n : NAN);
}

/* ---- tables ---- */

static int32_t list_tables(const char *out[MOST_TABLES], const struct measured_rows *rows)
{
    int32_t n = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        int32_t k = 0;
        while (k < n && strcmp(out[k], rows->rows[i].table) != 0)
            k++;
        assert_true(k < MOST_TABLES);
        if (k == n)
            out[n++] = rows->rows[i].table;
    }
    return n;
}

/* Rows that the table flags, and those whose precision no study has, stand @p apart: a time in another
 * precision says nothing of theirs. */
static void collect(struct errors *x, const struct measured_rows *rows, const char *table, bool apart)
{
    for (int32_t i = 0; i < rows->n; i++) {
        const struct measured *m = &rows->rows[i];
        if ((m->check || !m->told) == apart && strcmp(m->table, table) == 0)
            add_error(x, m);
    }
}

static void print_tables(const struct measured_rows *rows)
{
    const char *tables[MOST_TABLES];
    int32_t n = list_tables(tables, rows);
    puts("| table | rows | mean error % | median | largest | mean of signed | not scored, flagged in the "
         "table or "
         "of a precision that no study has: mean error % (rows) | not priced "
         "|\n|---|--:|--:|--:|--:|--:|--:|--:|");
    for (int32_t k = 0; k < n; k++) {
        struct errors x = { .n = 0 }, checked = { .n = 0 };
        collect(&x, rows, tables[k], false);
        collect(&checked, rows, tables[k], true);
        print_line(tables[k], &x);
        if (checked.n)
            printf(" %.1f (%d) | %d |\n", mean_of(&checked), checked.n, x.left_out + checked.left_out);
        else
            printf(" | %d |\n", x.left_out + checked.left_out);
    }
}

static int print_goals(const struct measured_rows *rows)
{
    int wrong = 0;
    puts("\n| tables together | rows | mean error % | median | largest | mean of signed | asked, mean / "
         "median "
         "| |\n|---|--:|--:|--:|--:|--:|--:|---|");
    for (size_t g = 0; g < COUNT_OF(goals); g++) {
        struct errors x = { .n = 0 };
        char name[256] = "";
        for (size_t k = 0; k < COUNT_OF(goals[g].tables) && goals[g].tables[k]; k++) {
            size_t n = strlen(name);
            snprintf(name + n, sizeof name - n, "%s%s", n ? ", " : "", goals[g].tables[k]);
            collect(&x, rows, goals[g].tables[k], false);
        }
        if (!x.n)
            continue;
        print_line(name, &x);
        bool met = mean_of(&x) <= goals[g].mean && median_of(&x) <= goals[g].median;
        printf(" %g / %g | %s |\n", goals[g].mean, goals[g].median,
               !met && goals[g].missed ? goals[g].missed : verdict(met, &wrong));
    }
    return wrong;
}

/* Without the map that the message quotes. */
static const char *plain_fault(const struct measured *m)
{
    const char *at = strstr(m->fault, ": workload.");
    at = at ? at : strstr(m->fault, ": network.");
    return at ? at + 2 : m->fault;
}

static void print_gaps(const struct measured_rows *rows)
{
    int counts[N_GAPS] = { 0 }, faults = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        for (int k = 0; k < N_GAPS; k++)
            counts[k] += (rows->rows[i].ignored >> k & 1U) != 0;
        faults += rows->rows[i].fault[0] != 0;
    }
    printf("\nWhat the studies do not have of their rows:");
    const char *joint = " ";
    for (int k = 0; k < N_GAPS; k++)
        if (counts[k]) {
            printf("%s%s %d", joint, measured_gap_words[k], counts[k]);
            joint = ", ";
        }
    printf(". Rows that could not be priced: %d.\n", faults);
    for (int32_t i = 0; i < rows->n; i++)
        if (rows->rows[i].fault[0])
            printf("- %s, %s on %lld %s: %s\n", rows->rows[i].table, rows->rows[i].model,
                   (long long)rows->rows[i].gpus, rows->rows[i].gpu, plain_fault(&rows->rows[i]));
}

static void print_memory(const struct measured_rows *rows)
{
    static const char *const prefixes[] = { "simumax", "titan" };
    static const double asked[] = { 4, 10 };
    puts("\n| memory of | rows | mean error % | largest | mean of signed | asked | "
         "|\n|---|--:|--:|--:|--:|--:|---|");
    for (size_t k = 0; k < COUNT_OF(prefixes); k++) {
        double sum_abs = 0, sum = 0, most = 0;
        int n = 0;
        for (int32_t i = 0; i < rows->n; i++) {
            const struct measured *m = &rows->rows[i];
            double error = m->got_B / m->memory_B - 1;
            if (strncmp(m->table, prefixes[k], strlen(prefixes[k])) != 0 || isnan(error) || m->check)
                continue;
            sum_abs += fabs(error);
            sum += error;
            most = fmax(most, fabs(error));
            n++;
        }
        if (n)
            printf("| %s | %d | %.1f | %.0f | %+.1f | %g | %s |\n", prefixes[k], n, 100 * sum_abs / n,
                   100 * most, 100 * sum / n, asked[k], 100 * sum_abs / n <= asked[k] ? "yes" : "missed");
    }
}

/* All of these ran: a run that weft finds too large is a miss of the memory model. */
static void print_fits(const struct measured_rows *rows)
{
    const char *tables[MOST_TABLES];
    int32_t n = list_tables(tables, rows), all = 0, priced = 0;
    printf("\nEvery run fitted. Weft says otherwise of:");
    for (int32_t k = 0; k < n; k++) {
        int32_t over = 0;
        double most = 0;
        for (int32_t i = 0; i < rows->n; i++) {
            const struct measured *m = &rows->rows[i];
            if (m->fault[0] || m->check || strcmp(m->table, tables[k]) != 0)
                continue;
            priced++;
            over += m->report.missing_B > 0;
            most = fmax(most, m->report.missing_B / (m->got_B - m->report.missing_B));
        }
        if (over)
            printf("%s %s %d rows, by up to %.0f %%", all ? "," : "", tables[k], (int)over, 100 * most);
        all += over;
    }
    printf("%s. In all %d of %d.\n", all ? "" : " none", (int)all, (int)priced);
}

/* ---- what stands behind a prediction: kinds/design/answer/evidence.h ---- */

enum { MOST_KINDS = 64 };

static bool is_kind(const struct evidence *a, const struct evidence *b)
{
    return strcmp(a->npu, b->npu) == 0 && a->software == b->software && a->experts == b->experts;
}

static bool counts(const struct measured *m)
{
    return !m->check && !m->fault[0] && m->told;
}

/* Errors of one kind of rows. */
static struct evidence measure_kind(const struct measured_rows *rows, const struct evidence *kind)
{
    struct errors x = { .n = 0 };
    struct evidence v = *kind;
    double squares = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        const struct measured *m = &rows->rows[i];
        if (!counts(m) || !is_kind(&m->kind, kind))
            continue;
        double far = log(m->got_s / m->step_s);
        squares += far * far;
        add_error(&x, m);
        v.n[m->precision]++;
    }
    median_of(&x); /* sorts */
    v.mean = x.sum_abs / x.n;
    v.band = x.abs[x.n < 10 ? x.n - 1 : (int)ceil(0.9 * x.n) - 1];
    v.spread = sqrt(squares / x.n);
    return v;
}

/* Kinds in the order of NPU, software, experts as rows come. */
static int32_t measure_kinds(struct evidence out[MOST_KINDS], const struct measured_rows *rows)
{
    int32_t n = 0;
    for (int32_t i = 0; i < rows->n; i++) {
        const struct measured *m = &rows->rows[i];
        int32_t k = 0;
        if (!counts(m))
            continue;
        while (k < n && !is_kind(&out[k], &m->kind))
            k++;
        if (k < n)
            continue;
        assert_true(n < MOST_KINDS);
        out[n++] = measure_kind(rows, &m->kind);
    }
    return n;
}

static const char *const software_names[N_EVIDENCE_SOFTWARE] = { "EVIDENCE_MEGATRON_2021",
                                                                 "EVIDENCE_MEGATRON", "EVIDENCE_COMPILED",
                                                                 "EVIDENCE_EAGER" };

static void write_evidence(const char *path, const struct measured_rows *rows)
{
    struct evidence kinds[MOST_KINDS];
    int32_t n = measure_kinds(kinds, rows);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(
        f,
        "/* Written by tests/validate/validate_measured with EVIDENCE=kinds/design/answer/evidence.inc, from "
        "train_measured.csv; do not edit.\n   NPU, software, experts; peak, sustained FLOP/s, B/s; rows of "
        "bf16, fp8, mxfp8, nvfp4; mean error, band, spread. */\n");
    for (int32_t i = 0; i < n; i++) {
        const struct evidence *v = &kinds[i];
        fprintf(f, "{ \"%s\", %s, %s, %.6g, %.6g, %.6g, { %d, %d, %d, %d }, %.4f, %.4f, %.4f },\n", v->npu,
                software_names[v->software], v->experts ? "true" : "false", v->peak_flops, v->ceiling_flops,
                v->mem_Bps, (int)v->n[0], (int)v->n[1], (int)v->n[2], (int)v->n[3], v->mean, v->band,
                v->spread);
    }
    assert_int_equal(fclose(f), 0);
}

static const struct evidence compiled_in[] = {
#include "kinds/design/answer/evidence.inc"
};

/* Is the table that was compiled in what these rows come to, to half a per cent? */
static bool is_current(const struct evidence *v)
{
    for (size_t i = 0; i < COUNT_OF(compiled_in); i++) {
        const struct evidence *own = &compiled_in[i];
        if (is_kind(v, own))
            return evidence_rows(v) == evidence_rows(own) && fabs(v->mean - own->mean) < 0.005 &&
                   fabs(v->band - own->band) < 0.005 &&
                   fabs(v->ceiling_flops / own->ceiling_flops - 1) < 1e-5;
    }
    return false;
}

static int32_t count_rows(const struct evidence *kinds, int32_t n)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += evidence_rows(&kinds[i]);
    return sum;
}

/* Against another table of measurements the program's evidence is another, which is no contradiction. */
static int print_evidence(const struct measured_rows *rows)
{
    struct evidence kinds[MOST_KINDS];
    int32_t n = measure_kinds(kinds, rows);
    int wrong = 0;
    bool same = count_rows(kinds, n) == count_rows(compiled_in, COUNT_OF(compiled_in));
    puts("\n### What a prediction quotes\n\nBy NPU, class of software, dense or with experts: these errors "
         "stand "
         "beside each predicted step (`kinds/design/answer/evidence.inc`), as a band and in `uncertain: "
         "model`.\n\n"
         "| NPU | software | model | rows: bf16, fp8, mxfp8, nvfp4 | mean error % | 9 of 10 (below 10 rows: "
         "all) "
         "within % | as in the program |\n|---|---|---|---|--:|--:|---|");
    for (int32_t i = 0; i < n; i++) {
        const struct evidence *v = &kinds[i];
        printf("| %s | %s | %s | %d, %d, %d, %d | %.1f | %.1f | %s |\n", v->npu,
               evidence_software_words[v->software], v->experts ? "experts" : "dense", (int)v->n[0],
               (int)v->n[1], (int)v->n[2], (int)v->n[3], 100 * v->mean, 100 * v->band,
               same ? verdict(is_current(v), &wrong) : "other rows");
    }
    return wrong;
}

/* ---- rows, for those who look for what is off ---- */

static bool is_wanted(const struct measured *m, const char *prefix)
{
    return strcmp(prefix, "all") == 0 || strncmp(m->table, prefix, strlen(prefix)) == 0;
}

static void print_row(const struct measured *m)
{
    const struct account *r = &m->account;
    printf("%-18s %-14s %-9s %5lld %-8s %8.3f ", m->table, m->model, m->gpu, (long long)m->gpus, m->release,
           m->step_s);
    if (m->fault[0]) {
        printf("%s\n", m->fault);
        return;
    }
    printf("%8.3f %+6.1f |", m->got_s, 100 * (m->got_s / m->step_s - 1));
    printf(" %5.1f %5.1f %5.1f %5.1f |", 100 * r->compute_s / m->got_s, 100 * r->recompute_s / m->got_s,
           100 * r->bubble_s / m->got_s, 100 * (r->optimizer_s + r->overhead_s) / m->got_s);
    for (int32_t k = 0; k < r->n_axes; k++)
        printf(" %5.1f", 100 * r->axes[k].time_s / m->got_s);
    printf(" | %5.1f %5.1f |", m->got_B / 1073741824., m->memory_B / 1073741824.);
    printf("%s %s\n", m->check ? " check" : "", m->parallel_map);
}

static void print_rows(const struct measured_rows *rows, const char *prefix)
{
    printf("%-18s %-14s %-9s %5s %-8s %8s %8s %6s | %5s %5s %5s %5s | %5s %5s %5s %5s %5s | %5s %5s |\n",
           "table", "model", "gpu", "gpus", "release", "measured", "weft s", "err %", "comp", "again",
           "bubbl", "opt", "tp", "cp", "ep", "dp", "pp", "GiB", "meas.");
    for (int32_t i = 0; i < rows->n; i++)
        if (is_wanted(&rows->rows[i], prefix))
            print_row(&rows->rows[i]);
}

static void print_studies(const struct measured_rows *rows, const char *prefix)
{
    for (int32_t i = 0; i < rows->n; i++) {
        const struct measured *m = &rows->rows[i];
        if (is_wanted(m, prefix))
            printf(
                "# %s %s, measured %g s, weft %g s\nnetwork: %s\nmodel: alpha-beta\nsimulation: { chunks: 1 "
                "}\nworkload: { name: step, model: %s, parallel: %s }\n\n",
                m->table, m->family, m->step_s, m->got_s, m->network_map, m->model_map, m->parallel_map);
    }
}

static void print_head(void)
{
    puts(
        "\n## Steps measured on today's machines\n\nPublished times of a training step on A100 to GB300, 16 "
        "to "
        "4 bits, dense and with experts, each as a study made of its row's columns: shape, machine, degrees, "
        "precision, recomputation, overlap. What the software of a source did beyond the columns is one line "
        "per source (`tests/validate/measured.c`), nothing per row or model. Error: weft's time over the "
        "measured one, less 1. Rows that the table itself flags as doubtful, and rows of a precision that no "
        "study has, stand apart.\n");
}

static bool find_table(char *path, size_t room)
{
    const char *folder = getenv("WEFT_REFERENCE");
    snprintf(path, room, "%s/train_measured.csv", folder && *folder ? folder : "../shared/reference");
    return access(path, R_OK) == 0;
}

int main(void)
{
    struct measured_rows rows = { 0 };
    char path[1024];
    int wrong = 0;
    const char *evidence = getenv("EVIDENCE");
    const char *listed = getenv("ROWS"), *studies = getenv("STUDIES");
    if (!find_table(path, sizeof path)) {
        puts("\n## Steps measured on today's machines\n\nThe table of measurements, train_measured.csv, is "
             "not there; nothing is held against it.");
        return 0;
    }
    measured_read(&rows, path);
    measured_price(&rows);
    if (evidence) {
        write_evidence(evidence, &rows);
    } else if (listed || studies) {
        if (listed)
            print_rows(&rows, listed);
        if (studies)
            print_studies(&rows, studies);
    } else {
        print_head();
        print_tables(&rows);
        wrong += print_goals(&rows);
        print_memory(&rows);
        print_fits(&rows);
        print_gaps(&rows);
        wrong += print_evidence(&rows);
        measured_add_korthikanti(&rows);
        measured_price(&rows);
        wrong += measured_fit_print(&rows);
    }
    measured_free(&rows);
    return wrong > 0;
}
