/* What all kinds of studies have in common: what is better in a column is said once, in its list. */
#include "kinds/design/answer/columns.h"
#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "kinds/place/place.h"
#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/xy.h"
#include "study/study.h"
#include "tests/unit/table_cells.h"

/* Numbers of which nobody can say whether more or less is better: degrees, counts, ends of intervals, what is
 * given. A new column is put here or gets a direction. */
static const char *const neither[] = {
    "bw#_GBps",
    "n_dims",
    "tp",
    "cp",
    "dp",
    "pp",
    "ep",
    "micro_batch",
    "interleave",
    "zero",
    "checkpoint_s",
    "seeds",
    "gpu_h",
    "seed",
    "jobs",
    "beats_next",
    "types",
    "layers",
    "need_per_s",
    "stages",
    "most_per_s",
    "layer",
    "stage",
    "first",
    "last",
    "servers",
    "period",
    "steps",
    "diverged_step",
    "epoch",
    "accuracy_half_pct",
    "average_half_pct",
    "traffic_half_MB",
    "time_half_s",
    "accuracy_vs_base_half",
    "equal_points",
    "metric#",
    "submit",
    "start",
    "from",
    "to",
    "gpus",
    "server",
    "active",
    "reserved_GBps",
    "link_frac",
    "bound",
    "node_beta",
    "link_gamma",
    "bw_GBps",
    "load_frac",
    "used_frac",
    "peak_frac",
    "spent_share",
    "vs_base_pct",
    "vs_base_pct_ci",
    "vs_base_usd",
    "wins",
    "valiant#",
};

static bool is_neither(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(neither); i++)
        if (strcmp(neither[i], name) == 0)
            return true;
    return false;
}

TEST(every_number_says_what_is_better_or_is_known_to_be_neither)
{
    for (int32_t k = 0; k < n_study_kinds; k++)
        for (int32_t t = 0; t < study_kinds[k]->n_tables; t++)
            for (const struct column *c = study_kinds[k]->tables[t].columns; c->name; c++)
                if ((c->kind == TABLE_TEXT && c->better) ||
                    (c->kind != TABLE_TEXT && !c->better && !is_neither(c->name)))
                    fail_msg("%s of table %s of %s has direction %d", c->name, study_kinds[k]->tables[t].word,
                             study_kinds[k]->word, c->better);
}

/* What a CSV says of its units is read back: see table_unit_known(). */
TEST(every_unit_is_one_that_tables_know)
{
    struct made_column made;
    for (int32_t k = 0; k < n_study_kinds; k++) {
        for (int32_t t = 0; t < study_kinds[k]->n_tables; t++)
            for (const struct column *c = study_kinds[k]->tables[t].columns; c->name; c++)
                if (*column_unit(c) && !table_unit_known(column_unit(c)))
                    fail_msg("%s of %s is in %s", c->name, study_kinds[k]->word, column_unit(c));
        for (int32_t i = 0; study_kinds[k]->made && study_kinds[k]->made(&made, i); i++)
            if (*column_unit(&made.of) && !table_unit_known(column_unit(&made.of)))
                fail_msg("%s of %s is in %s", made.of.name, study_kinds[k]->word, column_unit(&made.of));
    }
}

TEST(names_of_made_and_repeated_columns_bring_their_title_and_unit)
{
    CASES(const char *kind, *column, *title, *unit) = {
        { "sweep", "time_p95_s", "step p95", "s" }, { "sweep", "usd_npu_h_p2.5", "owned p2.5", "USD/NPU/h" },
        { "sweep", "bw3_GBps", "dim 3", "GB/s" },   { "place", "makespan", "makespan", "slots" },
        { "place", "makespan_s", "makespan", "s" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct made_column c;
        assert_true(study_describe(&c, study_kind_called(cases[i].kind), TABLE_ROWS, cases[i].column));
        assert_string_equal(c.of.title, cases[i].title);
        assert_string_equal(column_unit(&c.of), cases[i].unit);
        assert_string_equal(c.of.name, cases[i].column);
    }
    struct made_column none;
    assert_false(study_describe(&none, study_kind_called("sweep"), TABLE_ROWS, "time_px_s"));
}

TEST(columns_that_figures_bind_are_those_of_designs)
{
    static const char *const bound[] = {
        COL_BUBBLE_S,       COL_COMPUTE_S,
        COL_COST_USD,       COL_CP_S,
        COL_DP_S,           COL_EP_S,
        COL_EQUAL_COST_USD, COL_EQUAL_TIME_S,
        COL_MEMORY_GB,      COL_N_DIMS,
        COL_NIC_GBPS,       COL_OPTIMIZER_S,
        COL_OVERHEAD_S,     COL_PERF_PER_COST_GAIN,
        COL_PP_S,           COL_RECOMPUTE_S,
        COL_TIME_S,         COL_TOTAL_GBPS,
        COL_TP_S,
    };
    for (size_t i = 0; i < COUNT_OF(bound); i++)
        if (!column_find(design_columns, bound[i]))
            fail_msg("no column is called %s", bound[i]);
}

/* What is better in a column of a kind's rows: 1 more, -1 less, 0 not known. */
static int better_of(const char *kind, const char *column)
{
    struct made_column c;
    return study_describe(&c, study_kind_called(kind), TABLE_ROWS, column) ? c.of.better : 0;
}

TEST(columns_that_are_made_for_a_study_are_as_what_they_are_of)
{
    static const struct {
        const char *kind, *column;
        int better;
    } cases[] = {
        { "sweep", "time_p95_s", -1 },   { "sweep", "cost_p5_usd", -1 },
        { "sweep", "goodput_p50", 1 },   { "sweep", "usd_per_Mtoken_p97.5", -1 },
        { "sweep", "tokens_per_s", 1 },  { "sweep", "my_p5_s", 0 },
        { "sweep", "util12", 0 },        { "sweep", "util2", 1 },
        { "place", "jct_p95_s", -1 },    { "place", "finished", 1 },
        { "place", "admitted", 1 },      { "place", "gpu_frac", 1 },
        { "place", "guarantee", 0 },     { "place", "jct_s_ci", 0 },
        { "place", "network_usd", -1 },  { "gossip", "accuracy_pct", 1 },
        { "hetero", "over_oracle", -1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (better_of(cases[i].kind, cases[i].column) != cases[i].better)
            fail_msg("%s of %s is not %d", cases[i].column, cases[i].kind, cases[i].better);
}

/* Figures of a kind's own columns say what is better for tables without a head: as the columns do. A change
 * is better or worse with what changes. */
static void assert_same_direction(const char *kind, const char *column, int better)
{
    int want = strcmp(column, "vs_base_pct") == 0 ? 0 : better;
    if (better_of(kind, column) != want)
        fail_msg("%s of %s is drawn the wrong way", column, kind);
}

TEST(figures_take_for_better_what_columns_do)
{
    int n = 0;
    for (int32_t i = 0; i < plot_n_figures; i++) {
        const struct plot_figure *f = &plot_figures[i];
        const struct fig_panels *sweep = f->look;
        const struct plot_xy *place = f->look;
        n += f->build == fig_panels || f->build == fig_outcomes;
        for (int32_t m = 0; f->build == fig_panels && m < sweep->n_metrics; m++)
            assert_same_direction("sweep", sweep->metrics[m].column,
                                  sweep->metrics[m].low_is_better ? -1 : 1);
        for (int32_t m = 0; f->build == fig_outcomes && m < 2 && place->y[m]; m++)
            assert_same_direction("place", place->y[m], (int)place->y_better[m]);
    }
    assert_int_equal(n, 8);
}

/* ---- what a study comes to ---- */

/* Rows of these statuses: what is said of them, the exit code, and that of a study of one point. */
TEST(rows_of_no_use_are_counted_and_decide_the_exit_code)
{
    CASES(const struct study_kind *kind; const char *statuses, *said; enum study_verdict verdict;
          int alone) = {
        { &gossip_kind, "", "", VERDICT_FINE, 0 },
        { &gossip_kind, "ok ok", "", VERDICT_FINE, 0 },
        { &gossip_kind, "ok diverged", "", VERDICT_FINE, 0 },
        { &gossip_kind, "error ok", "1 of 2 rows are errors; the first: row 0\n", VERDICT_FINE, 0 },
        { &gossip_kind, "diverged diverged", "all 2 rows diverged: a lower learner.rate may help\n",
          VERDICT_FINE, 0 },
        { &gossip_kind, "diverged error diverged",
          "1 of 3 rows are errors; the first: row 1\nall other 2 rows diverged: a lower learner.rate may "
          "help\n",
          VERDICT_FINE, 0 },
        { &gossip_kind, "error error", "2 of 2 rows are errors; the first: row 0\n", VERDICT_INPUT,
          ERR_RANGE },
        { &hetero_kind, "", "", VERDICT_FINE, 0 },
        { &hetero_kind, "ok error", "1 of 2 rows are errors; the first: row 1\n", VERDICT_FINE, 0 },
        { &hetero_kind, "ok infeasible", "", VERDICT_FINE, 0 },
        { &hetero_kind, "error error", "2 of 2 rows are errors; the first: row 0\n", VERDICT_INPUT, 0 },
        { &hetero_kind, "infeasible error infeasible",
          "1 of 3 rows are errors; the first: row 1\nno scheduler found a plan; s2 came closest: row 2\n",
          VERDICT_NO_DESIGN, 0 },
        { &place_kind, "", "", VERDICT_FINE, 0 },
        { &place_kind, "done done", "", VERDICT_FINE, 0 },
        { &place_kind, "done error", "1 of 2 rows are not done; the first: row 1\n", VERDICT_FINE, 0 },
        { &place_kind, "infeasible done infeasible", "2 of 3 rows are not done; the first: row 0\n",
          VERDICT_FINE, ERR_NO_DESIGN },
        { &place_kind, "infeasible error", "2 of 2 rows are not done; the first: row 0\n", VERDICT_INPUT,
          ERR_NO_DESIGN },
        { &place_kind, "error", "1 of 1 rows are not done; the first: row 0\n", VERDICT_INPUT, ERR_RANGE },
        { &place_kind, "infeasible", "1 of 1 rows are not done; the first: row 0\n", VERDICT_NO_DESIGN,
          ERR_NO_DESIGN },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct table, t, table_free) = { 0 };
        KEEP(struct text, said, text_free) = { 0 };
        char statuses[64], message[16], scheduler[16], *rest = statuses;
        struct err none = { 0 };
        put_columns(&t, "status$ message$ scheduler$ reach_per_s~ most_per_s~");
        snprintf(statuses, sizeof statuses, "%s", cases[i].statuses);
        for (char *status; (status = strtok_r(rest, " ", &rest));) {
            snprintf(message, sizeof message, "row %d", (int)t.n_rows);
            snprintf(scheduler, sizeof scheduler, "s%d", (int)t.n_rows);
            put_cells(&t, status, message, scheduler,
                      strcmp(status, "infeasible") == 0 ? (double)t.n_rows + 1 : NAN, 9.0);
        }
        const struct study_report r = { .kind = cases[i].kind, .rows = &t };
        enum study_verdict verdict = VERDICT_INPUT;
        OK(cases[i].kind->conclude(&said, &verdict, &r, e));
        assert_string_equal(text_str(&said), cases[i].said);
        assert_int_equal(verdict, cases[i].verdict);
        assert_int_equal(cases[i].kind->fail_alone(&r, &none), cases[i].alone);
        if (cases[i].alone)
            assert_string_equal(none.msg, "row 0");
    }
}
