#include "cli/points.h"

#include <string.h>

#include "base/num.h"
#include "study/sweep_axis.h"

static bool is_about_vary(const char *assignment)
{
    return strncmp(assignment, "vary", 4) == 0 && strchr("=.", assignment[4]) != NULL;
}

bool points_vary(const struct run *run)
{
    struct yaml_doc doc;
    struct err ignored = { 0 };
    for (int32_t i = 0; i < run->opt.set.n; i++)
        if (is_about_vary(run->opt.set.items[i]))
            return true;
    const char *path = run->opt.operands[0];
    if (topo_is_spec(path) || yaml_read_file(&doc, path, &ignored))
        return false;
    bool found = yaml_get(&doc, doc.root, "vary") >= 0;
    yaml_free(&doc);
    return found;
}

static struct study_source source_of(const struct run *run, const struct load_overrides *o)
{
    return (struct study_source){ .path = run->opt.operands[0], .overrides = o->list, .n = o->n };
}

int points_load(struct design_point *s, const struct run *run, const struct sweep *w,
                const struct load_overrides *o, int64_t i, struct err *e)
{
    struct sweep_point p;
    sweep_find_point(&p, w, i);
    return sweep_load(s, w, &p, source_of(run, o), 0, e);
}

bool points_pass(const struct sweep *w, int64_t i, const struct design_point *s)
{
    struct sweep_point p;
    struct err e = { 0 };
    bool pass;
    sweep_find_point(&p, w, i);
    return sweep_passes(&pass, w, &p, s ? &s->net : NULL, &e) || pass;
}

const char *points_unquote(char buf[POINTS_VALUE], const char *value)
{
    size_t n = strlen(value);
    /* A text with quotes or escapes inside stays as it was written. */
    if (n < 2 || n > POINTS_VALUE || value[0] != '"' || strcspn(value + 1, "\"\\") != n - 2)
        return value;
    memcpy(buf, value + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}

const char *points_value(char buf[POINTS_VALUE], const struct sweep *w, int32_t k, int64_t i)
{
    struct sweep_point p;
    sweep_find_point(&p, w, i);
    const char *value = sweep_value(w, &p, k);
    return value ? points_unquote(buf, value) : "";
}

const char *points_axis_title(const char *path)
{
    enum { WIDEST = 20 };
    const char *title = path;
    while (strlen(title) > WIDEST && strchr(title, '.'))
        title = strchr(title, '.') + 1;
    return title;
}

static void fold(struct origin *from, unsigned long long hash)
{
    from->study_hash = text_hash(from->study_hash, &hash, sizeof hash);
}

/* A point that is no study has a document all the same: other points are made from it too. */
static void fold_document(struct origin *from, const struct run *run, const struct sweep *w,
                          const struct load_overrides *o, const struct sweep_point *p, bool seed)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    struct study_source source = source_of(run, o);
    struct yaml_doc doc;
    int32_t own_source;
    struct err ignored = { 0 };
    source.axes = axes;
    source.n_axes = sweep_point_overrides(axes, w, p);
    if (study_open(&doc, &own_source, &source, &ignored))
        return;
    /* Also where files are missing: with those that are there. */
    study_fetch(&doc, own_source, &source, &ignored);
    fold(from, yaml_hash(&doc, doc.root));
    yaml_id at = yaml_get(&doc, doc.root, "seed");
    if (seed && at >= 0)
        yaml_count(&doc, at, &from->seed, &ignored);
    yaml_free(&doc);
}

/* Fold in the content of the study at one point. */
static void fold_point(struct origin *from, const struct run *run, const struct sweep *w,
                       const struct load_overrides *o, const struct sweep_point *p, bool seed)
{
    struct design_point s;
    struct err ignored = { 0 };
    if (sweep_load(&s, w, p, source_of(run, o), STUDY_UNSEARCHED, &ignored)) {
        fold_document(from, run, w, o, p, seed);
        return;
    }
    fold(from, study_hash(&s));
    from->seed = seed ? s.seed : from->seed;
    study_free(&s);
}

/* The values of axis `k` of a grid, from its first point on. */
static void fold_axis(struct origin *from, const struct run *run, const struct sweep *w,
                      const struct load_overrides *o, struct sweep_point *p, int32_t k)
{
    const struct sweep_axis *axis = &w->axes[w->grids[p->grid].axes[k]];
    double number;
    for (p->at[k] = 0; p->at[k] < axis->n; p->at[k]++) {
        bool all_numbers = true;
        for (int32_t j = 0; j < axis->n_keys; j++) {
            const char *value = axis->values[p->at[k] * axis->n_keys + j];
            from->study_hash = text_hash(from->study_hash, value, strlen(value) + 1);
            all_numbers = all_numbers && num_parse_real(value, &number);
        }
        /* Of generated values the first names all files that there are. */
        if (!all_numbers && !(axis->generated && p->at[k] > 0))
            fold_point(from, run, w, o, p, false);
    }
    p->at[k] = 0;
}

/* Does a grid before this one have the axis? */
static bool is_shared(const struct sweep *w, int32_t grid, int32_t axis)
{
    for (int32_t g = 0; g < grid; g++)
        for (int32_t k = 0; k < w->grids[g].n_axes; k++)
            if (w->grids[g].axes[k] == axis)
                return true;
    return false;
}

/* Numbers are all there is to know of a value; a word may name a file, whose content counts. */
struct origin points_origin(const struct run *run, const struct sweep *w, const struct load_overrides *o)
{
    struct origin from = { .known = true, .study_hash = TEXT_HASH_SEED, .seed = 1 };
    struct sweep_point p = { 0 };
    fold_point(&from, run, w, o, &p, true);
    for (int32_t k = 0; k < w->n_keys; k++)
        from.study_hash = text_hash(from.study_hash, w->keys[k].path, strlen(w->keys[k].path) + 1);
    for (p.grid = 0; p.grid < w->n_grids; p.grid++)
        for (int32_t k = 0; k < w->grids[p.grid].n_axes; k++)
            if (!is_shared(w, p.grid, w->grids[p.grid].axes[k]))
                fold_axis(&from, run, w, o, &p, k);
    return from;
}
