/*
 * A study from start to end: what follows from its file alone (columns, units, rule of `keep`), its store,
 * what is left to run, the writer that takes what threads and ranks bring, and how long all of it may take.
 *
 * Two passes where points are pruned: a sample is solved first, and the rest is held against its front. A
 * unit belongs to one pass, and is done in both: the store counts 2 n units, those of the second pass n
 * later, so that resuming knows which pass it is in. Pruning drops points that are proved to be dominated by
 * a row that is kept, so the front is the same whatever the sample was; only the counts of points tried and
 * bounded depend on it.
 *
 * Commits are timed, not counted: COMMIT_S bounds what a kill loses whatever a point costs, and keeps the
 * share of time that goes into transactions small where points take microseconds.
 */
#include "study/campaign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "study/axes.h"
#include "study/pack.h"
#include "study/study.h"

/* ---- units ---- */

static int campaign_cut(struct campaign_plan *p, const struct study *study, struct err *e)
{
    const struct block_ops *blocks = study->kind->blocks;
    const struct block_job largest = { .study = study, .order = &p->order, .rule = &p->rule };
    int64_t most;
    if (!blocks) {
        /* No overflow: sweep_check_seeds() has bounded the product. */
        p->order.n_units = study->sweep.n_points * study->seeds;
        return 0;
    }
    /* First with the largest blocks, to ask the kind how many points fit into memory; then as many as it
     * says. */
    int rc = units_build(&p->order, &study->sweep, blocks->largest, blocks->quick, e);
    if (rc)
        return rc;
    rc = blocks->most(&most, &largest, e);
    units_free(&p->order);
    return rc ? rc : units_build(&p->order, &study->sweep, most, blocks->quick, e);
}

/* ---- the study's own file ---- */

/* From the file as it stands with its overrides, before any file is put in: `keep` names columns alone. */
static int read_rule(struct campaign_plan *p, const struct study *study, struct err *e)
{
    struct yaml_doc doc;
    int32_t own_source;
    int rc = source_open(&doc, &own_source, &study->from, e);
    if (rc)
        return rc;
    yaml_id keep = yaml_get(&doc, doc.root, "keep");
    rc = keep_read(&p->rule, study->kind, &doc, keep, &p->columns, e);
    if (!rc && keep >= 0)
        sweep_put_yaml(&p->keep, &doc, keep, false);
    yaml_free(&doc);
    return rc ? rc : text_check(&p->keep, e);
}

/* For people who find the store years later: the study as written, and what the command line changed. */
static int campaign_read_text(struct campaign_plan *p, const struct study_source *from, struct err *e)
{
    int rc = source_rules.is_word(from->path) ? 0 : text_read_file(&p->study, from->path, YAML_MAX_BYTES, e);
    for (int32_t i = 0; i < from->n && !rc; i++)
        text_printf(&p->study, "# --set %s=%s\n", from->overrides[i].path, from->overrides[i].value);
    return rc ? rc : text_check(&p->study, e);
}

int campaign_plan_make(struct campaign_plan *p, const struct study *study, bool all, struct err *e)
{
    const struct study_source *from = &study->from;
    *p = (struct campaign_plan){ .rule = { .kind = study->kind } };
    study_put_columns(&p->columns, study, TABLE_ROWS);
    int rc = p->columns.failed ? err_nomem(e, "columns") : 0;
    if (!rc && !all)
        rc = read_rule(p, study, e);
    if (!rc)
        rc = campaign_read_text(p, from, e);
    if (!rc)
        rc = campaign_cut(p, study, e);
    p->passes = p->rule.prune ? 2 : 1;
    if (!rc && p->order.n_units > INT64_MAX / p->passes)
        rc = err_set(e, ERR_RANGE, "%s: keep.prune: sweep has %lld units of points, expected at most %lld",
                     from->path, (long long)p->order.n_units, (long long)(INT64_MAX / p->passes));
    if (rc)
        campaign_plan_free(p);
    return rc;
}

void campaign_plan_free(struct campaign_plan *p)
{
    keep_rule_free(&p->rule);
    units_free(&p->order);
    table_free(&p->columns);
    text_free(&p->study);
    text_free(&p->keep);
    *p = (struct campaign_plan){ 0 };
}

/* Rows that were not committed are run again after a kill: at most so much work. */
#define COMMIT_S 0.2

/* ---- rows taken in ---- */

/* What the writer knows besides the campaign. On the first rank; fleet calls it from one thread at a time, so
 * nothing here is locked. */
struct writer {
    struct campaign *c;
    int32_t pass;
    int32_t time;       /* column */
    double committed_s; /* when */
    bool spoiled;       /* a batch was taken in by half: what was not committed yet must not be */
};

static int put_rows(struct campaign *c, const struct table *rows, struct err *e)
{
    return c->runs ? study_put_rows(study_runs_form(c->runs), c->store, rows, e)
                   : store_put(c->store, STORE_RESULTS, rows, e);
}

/* The store follows the survivors: it never holds a row that a kept one beats, at any commit. */
static int write_kept(struct campaign *c, struct err *e)
{
    struct table fresh;
    const int64_t *gone;
    int64_t n_gone;
    int rc = keep_changes(c->keep, &fresh, &gone, &n_gone, e);
    /* Before what is new: a row that came and went since the last commit never reaches the store. */
    for (int64_t i = 0; i < n_gone && !rc; i++)
        rc = store_drop(c->store, gone[i], e);
    if (!rc && fresh.n_rows)
        rc = put_rows(c, &fresh, e);
    if (!rc)
        c->state.kept += fresh.n_rows - n_gone;
    table_free(&fresh);
    return rc;
}

static int commit(struct writer *w, struct err *e)
{
    struct campaign *c = w->c;
    int rc = c->keep ? write_kept(c, e) : 0;
    if (!rc)
        rc = store_commit(c->store, &c->done, &c->own, e);
    /* Also after a failure: the next batch is not to try at once. */
    w->committed_s = clock_now_s();
    return rc;
}

/* -1: rows have none. */
static int32_t time_column(const struct table *rows, const struct study_kind *kind)
{
    return kind->time ? table_find(rows, kind->time) : -1;
}

static void campaign_note_failed(struct campaign_state *state, const struct table *rows, int64_t row,
                                 bool by_id)
{
    /* Rows of kinds with runs have their id in place of the point. */
    int64_t point = table_count(rows, row, 0) >> (by_id ? STORE_ROW_BITS : 0);
    const char *status = table_text(rows, row, table_find(rows, "status"));
    const char *message = table_text(rows, row, table_find(rows, "message"));
    /* The least point, not the first to arrive: what is said does not depend on threads. */
    if (state->failed_point >= 0 && state->failed_point < point)
        return;
    state->failed_point = point;
    text_clear(&state->why);
    text_printf(&state->why, "%s%s%s", status ? status : "", message ? ": " : "", message ? message : "");
}

static void note_rows(struct writer *w, const struct table *rows, int64_t failed)
{
    struct campaign_state *state = &w->c->state;
    for (int64_t row = 0; row < rows->n_rows; row++) {
        double time_s = w->time < 0 ? (double)NAN : table_number(rows, row, w->time);
        if (isfinite(time_s) && !(time_s >= state->best_s))
            state->best_s = time_s;
        if (failed && !isfinite(time_s))
            campaign_note_failed(state, rows, row, w->c->runs != NULL);
    }
}

/* Rows and the units that they are of go into one transaction, or neither does. */
static int put_batch(struct writer *w, const struct fleet_batch *batch, struct err *e)
{
    struct campaign *c = w->c;
    int rc =
        c->keep ? keep_offer(c->keep, &batch->rows, e) : store_put(c->store, STORE_RESULTS, &batch->rows, e);
    if (!rc)
        rc = spans_add(&c->done, w->pass * c->plan.order.n_units + batch->units.first, batch->units.n, e);
    if (!rc)
        sweep_count_add(&c->own, &batch->counts);
    return rc;
}

static bool is_noted(const void *data, const struct table *t, int64_t row)
{
    const int64_t *noted = data;
    (void)t;
    return row == noted[0] || row == noted[1];
}

/* Of rows that are stored here the first rank hears of two: the fastest, and the first without a design. */
static void leave_noted(const struct writer *w, struct table *rows, int64_t failed)
{
    int64_t best = -1, worst = -1;
    for (int64_t row = 0; row < rows->n_rows; row++) {
        double time_s = w->time < 0 ? (double)NAN : table_number(rows, row, w->time);
        bool solved = isfinite(time_s);
        if (solved && (best < 0 || time_s < table_number(rows, best, w->time)))
            best = row;
        if (!solved && failed && (worst < 0 || table_count(rows, row, 0) < table_count(rows, worst, 0)))
            worst = row;
    }
    table_keep_rows(rows, is_noted, (int64_t[]){ best, worst });
}

/* Rows of blocks; of another rank's store those that it leaves to be noted. */
static int take_blocks(struct writer *w, struct fleet_batch *batch, struct err *e)
{
    struct campaign *c = w->c;
    int rc = batch->away ? 0 : put_batch(w, batch, e);
    if (rc)
        return rc;
    if (fleet_rank() > 0) {
        leave_noted(w, &batch->rows, batch->counts.failed);
        return 0;
    }
    sweep_count_add(&c->state.done, &batch->counts);
    /* Survivors are counted when they are written. */
    c->state.kept += c->keep ? 0 : batch->counts.solved;
    c->state.n_done += batch->units.n;
    note_rows(w, &batch->rows, batch->counts.failed);
    return 0;
}

/* Rows of points that are whole with @p n_units more units. */
static int take_rows(struct writer *w, const struct table *rows, const struct sweep_counts *n,
                     int64_t n_units, struct err *e)
{
    struct campaign *c = w->c;
    int rc = c->keep ? keep_offer(c->keep, rows, e) : put_rows(c, rows, e);
    if (rc)
        return rc;
    sweep_count_add(&c->state.done, n);
    sweep_count_add(&c->own, n);
    c->state.kept += c->keep ? 0 : rows->n_rows;
    c->state.n_done += n_units;
    note_rows(w, rows, n->failed);
    return 0;
}

/* Results of runs, of which rows follow where a point is whole. */
static int take_runs(struct writer *w, struct fleet_batch *batch, struct err *e)
{
    struct campaign *c = w->c;
    struct table rows = { 0 };
    struct sweep_counts n = { 0 };
    int rc = study_take(study_runs_form(c->runs), c->store, batch, &c->done, &rows, &n, e);
    if (!rc)
        rc = take_rows(w, &rows, &n, batch->rows.n_rows, e);
    table_free(&rows);
    return rc;
}

/* A fleet_take. */
static int campaign_take(void *data, struct fleet_batch *batch, struct err *e)
{
    struct writer *w = data;
    int rc = w->c->runs ? take_runs(w, batch, e) : take_blocks(w, batch, e);
    if (!rc && clock_now_s() - w->committed_s >= COMMIT_S)
        rc = commit(w, e);
    w->spoiled = w->spoiled || rc;
    return rc;
}

/* A fleet_progress. */
static bool campaign_report(void *data, const struct sweep_counts *done)
{
    const struct campaign *c = data;
    (void)done; /* the state counts earlier runs too */
    return !c->ask->progress || c->ask->progress(c->ask->context, &c->state);
}

/* ---- units run ---- */

/* What all threads share in a pass. */
struct campaign_pass {
    const struct campaign *c;
    struct block_job job;
    int32_t number;
};

struct campaign_worker {
    const struct campaign_pass *pass;
    const struct block_ops *blocks;
    void *hand;
};

static int build_hand(void **out, void *data, struct err *e)
{
    const struct campaign_pass *p = data;
    struct campaign_worker *h = calloc(1, sizeof *h);
    if (!h)
        return err_nomem(e, "a thread");
    h->pass = p;
    h->blocks = p->job.study->kind->blocks;
    int rc = h->blocks->hand(&h->hand, &p->job, e);
    if (rc)
        free(h);
    else
        *out = h;
    return rc;
}

static void free_hand(void *hand)
{
    struct campaign_worker *h = hand;
    h->blocks->hand_free(h->hand);
    free(h);
}

/* Of two passes the first has the sample, the second the rest. */
static bool is_due(const struct campaign_pass *p, int64_t unit)
{
    return p->c->plan.passes == 1 || units_in_sample(unit) == (p->number == 0);
}

static int run_units(void *hand, struct span units, struct table *rows, struct sweep_counts *n, struct err *e)
{
    struct campaign_worker *h = hand;
    int rc = 0;
    for (int64_t u = units.first; u < units.first + units.n && !rc; u++) {
        struct sweep_unit unit;
        if (!is_due(h->pass, u))
            continue;
        units_find(&unit, h->pass->job.order, u);
        rc = h->blocks->block(h->hand, &unit, rows, n, e);
    }
    return rc;
}

static void put_columns(struct table *t, void *data)
{
    const struct campaign_pass *p = data;
    study_put_columns(t, p->job.study, TABLE_ROWS);
}

/* ---- shares ---- */

/* Shard i of n: the units between i-1 and i nths of all. */
static struct span share_of(const struct campaign_ask *ask, int64_t n_units)
{
    int64_t whole = n_units / ask->n_shards, rest = n_units % ask->n_shards, i = ask->shard - 1;
    /* The first `rest` shards have one unit more. */
    int64_t first = whole * i + (i < rest ? i : rest);
    return (struct span){ first, whole + (i < rest) };
}

static int64_t points_of(const struct units *o, const struct study *s, struct span units)
{
    if (!s->kind->blocks) {
        /* Those whose units are all there, and those of their base: none where the share lies within one. */
        int64_t first = (units.first + s->seeds - 1) / s->seeds, end = (units.first + units.n) / s->seeds;
        int64_t n = end > first ? end - first : 0;
        bool cut = s->base_at && n < s->sweep.n_points;
        for (int64_t point = first; point < end && cut; point++)
            n -= study_base(s, point) < first || study_base(s, point) >= end;
        return n;
    }
    return units_points_below(o, units.first + units.n) - units_points_below(o, units.first);
}

/* ---- opening ---- */

/* Of rows that are in the store already. */
/* What keep_changes() tells is in the store already: it is dropped. */
static int forget_changes(struct keep *k, struct err *e)
{
    struct table fresh;
    const int64_t *gone;
    int64_t n_gone;
    int rc = keep_changes(k, &fresh, &gone, &n_gone, e);
    table_free(&fresh);
    return rc;
}

/* What survived in earlier runs is a survivor until something better comes. */
static int offer_stored(struct campaign *c, struct err *e)
{
    enum { AT_A_TIME = 4096 };
    struct table rows = { 0 };
    /* Raw: the columns of keep_build(), hidden ones too. */
    struct store_walk walk = store_walk_all(STORE_RESULTS, true);
    int rc = 0;
    do {
        rc = c->runs ? study_next_rows(study_runs_form(c->runs), c->store, &walk, &rows, e)
                     : store_next(c->store, &walk, AT_A_TIME, &rows, e);
        if (!rc && rows.n_rows) {
            c->state.kept += rows.n_rows;
            rc = keep_offer(c->keep, &rows, e);
        }
        if (!rc)
            rc = forget_changes(c->keep, e);
    } while (!rc && rows.n_rows);
    table_free(&rows);
    return rc;
}

/* What the other files of the store have, on the first rank; one that is not there has nothing. */
static int look_beside(struct campaign *c, struct err *e)
{
    const struct store_head *head = store_head_of(c->store);
    struct text path = { 0 };
    int rc = 0;
    for (int32_t k = 1; k < head->n_files && !rc; k++) {
        struct store *s = NULL;
        text_clear(&path);
        store_beside(&path, c->ask->store, k);
        if (text_check(&path, e))
            rc = e->code;
        else if (access(text_str(&path), F_OK) == 0)
            rc = store_peek(&s, text_str(&path), e);
        if (!s)
            continue;
        if (store_head_of(s)->study_hash != head->study_hash || store_head_of(s)->n_units != head->n_units)
            rc = err_set(e, ERR_PARSE, "%s: is of another study than %s", text_str(&path), c->ask->store);
        const struct spans *done = store_done_of(s);
        for (int64_t i = 0; i < done->n && !rc; i++)
            rc = spans_add(&c->elsewhere, done->spans[i].first, done->spans[i].n, e);
        const struct sweep_counts counts = store_counts_of(s);
        sweep_count_add(&c->state.done, &counts);
        store_close(s);
    }
    text_free(&path);
    return rc;
}

/* Where all rows are kept each rank writes its own: one writer is not enough for many. */
static bool writes_apart(const struct campaign *c)
{
    return fleet_ranks() > 1 && c->ask->store && !c->keep && !c->runs && c->plan.passes == 1;
}

/* A rank's own file, or the only one. */
static int open_own_file(struct campaign *c, const struct store_head *head, const struct store_form *form,
                         struct err *e)
{
    struct text path = { 0 };
    int rc = 0;
    if (fleet_rank() > 0)
        store_beside(&path, c->ask->store, fleet_rank());
    rc = text_check(&path, e);
    if (!rc)
        rc = store_open(&c->store, fleet_rank() > 0 ? text_str(&path) : c->ask->store, head, form, &c->done,
                        &c->own, e);
    text_free(&path);
    c->state.done = c->own;
    if (!rc && fleet_rank() == 0)
        rc = look_beside(c, e);
    return rc;
}

static int open_store(struct campaign *c, struct err *e)
{
    const struct campaign_ask *ask = c->ask;
    const struct store_head head = { .study_hash = ask->study->hash,
                                     .seed = ask->study->seed,
                                     .n_points = ask->study->sweep.n_points,
                                     .n_units = c->plan.passes * c->plan.order.n_units,
                                     .command = ask->command,
                                     .version = ask->version,
                                     .study = text_str(&c->plan.study),
                                     .keep = c->keep ? text_str(&c->plan.keep) : NULL,
                                     .shard = ask->shard,
                                     .n_shards = ask->n_shards,
                                     .kind = c->runs ? ask->study->kind->word : NULL,
                                     .name = text_str(&ask->study->name),
                                     .seeds = ask->study->seeds,
                                     .n_axes = ask->study->sweep.n_keys };
    const char **parts = study_parts(ask->study, TABLE_ROWS);
    const struct store_table_form table = { "points", &c->plan.columns, 1, parts };
    int rc =
        parts
            ? open_own_file(c, &head,
                            c->runs ? &study_runs_form(c->runs)->form : &(struct store_form){ &table, 1 }, e)
            : err_nomem(e, "columns of a sweep");
    free(parts);
    if (rc)
        return rc;
    /* A store without any unit done is as good as new, whoever made it. */
    c->resumed = c->done.n > 0 || c->elsewhere.n > 0;
    c->state.before = c->state.done.seen;
    c->state.n_done = spans_count(&c->done, head.n_units) + spans_count(&c->elsewhere, head.n_units);
    if (!c->keep)
        c->state.kept = c->state.done.solved;
    return c->keep ? offer_stored(c, e) : 0;
}

/* Ranks other than the first know what is to be done by the queue alone. */
int campaign_open(struct campaign *c, const struct campaign_ask *ask, struct err *e)
{
    *c = (struct campaign){ .ask = ask, .state = { .best_s = NAN, .failed_point = -1 } };
    int rc = campaign_plan_make(&c->plan, ask->study, ask->all, e);
    if (!rc && ask->study->resolves && ask->n_shards > 1)
        rc = err_set(e, ERR_RANGE,
                     "%s: resolve_pct looks at all points after each round of seeds, a shard has "
                     "some; leave one of them out",
                     ask->study->from.path);
    if (!rc)
        c->state.n_units = c->plan.passes * share_of(ask, c->plan.order.n_units).n;
    if (!rc)
        c->state.n_points = points_of(&c->plan.order, ask->study, share_of(ask, c->plan.order.n_units));
    if (!rc && !keep_all(&c->plan.rule))
        rc = keep_build(&c->keep, &c->plan.rule, &c->plan.columns, e);
    if (!rc && !ask->study->kind->blocks)
        rc = study_runs_build(&c->runs, ask->study, ask->threads, e);
    c->apart_ranks = !rc && writes_apart(c);
    if (!rc && fleet_rank() == 0)
        rc = open_store(c, e);
    if (rc)
        campaign_close(c);
    return rc;
}

void campaign_close(struct campaign *c)
{
    study_runs_free(c->runs);
    store_close(c->store);
    keep_free(c->keep);
    front_set_free(&c->known);
    spans_free(&c->done);
    spans_free(&c->elsewhere);
    campaign_plan_free(&c->plan);
    text_free(&c->state.why);
    *c = (struct campaign){ .ask = c->ask };
}

/* ---- running ---- */

/* The done units of one pass, by their numbers in it. */
static int done_in_pass(struct spans *out, const struct campaign *c, int32_t pass, struct err *e)
{
    int64_t first = pass * c->plan.order.n_units, end = first + c->plan.order.n_units;
    int rc = 0;
    *out = (struct spans){ 0 };
    for (int64_t i = 0; i < c->done.n && !rc; i++) {
        int64_t from = c->done.spans[i].first, to = from + c->done.spans[i].n;
        from = from > first ? from : first;
        to = to < end ? to : end;
        if (from < to)
            rc = spans_add(out, from - first, to - from, e);
    }
    return rc;
}

/* In a round of a study that adds seeds: units of later seeds are not for it. */
static int leave_for_later(struct spans *done, const struct study *s, int64_t seeds, struct err *e)
{
    int rc = 0;
    for (int64_t point = 0; point < s->sweep.n_points && seeds < s->seeds && !rc; point++)
        rc = spans_add(done, point * s->seeds + seeds, s->seeds - seeds, e);
    return rc;
}

/* Those in other files too. */
static int add_elsewhere(struct spans *done, const struct campaign *c, struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < c->elsewhere.n && !rc; i++)
        rc = spans_add(done, c->elsewhere.spans[i].first, c->elsewhere.spans[i].n, e);
    return rc;
}

static int run_pass(struct campaign *c, struct writer *w, int64_t seeds, struct err *e)
{
    struct campaign_pass pass = { .c = c,
                                  .job = { .study = c->ask->study,
                                           .order = &c->plan.order,
                                           .rule = &c->plan.rule,
                                           .known = w->pass ? &c->known : NULL },
                                  .number = w->pass };
    struct fleet_work work = { .n_units = c->plan.order.n_units,
                               .build = build_hand,
                               .free = free_hand,
                               .run = run_units,
                               .columns = put_columns,
                               .data = &pass };
    struct spans done;
    int rc = done_in_pass(&done, c, w->pass, e);
    if (!rc)
        rc = add_elsewhere(&done, c, e);
    if (c->runs)
        work = study_runs_work(c->runs);
    if (!rc && c->runs && fleet_rank() == 0)
        rc = leave_for_later(&done, c->ask->study, seeds, e);
    struct fleet_run run = { .work = &work,
                             .done = &done,
                             .share = share_of(c->ask, c->plan.order.n_units),
                             .threads = c->ask->threads,
                             .apart = c->apart_ranks,
                             .take = campaign_take,
                             .take_data = w,
                             .progress = campaign_report,
                             .progress_data = c };
    if (!rc)
        rc = fleet_run(&run, e);
    c->interrupted = run.stopped;
    spans_free(&done);
    return rc;
}

/* After a failure what was done is stored all the same, unless storing is what failed: a unit that is said to
 * be done has all its rows. What can be read then is as of the last commit. */
static int campaign_finish(struct writer *w, int failed, struct err *e)
{
    struct campaign *c = w->c;
    struct err second = { 0 };
    if (!c->store)
        return failed;
    if (w->spoiled)
        store_roll_back(c->store);
    /* The first failure is the one that is told. */
    int rc = w->spoiled ? 0 : commit(w, failed ? &second : e);
    if (!rc && !w->spoiled)
        rc = store_fold(&c->apart, c->store, failed ? &second : e);
    /* A signal that came after the last unit interrupts nothing. */
    int64_t n_done = c->runs ? spans_count(&c->done, INT64_MAX) : c->state.n_done;
    if (fleet_rank() == 0 && n_done == c->state.n_units)
        c->interrupted = false;
    c->complete = !failed && !rc && !c->interrupted;
    return failed ? failed : rc;
}

int campaign_gather(struct campaign *c, struct err *e)
{
    const char *path = c->ask->store;
    if (!path || store_head_of(c->store)->n_files < 2)
        return 0;
    store_close(c->store);
    return store_read_together(&c->store, &path, 1, e);
}

/* The fronts so far, to all ranks. */
static int share_known(struct campaign *c, struct err *e)
{
    int rc = c->keep ? keep_sort_fronts(c->keep, e) : 0;
    return rc ? rc : campaign_share_front(&c->known, c->keep ? keep_fronts(c->keep) : NULL, e);
}

/* After a round: the points that need no more seeds are done, and their rows go to the store. */
static int settle(struct writer *w, int64_t seeds, struct err *e)
{
    struct campaign *c = w->c;
    struct table rows = { 0 };
    struct sweep_counts n = { 0 };
    int64_t n_units = 0;
    int rc = study_settle(study_runs_form(c->runs), c->store, seeds, &c->done, &rows, &n, &n_units, e);
    if (!rc)
        rc = take_rows(w, &rows, &n, n_units, e);
    w->spoiled = w->spoiled || rc;
    table_free(&rows);
    return rc;
}

/*
 * Rounds of all points with the first 8 seeds, then twice as many and so on: who needs more is decided
 * between rounds, from the store, so that neither threads nor ranks nor stops change what is run.
 */
static int run_rounds(struct campaign *c, struct writer *w, struct err *e)
{
    enum { FIRST_SEEDS = 8 };
    int64_t all = c->ask->study->seeds, seeds = 0;
    int rc = 0;
    while (seeds < all && !rc && !c->interrupted) {
        seeds = !c->ask->study->resolves ? all : seeds ? 2 * seeds : FIRST_SEEDS;
        seeds = seeds < all ? seeds : all;
        rc = run_pass(c, w, seeds, e);
        if (!rc && !c->interrupted && seeds < all && fleet_rank() == 0)
            rc = settle(w, seeds, e);
        rc = fleet_agree(rc, e);
    }
    return rc;
}

/*
 * The first rank opened the store, and has read what files of ranks there were, before any rank makes its
 * own. That there is one of each is written when there is.
 */
static int open_apart(struct campaign *c, struct err *e)
{
    int rc = fleet_agree(fleet_rank() > 0 ? open_store(c, e) : 0, e);
    if (!rc && fleet_rank() == 0 && store_head_of(c->store)->n_files < fleet_ranks())
        rc = store_set_files(c->store, fleet_ranks(), e);
    return fleet_agree(rc, e);
}

int campaign_run(struct campaign *c, struct err *e)
{
    struct writer w = { .c = c,
                        .time = time_column(&c->plan.columns, c->ask->study->kind),
                        .committed_s = clock_now_s() };
    int rc = c->apart_ranks ? open_apart(c, e) : 0;
    if (c->runs)
        rc = study_runs_resume(c->runs, c->store, &c->done, e);
    for (w.pass = 0; w.pass < c->plan.passes && !rc && !c->interrupted; w.pass++) {
        /*
         * The second pass needs the whole sample's front: fleet_run() has waited for all units of the first.
         */
        if (w.pass > 0)
            rc = share_known(c, e);
        if (!rc)
            rc = run_rounds(c, &w, e);
    }
    rc = campaign_finish(&w, rc, e);
    return c->apart_ranks ? fleet_agree(rc, e) : rc;
}

/* ---- all at once ---- */

static int campaign_read_rows(struct table *out, struct store *s, const struct study_kind *kind,
                              struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    int rc = study_trim_store(s, kind, false, e);
    return rc ? rc : store_next(s, &walk, INT64_MAX, out, e);
}

/* Extra tables that were recorded, and what is to be told. */
static int read_extras(struct table *const *extras, struct text *notes, struct store *s,
                       const struct study *study, struct err *e)
{
    const struct study_kind *kind = study->kind;
    int rc = 0;
    for (int32_t i = TABLE_RUNS; i < kind->n_tables && extras && !rc; i++)
        if (extras[i])
            rc = study_read_table(extras[i], s, kind, kind->tables[i].word, e);
    return rc || !notes ? rc : study_read_notes(notes, s, kind, e);
}

int campaign_tables(struct table *out, struct table *const *extras, struct text *notes,
                    const struct study *study, int32_t threads, struct err *e)
{
    struct study wants = *study; /* borrowed as a whole, but for what is recorded */
    const struct campaign_ask ask = { .study = &wants,
                                      .all = true,
                                      .shard = 1,
                                      .n_shards = 1,
                                      .threads = threads,
                                      .command = "",
                                      .version = "" };
    struct campaign c;
    for (int32_t i = TABLE_RUNS; i < study->kind->n_tables && extras; i++)
        wants.wanted |= (extras[i] ? UINT32_C(1) : 0) << i;
    int rc = campaign_open(&c, &ask, e);
    if (!rc)
        rc = campaign_run(&c, e);
    if (!rc)
        rc = campaign_read_rows(out, c.store, study->kind, e);
    if (!rc && !study->kind->blocks)
        rc = read_extras(extras, notes, c.store, study, e);
    campaign_close(&c);
    return rc;
}

int campaign_rows(struct table *out, const struct study *study, int32_t threads, struct err *e)
{
    return campaign_tables(out, NULL, NULL, study, threads, e);
}

/*
 * How long a sweep will take, by some of its points.
 */

/* Pairs of neighbours, which share what was read as most points of a sweep do, spread over all. @p n, at most
 * all units, are all different. */
static int64_t pick(const struct units *o, int64_t i, int64_t n)
{
    int64_t pair = i - i % 2;
    return o->n_units / n * pair + o->n_units % n * pair / n + i % 2;
}

/* The first row that has no design, unless one is known. */
static void campaign_measure_note_failed(struct campaign_pace *pace, const struct study_kind *kind,
                                         const struct table *rows)
{
    int32_t status = table_find(rows, "status"), time = time_column(rows, kind);
    for (int64_t row = 0; row < rows->n_rows && !pace->why[0]; row++) {
        const char *word = table_text(rows, row, status);
        const char *message = table_text(rows, row, table_find(rows, "message"));
        if (word && isnan(table_number(rows, row, time)))
            snprintf(pace->why, sizeof pace->why, "%s%s%.450s", word, message ? ": " : "",
                     message ? message : "");
    }
}

struct campaign_trial {
    const struct campaign_plan *plan;
    struct block_job job;
    struct campaign_pace *pace;
    double pass_s; /* to be spent on a pass, or so */
};

/* Points of up to 256 units, till pass_s are spent; *spent_s is what they took. */
static int run_some(double *spent_s, struct sweep_counts *n, struct campaign_trial *t, void *hand,
                    struct keep *keep, struct err *e)
{
    enum { SPREAD = 256 };
    const struct units *o = &t->plan->order;
    const struct block_ops *blocks = t->job.study->kind->blocks;
    int64_t units = o->n_units < SPREAD ? o->n_units : SPREAD;
    int rc = 0;
    for (int64_t i = 0; i < units && !rc && *spent_s < t->pass_s; i++) {
        struct table rows = { 0 };
        double start_s = clock_now_s();
        struct sweep_unit unit;
        study_put_columns(&rows, t->job.study, TABLE_ROWS);
        units_find(&unit, o, pick(o, i, units));
        rc = blocks->block(hand, &unit, &rows, n, e);
        *spent_s += clock_now_s() - start_s;
        if (!rc && keep)
            rc = keep_offer(keep, &rows, e);
        if (n->failed)
            campaign_measure_note_failed(t->pace, t->job.study->kind, &rows);
        table_free(&rows);
    }
    return rc;
}

/* One pass of the sweep: seconds a point, NaN where none was run. Rows are offered to @p keep, unless NULL.
 */
static int measure_pass(double *point_s, struct campaign_trial *t, struct keep *keep, struct err *e)
{
    const struct block_ops *blocks = t->job.study->kind->blocks;
    void *hand;
    struct sweep_counts n = { 0 };
    double spent_s = 0;
    int rc = blocks->hand(&hand, &t->job, e);
    if (rc)
        return rc;
    rc = run_some(&spent_s, &n, t, hand, keep, e);
    *point_s = n.seen ? spent_s / (double)n.seen : NAN;
    t->pace->n += n.seen;
    t->pace->n_failed += n.failed;
    blocks->hand_free(hand);
    return rc;
}

/* Where points are pruned, one in UNITS_SAMPLE is solved and the others are held against the front of these:
 * here against that of the few that were solved. */
static int measure_pruned(struct campaign_trial *t, struct err *e)
{
    struct keep *keep;
    double solved_s = NAN, pruned_s = NAN;
    int rc = keep_build(&keep, &t->plan->rule, &t->plan->columns, e);
    if (rc)
        return rc;
    /* Half of the time for each pass. */
    t->pass_s /= 2;
    rc = measure_pass(&solved_s, t, keep, e);
    if (!rc)
        rc = keep_sort_fronts(keep, e);
    t->job.known = keep_fronts(keep);
    if (!rc)
        rc = measure_pass(&pruned_s, t, NULL, e);
    t->pace->point_s = (solved_s + (UNITS_SAMPLE - 1) * pruned_s) / UNITS_SAMPLE;
    keep_free(keep);
    return rc;
}

int campaign_measure(struct campaign_pace *pace, const struct study *study, double most_s, struct err *e)
{
    struct campaign_plan plan;
    struct campaign_trial t = { .plan = &plan,
                                .job = { .study = study, .order = &plan.order, .rule = &plan.rule },
                                .pace = pace,
                                .pass_s = most_s };
    *pace = (struct campaign_pace){ .point_s = NAN };
    int rc = campaign_plan_make(&plan, study, false, e);
    if (rc)
        return rc;
    pace->at_most = plan.passes > 1;
    rc = pace->at_most ? measure_pruned(&t, e) : measure_pass(&pace->point_s, &t, NULL, e);
    campaign_plan_free(&plan);
    return rc;
}
