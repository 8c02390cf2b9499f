/*
 * Overrides in the order in which they hold: --set, then --parts, then --card, then --search.
 *
 * Who owns what: struct overrides keeps the texts that were made for it, and a study borrows none of them
 * once it is read.
 */
#include "cli/overrides.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/point.h"
#include "study/study.h"
#include "workloads/readers/recipe.h"

int overrides_add(struct overrides *o, const char *path, const char *value, struct err *e)
{
    if (!vec_reserve(o->list, o->cap, o->n + 1))
        return err_nomem(e, "overrides");
    o->list[o->n++] = (struct study_override){ .path = path, .value = value };
    return 0;
}

/* Take over memory from malloc(); NULL and ERR_NOMEM in e when there is none. */
static const char *overrides_keep(struct overrides *o, char *s, struct err *e)
{
    if (!s || !vec_resize(o->kept, o->n_kept + 1)) {
        free(s);
        err_nomem(e, "overrides");
        return NULL;
    }
    o->kept[o->n_kept++] = s;
    return s;
}

static int add_assignment(struct overrides *o, const char *text, struct err *e)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return err_set(e, ERR_USAGE, "option --set is \"%.100s\", expected KEY=VALUE", text);
    const char *path = overrides_keep(o, strndup(text, (size_t)(equals - text)), e);
    return path ? overrides_add(o, path, equals + 1, e) : e->code;
}

/* A YAML scalar that reads back as @p s. */
static void quote_yaml(struct text *out, const char *s)
{
    text_puts(out, "'");
    for (; *s; s++)
        text_add(out, *s == '\'' ? "''" : s, *s == '\'' ? 2 : 1);
    text_puts(out, "'");
}

/* File names in overrides count from the working directory, as one on the command line should. */
static int overrides_add_parts(struct overrides *o, const char *path, struct err *e)
{
    struct text value = { 0 };
    quote_yaml(&value, path);
    int rc = text_check(&value, e);
    if (rc) {
        text_free(&value);
        return rc;
    }
    const char *kept = overrides_keep(o, value.s, e);
    return kept ? overrides_add(o, "parts", kept, e) : e->code;
}

/* Whether key @p key is an axis of the map or list @p at of `vary`. */
static bool varies(const struct yaml_doc *doc, yaml_id at, const char *key)
{
    static const char *const within[] = { "zip", "union", "sobol", "keys" };
    yaml_each (id, doc, at) {
        const char *name = doc->nodes[id].key;
        bool more = !name; /* a member of a list */
        if (name && strcmp(name, key) == 0)
            return true;
        for (size_t i = 0; name && i < sizeof within / sizeof *within; i++)
            more = more || strcmp(name, within[i]) == 0;
        if (more && varies(doc, id, key))
            return true;
    }
    return false;
}

/* @p key as if the study said it, unless it says or varies it. What is wrong with the study is told later: it
 * is read, not understood, since its points may be well where it is not alone. */
static int add_default(struct overrides *o, const char *key, const char *value, const struct run *run,
                       struct err *e)
{
    const struct study_source from = { .path = run->opt.operands[0], .overrides = o->list, .n = o->n };
    struct yaml_doc doc;
    struct err ignored = { 0 };
    int32_t own_source;
    const struct study_kind *kind = study_kinds[0];
    bool has = false;
    int rc = source_open(&doc, &own_source, &from, &ignored);
    if (!rc) {
        yaml_id vary = yaml_get(&doc, doc.root, "vary");
        kind = study_kind_of(&doc);
        has = vary >= 0 && varies(&doc, vary, key);
        if (strchr(key, '.')) /* may stand in a file that the study names */
            rc = source_fetch(&doc, own_source, &from, &ignored);
        /* Overrides are in the tree too, so the key is found whoever gave it. */
        has = has || (!rc && yaml_find(&doc, key) >= 0);
        yaml_free(&doc);
    }
    if (err_is_of_machine(rc)) {
        *e = ignored;
        return rc;
    }
    if (kind != study_kinds[0])
        return err_set(e, ERR_USAGE, "options --card and --search are for designs; %.200s is a study of %s",
                       from.path, kind->what);
    return has ? 0 : overrides_add(o, key, value, e);
}

/* The workload of a model card, as weft import --from hf prints it; in model alpha-beta, which is what
 * measured steps were compared with, unless study or command name one. */
static int add_card(struct overrides *o, const struct run *run, struct err *e)
{
    struct text value = { 0 };
    int rc = run->opt.model >= 0 ? 0 : add_default(o, "model", "alpha-beta", run, e);
    if (rc)
        return rc;
    text_puts(&value, "name: ");
    recipe_put_name(&value, run->opt.card);
    text_puts(&value, "\n");
    rc = recipe_format_workload(&value, &o->notes, RECIPE_HF, run->opt.card, 0, "", e);
    rc = rc ? rc : text_check(&value, e);
    if (rc) {
        text_free(&value);
        return rc;
    }
    const char *kept = overrides_keep(o, value.s, e);
    return kept ? overrides_add(o, "workload", kept, e) : e->code;
}

/* An option that stands for a key, and --set of that key, would leave one of them without effect. */
static int refuse_twice(const struct overrides *o, const char *option, const char *key, bool given,
                        struct err *e)
{
    for (int32_t i = 0; i < o->n && given; i++)
        if (strcmp(o->list[i].path, key) == 0)
            return err_set(e, ERR_USAGE,
                           "options --%s and --set %s=%.100s are the same key; give one of them", option, key,
                           o->list[i].value);
    return 0;
}

/* Later ones win over earlier ones of the same key. After a failure @p out is to be freed, too. */
int overrides_read(struct overrides *out, const struct run *run, struct err *e)
{
    int rc = 0;
    *out = (struct overrides){ 0 };
    for (int32_t i = 0; i < run->opt.set.n && !rc; i++)
        rc = add_assignment(out, run->opt.set.items[i], e);
    if (!rc)
        rc = refuse_twice(out, "model", "model", run->opt.model >= 0, e);
    if (!rc)
        rc = refuse_twice(out, "parts", "parts", run->opt.parts, e);
    if (!rc)
        rc = refuse_twice(out, "card", "workload", run->opt.card, e);
    if (!rc && run->opt.parts)
        rc = overrides_add_parts(out, run->opt.parts, e);
    if (!rc && run->opt.card)
        rc = add_card(out, run, e);
    if (!rc && run->opt.search >= 0)
        rc = add_default(out, "workload.search", "{}", run, e);
    return rc;
}

void overrides_free(struct overrides *o)
{
    for (int32_t i = 0; i < o->n_kept; i++)
        free(o->kept[i]);
    free(o->kept);
    free(o->list);
    text_free(&o->notes);
    *o = (struct overrides){ 0 };
}
