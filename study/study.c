/*
 * A study opened: which kind it is of, its axes, and which columns its tables have. Everything here is done
 * once per command, before threads start; from then on a struct study is constant.
 *
 * Columns are chosen in two steps. study_set_columns() decides what a study's tables hold, from its axes and
 * its options: the store has these. What is blank in all rows of a finished study (dimensions that no network
 * had, statuses that did not occur) is left out when rows are shown: study_trim() for a table in memory,
 * study_trim_store() by asking the store, which need not read its rows for that.
 */

/* A kind is told by keys that it alone has; a study of designs is what has none of another's. */
#include "study/study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/infile.h"
#include "base/num.h"
#include "study/store.h"
#include "study/axes.h"

/* ---- kinds ---- */

const struct study_kind *study_kind_called(const char *word)
{
    for (int32_t i = 0; i < n_study_kinds; i++)
        if (strcmp(study_kinds[i]->word, word) == 0)
            return study_kinds[i];
    return NULL;
}

static bool has_own_key(const struct study_kind *kind, const struct yaml_doc *doc)
{
    return yaml_get_any(doc, doc->root, kind->own_keys) >= 0;
}

const struct study_kind *study_kind_of(const struct yaml_doc *doc)
{
    const struct study_kind *found = NULL;
    for (int32_t i = 0; i < n_study_kinds; i++) {
        if (!has_own_key(study_kinds[i], doc))
            continue;
        /* Keys of two kinds, or of a kind and of designs: messages of the first kind say which key is not one
         * of its own. */
        if (i == 0 || found)
            return study_kinds[0];
        found = study_kinds[i];
    }
    return found ? found : study_kinds[0];
}

int study_say_kind(const struct study_kind *kind, const struct yaml_doc *doc, int rc, struct err *e)
{
    const struct study_kind *is = study_kind_of(doc), *designs = study_kinds[0];
    if ((rc != ERR_PARSE && rc != ERR_RANGE) || is == (kind ? kind : designs))
        return rc;
    /* What has no key of its own, or of this kind too, is taken for designs, and is not told. */
    if (is == designs && (!has_own_key(designs, doc) || has_own_key(kind, doc)))
        return rc;
    return yaml_fail(doc, doc->root, e, rc, "is a study of %s; weft %s reads it%s", is->what, is->word,
                     is == designs ? "" : ", and weft sweep");
}

/* By the number of columns known; of equals the first kind, which is designs. For a CSV, which has no head
 * that tells. */
const struct study_kind *study_kind_of_columns(const struct table *rows)
{
    const struct study_kind *best = study_kinds[0];
    int32_t most = 0;
    for (int32_t i = 0; i < n_study_kinds; i++) {
        int32_t n = 0;
        for (int32_t col = 0; col < rows->n_cols; col++)
            n += column_find(study_kinds[i]->tables[TABLE_ROWS].columns, rows->names[col]) != NULL;
        best = n > most ? study_kinds[i] : best;
        most = n > most ? n : most;
    }
    return best;
}

/* Does the name fit the pattern, in which '#' stands for a number? The number then, NULL: it does not. */
static const char *fit_name(char number[COLUMN_NAME], const char *pattern, const char *name)
{
    const char *at = strchr(pattern, '#');
    size_t before = at ? (size_t)(at - pattern) : 0, n;
    *number = '\0';
    if (!at)
        return strcmp(pattern, name) == 0 ? number : NULL;
    if (strncmp(pattern, name, before) != 0)
        return NULL;
    n = strspn(name + before, "0123456789.");
    if (n == 0 || n >= COLUMN_NAME || strcmp(name + before + n, at + 1) != 0)
        return NULL;
    snprintf(number, COLUMN_NAME, "%.*s", (int)n, name + before);
    return number;
}

/* The text with the number in place of '#'; @p out may hold the text. */
static const char *put_number(char out[COLUMN_NAME], const char *text, const char *number)
{
    char whole[COLUMN_NAME];
    const char *at = text ? strchr(text, '#') : NULL;
    if (!at)
        return text;
    snprintf(whole, sizeof whole, "%.*s%s%s", (int)(at - text), text, number, at + 1);
    return memcpy(out, whole, sizeof whole);
}

void study_number_column(struct made_column *c, const char *number)
{
    c->of.name = put_number(c->name, c->of.name, number);
    c->of.title = put_number(c->title, c->of.title, number);
    c->of.repeat = 0;
}

bool study_describe(struct made_column *out, const struct study_kind *kind, int32_t table, const char *name)
{
    char number[COLUMN_NAME];
    const struct column *c = column_find(kind->tables[table].columns, name);
    bool found = c != NULL;
    if (c) {
        out->of = *c;
        fit_name(number, c->name, name);
    }
    for (int32_t i = 0; !found && table <= TABLE_RUNS && kind->made && kind->made(out, i); i++)
        found = fit_name(number, out->of.name, name) != NULL;
    if (found)
        study_number_column(out, number);
    return found;
}

void study_find_better(struct table *t, const struct study_kind *kind, int32_t table)
{
    struct made_column c;
    for (int32_t col = 0; col < t->n_cols; col++) {
        if (!study_describe(&c, kind, table, t->names[col]))
            continue;
        if (!t->better[col])
            table_better(t, col, c.of.better);
        if (!t->units[col] && c.of.unit && *c.of.unit)
            table_set_unit(t, col, c.of.unit);
        if (!t->titles[col])
            column_put_title(t, col, &c.of, c.of.title);
    }
}

int study_kind_of_store(const struct study_kind **kind, const struct store *s, struct err *e)
{
    const char *word = store_head_of(s)->kind;
    *kind = word ? study_kind_called(word) : study_kinds[0];
    if (*kind)
        return 0;
    return err_set(e, ERR_PARSE, "%s: is of a study of kind %.50s, which this program does not know",
                   store_path_of(s), word);
}

/* ---- columns ---- */

/* Called again by kinds whose columns depend on their first point: the choice before is freed. */
int study_set_columns(struct study *s, int32_t table, const struct column *list, struct err *e)
{
    struct study_table *t = &s->tables[table];
    const char *axes[SWEEP_MAX_KEYS];
    char buf[COLUMN_NAME + 8];
    for (int32_t k = 0; k < s->sweep.n_keys; k++) {
        axes[k] = s->sweep.keys[k].path;
        t->axis[k] = column_axis(buf, list, axes[k]) != NULL;
    }
    const struct column_choice choice = {
        .axes = axes, .n_axes = s->sweep.n_keys, .timing = s->timing, .hidden = true
    };
    columns_free(&t->shown);
    t->list = list;
    return column_choose(&t->shown, list, &choice, e);
}

void study_put_axes(struct table *t, const struct study *s, int32_t table)
{
    const struct study_table *of = &s->tables[table];
    char buf[COLUMN_NAME + 8];
    table_column(t, "point", TABLE_COUNT);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        if (of->axis[k])
            table_column(t, column_axis(buf, of->list, s->sweep.keys[k].path), TABLE_TEXT);
}

void study_put_columns(struct table *t, const struct study *s, int32_t table)
{
    study_put_axes(t, s, table);
    columns_put(t, &s->tables[table].shown);
}

void study_put_row(struct table *t, const struct study *s, int32_t table, const struct sweep_point *p,
                   int64_t point, const void *row)
{
    const struct study_table *of = &s->tables[table];
    table_row(t);
    table_put_count(t, point);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        if (of->axis[k])
            table_put_text(t, sweep_value(&s->sweep, p, k));
    row_put(t, &of->shown, row);
}

const char **study_parts(const struct study *s, int32_t table)
{
    const struct study_table *of = &s->tables[table];
    struct table t = { 0 };
    study_put_columns(&t, s, table);
    const char **parts = t.failed ? NULL : calloc((size_t)t.n_cols + 1, sizeof *parts);
    /* From the end: point and axes stand in front, however many of them have a column. */
    int32_t col = t.n_cols;
    for (int32_t k = of->shown.n; k-- > 0 && parts;)
        for (int32_t i = column_count(of->shown.of[k]); i-- > 0;) {
            col--;
            parts[col] = i >= of->shown.of[k]->part_from ? of->shown.of[k]->part : NULL;
        }
    table_free(&t);
    return parts;
}

/* ---- columns that are blank ---- */

/* The largest number of a column of counts, 0 where there is none. */
static int64_t largest_count(const struct table *t, int32_t col)
{
    int64_t most = 0;
    for (int64_t row = 0; row < t->n_rows && col >= 0; row++)
        if (table_count(t, row, col) > most)
            most = table_count(t, row, col);
    return most;
}

static bool is_blank_column(const struct table *t, int32_t col)
{
    for (int64_t row = 0; row < t->n_rows && col >= 0; row++)
        if (t->kinds[col] == TABLE_TEXT ? table_text(t, row, col) != NULL : !isnan(table_number(t, row, col)))
            return false;
    return true;
}

/* Of a repeated column the first @p most are shown. */
static void show_first(bool *show, const struct table *t, const struct column *c, int64_t most)
{
    char buf[COLUMN_NAME];
    for (int32_t i = 0; i < column_count(c); i++) {
        int32_t col = table_find(t, column_name(buf, c, i));
        if (col >= 0 && i >= most)
            show[col] = false;
    }
}

/* All true, for the columns of @p t. */
/* NULL: no memory. The caller's. */
static bool *show_all(const struct table *t, struct err *e)
{
    bool *show = malloc((size_t)t->n_cols + 1);
    if (show)
        memset(show, true, (size_t)t->n_cols);
    else
        err_nomem(e, "columns of a study");
    return show;
}

/* Has no column of this `with` a value? */
static bool is_blank_group(const struct table *t, const struct column *list, const char *with)
{
    char buf[COLUMN_NAME];
    bool blank = true;
    for (const struct column *c = list; c->name && blank; c++)
        for (int32_t i = 0; i < column_count(c) && c->with && strcmp(c->with, with) == 0; i++)
            blank = blank && is_blank_column(t, table_find(t, column_name(buf, c, i)));
    return blank;
}

int study_trim(struct table *t, const struct column *list, struct err *e)
{
    bool *show = show_all(t, e);
    if (!show)
        return ERR_NOMEM;
    for (const struct column *c = list; c->name; c++) {
        /* "bw#_GBps" up to the largest n_dims of any row. */
        if (c->upto && table_find(t, c->upto) >= 0)
            show_first(show, t, c, largest_count(t, table_find(t, c->upto)));
        /* Columns that mean something only together. */
        if (c->with && table_find(t, c->with) >= 0 && is_blank_group(t, list, c->with))
            show_first(show, t, c, 0);
    }
    table_keep_columns(t, show);
    free(show);
    return 0;
}

/* Columns of a kind ask for few others: what these hold is asked once. */
struct trim_ask {
    const char *name;
    int64_t most;
    bool any;
};

static int ask_store(struct trim_ask *ask, struct store *s, const struct table *columns, const char *name,
                     struct err *e)
{
    if (ask->name && strcmp(ask->name, name) == 0)
        return 0;
    /* Without such a column nothing is hidden. */
    *ask = (struct trim_ask){ .name = name, .most = INT64_MAX, .any = true };
    int32_t col = table_find(columns, name);
    int rc = col >= 0 && columns->kinds[col] == TABLE_COUNT ? store_max(s, name, &ask->most, e) : 0;
    return rc || col < 0 ? rc : store_any(s, name, &ask->any, e);
}

/* Likewise of the columns of one `with`. The first of them has a value, as a rule. */
static int ask_group(struct trim_ask *ask, struct store *s, const struct table *columns,
                     const struct column *list, const char *with, struct err *e)
{
    char buf[COLUMN_NAME];
    if (ask->name && strcmp(ask->name, with) == 0)
        return 0;
    int rc = ask_store(ask, s, columns, with, e);
    for (const struct column *c = list; c->name && !rc && !ask->any; c++)
        for (int32_t i = 0; i < column_count(c) && c->with && !rc && !ask->any; i++) {
            const char *name = column_name(buf, c, i);
            if (strcmp(c->with, with) == 0 && table_find(columns, name) >= 0)
                rc = store_any(s, name, &ask->any, e);
        }
    return rc;
}

int study_trim_store(struct store *s, const struct study_kind *kind, bool hidden, struct err *e)
{
    struct table columns = { 0 };
    struct trim_ask upto = { 0 }, with = { 0 };
    const struct column *list = kind->tables[TABLE_ROWS].columns;
    int rc = store_shown(&columns, s, e);
    bool *show = rc ? NULL : show_all(&columns, e);
    rc = rc ? rc : show ? 0 : ERR_NOMEM;
    for (const struct column *c = list; c->name && !rc; c++) {
        if ((c->flags & COLUMN_HIDDEN) && !hidden)
            show_first(show, &columns, c, 0);
        if (c->upto && !(rc = ask_store(&upto, s, &columns, c->upto, e)))
            show_first(show, &columns, c, upto.most);
        if (c->with && !rc && !(rc = ask_group(&with, s, &columns, list, c->with, e)) && !with.any)
            show_first(show, &columns, c, 0);
    }
    if (!rc && kind->trim)
        rc = kind->trim(show, &columns, s, e);
    if (!rc)
        rc = store_show(s, show, e);
    free(show);
    table_free(&columns);
    return rc;
}

/* ---- opening ---- */

/* Rows of a point are means over seeds: points of other seeds would not compare. What is said of all points
 * together no point can have for itself. */
static int check_fixed(const struct study *s, const struct yaml_doc *doc, struct err *e)
{
    for (int32_t k = 0; k < s->sweep.n_keys; k++) {
        const struct sweep_key *x = &s->sweep.keys[k];
        size_t top = strcspn(x->path, ".[");
        for (const char *const *key = s->kind->fixed_axes; key && *key; key++)
            if (strcmp(x->path, *key) == 0)
                return yaml_fail_key(doc, x->at, e, ERR_PARSE, "cannot vary: every point has the same seeds");
        for (const char *const *key = source_rules.of_study; *key; key++)
            if (strlen(*key) == top && strncmp(x->path, *key, top) == 0)
                return yaml_fail_key(doc, x->at, e, ERR_PARSE,
                                     "cannot vary: it is about all points together");
    }
    return 0;
}

static int read_axes(struct study *s, const struct yaml_doc *doc, bool may_be_point, struct err *e)
{
    /* Points of kinds with blocks are numbers alone; of kinds with runs each has rows and results that are
     * held or stored. */
    int64_t most = s->kind->blocks ? INT64_MAX : SWEEP_MAX_POINTS;
    /* A study of one point is one too; sweeps of designs must say what varies. */
    if ((!s->kind->blocks || may_be_point) && yaml_get(doc, doc->root, "vary") < 0) {
        s->sweep.n_points = 1;
        return 0;
    }
    int rc = sweep_read_axes(&s->sweep, s->kind->keys, doc, &s->from, most, e);
    return rc ? rc : check_fixed(s, doc, e);
}

/* What all points share is that of the first one. */
static int open_with_first(struct study *s, const struct yaml_doc *doc, struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point p;
    sweep_find_point(&p, &s->sweep, 0);
    const struct study_source from = study_source_at(axes, s, &p);
    void *first = calloc(1, s->kind->point_size);
    if (!first)
        return err_nomem(e, "a point");
    int rc = s->kind->read(first, &from, e);
    if (!rc) {
        rc = s->kind->open(s, doc, first, e);
        s->kind->free(first);
    }
    free(first);
    return rc ? rc : sweep_check_seeds(&s->sweep, s->seeds, doc, e);
}

/* The columns that the kind gives its tables. */
static int set_all_columns(struct study *s, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < s->kind->n_tables && !rc; i++)
        rc = study_set_columns(s, i, s->kind->tables[i].columns, e);
    return rc;
}

/* Better than an unknown key: what it does for other studies it cannot do here. */
static int check_uncertain(const struct study *s, const struct yaml_doc *doc, struct err *e)
{
    yaml_id at = s->kind->has_uncertain ? -1 : yaml_get(doc, doc->root, "uncertain");
    return at < 0 ? 0
                  : yaml_fail_key(doc, at, e, ERR_RANGE,
                                  "is for designs, expected none: a %s study draws from its seeds",
                                  s->kind->word);
}

static int open_parts(struct study *s, const struct yaml_doc *doc, bool may_be_point, struct err *e)
{
    int rc = check_uncertain(s, doc, e);
    if (!rc)
        rc = read_axes(s, doc, may_be_point, e);
    if (!rc && s->kind->check)
        rc = s->kind->check(s, doc, e);
    if (!rc)
        rc = sweep_read_where(&s->sweep, doc, s->kind->fact_names, e);
    if (!rc)
        rc = set_all_columns(s, e);
    const struct sweep_key *filled = rc ? NULL : sweep_filled_key(&s->sweep);
    if (filled && !s->kind->blocks)
        rc = yaml_fail_key(doc, filled->at, e, ERR_RANGE, "has count: max, which is for designs");
    if (rc)
        return rc;
    return s->kind->blocks ? s->kind->open(s, doc, NULL, e) : open_with_first(s, doc, e);
}

int study_open(struct study *s, const struct study_ask *ask, struct err *e)
{
    struct yaml_doc doc;
    int32_t own_source;
    /* A kind without seeds has one, which its hooks never ask for. */
    *s = (struct study){ .from = ask->from, .seed = 1, .seeds = 1, .timing = ask->timing };
    int rc = source_open(&doc, &own_source, &s->from, e);
    if (rc)
        return rc;
    s->kind = ask->kind ? ask->kind : study_kind_of(&doc);
    rc = study_say_kind(s->kind, &doc, open_parts(s, &doc, ask->may_be_point, e), e);
    /* What is needed of the document was copied by then: paths of keys, values of axes. */
    yaml_free(&doc);
    if (rc)
        study_close(s);
    return rc;
}

int study_open_point(struct study *s, const struct study_ask *ask, struct err *e)
{
    *s = (struct study){
        .kind = ask->kind, .from = ask->from, .sweep = { .n_points = 1 }, .seed = 1, .seeds = 1
    };
    int rc = set_all_columns(s, e);
    if (rc)
        study_close(s);
    return rc;
}

void study_close(struct study *s)
{
    if (s->kind && s->kind->close)
        s->kind->close(s);
    for (int32_t i = 0; i < STUDY_MAX_TABLES; i++)
        columns_free(&s->tables[i].shown);
    sweep_free(&s->sweep);
    text_free(&s->name);
    text_free(&s->notes);
    *s = (struct study){ 0 };
}

/* ---- the hash ---- */

static int hash_file(unsigned long long *hash, const char *path, struct err *e)
{
    enum { PIECE = 1 << 16 };
    int fd;
    ssize_t n = 1;
    int rc = infile_open(&fd, path, e);
    char *piece = rc ? NULL : malloc(PIECE);
    if (!rc && !piece)
        rc = err_nomem(e, path);
    while (!rc && n) {
        n = read(fd, piece, PIECE);
        if (n > 0)
            *hash = text_hash(*hash, piece, (size_t)n);
        else if (n < 0 && errno != EINTR)
            rc = infile_cannot_read(e, path, errno);
    }
    if (fd >= 0)
        close(fd);
    free(piece);
    return rc;
}

/* Where a bare name stands for a file of the catalogue that is not put in. Values of axes have no key here.
 */
static bool names_profile(struct text *path, const struct yaml_doc *doc, yaml_id id)
{
    const struct yaml_node *node = &doc->nodes[id];
    double number;
    if (node->kind != YAML_SCALAR || (node->key && strcmp(node->key, source_rules.profile) != 0) ||
        num_parse_real(node->text, &number))
        return false;
    source_beside(path, doc, id, source_rules.profiles);
    return !path->failed && access(text_str(path), R_OK) == 0;
}

/* Files that values name, by what is in them: traces, profiles, graphs, samples. YAML files were put in. */
static int hash_named(unsigned long long *hash, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct text path = { 0 };
    int rc = 0;
    if (yaml_names_file(&path, doc, id) || names_profile(&path, doc, id))
        rc = hash_file(hash, text_str(&path), e);
    if (!rc)
        rc = text_check(&path, e);
    text_free(&path);
    if (doc->nodes[id].kind != YAML_SCALAR)
        yaml_each (child, doc, id)
            rc = rc ? rc : hash_named(hash, doc, child, e);
    return rc;
}

/* Values of axes name files as the study's own file would. */
static int hash_axis(unsigned long long *hash, const struct sweep_axis *axis, const char *study,
                     struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < axis->n * axis->n_keys && !axis->generated && !rc; i++) {
        struct yaml_doc doc;
        struct err ignored = { 0 };
        if (yaml_read_text(&doc, study, axis->values[i], strlen(axis->values[i]), &ignored) != 0)
            continue;
        rc = hash_named(hash, &doc, doc.root, e);
        yaml_free(&doc);
    }
    return rc;
}

/* Of kinds with runs: `open` has hashed the first point's document and all values, but files alone by name.
 */
static int hash_files(struct study *s, struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point p;
    struct yaml_doc doc;
    int32_t own_source;
    sweep_find_point(&p, &s->sweep, 0);
    const struct study_source from = study_source_at(axes, s, &p);
    int rc = source_read(&doc, &own_source, &from, e);
    if (!rc)
        rc = hash_named(&s->hash, &doc, doc.root, e);
    yaml_free(&doc);
    for (int32_t k = 0; k < s->sweep.n_axes && !rc; k++)
        rc = hash_axis(&s->hash, &s->sweep.axes[k], from.path, e);
    return rc;
}

/* Apart from opening, as it may read every file that the study names: a dry run does without. */
int study_find_hash(struct study *s, struct err *e)
{
    return s->kind->hash ? s->kind->hash(s, e) : hash_files(s, e);
}

struct study_source study_source_at(struct study_override *axes, const struct study *s,
                                    const struct sweep_point *p)
{
    struct study_source from = s->from;
    from.axes = axes;
    from.n_axes = sweep_point_overrides(axes, &s->sweep, p);
    return from;
}
