/* What a sweep keeps of its rows against comparing every pair, in any order and after a stop. */
#include "study/keep.h"
#include "tests/unit/table_cells.h"
#include "kinds/design/explore/runner.h"
#include "study/study.h"

KEEPS(struct keep, keep_free)

/* ---- rows ---- */

static void make_columns(struct table *t)
{
    put_columns(
        t, "point# network.dims.pod.max_GBps$ network$ workload$ status$ time_s~ cost_usd~ speedup~ fits$");
    study_find_better(t, &design_kind, TABLE_ROWS);
}

struct row {
    int64_t point;
    const char *workload, *status;
    double time_s, cost_usd, speedup;
    const char *fits;
};

static void put_row(struct table *t, const struct row *r)
{
    char key[16];
    snprintf(key, sizeof key, "%d", (int)(r->point % 7));
    put_cells(t, (int)r->point, key, "net, \"4\"", r->workload, r->status, r->time_s, r->cost_usd, r->speedup,
              r->fits);
}

/* ---- reading ---- */

static int read_rule(struct keep_rule *k, const char *text, struct err *e)
{
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct yaml_doc, doc, yaml_free);
    make_columns(&columns);
    assert_ok(yaml_read_text(&doc, "s.yaml", text, strlen(text), e), e);
    return keep_read(k, &design_kind, &doc, yaml_get(&doc, doc.root, "keep"), &columns, e);
}

TEST(a_rule_is_read_with_its_defaults)
{
    struct keep_rule k;
    OK(read_rule(&k, "vary: {}\n", e));
    assert_true(keep_all(&k));
    keep_rule_free(&k);
    OK(read_rule(&k,
                 "keep:\n  front: [time_s, speedup, min:network.dims.pod.max_GBps]\n"
                 "  top: { by: cost_usd, n: 10 }\n  where: [ cost_usd - 2*time_s <= 2e6 ]\n",
                 e));
    assert_true(!keep_all(&k) && k.n_front == 3);
    assert_string_equal(k.front[1].name, "speedup");
    assert_true(k.front[1].large && !k.front[0].large && k.n_per == 1);
    assert_string_equal(k.per[0], "workload");
    assert_string_equal(k.top.name, "cost_usd");
    assert_int_equal(k.n_top, 10);
    assert_string_equal(k.where[0], "cost_usd - 2*time_s <= 2e6");
    assert_false(k.prune);
    assert_string_equal(text_str(&k.notes), "");
    keep_rule_free(&k);
}

TEST(a_column_is_better_as_its_table_says_unless_the_rule_does)
{
    static const struct {
        const char *by;
        bool large;
    } cases[] = { { "time_s", false },     { "speedup", true },    { "min:speedup", false },
                  { "max:speedup", true }, { "max:time_s", true }, { "max:point", true } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct keep_rule, k, keep_rule_free);
        char text[100];
        snprintf(text, sizeof text, "keep: { top: { by: '%s', n: 1 } }\n", cases[i].by);
        OK(read_rule(&k, text, e));
        assert_int_equal(k.top.large, cases[i].large);
    }
}

TEST(different_work_that_is_not_held_apart_is_noted)
{
    struct keep_rule k;
    OK(read_rule(&k, "keep: { front: [time_s, cost_usd], per: [network] }\n", e));
    assert_string_equal(text_str(&k.notes), ""); /* one workload */
    keep_rule_free(&k);
    OK(read_rule(&k,
                 "keep: { front: [time_s, cost_usd], per: [network] }\n"
                 "vary: { zip: [ { workloads: [ [a.yaml], [b.yaml] ] } ] }\n",
                 e));
    assert_has(text_str(&k.notes), "s.yaml:1:41: keep.per lacks workload, which varies");
    keep_rule_free(&k);
}

TEST(bad_rules_are_refused_at_their_place)
{
    static const struct refusal cases[] = {
        { "{}", ERR_PARSE, "s.yaml:1:7: keep keeps nothing; give front, top or where" },
        { "{ prune: true, where: [ time_s <= 1 ] }", ERR_RANGE, "keep.prune is true without a front" },
        { "{ prune: true, front: [time_s, cost_usd], top: { by: time_s, n: 1 } }", ERR_RANGE,
          "keep.prune is true with top, whose points may lie behind the front" },
        { "{ per: [workload], where: [ time_s <= 1 ] }", ERR_RANGE, "keep.per has no front; give front" },
        { "{ front: [time_s] }", ERR_PARSE, "keep.front has one column, expected 2 to 5" },
        { "{ front: [] }", ERR_PARSE, "keep.front is empty" },
        { "{ front: time_s }", ERR_PARSE, "keep.front" },
        { "{ front: [time_s, cost_us] }", ERR_RANGE,
          "s.yaml:1:25: keep.front[1] is \"cost_us\", expected a column of the rows; did you mean "
          "cost_usd?" },
        { "{ front: [time_s, max:network] }", ERR_RANGE,
          "is \"network\", which holds text, expected a column of numbers" },
        { "{ front: [time_s, max:time_s] }", ERR_RANGE, "is \"time_s\" for a second time" },
        { "{ front: [time_s, cost_usd, speedup, min:point, max:network.dims.pod.max_GBps, min:point] }",
          ERR_RANGE, "has more than 5 columns" },
        { "{ front: [time_s, point] }", ERR_RANGE,
          "keep.front[1] is \"point\", of which less or more may be better, expected min:point or "
          "max:point" },
        { "{ front: [time_s, cost_usd], per: [wrkload] }", ERR_RANGE,
          "keep.per[0] is \"wrkload\", expected a column of the rows; did you mean workload?" },
        { "{ top: { by: time_s } }", ERR_PARSE, "n" },
        { "{ top: { by: time_s, n: 0 } }", ERR_RANGE, "n" },
        { "{ top: { by: status, n: 3 } }", ERR_RANGE, "\"status\", which holds text" },
        { "{ where: [ tim_s <= 1 ] }", ERR_RANGE, "unknown name \"tim_s\"; did you mean \"time_s\"?" },
        { "{ where: [ workload <= 1 ] }", ERR_RANGE, "but workload holds text" },
        { "{ frnt: [time_s, cost_usd] }", ERR_PARSE, "front" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct keep_rule, k, keep_rule_free);
        char text[256];
        snprintf(text, sizeof text, "keep: %s\n", cases[i].text);
        FAILS(read_rule(&k, text, e), cases[i].code, cases[i].message);
    }
}

/* ---- survivors, as a store would hold them ---- */

enum { N_ROWS = 2000 };

struct stored {
    bool there[N_ROWS];
};

/* What keep_changes() says, done. Nothing comes twice, nothing goes that was not there. */
static void apply(struct keep *k, struct stored *s, struct err *e)
{
    KEEP(struct table, fresh, table_free);
    const int64_t *gone;
    int64_t n_gone;
    assert_ok(keep_changes(k, &fresh, &gone, &n_gone, e), e);
    for (int64_t i = 0; i < n_gone; i++) {
        assert_true(s->there[gone[i]]);
        s->there[gone[i]] = false;
    }
    for (int64_t row = 0; row < fresh.n_rows; row++) {
        int64_t point = table_cell(&fresh, row, 0)->count;
        assert_false(s->there[point]);
        assert_string_equal(table_cell(&fresh, row, 2)->text, "net, \"4\"");
        s->there[point] = true;
    }
}

static const char *const statuses[] = { "solved", "solved", "solved", "stalled", "infeasible", "error" };

static void draw_rows(struct row *rows)
{
    RNG(r, 11, 0);
    for (int64_t i = 0; i < N_ROWS; i++)
        rows[i] = (struct row){ .point = i,
                                .workload = rng_below(r, 3) ? "A" : "B",
                                .status = statuses[rng_below(r, 6)],
                                .time_s = rng_below(r, 50) ? (double)(1 + rng_below(r, 400)) : NAN,
                                .cost_usd = (double)(1 + rng_below(r, 400)),
                                .speedup = rng_range(r, 1, 2),
                                .fits = rng_below(r, 9) ? "yes" : "no" };
}

static bool counts(const struct row *a)
{
    return strcmp(a->fits, "no") != 0 &&
           (strcmp(a->status, "solved") == 0 || (strcmp(a->status, "stalled") == 0 && isfinite(a->time_s)));
}

/* Over all pairs: on the front of its workload, or among the 5 best speedups, and dear ones nowhere. */
static bool survives(const struct row *rows, const struct row *a)
{
    int better = 0;
    bool on = isfinite(a->time_s);
    if (!counts(a) || !(a->cost_usd <= 300))
        return false;
    for (int64_t i = 0; i < N_ROWS; i++) {
        const struct row *b = &rows[i];
        if (!counts(b) || !(b->cost_usd <= 300) || strcmp(a->workload, b->workload) != 0)
            continue;
        better += b->speedup > a->speedup || (b->speedup == a->speedup && b->point < a->point);
        on = on && !(b->time_s <= a->time_s && b->cost_usd <= a->cost_usd &&
                     (b->time_s < a->time_s || b->cost_usd < a->cost_usd));
    }
    return on || better < 5;
}

/* The rows rows[i * step % N_ROWS] in batches; survivors taken after every so many. */
static void offer_all(struct keep *k, const struct row *rows, int64_t step, int64_t every, struct stored *s)
{
    struct err e = { 0 };
    struct table batch = { 0 };
    make_columns(&batch);
    for (int64_t i = 0; i < N_ROWS; i++) {
        put_row(&batch, &rows[i * step % N_ROWS]);
        if ((i + 1) % 97 == 0 || i + 1 == N_ROWS) {
            assert_ok(keep_offer(k, &batch, &e), &e);
            table_free(&batch);
            make_columns(&batch);
        }
        if ((i + 1) % every == 0)
            apply(k, s, &e);
    }
    table_free(&batch);
    apply(k, s, &e);
}

#define RULE                                                                                                 \
    "keep: { front: [time_s, cost_usd], top: { by: 'max:speedup', n: 5 }, where: [cost_usd <= 300] }\n"

TEST(survivors_are_those_of_comparing_every_pair_in_any_order)
{
    static struct row rows[N_ROWS];
    static bool want[N_ROWS];
    static const int64_t steps[] = { 1, 7, 1999 }, every[] = { 1, 500, N_ROWS };
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct keep_rule, rule, keep_rule_free);
    make_columns(&columns);
    OK(read_rule(&rule, RULE, e));
    draw_rows(rows);
    for (int64_t i = 0; i < N_ROWS; i++)
        want[i] = survives(rows, &rows[i]);
    for (size_t t = 0; t < COUNT_OF(steps); t++) {
        struct stored s = { 0 };
        KEEP(struct keep *, k, keep_free_at);
        int64_t n = 0;
        OK(keep_build(&k, &rule, &columns, e));
        offer_all(k, rows, steps[t], every[t], &s);
        for (int64_t i = 0; i < N_ROWS; i++) {
            assert_int_equal(s.there[i], want[i]);
            n += s.there[i];
        }
        assert_true(n > 10);
        struct keep_counts c = keep_counts_of(k);
        assert_true(c.seen == N_ROWS && c.no_design > 0 && c.beyond > 0 && c.blank > 0);
        assert_int_equal(keep_fronts(k)->n, 2);
        assert_non_null(front_of(keep_fronts(k), "A"));
    }
}

/* A store leaves out columns that are blank, and has the survivors of the run before. */
TEST(a_resumed_run_ends_with_the_same_survivors)
{
    static struct row rows[N_ROWS];
    KEEP(struct table, held, table_free) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    struct stored whole = { 0 }, s = { 0 };
    KEEP(struct keep_rule, rule, keep_rule_free);
    struct keep *k;
    make_columns(&columns);
    OK(read_rule(&rule, RULE, e));
    draw_rows(rows);
    OK(keep_build(&k, &rule, &columns, e));
    offer_all(k, rows, 1, N_ROWS, &whole);
    keep_free(k);
    /* What a first run stored: with other columns, in another order. */
    put_columns(&held, "status$ point# workload$ network$ cost_usd~ time_s~ speedup~");
    for (int64_t i = 0; i < N_ROWS; i++)
        if (whole.there[i] && i % 2)
            put_cells(&held, rows[i].status, (int)i, rows[i].workload, "net, \"4\"", rows[i].cost_usd,
                      rows[i].time_s, rows[i].speedup);
    OK(keep_build(&k, &rule, &columns, e));
    OK(keep_offer(k, &held, e));
    offer_all(k, rows, 7, 900, &s);
    assert_memory_equal(&s, &whole, sizeof s);
    keep_free(k);
}

/* Each of most rows is beaten by the next, which leaves more dead ones than are kept; a few hold their own.
 */
TEST(of_rows_that_beat_each_other_the_last_survives)
{
    static struct row rows[N_ROWS];
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct keep_rule, rule, keep_rule_free);
    make_columns(&columns);
    OK(read_rule(&rule, "keep: { front: [time_s, cost_usd] }\n", e));
    for (int64_t i = 0; i < N_ROWS; i++) {
        bool stays = i % 201 == 7;
        double x = (double)i;
        rows[i] =
            (struct row){ i, "A", "solved", stays ? 1 + x : 1e4 - x, stays ? 3e6 - x : 2e6 - x, 1.5, "yes" };
    }
    for (int64_t every = 700; every <= N_ROWS; every += N_ROWS - 700) {
        struct stored s = { 0 };
        KEEP(struct keep *, k, keep_free_at);
        OK(keep_build(&k, &rule, &columns, e));
        offer_all(k, rows, 1, every, &s);
        for (int64_t i = 0; i < N_ROWS; i++)
            assert_int_equal(s.there[i], i % 201 == 7 || i == N_ROWS - 1);
    }
}

TEST(limits_alone_keep_all_designs_within)
{
    static struct row rows[N_ROWS];
    KEEP(struct table, columns, table_free) = { 0 };
    struct stored s = { 0 };
    KEEP(struct keep_rule, rule, keep_rule_free);
    KEEP(struct keep *, k, keep_free_at);
    make_columns(&columns);
    draw_rows(rows);
    OK(read_rule(&rule, "keep: { where: [ cost_usd + 10*time_s >= 100, network.dims.pod.max_GBps <= 3 ] }\n",
                 e));
    OK(keep_build(&k, &rule, &columns, e));
    offer_all(k, rows, 1, 100, &s);
    for (int64_t i = 0; i < N_ROWS; i++)
        assert_int_equal(s.there[i],
                         counts(&rows[i]) && i % 7 <= 3 && rows[i].cost_usd + 10 * rows[i].time_s >= 100);
}

/* 0.1 + 0.2 is no more than 0.3 where the other side is a column too and nothing is left on the right. */
TEST(limits_between_columns_hold_as_written)
{
    CASES(const char *rule; bool holds) = {
        { "keep: { where: [ time_s + speedup - cost_usd <= 0 ] }\n", true },
        { "keep: { where: [ time_s + speedup - cost_usd >= 0 ] }\n", true },
        { "keep: { where: [ 1.001*time_s + speedup - cost_usd <= 0 ] }\n", false },
    };
    const struct row row = { 5, "A", "solved", 0.1, 0.3, 0.2, "yes" };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct table, t, table_free) = { 0 };
        KEEP(struct keep_rule, rule, keep_rule_free);
        KEEP(struct keep *, k, keep_free_at);
        make_columns(&t);
        put_row(&t, &row);
        OK(read_rule(&rule, cases[i].rule, e));
        OK(keep_build(&k, &rule, &t, e));
        assert_int_equal(keep_is_within(k, &t, 0), cases[i].holds);
    }
}

TEST(groups_are_the_values_that_rows_have_in_common)
{
    const struct row row = { 5, "A", "solved", 1, 2, 1.5, "yes" };
    KEEP(struct table, t, table_free) = { 0 };
    KEEP(struct text, group, text_free) = { 0 };
    KEEP(struct keep_rule, rule, keep_rule_free);
    KEEP(struct keep *, k, keep_free_at);
    double x[2];
    make_columns(&t);
    put_row(&t, &row);
    OK(read_rule(&rule, "keep: { front: [time_s, max:speedup], per: [workload, cost_usd, point] }\n", e));
    OK(keep_build(&k, &rule, &t, e));
    OK(keep_group(&group, k, &t, 0, e));
    assert_string_equal(text_str(&group), "A\n2\n5");
    keep_values(x, k, &t, 0);
    assert_close(x[0], 1.0, 0);
    assert_close(x[1], -1.5, 0);
}

TEST(points_that_are_no_whole_numbers_are_refused)
{
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct keep_rule, rule, keep_rule_free);
    KEEP(struct keep *, k, keep_free_at) = NULL;
    OK(read_rule(&rule, "keep: { top: { by: time_s, n: 1 } }\n", e));
    put_columns(&columns, "point$ workload$ time_s~");
    FAILS(keep_build(&k, &rule, &columns, e), ERR_PARSE, "column point: holds no whole numbers");
}
