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

#include "kinds/design/answer/evidence_table.inc"

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

enum { MOST_KINDS = 64, MOST_FAMILIES = 64 };

static bool is_kind(const struct evidence_kind *a, const struct evidence_kind *b)
{
    return strcmp(a->npu, b->npu) == 0 && a->software == b->software && a->experts == b->experts;
}

static bool counts(const struct measured *m)
{
    return !m->check && !m->fault[0] && m->told;
}

/* Kinds and families in the order that rows come in, and where each row's are. */
struct catalogue {
    struct evidence_kind kinds[MOST_KINDS];
    char families[MOST_FAMILIES][64];
    int32_t n_kinds, n_families;
};

static int32_t find_kind(struct catalogue *c, const struct measured *m)
{
    int32_t k = 0;
    while (k < c->n_kinds && !is_kind(&c->kinds[k], &m->kind))
        k++;
    assert_true(k < MOST_KINDS);
    if (k == c->n_kinds)
        c->kinds[c->n_kinds++] = m->kind;
    return k;
}

static int32_t find_family(struct catalogue *c, const struct measured *m)
{
    char name[64];
    int32_t k = 0;
    measured_family(name, m);
    while (k < c->n_families && strcmp(c->families[k], name) != 0)
        k++;
    assert_true(k < MOST_FAMILIES);
    if (k == c->n_families)
        snprintf(c->families[c->n_families++], sizeof c->families[0], "%s", name);
    return k;
}

static const char *const software_names[N_EVIDENCE_SOFTWARE] = { "EVIDENCE_MEGATRON_2021",
                                                                 "EVIDENCE_MEGATRON", "EVIDENCE_COMPILED",
                                                                 "EVIDENCE_EAGER" };

static void write_evidence(const char *path, struct measured_rows *rows)
{
    static struct catalogue c;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    measured_fit_leave_out(rows);
    for (int32_t i = 0; i < rows->n; i++)
        if (counts(&rows->rows[i])) {
            find_kind(&c, &rows->rows[i]);
            find_family(&c, &rows->rows[i]);
        }
    fprintf(f,
            "/* Written by tests/validate/validate_measured with EVIDENCE=kinds/design/answer/evidence.inc, "
            "from tables of measured steps; do not edit.\n   KIND: NPU, software, experts; peak, sustained "
            "FLOP/s, B/s. STEP: kind, family, precision, GPUs, ln(weft/measured). */\n");
    for (int32_t k = 0; k < c.n_kinds; k++)
        fprintf(f, "EVIDENCE_KIND(\"%s\", %s, %s, %.6g, %.6g, %.6g)\n", c.kinds[k].npu,
                software_names[c.kinds[k].software], c.kinds[k].experts ? "true" : "false",
                c.kinds[k].peak_flops, c.kinds[k].ceiling_flops, c.kinds[k].mem_Bps);
    for (int32_t k = 0; k < c.n_families; k++)
        fprintf(f, "EVIDENCE_FAMILY(\"%s\")\n", c.families[k]);
    for (int32_t i = 0; i < rows->n; i++) {
        const struct measured *m = &rows->rows[i];
        if (counts(m))
            fprintf(f, "EVIDENCE_STEP(%d, %d, %d, %lld, %.4f)\n", (int)find_kind(&c, m),
                    (int)find_family(&c, m), (int)m->precision, (long long)m->gpus,
                    log(m->left_s / m->step_s));
    }
    assert_int_equal(fclose(f), 0);
}

/* Rows of one kind, or of all: by the program's bands without their families, and with all that it has. */
struct coverage {
    int32_t rows, inside, bare, within;
    double mean, reach;
};

static int32_t own_family(const struct measured *m)
{
    char name[64];
    measured_family(name, m);
    for (int32_t i = 0; i < (int32_t)COUNT_OF(families); i++)
        if (strcmp(families[i], name) == 0)
            return i;
    return -1;
}

static void cover(struct coverage *x, const struct measured *m)
{
    struct evidence v;
    x->rows++;
    x->mean += fabs(m->got_s / m->step_s - 1);
    if (evidence_of(&v, &m->kind, m->precision, (double)m->gpus, -1))
        x->within += fabs(log(m->got_s / m->step_s)) <= v.reach;
    if (!evidence_of(&v, &m->kind, m->precision, (double)m->gpus, own_family(m))) {
        x->bare++;
        return;
    }
    double error = isnan(m->left_s) ? log(m->got_s / m->step_s) : log(m->left_s / m->step_s);
    x->inside += fabs(error) <= v.reach;
    x->reach += expm1(v.reach);
}

static void print_coverage(const char *name, const struct coverage *x, const char *judged)
{
    int32_t banded = x->rows - x->bare;
    printf("| %s | %d | %.1f | %.0f | %d of %d, %.0f | %d | %.0f | %s |\n", name, (int)x->rows,
           100 * x->mean / x->rows, banded ? 100 * x->reach / banded : NAN, (int)x->inside, (int)banded,
           banded ? 100. * x->inside / banded : NAN, (int)x->bare, 100. * x->within / x->rows, judged);
}

/* A share of few rows is no share: kinds are told, all together are held to 85 to 95 %. */
static int print_evidence(const struct measured_rows *rows)
{
    static struct catalogue c;
    struct coverage all = { 0 };
    int32_t stored = (int32_t)COUNT_OF(steps), scored = 0;
    int wrong = 0;
    puts("\n### What a prediction quotes\n\nThe band that stands beside a predicted step "
         "(`kinds/design/answer/evidence.c`), for rows that it was not made from: without their family, "
         "against "
         "errors of constants chosen without it too. It claims 90 %; 85 to 95 % of all are asked. Last: with "
         "their families.\n\n| NPU, software, model | rows | mean error % | 9 of 10 within %, mean | inside, "
         "family left out; % | no row near | inside, with it, % | |\n|---|--:|--:|--:|--:|--:|--:|---|");
    for (int32_t i = 0; i < rows->n; i++)
        if (counts(&rows->rows[i])) {
            find_kind(&c, &rows->rows[i]);
            scored++;
        }
    for (int32_t k = 0; k < c.n_kinds; k++) {
        struct coverage x = { 0 };
        char name[128];
        for (int32_t i = 0; i < rows->n; i++)
            if (counts(&rows->rows[i]) && is_kind(&rows->rows[i].kind, &c.kinds[k])) {
                cover(&x, &rows->rows[i]);
                cover(&all, &rows->rows[i]);
            }
        snprintf(name, sizeof name, "%s, %s, %s", c.kinds[k].npu,
                 evidence_software_words[c.kinds[k].software], c.kinds[k].experts ? "experts" : "dense");
        print_coverage(name, &x, "");
    }
    double share = (double)all.inside / (all.rows - all.bare);
    print_coverage("all", &all, verdict(share >= 0.85 && share <= 0.95, &wrong));
    printf("\nThe program's table has %d steps; these are %d.\n", (int)stored, (int)scored);
    return wrong;
}

/* ---- which plan is faster: rows of one model, batch and machine that differ in their plans ---- */

/* Steps nearer than this are noise of a measurement. */
#define APART 1.03

struct order {
    int32_t questions, pairs, right;
    double regret, most; /**< of the plan that weft says is fastest, over the fastest measured, less 1 */
};

static bool is_same_question(const struct measured *a, const struct measured *b)
{
    /* Maps of plans begin with the batch. */
    size_t batch = strcspn(a->parallel_map, ",");
    return strcmp(a->table, b->table) == 0 && strcmp(a->release, b->release) == 0 &&
           strcmp(a->model_map, b->model_map) == 0 && strcmp(a->network_map, b->network_map) == 0 &&
           a->precision == b->precision && strcspn(b->parallel_map, ",") == batch &&
           strncmp(a->parallel_map, b->parallel_map, batch) == 0;
}

static void compare_pair(struct order *x, const struct measured *a, const struct measured *b)
{
    if (fmax(a->step_s, b->step_s) < APART * fmin(a->step_s, b->step_s))
        return;
    x->pairs++;
    x->right += a->got_s < b->got_s ? a->step_s < b->step_s : b->got_s < a->got_s && b->step_s < a->step_s;
}

/* The question that row @p i asks first, with all others that ask it. Of plans that weft times alike the
 * slowest counts. */
static void add_question(struct order *x, const struct measured_rows *rows, int32_t i)
{
    const struct measured *first = &rows->rows[i], *chosen = first;
    double best_s = first->step_s;
    int32_t plans = 1;
    for (int32_t k = 0; k < i; k++)
        if (counts(&rows->rows[k]) && is_same_question(&rows->rows[k], first))
            return;
    for (int32_t k = i + 1; k < rows->n; k++) {
        const struct measured *m = &rows->rows[k];
        if (!counts(m) || !is_same_question(m, first))
            continue;
        plans++;
        best_s = fmin(best_s, m->step_s);
        if (m->got_s < chosen->got_s || (!(m->got_s > chosen->got_s) && m->step_s > chosen->step_s))
            chosen = m;
        for (int32_t j = i; j < k; j++)
            if (counts(&rows->rows[j]) && is_same_question(&rows->rows[j], first))
                compare_pair(x, &rows->rows[j], m);
    }
    if (plans == 1)
        return;
    x->questions++;
    x->regret += chosen->step_s / best_s - 1;
    x->most = fmax(x->most, chosen->step_s / best_s - 1);
}

static int print_orders(const struct measured_rows *rows)
{
    static const struct {
        const char *tables;
        double asked;
    } sources[] = { { "titan", NAN }, { "simumax", NAN }, { "vtrain_single", 0.1 }, { "vtrain_multi", NAN } };
    int wrong = 0;
    puts("\nWhich plan is faster: rows of one model, batch, precision and machine. Pairs are those whose "
         "measured times are more than 3 % apart; regret is what the plan that weft times as the fastest "
         "takes over the fastest measured.\n\n| tables | questions | pairs | ranked right | regret %, mean "
         "| largest | asked | |\n|---|--:|--:|--:|--:|--:|--:|---|");
    for (size_t k = 0; k < COUNT_OF(sources); k++) {
        struct order x = { 0 };
        for (int32_t i = 0; i < rows->n; i++)
            if (counts(&rows->rows[i]) &&
                strncmp(rows->rows[i].table, sources[k].tables, strlen(sources[k].tables)) == 0)
                add_question(&x, rows, i);
        if (!x.questions)
            continue;
        printf("| %s | %d | %d | %d | %.1f | %.1f |", sources[k].tables, (int)x.questions, (int)x.pairs,
               (int)x.right, 100 * x.regret / x.questions, 100 * x.most);
        if (isnan(sources[k].asked))
            puts(" | |");
        else
            printf(" %g | %s |\n", 100 * sources[k].asked, verdict(x.most <= sources[k].asked, &wrong));
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

/* Both tables, or as many as are there. */
static bool read_tables(struct measured_rows *rows)
{
    static const char *const names[] = { "train_measured.csv", "train_measured_2.csv" };
    const char *folder = getenv("WEFT_REFERENCE");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder && *folder ? folder : "../shared/reference", names[i]);
        if (access(path, R_OK) == 0)
            measured_read(rows, path);
    }
    return rows->n > 0;
}

int main(void)
{
    struct measured_rows rows = { 0 };
    int wrong = 0;
    const char *evidence = getenv("EVIDENCE");
    const char *listed = getenv("ROWS"), *studies = getenv("STUDIES");
    if (!read_tables(&rows)) {
        puts("\n## Steps measured on today's machines\n\nThe table of measurements, train_measured.csv, is "
             "not there; nothing is held against it.");
        return 0;
    }
    if (!listed && !studies) /* they hold the A100's constants where vTrain is left out */
        measured_add_korthikanti(&rows);
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
        wrong += print_orders(&rows);
        print_gaps(&rows);
        wrong += measured_fit_print(&rows);
        wrong += print_evidence(&rows);
    }
    measured_free(&rows);
    return wrong > 0;
}
