#include "cli/run_kind.h"

#include <omp.h>
#include <string.h>

#include "cli/load.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "study/campaign.h"
#include "study/notes.h"

/* ---- what is read back ---- */

/* All that a store has of a study, as it is said and written. */
struct kind_tables {
    struct table rows, said; /* said: with hidden columns */
    struct table extras[STUDY_MAX_TABLES];
    struct text notes;
};

static void tables_free(struct kind_tables *t)
{
    table_free(&t->rows);
    table_free(&t->said);
    for (int i = 0; i < STUDY_MAX_TABLES; i++)
        table_free(&t->extras[i]);
    text_free(&t->notes);
}

static int read_rows(struct table *out, struct store *store, const struct study_kind *kind, bool hidden,
                     struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    int rc = study_trim_store(store, kind, hidden, e);
    return rc ? rc : store_next(store, &walk, INT64_MAX, out, e);
}

static int read_tables(struct kind_tables *t, const struct study *s, struct store *store, struct err *e)
{
    int rc = read_rows(&t->rows, store, s->kind, false, e);
    if (!rc)
        rc = read_rows(&t->said, store, s->kind, true, e);
    for (int32_t i = TABLE_RUNS; i < s->kind->n_tables && !rc; i++)
        if (store_find_table(store, s->kind->tables[i].word) >= 0)
            rc = study_read_table(&t->extras[i], store, s->kind, s->kind->tables[i].word, e);
    if (!rc)
        rc = study_read_notes(&t->notes, store, s->kind, e);
    return rc;
}

static struct study_report report_of(const struct kind_tables *t, const struct study *s, const char **axes)
{
    struct study_report r = { .rows = &t->said,
                              .axes = axes,
                              .n_axes = s->sweep.n_keys,
                              .n_points = s->sweep.n_points,
                              .seed = s->seed,
                              .seeds = s->seeds,
                              .name = text_str(&s->name) };
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        axes[k] = s->sweep.keys[k].path;
    for (int32_t i = TABLE_RUNS; i < s->kind->n_tables; i++)
        r.tables[i] = t->extras[i].n_cols ? &t->extras[i] : NULL;
    return r;
}

/* ---- what is written and said ---- */

static int write_rows(const struct run *run, const struct kind_tables *t, const struct study *s,
                      const struct study_report *r, struct origin from, struct err *e)
{
    struct text out = { 0 };
    if (output_format(run) != TABLE_AS_TEXT)
        return output_table(run, &t->rows, from, e);
    int rc = s->kind->say(&out, r, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* Which of the kind's tables an extra one is. */
static int32_t table_of(const struct study_kind *kind, const char *word)
{
    int32_t i = TABLE_RUNS;
    while (i < kind->n_tables && strcmp(kind->tables[i].word, word) != 0)
        i++;
    return i;
}

/* A table that stays empty would look like a run without jobs or links. */
static void warn_empty(struct run *run, const struct study *s, const struct kind_tables *t,
                       const struct extra *extras, int n)
{
    const char *column = s->kind->empty_of;
    int32_t col = column ? table_find(&t->said, column) : -1;
    for (int i = 0; i < n && col >= 0; i++)
        if (extras[i].path && extras[i].table.n_rows == 0)
            output_warn(run, "--%s: %s %s gave no such rows, %s has its head alone", extras[i].name, column,
                        t->said.n_rows ? table_cell(&t->said, 0, col)->text : "", extras[i].path);
}

static int conclude(struct run *run, const struct study *s, const struct study_report *r, struct err *e)
{
    static const int codes[] = { [VERDICT_INPUT] = EXIT_INPUT, [VERDICT_NO_DESIGN] = EXIT_NO_DESIGN };
    struct text lines = { 0 };
    enum study_verdict verdict = VERDICT_FINE;
    int rc = s->kind->conclude(&lines, &verdict, r, e);
    if (!rc)
        rc = text_check(&lines, e);
    for (const char *line = text_str(&lines); *line && !rc; line += strcspn(line, "\n") + 1)
        output_say(run, "%.*s", (int)strcspn(line, "\n"), line);
    if (verdict != VERDICT_FINE)
        run->exit_code = codes[verdict];
    text_free(&lines);
    return rc;
}

static int write_all(struct run *run, const struct study *s, struct store *store, struct extra *extras, int n,
                     struct err *e)
{
    struct kind_tables t = { 0 };
    const char *axes[SWEEP_MAX_KEYS];
    const struct origin from = { .known = true, .study_hash = s->hash, .seed = s->seed };
    bool alone = s->sweep.n_points == 1 && s->kind->fail_alone;
    int rc = read_tables(&t, s, store, e);
    const struct study_report r = report_of(&t, s, axes);
    if (!rc && s->kind->notes_first)
        output_notes(run, &t.notes);
    if (!rc && alone)
        rc = s->kind->fail_alone(&r, e);
    if (!rc && !s->kind->notes_first)
        output_notes(run, &t.notes);
    /* Rows first: where they cannot be written nothing is left behind. */
    if (!rc)
        rc = write_rows(run, &t, s, &r, from, e);
    for (int i = 0; i < n; i++) { /* lent for as long as they are written */
        int32_t table = table_of(s->kind, extras[i].name);
        if (extras[i].path && table < s->kind->n_tables)
            extras[i].table = t.extras[table];
    }
    if (!rc)
        rc = extra_write(run, extras, n, from, e);
    if (!rc) {
        warn_empty(run, s, &t, extras, n);
        rc = conclude(run, s, &r, e);
    }
    for (int i = 0; i < n; i++)
        extras[i].table = (struct table){ 0 };
    tables_free(&t);
    return rc;
}

/* ---- a study ---- */

/* A campaign_progress: runs do not tell how far they are, units do. */
static bool report(void *context, const struct campaign_state *state)
{
    return progress_report(context, state->n_done, state->n_units);
}

static int run_study(struct run *run, const struct study *s, struct extra *extras, int n, struct err *e)
{
    struct progress progress;
    struct campaign c;
    const struct campaign_ask ask = { .study = s,
                                      .shard = 1,
                                      .n_shards = 1,
                                      .threads = run->opt.threads > 0 ? (int32_t)run->opt.threads
                                                                      : (int32_t)omp_get_num_procs(),
                                      .command = run->recorded ? run->recorded : "",
                                      .version = WEFT_VERSION,
                                      .progress = report,
                                      .context = &progress };
    progress_begin(&progress, run, "runs");
    int rc = campaign_open(&c, &ask, e);
    if (!rc)
        rc = campaign_run(&c, e);
    bool ended = progress_end(&progress, run, NULL);
    if (!rc && ended)
        rc = write_all(run, s, c.store, extras, n, e);
    campaign_close(&c);
    return rc;
}

static int write_list(const struct run *run, const struct study_kind *kind, struct err *e)
{
    struct text out = { 0 };
    int rc = kind->list(&out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

int run_kind(struct run *run, const struct study_kind *kind, struct extra *extras, int n, struct err *e)
{
    if (run->opt.list)
        return write_list(run, kind, e);
    if (run->opt.n_operands < 1)
        return err_set(e, ERR_USAGE, "argument is missing, need STUDY");
    struct load_overrides o = { 0 };
    struct study s = { 0 };
    int rc = extra_check(run, extras, n, e);
    if (!rc)
        rc = load_overrides(&o, run, e);
    const struct study_ask ask = { .kind = kind,
                                   .timing = run->opt.timing,
                                   .from = { .path = run->opt.operands[0], .overrides = o.list, .n = o.n } };
    if (!rc)
        rc = study_open(&s, &ask, e);
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path)
            s.wanted |= UINT32_C(1) << table_of(kind, extras[i].name);
    if (!rc)
        output_notes(run, &s.notes);
    if (!rc)
        rc = study_find_hash(&s, e);
    if (!rc)
        rc = run_study(run, &s, extras, n, e);
    study_close(&s);
    load_free(&o);
    return rc;
}
