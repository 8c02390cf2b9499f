#include "kinds/design/designs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "kinds/design/runner.h"
#include "kinds/design/runner_grid.h"
#include "kinds/design/sweep_row.h"
#include "study/sweep_axis.h"

/* ---- points ---- */

enum { NEEDS = STUDY_NEEDS_WORKLOAD | STUDY_FOR_SPLIT };

int design_load(struct design_point *out, const struct study *s, const struct sweep_point *p, unsigned more,
                struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    const struct study_source from = study_source_at(axes, s, p);
    return study_read(out, &from, NEEDS | more, e);
}

bool design_passes(const struct study *s, const struct sweep_point *p, const struct topo_network *net)
{
    double facts[DESIGN_FACTS];
    if (net)
        design_facts(facts, net);
    return sweep_passes(&s->sweep, p, net ? facts : NULL);
}

/* ---- opening ---- */

static int read_uncertain(struct study *s, const struct yaml_doc *doc, struct err *e)
{
    struct design_own *own = s->own;
    yaml_id seed = yaml_get(doc, doc->root, "seed");
    int64_t n = 1;
    int rc = seed < 0 ? 0 : yaml_count(doc, seed, &n, e);
    if (!rc)
        rc = uncertain_read(&own->uncertain, doc, yaml_get(doc, doc->root, "uncertain"), n, e);
    if (rc || !own->uncertain.n_keys)
        return rc;
    own->columns = malloc(DESIGN_MAX_COLUMNS * sizeof *own->columns);
    own->names = malloc((size_t)uncertain_n_columns(&own->uncertain) * sizeof *own->names);
    if (!own->columns || !own->names)
        return err_nomem(e, "columns");
    design_make_columns(own->columns, own->names, &own->uncertain);
    return study_set_columns(s, TABLE_ROWS, own->columns, e);
}

/* A sweep_look. */
static int look_at_point(void *data, const struct sweep_point *p, struct text *notes, bool *read,
                         struct err *e)
{
    const struct study *s = data;
    struct design_point point;
    struct err inner = { 0 };
    int rc = design_load(&point, s, p, STUDY_UNSEARCHED, &inner);
    *read = !rc;
    if (rc)
        return rc == ERR_NOMEM ? err_set(e, rc, "%s", inner.msg) : 0;
    text_puts(notes, text_str(&point.notes));
    rc = sweep_check_distinct(&s->sweep, p, &point.doc, e);
    study_free(&point);
    return rc;
}

static int design_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    (void)first;
    s->own = calloc(1, sizeof(struct design_own));
    if (!s->own)
        return err_nomem(e, "a study of designs");
    int rc = read_uncertain(s, doc, e);
    return rc ? rc : sweep_note(&s->notes, &s->sweep, look_at_point, s, e);
}

static void design_close(struct study *s)
{
    struct design_own *own = s->own;
    if (!own)
        return;
    uncertain_free(&own->uncertain);
    free(own->columns);
    free(own->names);
    free(own);
}

/* ---- what the results depend on ---- */

static void fold(struct study *s, unsigned long long hash)
{
    s->hash = text_hash(s->hash, &hash, sizeof hash);
}

/* A point that is no study has a document all the same: other points are made from it too. */
static void fold_document(struct study *s, const struct sweep_point *p, bool seed)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    const struct study_source from = study_source_at(axes, s, p);
    struct yaml_doc doc;
    int32_t own_source;
    struct err ignored = { 0 };
    if (source_open(&doc, &own_source, &from, &ignored))
        return;
    /* Also where files are missing: with those that are there. */
    source_fetch(&doc, own_source, &from, &ignored);
    fold(s, yaml_hash(&doc, doc.root));
    yaml_id at = yaml_get(&doc, doc.root, "seed");
    if (seed && at >= 0)
        yaml_count(&doc, at, &s->seed, &ignored);
    yaml_free(&doc);
}

/* Fold in the content of the study at one point. */
static void fold_point(struct study *s, const struct sweep_point *p, bool seed)
{
    struct design_point point;
    struct err ignored = { 0 };
    if (design_load(&point, s, p, STUDY_UNSEARCHED, &ignored)) {
        fold_document(s, p, seed);
        return;
    }
    fold(s, study_hash(&point));
    s->seed = seed ? point.seed : s->seed;
    study_free(&point);
}

/* The values of axis `k` of a grid, from its first point on. */
static void fold_axis(struct study *s, struct sweep_point *p, int32_t k)
{
    const struct sweep_axis *axis = &s->sweep.axes[s->sweep.grids[p->grid].axes[k]];
    double number;
    for (p->at[k] = 0; p->at[k] < axis->n; p->at[k]++) {
        bool all_numbers = true;
        for (int32_t j = 0; j < axis->n_keys; j++) {
            const char *value = axis->values[p->at[k] * axis->n_keys + j];
            s->hash = text_hash(s->hash, value, strlen(value) + 1);
            all_numbers = all_numbers && num_parse_real(value, &number);
        }
        /* Of generated values the first names all files that there are. */
        if (!all_numbers && !(axis->generated && p->at[k] > 0))
            fold_point(s, p, false);
    }
    p->at[k] = 0;
}

/* Does a grid before this one have the axis? */
static bool is_shared_axis(const struct sweep *w, int32_t grid, int32_t axis)
{
    for (int32_t g = 0; g < grid; g++)
        for (int32_t k = 0; k < w->grids[g].n_axes; k++)
            if (w->grids[g].axes[k] == axis)
                return true;
    return false;
}

/* Numbers are all there is to know of a value; a word may name a file, whose content counts. */
static int design_hash(struct study *s, struct err *e)
{
    const struct sweep *w = &s->sweep;
    struct sweep_point p = { 0 };
    (void)e;
    s->hash = TEXT_HASH_SEED;
    s->seed = 1;
    fold_point(s, &p, true);
    for (int32_t k = 0; k < w->n_keys; k++)
        s->hash = text_hash(s->hash, w->keys[k].path, strlen(w->keys[k].path) + 1);
    for (p.grid = 0; p.grid < w->n_grids; p.grid++)
        for (int32_t k = 0; k < w->grids[p.grid].n_axes; k++)
            if (!is_shared_axis(w, p.grid, w->grids[p.grid].axes[k]))
                fold_axis(s, &p, k);
    return 0;
}

/* ---- blocks ---- */

/* Many points where one takes microseconds, one where it takes seconds. The first point stands for all. */
static int most_of_block(int64_t *most, const struct block_job *largest, struct err *e)
{
    enum { QUICK = 64 };
    struct sweep_point first;
    struct design_point s;
    struct order_unit unit;
    struct err ignored = { 0 };
    bool is_grid;
    *most = 1;
    sweep_find_point(&first, &largest->study->sweep, 0);
    if (design_load(&s, largest->study, &first, STUDY_UNSEARCHED, &ignored))
        return 0;
    order_find(&unit, largest->order, 0);
    int rc = runner_grid_is(&is_grid, largest, &s, &unit, e);
    bool slow = s.model > SIM_ALPHA_BETA;
    for (int32_t i = 0; i < s.n_workloads; i++)
        slow = slow || (s.workloads[i].training && s.workloads[i].training->search >= 0);
    *most = !rc && is_grid ? RUNNER_GRID_POINTS : slow ? 1 : QUICK;
    study_free(&s);
    return rc;
}

static int build_hand(void **out, const struct block_job *job, struct err *e)
{
    struct runner *r;
    int rc = runner_build(&r, job, e);
    *out = r;
    return rc;
}

static void free_hand(void *hand)
{
    runner_free(hand);
}

static int run_block(void *hand, const struct order_unit *unit, struct table *rows, struct sweep_counts *n,
                     struct err *e)
{
    return runner_unit(hand, unit, rows, n, e);
}

static const struct block_ops blocks = {
    .quick = design_is_quick,
    .largest = RUNNER_GRID_POINTS,
    .most = most_of_block,
    .hand = build_hand,
    .hand_free = free_hand,
    .block = run_block,
};

/* ---- results ---- */

static const char *const result_columns[] = { "status", "time_s", "fits", NULL };

static bool cell_says(const struct table *rows, int64_t row, int32_t col, const char *word)
{
    const char *text = col < 0 || rows->kinds[col] != TABLE_TEXT ? NULL : table_cell(rows, row, col)->text;
    return text && strcmp(text, word) == 0;
}

/* Solved, or stalled with a time (a split whose proof fell short), and not known to need more memory than an
 * NPU has. */
static bool is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    enum { STATUS, TIME, FITS };
    if (cell_says(rows, row, cols[FITS], "no"))
        return false;
    return cols[STATUS] < 0 || cell_says(rows, row, cols[STATUS], alloc_status_names[ALLOC_SOLVED]) ||
           (cell_says(rows, row, cols[STATUS], alloc_status_names[ALLOC_STALLED]) && cols[TIME] >= 0 &&
            isfinite(table_number(rows, row, cols[TIME])));
}

/* ---- the kind ---- */

static const char *const own_keys[] = { "workload",   "workloads",  "objective",    "split",
                                        "combine",    "total_GBps", "constraints",  "budget",
                                        "simulation", "count_npus", "time_limit_s", NULL };
static const char *const front[] = { "time_s", "cost_usd", NULL };
static const char *const work[] = { "workload", NULL };
static const char *const not_work[] = { "workload.parallel", "workload.search", NULL };
static const struct table_def tables[] = {
    { .word = "rows", .help = "a row for each point", .columns = design_columns },
};

const struct study_kind design_kind = {
    .word = "sweep",
    .what = "designs: the split of bandwidth at every point",
    .keys = &study_section,
    .own_keys = own_keys,
    .tables = tables,
    .n_tables = 1,
    .open = design_open,
    .close = design_close,
    .hash = design_hash,
    .fact_names = design_fact_names,
    .is_result = is_result,
    .result_columns = result_columns,
    .front = front,
    .work = work,
    .not_work = not_work,
    .unsolved = "points are not solved",
    .blocks = &blocks,
    .has_uncertain = true,
    .has_prune = true,
};
