/*
 * Designs as a kind of study: a point is read, its split solved or taken as given, its row filled.
 *
 * A hand (struct runner) keeps the study it read: points of a block differ in quick keys alone, which are
 * changed in place. In the second pass of `prune` a point is first held against the front of its group.
 */
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/fill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/bound.h"
#include "kinds/design/explore/grid.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/space.h"
#include "kinds/design/ask/load.h"
#include "study/kind.h"
#include "study/say.h"
#include "study/source.h"
#include "study/study.h"
#include "study/axes.h"

/*
 * Points of a sweep held against the front of their group before they are
 * solved.
 */

/** One a thread. Zero-initialise; release with runner_bound_free(). */
struct runner_bound {
    const struct front_set *known; /**< borrowed; NULL: nothing is beaten */
    const struct study *study;     /**< borrowed */
    struct bound bound;
    struct keep *keep;         /**< owned: knows the columns that rows are held apart by */
    struct table row;          /**< what of a row is known before it is solved */
    struct text group;         /**< of the last point */
    bool possible;             /**< rows are held apart by what is known before they are solved */
    bool by_total;             /**< by the total among others */
    bool quick_group;          /**< points of one unit can be of several groups */
    bool prepared;             /**< for the study that is held */
    const struct front *front; /**< of `group`, borrowed from `known`; NULL = none */
};

/* ---- words ---- */

static void put_workloads(struct text *out, const struct design_point *s)
{
    char number[NUM_TEXT];
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct design_workload *w = &s->workloads[i];
        text_puts(out, i ? "+" : "");
        if (w->weight != 1)
            text_printf(out, "%s*", num_format(number, w->weight));
        text_puts(out, w->tree.name[0] ? w->tree.name : "unnamed");
    }
}

int design_words_change(struct design_words *words, const struct design_point *s, struct err *e)
{
    char spec[TOPO_SPEC];
    if (words->network.n && s->net.name[0])
        return 0;
    text_clear(&words->network);
    text_puts(&words->network, s->net.name[0] ? s->net.name : topo_format_spec(spec, &s->net));
    return text_check(&words->network, e);
}

/* Texts of a row that change with the network or the workloads only. */
int design_words_take(struct design_words *words, const struct design_point *s, struct err *e)
{
    text_clear(&words->network);
    text_clear(&words->dims);
    text_clear(&words->workload);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        text_puts(&words->dims, d ? "|" : "");
        text_puts(&words->dims, s->net.dims[d].name);
    }
    put_workloads(&words->workload, s);
    int rc = text_check(&words->dims, e);
    if (!rc)
        rc = text_check(&words->workload, e);
    return rc ? rc : design_words_change(words, s, e);
}

void design_words_free(struct design_words *words)
{
    text_free(&words->network);
    text_free(&words->dims);
    text_free(&words->workload);
}

/* ---- a row ---- */

void design_make_columns(struct column *out, struct made_column *made, const struct uncertain *u)
{
    int32_t n = uncertain_n_columns(u);
    for (const struct column *c = design_columns; c == design_columns || c[-1].name; c++) {
        if (c->name && c->offset == offsetof(struct design_row, training.plan))
            for (int32_t i = 0; i < n; i++) {
                uncertain_column(&made[i], u, i);
                *out = made[i].of;
                out++->offset = offsetof(struct design_row, uncertain[i]);
            }
        *out++ = *c;
    }
}

void design_row_ask(struct design_row *row, const struct design_point *s, const struct design_words *words)
{
    row->n_dims = s->net.n_dims;
    row->objective = alloc_objective_names[s->objective];
    row->total_GBps = s->total_Bps / 1e9;
    row->semantics = design_point_semantics(s);
    row->network = text_str(&words->network);
    row->dims = text_str(&words->dims);
    row->workload = text_str(&words->workload);
}

/* A word as rows that were read have it: without the quotes and escapes of YAML. */
static const char *plain_word(char room[SWEEP_WORD], const char *value)
{
    struct yaml_doc doc;
    struct err ignored = { 0 };
    if (*value != '"' && *value != '\'')
        return value;
    if (yaml_read_text(&doc, "value", value, strlen(value), &ignored))
        return value;
    const char *text = doc.nodes[doc.root].text;
    bool fits = text && strlen(text) < SWEEP_WORD;
    if (fits)
        strcpy(room, text);
    yaml_free(&doc);
    return fits ? room : value;
}

/* Rows of points that could not be read still say what varied. */
void design_row_axes(struct design_row *row, const struct sweep *w, const struct sweep_point *p)
{
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *path = w->keys[k].path, *value = sweep_value(w, p, k);
        if (!value)
            continue;
        bool map = *value == '{' || *value == '['; /* too long for a cell; the message says where it stands */
        if (strcmp(path, "network") == 0 && !row->network)
            row->network = map ? "(map)" : plain_word(row->room[0], value);
        else if ((strcmp(path, "workload") == 0 || strcmp(path, "workloads") == 0) && !row->workload)
            row->workload = map ? "(map)" : plain_word(row->room[1], value);
        else if (strcmp(path, "objective") == 0 && !row->objective)
            row->objective = plain_word(row->room[2], value);
        else if (strcmp(path, DESIGN_COLUMN(total_GBps)) == 0 && isnan(row->total_GBps) &&
                 !num_parse_real(value, &row->total_GBps))
            row->total_GBps = NAN;
    }
}

/* Columns up to the objective, and the total where the study gives it, are known before a point is solved. */
static void look_at_columns(struct runner_bound *b, const struct keep_rule *rule)
{
    int32_t total = table_find(&b->row, DESIGN_COLUMN(total_GBps));
    b->possible = true;
    for (int32_t i = 0; i < rule->n_per; i++) {
        const char *name = rule->per[i];
        int32_t col = table_find(&b->row, name);
        b->possible = b->possible && col >= 0 && col <= total;
        b->by_total = b->by_total || col == total;
        /* A network without a name is called by its bandwidths too. */
        b->quick_group = b->quick_group || design_is_quick(name) || strcmp(name, "network") == 0;
    }
}

/* ERR_NOMEM; ERR_PARSE: the rule names a column that rows lack; safe to free after failure. */
static int runner_bound_build(struct runner_bound *b, const struct block_job *job, struct err *e)
{
    *b = (struct runner_bound){ .known = job->known, .study = job->study };
    if (!job->known)
        return 0;
    bound_begin(&b->bound, job->rule->front, job->rule->n_front);
    study_put_columns(&b->row, job->study, TABLE_ROWS);
    if (b->row.failed)
        return err_nomem(e, "columns");
    look_at_columns(b, job->rule);
    return keep_build(&b->keep, job->rule, &b->row, e);
}

static void runner_bound_free(struct runner_bound *b)
{
    if (b->known)
        bound_free(&b->bound);
    keep_free(b->keep);
    table_free(&b->row);
    text_free(&b->group);
    *b = (struct runner_bound){ 0 };
}

/* Another study was read, or another unit begins: what is beaten depends on its points alone, not on those
 * before. */
static void runner_bound_forget(struct runner_bound *b)
{
    b->prepared = false;
}

static int find_group(struct runner_bound *b, const struct design_point *s, const struct design_words *words,
                      const struct sweep_point *p, int64_t point, struct err *e)
{
    struct design_row row;
    design_row_blank(&row);
    design_row_ask(&row, s, words);
    table_clear(&b->row);
    study_put_row(&b->row, b->study, TABLE_ROWS, p, point, &row);
    int rc = b->row.failed ? err_nomem(e, "a row") : keep_group(&b->group, b->keep, &b->row, 0, e);
    if (!rc)
        b->front = front_of(b->known, text_str(&b->group));
    return rc;
}

/* Whether the point is proved to lie behind the front of its group; bounds are kept while only quick keys
 * change. */
static int runner_bound_ask(bool *beaten, struct runner_bound *b, const struct design_point *s,
                            const struct design_words *words, const struct sweep_point *p, int64_t point,
                            struct err *e)
{
    int rc = 0;
    *beaten = false;
    /* At given bandwidths a bound takes longer than the point itself. */
    if (!b->known || !b->possible || s->split == DESIGN_GIVEN || (b->by_total && isnan(s->total_Bps)))
        return 0;
    if (!b->prepared || b->quick_group)
        rc = find_group(b, s, words, p, point, e);
    if (!rc && !b->prepared)
        rc = bound_prepare(&b->bound, s, e);
    b->prepared = !rc;
    *beaten = !rc && bound_beaten(&b->bound, s, b->front);
    return rc;
}

struct runner {
    struct block_job job;
    struct source_cache cache;
    struct study_source from; /* of the point under way: axes, cache */
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point slow; /* of the study that is held */
    bool holds;              /* `study` is that of an earlier point with the same slow values */
    struct design_point study;
    struct design_words words;
    struct runner_bound bound;
    struct runner_grid grid;
    struct alloc_kept kept; /* the split that points with other totals scale */
};

enum { DESIGN_NEEDS = DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT };

/* ---- facts ---- */

const char *const design_fact_names[DESIGN_FACTS + 1] = {
    "n_npus", DESIGN_COLUMN(n_dims), "size1", "size2", "size3", "size4", "size5", "size6", "size7", "size8",
    NULL
};

void design_facts(double *x, const struct topo_network *net)
{
    *x++ = (double)net->n_npus;
    *x++ = net->n_dims;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        x[d] = d < net->n_dims ? net->dims[d].size : 1;
}

/* A runner belongs to a thread: it keeps the study that it read last, for points that differ in quick keys.
 */
int runner_build(struct runner **out, const struct block_job *job, struct err *e)
{
    struct runner *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return err_nomem(e, "a runner of a sweep");
    r->job = *job;
    r->from = job->study->from;
    r->from.axes = r->axes;
    r->from.cache = &r->cache;
    r->grid = (struct runner_grid){ .rule = job->rule, .order = job->order, .study = job->study };
    int rc = runner_bound_build(&r->bound, job, e);
    if (rc) {
        runner_free(r);
        *out = NULL;
    }
    return rc;
}

/* With all that was made from it. */
static void drop_study(struct runner *r)
{
    runner_grid_forget(&r->grid);
    runner_bound_forget(&r->bound);
    if (r->holds)
        design_point_free(&r->study);
    r->holds = false;
}

void runner_free(void *hand)
{
    struct runner *r = hand;
    if (!r)
        return;
    drop_study(r);
    source_cache_free(&r->cache);
    design_words_free(&r->words);
    runner_bound_free(&r->bound);
    runner_grid_free(&r->grid);
    alloc_kept_free(&r->kept);
    free(r);
}

/* The study at a point whose slow values are those of the one that is held, if any is. */
static int runner_load(struct runner *r, const struct sweep_point *p, struct err *e)
{
    r->from.n_axes = sweep_point_overrides(r->axes, &r->job.study->sweep, p);
    if (r->holds && design_point_change(&r->study, &r->from, DESIGN_NEEDS))
        return design_words_change(&r->words, &r->study, e);
    drop_study(r);
    int rc = design_point_read(&r->study, &r->from, DESIGN_NEEDS, e);
    r->holds = !rc;
    return rc ? rc : design_words_take(&r->words, &r->study, e);
}

/* Does `where` of the study leave the point out? Asked before the study is read, without a network, too. */
static bool is_left_out(const struct runner *r, const struct sweep_point *p, const struct topo_network *net)
{
    const struct sweep *w = &r->job.study->sweep;
    double facts[DESIGN_FACTS];
    if (w->where && net)
        design_facts(facts, net);
    return !sweep_passes(w, p, net ? facts : NULL);
}

int design_put_row(struct table *rows, const struct study *study, const struct design_point *s,
                   const struct design_words *words, const struct sweep_point *p, int64_t point,
                   const struct design *d, struct err *e)
{
    const struct design_own *own = study->own;
    struct design_row row;
    design_row_blank(&row);
    design_row_ask(&row, s, words);
    int rc = design_row_answer(&row, d, e);
    if (!rc && own && !uncertain_is_empty(&own->uncertain) && alloc_has_split(&d->answer))
        rc = uncertain_fill(row.uncertain, &own->uncertain, d, e);
    if (!rc)
        study_put_row(rows, study, TABLE_ROWS, p, point, &row);
    return rc;
}

/* Split, time and price of the study that was loaded, as a row. */
static int add_design(struct runner *r, struct design_choice chosen, const struct sweep_point *p,
                      int64_t point, struct table *rows, struct sweep_counts *n, struct err *e)
{
    struct design d;
    int rc = answer_row(&d, chosen, e);
    if (rc)
        return rc;
    rc = design_put_row(rows, r->job.study, &r->study, &r->words, p, point, &d, e);
    n->failed += !rc && !alloc_has_split(&d.answer);
    design_free(&d);
    return rc;
}

/* What is wrong with a point is its row. */
static void add_error(struct runner *r, const struct sweep_point *p, int64_t point, bool read,
                      const char *message, struct table *rows)
{
    struct design_row row;
    design_row_blank(&row);
    if (read)
        design_row_ask(&row, &r->study, &r->words);
    design_row_axes(&row, &r->job.study->sweep, p);
    row.status = "error";
    row.message = message;
    study_put_row(rows, r->job.study, TABLE_ROWS, p, point, &row);
}

/* The row of a point that is not left out; @p chosen NULL: what is wrong with it is in @p inner. Lack of
 * memory or a disk that fails ends the sweep: neither is the point's. */
static int runner_add_row(struct runner *r, const struct design_choice *chosen, const struct sweep_point *p,
                          int64_t point, struct err *inner, struct table *rows, struct sweep_counts *n,
                          struct err *e)
{
    int rc = chosen ? add_design(r, *chosen, p, point, rows, n, inner) : inner->code;
    if (err_is_of_machine(rc))
        return err_set(e, inner->code, "%s", inner->msg);
    n->failed += rc != 0;
    if (rc)
        add_error(r, p, point, chosen != NULL, inner->msg, rows);
    return rows->failed ? err_nomem(e, "rows of a sweep") : 0;
}

/* One point: left out, beaten, solved, or a row with its error. An error of a point is no error of the sweep.
 */
static int run_point(struct runner *r, const struct sweep_point *p, int64_t point, struct table *rows,
                     struct sweep_counts *n, struct err *e)
{
    struct err inner = { 0 };
    struct design_choice chosen;
    bool out = is_left_out(r, p, NULL), bounded = false;
    int read = out ? 0 : runner_load(r, p, &inner);
    if (!out && !read)
        out = is_left_out(r, p, &r->study.net);
    /* Bounds are of the plans that were found. */
    const struct design_own *own = r->job.study->own;
    bool is_chosen =
        !out && !read && !design_choose_kept(&chosen, &r->study, own ? own->shelf : NULL, &r->kept, &inner);
    int rc = is_chosen ? runner_bound_ask(&bounded, &r->bound, chosen.point, &r->words, p, point, e) : 0;
    if (is_chosen && (rc || bounded))
        choice_free(&chosen);
    if (rc)
        return rc;
    n->seen++;
    n->filtered += out;
    n->bounded += bounded;
    n->solved += !out && !bounded;
    return out || bounded ? 0 : runner_add_row(r, is_chosen ? &chosen : NULL, p, point, &inner, rows, n, e);
}

static int run_each(struct runner *r, const struct sweep_unit *unit, struct table *rows,
                    struct sweep_counts *n, struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < unit->n && !rc; i++) {
        struct sweep_point p;
        int64_t point = units_point(&p, r->job.order, unit, i);
        rc = run_point(r, &p, point, rows, n, e);
    }
    return rc;
}

/* Points that may be kept become rows as all others do; what was looked at beside them is counted. */
static int run_found(struct runner *r, const struct sweep_unit *unit, struct table *rows,
                     struct sweep_counts *n, struct err *e)
{
    const struct grid_found *found = &r->grid.found;
    struct sweep_counts again = { 0 };
    int rc = 0;
    for (int64_t i = 0; i < found->n && !rc; i++) {
        struct sweep_point p;
        int64_t point = units_point(&p, r->job.order, unit, found->points[i].at - unit->first);
        rc = run_point(r, &p, point, rows, &again, e);
    }
    n->seen += unit->n;
    n->bounded += found->bounded;
    n->solved += found->evaluated;
    n->failed += again.failed;
    return rc;
}

/* The study at the first point of the unit says whether its points are a grid; one that is held has said. */
static int try_grid(bool *is_grid, struct runner *r, const struct sweep_unit *unit, struct err *e)
{
    enum { FEW = 256 };
    struct sweep_point p;
    struct err inner = { 0 };
    *is_grid = false;
    if (!r->grid.rule || unit->n < FEW)
        return 0;
    units_point(&p, r->job.order, unit, 0);
    int rc = r->holds && r->grid.asked ? 0 : runner_load(r, &p, &inner);
    if (rc)
        return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg) : 0;
    return runner_grid_unit(is_grid, &r->grid, &r->study, unit, e);
}

static void begin_unit(struct runner *r, const struct sweep_unit *unit)
{
    if (unit->slow.grid != r->slow.grid || memcmp(unit->slow.at, r->slow.at, sizeof unit->slow.at) != 0)
        drop_study(r);
    r->slow = unit->slow;
    runner_bound_forget(&r->bound);
}

int runner_read(const struct design_point **out, void *hand, const struct sweep_unit *unit, struct err *e)
{
    struct runner *r = hand;
    struct sweep_point p;
    struct err inner = { 0 };
    begin_unit(r, unit);
    units_point(&p, r->job.order, unit, 0);
    int rc = runner_load(r, &p, &inner);
    *out = rc ? NULL : &r->study;
    return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg) : 0;
}

int runner_unit(void *hand, const struct sweep_unit *unit, struct table *rows, struct sweep_counts *n,
                struct err *e)
{
    struct runner *r = hand;
    bool is_grid;
    begin_unit(r, unit);
    int rc = try_grid(&is_grid, r, unit, e);
    if (rc)
        return rc;
    return is_grid ? run_found(r, unit, rows, n, e) : run_each(r, unit, rows, n, e);
}

/* ---- points ---- */

int design_load(struct design_point *out, const struct study *s, const struct sweep_point *p, struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    const struct study_source from = study_source_at(axes, s, p);
    return design_point_read(out, &from, DESIGN_NEEDS, e);
}

bool design_passes(const struct study *s, const struct sweep_point *p, const struct topo_network *net)
{
    double facts[DESIGN_FACTS];
    if (net)
        design_facts(facts, net);
    return sweep_passes(&s->sweep, p, net ? facts : NULL);
}

/* ---- opening ---- */

static bool is_of_system(const char *path)
{
    static const char word[] = "system";
    const size_t n = sizeof word - 1;
    return strncmp(path, word, n) == 0 && (path[n] == '.' || !path[n]);
}

/* Has some point `system`: the study, --set, or what varies? */
static bool has_system(const struct study *s, const struct yaml_doc *doc)
{
    bool has = yaml_get(doc, doc->root, "system") >= 0;
    for (int32_t i = 0; i < s->from.n; i++)
        has = has || is_of_system(s->from.overrides[i].path);
    for (int32_t i = 0; i < s->sweep.n_keys; i++)
        has = has || is_of_system(s->sweep.keys[i].path);
    return has;
}

/* All points meet the same draws. */
static int check_seed(const struct study *s, const struct yaml_doc *doc, struct err *e)
{
    bool own = yaml_get(doc, yaml_get(doc, doc->root, "uncertain"), "seed") >= 0;
    for (int32_t k = 0; k < s->sweep.n_keys && !own; k++)
        if (strcmp(s->sweep.keys[k].path, "seed") == 0 && !s->sweep.keys[k].overridden)
            return yaml_fail_key(doc, s->sweep.keys[k].at, e, ERR_PARSE,
                                 "cannot vary: uncertain draws from it, for all points the same; give "
                                 "uncertain.seed");
    return 0;
}

/* With uncertain keys the list of columns grows by one per percentile and quantity. */
static int read_uncertain(struct study *s, const struct yaml_doc *doc, struct err *e)
{
    struct design_own *own = s->own;
    yaml_id seed = yaml_get(doc, doc->root, "seed");
    int64_t n = 1;
    int rc = seed < 0 ? 0 : yaml_count(doc, seed, &n, e);
    if (!rc)
        rc = uncertain_read(&own->uncertain, doc, yaml_get(doc, doc->root, "uncertain"), n, e);
    if (rc || uncertain_is_empty(&own->uncertain))
        return rc;
    if ((rc = check_seed(s, doc, e)))
        return rc;
    own->uncertain.of_system = has_system(s, doc);
    own->columns = malloc(DESIGN_MAX_COLUMNS * sizeof *own->columns);
    own->made = malloc((size_t)uncertain_n_columns(&own->uncertain) * sizeof *own->made);
    if (!own->columns || !own->made)
        return err_nomem(e, "columns");
    design_make_columns(own->columns, own->made, &own->uncertain);
    return study_set_columns(s, TABLE_ROWS, own->columns, e);
}

/* A sweep_look. */
static int look_at_point(void *data, const struct sweep_point *p, struct text *notes, bool *read,
                         struct err *e)
{
    const struct study *s = data;
    struct design_point point;
    struct err inner = { 0 };
    int rc = design_load(&point, s, p, &inner);
    *read = !rc;
    if (rc)
        return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg) : 0;
    text_puts(notes, text_str(&point.notes));
    search_note_unused(notes, &point);
    rc = sweep_check_distinct(&s->sweep, p, &point.doc, e);
    design_point_free(&point);
    return rc;
}

static int design_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    (void)first;
    struct design_own *own = s->own = calloc(1, sizeof(struct design_own));
    if (own)
        own->shelf = search_shelf_new();
    if (!own || !own->shelf)
        return err_nomem(e, "a study of designs");
    int rc = read_uncertain(s, doc, e);
    rc = rc ? rc : fill_site(s, doc, e);
    return rc ? rc : sweep_note(&s->notes, &s->sweep, look_at_point, s, e);
}

static void design_close(struct study *s)
{
    struct design_own *own = s->own;
    if (!own)
        return;
    uncertain_free(&own->uncertain);
    search_shelf_free(own->shelf);
    free(own->columns);
    free(own->made);
    free(own);
}

/* ---- what the results depend on ---- */

static void fold(struct study *s, unsigned long long hash)
{
    s->hash = text_hash(s->hash, &hash, sizeof hash);
}

/* A point that is no study has a document all the same: other points are made from it too. Only what is wrong
 * with the study may be passed over: the same study must have the same hash when memory is short. */
static int fold_document(struct study *s, const struct sweep_point *p, bool seed, struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    const struct study_source from = study_source_at(axes, s, p);
    struct yaml_doc doc;
    int32_t own_source;
    int rc = source_open(&doc, &own_source, &from, e);
    if (rc)
        return err_is_of_machine(rc) ? rc : 0;
    /* Also where files are missing: with those that are there. */
    rc = source_fetch(&doc, own_source, &from, e);
    fold(s, yaml_hash(&doc, doc.root));
    yaml_id at = yaml_get(&doc, doc.root, "seed");
    struct err ignored = { 0 };
    if (seed && at >= 0)
        yaml_count(&doc, at, &s->seed, &ignored);
    yaml_free(&doc);
    return err_is_of_machine(rc) ? rc : 0;
}

/* Fold in the content of the study at one point. */
static int fold_point(struct study *s, const struct sweep_point *p, bool seed, struct err *e)
{
    struct design_point point;
    int rc = design_load(&point, s, p, e);
    if (rc)
        return err_is_of_machine(rc) ? rc : fold_document(s, p, seed, e);
    fold(s, design_point_hash(&point));
    s->seed = seed ? point.seed : s->seed;
    design_point_free(&point);
    return 0;
}

/* The values of axis `k` of a grid, from its first point on. */
static int fold_axis(struct study *s, struct sweep_point *p, int32_t k, struct err *e)
{
    const struct sweep_axis *axis = &s->sweep.axes[s->sweep.grids[p->grid].axes[k]];
    double number;
    int rc = 0;
    for (p->at[k] = 0; p->at[k] < axis->n && !rc; p->at[k]++) {
        bool all_numbers = true;
        for (int32_t j = 0; j < axis->n_keys; j++) {
            const char *value = axis->values[p->at[k] * axis->n_keys + j];
            s->hash = text_hash(s->hash, value, strlen(value) + 1);
            all_numbers = all_numbers && num_parse_real(value, &number);
        }
        /* Of generated values the first names all files that there are. */
        if (!all_numbers && !(axis->generated && p->at[k] > 0))
            rc = fold_point(s, p, false, e);
    }
    p->at[k] = 0;
    return rc;
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
    s->hash = TEXT_HASH_SEED;
    s->seed = 1;
    int rc = fold_point(s, &p, true, e);
    for (int32_t k = 0; k < w->n_keys; k++)
        s->hash = text_hash(s->hash, w->keys[k].path, strlen(w->keys[k].path) + 1);
    for (p.grid = 0; p.grid < w->n_grids; p.grid++)
        for (int32_t k = 0; k < w->grids[p.grid].n_axes && !rc; k++)
            if (!is_shared_axis(w, p.grid, w->grids[p.grid].axes[k]))
                rc = fold_axis(s, &p, k, e);
    return rc;
}

/* ---- blocks ---- */

/* Many points where one takes microseconds, one where it takes seconds. The first point stands for all. */
static int most_of_block(int64_t *most, const struct block_job *largest, struct err *e)
{
    enum { QUICK = 64 };
    struct sweep_point first;
    struct design_point s;
    struct sweep_unit unit;
    bool is_grid;
    *most = 1;
    sweep_find_point(&first, &largest->study->sweep, 0);
    int rc = design_load(&s, largest->study, &first, e);
    if (rc)
        return err_is_of_machine(rc) ? rc : 0;
    units_find(&unit, largest->order, 0);
    rc = runner_grid_is(&is_grid, largest, &s, &unit, e);
    bool slow = s.model > SIM_ALPHA_BETA;
    for (int32_t i = 0; i < s.n_workloads; i++)
        slow = slow || design_point_is_searched(&s.workloads[i]);
    *most = !rc && is_grid ? RUNNER_GRID_POINTS : slow ? 1 : QUICK;
    design_point_free(&s);
    return rc;
}

static int build_hand(void **out, const struct block_job *job, struct err *e)
{
    struct runner *r;
    int rc = runner_build(&r, job, e);
    *out = r;
    return rc;
}

static const struct block_ops blocks = {
    .quick = design_is_quick,
    .largest = RUNNER_GRID_POINTS,
    .most = most_of_block,
    .hand = build_hand,
    .hand_free = runner_free,
    .block = runner_unit,
};

/* ---- results ---- */

static const char *const result_columns[] = { DESIGN_COLUMN(status), DESIGN_COLUMN(time_s),
                                              DESIGN_COLUMN_IN(training, fits), NULL };

static bool cell_says(const struct table *rows, int64_t row, int32_t col, const char *word)
{
    const char *text = col < 0 || rows->kinds[col] != TABLE_TEXT ? NULL : table_text(rows, row, col);
    return text && strcmp(text, word) == 0;
}

/* Solved, unproved, or stalled with a time (a split whose proof fell short), and not known to need more
 * memory than an NPU has. */
static bool is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    enum { STATUS, TIME, FITS };
    if (cell_says(rows, row, cols[FITS], "no"))
        return false;
    return cols[STATUS] < 0 || cell_says(rows, row, cols[STATUS], alloc_status_names[ALLOC_SOLVED]) ||
           cell_says(rows, row, cols[STATUS], alloc_status_names[ALLOC_UNPROVED]) ||
           (cell_says(rows, row, cols[STATUS], alloc_status_names[ALLOC_STALLED]) && cols[TIME] >= 0 &&
            isfinite(table_number(rows, row, cols[TIME])));
}

/* What differs between points, and the results; what is the same in every row stands above. */
static int design_say(struct text *out, const struct study_report *r, struct err *e)
{
    const struct say_look look = { .point = true, .axes = true };
    if (r->rows->n_rows == 0)
        return 0;
    say_common(out, r);
    text_puts(out, out->n > 0 ? "\n" : "");
    return say_rows(out, r, 0, r->rows->n_rows, &look, e);
}

/* ---- the kind ---- */

static const char *const own_keys[] = { "workload", "workloads",  "split",        "combine",
                                        "budget",   "simulation", "time_limit_s", NULL };
static const char *const front[] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd), NULL };
static const char *const work[] = { "workload", NULL };
static const char *const not_work[] = { "workload.parallel", "workload.search", NULL };
static const char *const batch[] = { "workload.parallel.batch", NULL }; /* and batch_Mtokens */
static const struct table_def tables[] = {
    { .word = "rows", .columns = design_columns },
};

const struct study_kind design_kind = {
    .word = "sweep",
    .what = "designs: the split of bandwidth at every point",
    .keys = &design_section,
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
    .time = DESIGN_COLUMN(time_s),
    .made = design_percentiles,
    .work = work,
    .not_work = not_work,
    .batch = batch,
    .rate = DESIGN_COLUMN_IN(training, tokens_per_s),
    .say = design_say,
    .blocks = &blocks,
    .has_uncertain = true,
    .has_prune = true,
};
