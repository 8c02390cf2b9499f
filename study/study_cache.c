#include "study/study_cache.h"

#include <stdlib.h>
#include <string.h>

#include "study/sweep.h"

/* A sweep over many networks names each for a while only; parsed ones are large. DEEPEST leaves room for the
 * few levels of a study above a file that is put in, so that no copy is deeper than a document may be. */
enum { MOST_FILES = 64, DEEPEST = YAML_MAX_DEPTH / 2 };

struct study_file {
    char *name; /* owned */
    struct yaml_doc doc;
};

struct study_value {
    const char *path, *text; /* borrowed; which value it is */
    bool known;              /* doc holds it */
    struct yaml_doc doc;
};

static void forget_files(struct study_cache *c)
{
    for (int32_t i = 0; i < c->n_files; i++) {
        free(c->files[i].name);
        yaml_free(&c->files[i].doc);
    }
    c->n_files = 0;
}

void study_cache_free(struct study_cache *c)
{
    forget_files(c);
    free(c->files);
    for (int32_t i = 0; i < c->n_values; i++)
        if (c->values[i].known)
            yaml_free(&c->values[i].doc);
    free(c->values);
    if (c->has_top)
        yaml_free(&c->top);
    *c = (struct study_cache){ 0 };
}

/* A list of a million values is no part of any one study. */
static int read_top(struct study_cache *c, const struct study_source *from, struct err *e)
{
    struct study_source plain = *from;
    plain.n_axes = 0;
    plain.cache = NULL;
    int rc = study_open(&c->top, &c->own_source, &plain, e);
    if (rc)
        return rc;
    yaml_id vary = yaml_get(&c->top, c->top.root, "vary");
    if (vary >= 0)
        rc = yaml_prune(&c->top, vary, e);
    if (rc)
        yaml_free(&c->top);
    c->has_top = !rc;
    return rc;
}

int study_cache_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from,
                     struct err *e)
{
    struct study_cache *c = from->cache;
    *doc = (struct yaml_doc){ .root = -1 };
    int rc = c->has_top ? 0 : read_top(c, from, e);
    if (rc)
        return rc;
    if (c->n_files == MOST_FILES)
        forget_files(c);
    *own_source = c->own_source;
    return yaml_copy(doc, &c->top, e);
}

const struct yaml_doc *study_cache_find(const struct study_cache *c, const char *name)
{
    for (int32_t i = 0; i < c->n_files; i++)
        if (strcmp(c->files[i].name, name) == 0)
            return &c->files[i].doc;
    return NULL;
}

static bool is_deep(const struct yaml_doc *doc, yaml_id id, int32_t depth)
{
    bool deep = depth > DEEPEST;
    if (!deep)
        yaml_each (child, doc, id)
            deep = deep || is_deep(doc, child, depth + 1);
    return deep;
}

const struct yaml_doc *study_cache_add(struct study_cache *c, const char *name, const char *path)
{
    struct err ignored;
    if (!c->files)
        c->files = calloc(MOST_FILES, sizeof *c->files);
    if (!c->files || c->n_files == MOST_FILES)
        return NULL;
    struct study_file *f = &c->files[c->n_files];
    if (yaml_read_file(&f->doc, path, &ignored))
        return NULL;
    f->name = is_deep(&f->doc, f->doc.root, 1) ? NULL : strdup(name);
    if (!f->name) {
        yaml_free(&f->doc);
        return NULL;
    }
    c->n_files++;
    return &f->doc;
}

static struct study_value *value_of(struct study_cache *c, const char *path)
{
    if (!c->values)
        c->values = calloc(SWEEP_MAX_KEYS, sizeof *c->values);
    for (int32_t i = 0; i < c->n_values && c->values; i++)
        if (c->values[i].path == path)
            return &c->values[i];
    if (!c->values || c->n_values == SWEEP_MAX_KEYS)
        return NULL;
    c->values[c->n_values].path = path;
    return &c->values[c->n_values++];
}

const struct yaml_doc *study_cache_value(struct study_cache *c, const char *study,
                                         const struct study_override *axis)
{
    struct study_value *v = value_of(c, axis->path);
    struct text name = { 0 };
    struct err ignored;
    if (!v)
        return NULL;
    if (v->known && v->text == axis->value)
        return &v->doc;
    if (v->known)
        yaml_free(&v->doc);
    text_puts(&name, study);
    text_puts(&name, " vary.");
    text_puts(&name, axis->path);
    v->text = axis->value;
    v->known =
        !name.failed && yaml_read_text(&v->doc, text_str(&name), v->text, strlen(v->text), &ignored) == 0;
    text_free(&name);
    if (v->known && is_deep(&v->doc, v->doc.root, 1)) {
        yaml_free(&v->doc);
        v->known = false;
    }
    return v->known ? &v->doc : NULL;
}
