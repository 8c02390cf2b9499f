/*
 * From a path and overrides to one YAML tree that knows where everything came from. A point of a study is a
 * tree of its own: the study's file, copied or read again, with the point's values set and the files it names
 * grafted in.
 *
 * The cache makes that cheap: the study's own file without `vary` (which may hold a million values), each
 * file that was named, and the last value of each axis stay parsed, and a point costs copies of nodes alone.
 * What cannot be kept (too deep, no memory, too many files) is read as if there were no cache, so that
 * results and messages do not depend on it.
 *
 * A value of an axis is parsed under a source name in the study's folder, "STUDY vary.PATH": relative file
 * names in it then count from there, and messages say which axis they are about.
 */

#include "study/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/catalogue.h"

/* ---- files that were read before ---- */

/* A sweep over many networks names each for a while only; parsed ones are large. DEEPEST leaves room for the
 * few levels of a study above a file that is put in, so that no copy is deeper than a document may be. */
enum { MOST_FILES = 64, DEEPEST = YAML_MAX_DEPTH / 2 };

struct source_file {
    char *name; /* owned */
    struct yaml_doc doc;
};

struct source_value {
    const char *path, *text; /* borrowed; which value it is */
    bool known;              /* doc holds it */
    struct yaml_doc doc;
};

/* All at once: which ones a sweep will ask for again is not known. */
static void cache_forget_files(struct source_cache *c)
{
    for (int32_t i = 0; i < c->n_files; i++) {
        free(c->files[i].name);
        yaml_free(&c->files[i].doc);
    }
    c->n_files = 0;
}

void source_cache_free(struct source_cache *c)
{
    cache_forget_files(c);
    free(c->files);
    for (int32_t i = 0; i < c->n_values; i++)
        if (c->values[i].known)
            yaml_free(&c->values[i].doc);
    free(c->values);
    if (c->has_top)
        yaml_free(&c->top);
    *c = (struct source_cache){ 0 };
}

/* A list of a million values is no part of any one study. */
static int cache_read_top(struct source_cache *c, const struct study_source *from, struct err *e)
{
    struct study_source plain = *from;
    plain.n_axes = 0;
    plain.cache = NULL;
    int rc = source_open(&c->top, &c->own_source, &plain, e);
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

/* source_open() from what is kept: the same document, but for what is in `vary`. Errors as there. */
static int cache_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from,
                      struct err *e)
{
    struct source_cache *c = from->cache;
    *doc = (struct yaml_doc){ .root = -1 };
    int rc = c->has_top ? 0 : cache_read_top(c, from, e);
    if (rc)
        return rc;
    /* Here, where no document borrows from them any more; not in the middle of one. */
    if (c->n_files == MOST_FILES)
        cache_forget_files(c);
    *own_source = c->own_source;
    return yaml_copy(doc, &c->top, e);
}

/* The parsed file that is called @p name, or NULL; borrowed until the next cache_open(). */
static const struct yaml_doc *cache_find(const struct source_cache *c, const char *name)
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

/* Parse the file at @p path and keep it as @p name; NULL where it cannot be read or kept, whatever the
 * reason: then it is read as if there were no cache, which says why. */
static const struct yaml_doc *cache_add(struct source_cache *c, const char *name, const char *path)
{
    struct err ignored;
    if (!c->files)
        c->files = calloc(MOST_FILES, sizeof *c->files);
    if (!c->files || c->n_files == MOST_FILES)
        return NULL;
    struct source_file *f = &c->files[c->n_files];
    /* Not kept, and read once more by the caller, whose message is the one that counts. */
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

static struct source_value *cache_value(struct source_cache *c, const char *path)
{
    if (!c->values)
        c->values = calloc(SOURCE_MAX_VALUES, sizeof *c->values);
    /* Known by address: paths and values of axes are texts of one struct sweep, which stay where they are. */
    for (int32_t i = 0; i < c->n_values && c->values; i++)
        if (c->values[i].path == path)
            return &c->values[i];
    if (!c->values || c->n_values == SOURCE_MAX_VALUES)
        return NULL;
    c->values[c->n_values].path = path;
    return &c->values[c->n_values++];
}

/* The parsed value of an axis, as one that stands in the folder of @p study; NULL where it cannot be kept, as
 * above. Borrowed until the next call for that axis. */
static const struct yaml_doc *cache_get_value(struct source_cache *c, const char *study,
                                              const struct study_override *axis)
{
    struct source_value *v = cache_value(c, axis->path);
    struct text name = { 0 };
    struct err ignored;
    if (!v)
        return NULL;
    /* The slow axes of a sweep keep their value for many points. */
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

/* ---- where a name counts from ---- */

/* An override on the command line is no file: names in it count from the working directory. */
static void add_folder(struct text *out, const char *source)
{
    const char *slash = strrchr(source, '/');
    if (slash && strncmp(source, "--set ", 6) != 0)
        text_add(out, source, (size_t)(slash - source) + 1);
}

/* Why a file cannot be read, asked without opening it: a pipe can be opened only once. 0 = it can. */
static int unreadable(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, R_OK) == 0 ? 0 : errno;
}

/* Take out every "x/../". */
static void collapse(char *path)
{
    for (char *up = strstr(path, "/../"); up; up = strstr(up, "/../")) {
        char *name = up;
        while (name > path && name[-1] != '/')
            name--;
        /* "./../" and "../../" are no names to take out. */
        size_t n = (size_t)(up - name);
        bool is_name = n > 0 && strncmp(name, ".", n) != 0 && strncmp(name, "..", n) != 0;
        if (is_name)
            memmove(name, up + 4, strlen(up + 4) + 1);
        /* What moved up may begin with the next one. */
        up = is_name ? (name > path ? name - 1 : path) : up + 1;
    }
}

/* The shorter way to write a path, for messages, where it is the same file: not so after a symbolic link. */
static void shorten(struct text *path)
{
    struct text other = { 0 };
    struct stat a, b;
    text_puts(&other, text_str(path));
    if (other.s)
        collapse(other.s);
    if (!other.failed && stat(text_str(path), &a) == 0 && stat(text_str(&other), &b) == 0 &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
        text_clear(path);
        text_puts(path, text_str(&other));
    }
    text_free(&other);
}

/* From the path as composed to the file that is read: the one there, else with its ending, else that of the
 * catalogue; none: the path stays. */
static void settle(struct text *path, const char *kind, const char *name, const char *source)
{
    struct text other = { 0 };
    if (unreadable(text_str(path)) == ENOENT && catalogue_is_name(name)) {
        text_printf(&other, "%s.yaml", text_str(path));
        /* b200.yaml, a study that says `npu: b200`, does not mean itself. */
        bool itself = strcmp(text_str(&other), source) == 0;
        if (!other.failed && !itself && !unreadable(text_str(&other)))
            text_puts(path, ".yaml");
        else if (kind)
            catalogue_find(path, kind, name);
    }
    path->failed = path->failed || other.failed;
    text_free(&other);
    shorten(path);
}

void source_beside(struct text *path, const struct yaml_doc *doc, yaml_id id, const char *kind)
{
    text_clear(path);
    yaml_beside(path, doc, id);
    if (!path->failed)
        settle(path, kind, doc->nodes[id].text, yaml_source(doc, id));
}

/* Named by the place that names it, as a reader of the study would look for it there. */
static int graft_path(struct yaml_doc *doc, yaml_id at, const char *kind, const char *path, struct err *e)
{
    struct text hint = { 0 };
    int why = unreadable(path);
    if (!why)
        return yaml_graft_file(doc, at, path, e);
    if (why == ENOENT && kind)
        catalogue_hint(&hint, kind, doc->nodes[at].text);
    int rc = yaml_fail(doc, at, e, ERR_PARSE, "is %.200s, which cannot be read (%s)%s", doc->nodes[at].text,
                       strerror(why), text_str(&hint));
    text_free(&hint);
    return rc;
}

/* From what is kept, or else is from now on; false: not so, the file must be read. */
static bool graft_kept(struct source_cache *cache, struct yaml_doc *doc, yaml_id at, const char *kind,
                       struct text *path)
{
    struct err ignored;
    /* Looked up by the path as composed; shortened only when the file is read, which costs two stat(). */
    const struct yaml_doc *kept = cache_find(cache, text_str(path));
    if (!kept) {
        struct text name = { 0 };
        text_puts(&name, text_str(path));
        settle(path, kind, doc->nodes[at].text, yaml_source(doc, at));
        if (!name.failed && !path->failed && !unreadable(text_str(path)))
            kept = cache_add(cache, text_str(&name), text_str(path));
        text_free(&name);
    }
    return kept && yaml_graft_copy(doc, at, kept, &ignored) == 0;
}

/* Put in the file that scalar `at` names, of the catalogue's @p kind. */
static int graft(struct yaml_doc *doc, yaml_id at, const char *kind, struct source_cache *cache,
                 struct err *e)
{
    const char *name = doc->nodes[at].text;
    struct text path = { 0 };
    if (name[0] != '/')
        add_folder(&path, yaml_source(doc, at));
    text_puts(&path, name);
    int rc = text_check(&path, e);
    if (!rc && !(cache && graft_kept(cache, doc, at, kind, &path))) {
        settle(&path, kind, name, yaml_source(doc, at));
        rc = text_check(&path, e);
        rc = rc ? rc : graft_path(doc, at, kind, text_str(&path), e);
    }
    text_free(&path);
    return rc;
}

static bool is_file_name(const struct yaml_doc *doc, yaml_id id)
{
    return id >= 0 && doc->nodes[id].kind == YAML_SCALAR && !yaml_is_null(doc, id);
}

/* ---- opening ---- */

/* A document { network: ... } that holds the network given alone. */
static int wrap_alone(struct yaml_doc *doc, const char *name, yaml_id *at, struct err *e)
{
    char text[64];
    int n = snprintf(text, sizeof text, "{ %s: ~ }", source_rules.alone);
    int rc = yaml_read_text(doc, name, text, (size_t)n, e);
    *at = rc ? -1 : yaml_get(doc, doc->root, source_rules.alone);
    return rc;
}

static int open_word(struct yaml_doc *doc, const char *word, struct err *e)
{
    struct text quoted = { 0 };
    yaml_id at;
    /* In quotes and in its canonical form, so that no letter of it can be YAML. */
    text_puts(&quoted, "'");
    int rc = source_rules.put_word(&quoted, word, e);
    text_puts(&quoted, "'");
    if (rc)
        rc = err_wrap(e, "%s \"%.200s\"", source_rules.alone, word);
    if (!rc)
        rc = text_check(&quoted, e);
    if (!rc)
        rc = wrap_alone(doc, word, &at, e);
    if (!rc)
        rc = yaml_graft_text(doc, at, word, text_str(&quoted), quoted.n, e);
    text_free(&quoted);
    return rc;
}

/* A network file where a study is expected: most of what can be asked of a study can be asked of it. */
static bool is_alone(const struct yaml_doc *doc)
{
    return yaml_get(doc, doc->root, source_rules.alone_keys[0]) >= 0 &&
           yaml_get(doc, doc->root, source_rules.alone) < 0;
}

static int open_file(struct yaml_doc *doc, int32_t *own_source, const char *path, struct err *e)
{
    struct text file = { 0 };
    yaml_id at;
    struct stat st;
    /* A study is read again for each point, and to find what it holds. */
    if (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return err_set(e, ERR_PARSE, "%s: is a pipe; use a file that can be read more than once", path);
    int rc = text_read_file(&file, path, YAML_MAX_BYTES, e);
    if (!rc)
        rc = yaml_read_text(doc, path, text_str(&file), file.n, e);
    if (!rc && is_alone(doc)) {
        yaml_free(doc);
        rc = wrap_alone(doc, path, &at, e);
        if (!rc)
            rc = yaml_graft_text(doc, at, path, text_str(&file), file.n, e);
        *own_source = -1;
    }
    text_free(&file);
    return rc;
}

int source_find(struct text *path, const char *name, struct err *e)
{
    bool missing = !source_rules.is_word(name) && catalogue_is_name(name) && unreadable(name) == ENOENT;
    bool found = false;
    text_clear(path);
    for (const char *const *kind = source_rules.own_kinds; *kind && missing && !found; kind++)
        found = catalogue_find(path, *kind, name);
    if (!found)
        text_puts(path, name);
    return text_check(path, e);
}

/* There is no such file; the nearest name of the catalogue where one is near. */
static int fail_missing(const char *path, struct err *e)
{
    struct text hint = { 0 };
    for (const char *const *kind = source_rules.own_kinds; *kind && !hint.n; kind++)
        catalogue_hint(&hint, *kind, path);
    int rc = err_set(e, ERR_PARSE, "%s: no such file%s", path, text_str(&hint));
    text_free(&hint);
    return rc;
}

/* ---- overrides ---- */

static bool is_among(const char *const *words, const char *path, size_t n)
{
    for (; *words; words++)
        if (strlen(*words) == n && strncmp(path, *words, n) == 0)
            return true;
    return false;
}

static enum source_step step_of(const char *path)
{
    size_t top = strcspn(path, ".[");
    /* A key of the study itself, at whatever depth, is there before any file is put in. */
    if (!path[top] || is_among(source_rules.of_study, path, top))
        return SOURCE_TOP;
    return source_rules.step_of(path);
}

static int set_override(struct yaml_doc *doc, const struct study_override *o, bool alone, struct err *e)
{
    /* What of a network given alone may be called without "network.". */
    if (!alone || !is_among(source_rules.alone_keys, o->path, strcspn(o->path, ".[")))
        return yaml_set(doc, o->path, o->value, e);
    struct text path = { 0 };
    text_printf(&path, "%s.%s", source_rules.alone, o->path);
    int rc = text_check(&path, e);
    if (!rc)
        rc = yaml_set(doc, text_str(&path), o->value, e);
    text_free(&path);
    return rc;
}

/* The value is read again under a name in the study's folder: from there its file names count. */
static int set_axis(struct yaml_doc *doc, const struct study_override *o, const struct study_source *from,
                    struct err *e)
{
    struct text name = { 0 };
    const char *study = from->path;
    const struct yaml_doc *kept = from->cache ? cache_get_value(from->cache, study, o) : NULL;
    if (kept)
        return yaml_set_copy(doc, o->path, o->value, kept, e);
    int rc = yaml_set(doc, o->path, o->value, e);
    yaml_id at = rc ? -1 : yaml_find(doc, o->path); /* -1 too after a change of the name the path goes by */
    text_printf(&name, "%s vary.%s", study, o->path);
    if (!rc)
        rc = text_check(&name, e);
    if (!rc && at >= 0)
        rc = yaml_graft_text(doc, at, text_str(&name), o->value, strlen(o->value), e);
    text_free(&name);
    return rc;
}

/* The command line first, then the point: an axis whose key --set gives has no value of its own here. */
static int apply(struct yaml_doc *doc, int32_t own_source, const struct study_source *from,
                 enum source_step step, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < from->n && !rc; i++)
        if (step_of(from->overrides[i].path) == step)
            rc = set_override(doc, &from->overrides[i], own_source < 0, e);
    for (int32_t i = 0; i < from->n_axes && !rc; i++)
        if (step_of(from->axes[i].path) == step)
            rc = set_axis(doc, &from->axes[i], from, e);
    return rc;
}

int source_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e)
{
    *doc = (struct yaml_doc){ .root = -1 };
    *own_source = 0;
    int rc;
    if (from->cache) {
        rc = cache_open(doc, own_source, from, e);
    } else if (from->text) {
        rc = yaml_read_text(doc, from->path, from->text, strlen(from->text), e);
    } else if (source_rules.is_word(from->path)) {
        *own_source = -1;
        rc = open_word(doc, from->path, e);
    } else {
        rc = catalogue_is_name(from->path) && unreadable(from->path) == ENOENT
                 ? fail_missing(from->path, e)
                 : open_file(doc, own_source, from->path, e);
    }
    if (!rc)
        rc = doc->nodes[doc->root].kind == YAML_SCALAR && doc->nodes[doc->root].text[0] == '<'
                 ? yaml_fail(doc, doc->root, e, ERR_PARSE,
                             "is XML, expected YAML; a study names a graph as network: { graph: FILE }")
                 : yaml_need(doc, doc->root, YAML_MAP, e);
    struct study_source rest = *from;
    if (from->cache)
        rest.n = 0; /* what is kept has these overrides */
    if (!rc)
        rc = apply(doc, *own_source, &rest, SOURCE_TOP, e);
    if (rc)
        yaml_free(doc);
    return rc;
}

yaml_id source_find_axis(const struct yaml_doc *doc, const struct study_source *from, const char *path)
{
    static const char joint[] = " vary.";
    yaml_id id = yaml_find(doc, path);
    if (id < 0)
        return -1;
    const char *source = yaml_source(doc, id);
    size_t n = strlen(from->path), n_joint = sizeof joint - 1;
    bool own = strncmp(source, from->path, n) == 0 && strncmp(source + n, joint, n_joint) == 0 &&
               strcmp(source + n + n_joint, path) == 0;
    return own ? id : -1;
}

/* ---- fetching ---- */

/* A member that is a file name alone becomes { MEMBER: FILE }; the name keeps its source. */
static int expand_members(struct yaml_doc *doc, struct err *e)
{
    char text[64];
    yaml_id list = yaml_get(doc, doc->root, source_rules.list);
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return 0;
    int n = snprintf(text, sizeof text, "{ %s: ~ }", source_rules.member);
    int rc = 0;
    yaml_each (id, doc, list) {
        if (rc || !is_file_name(doc, id))
            continue;
        struct yaml_node name = doc->nodes[id];
        rc = yaml_graft_text(doc, id, doc->sources[name.source], text, (size_t)n, e);
        if (!rc) {
            struct yaml_node *to = &doc->nodes[yaml_get(doc, id, source_rules.member)];
            to->text = name.text;
            to->quoted = name.quoted;
            to->source = name.source;
            to->text_line = name.text_line;
            to->text_col = name.text_col;
        }
    }
    return rc;
}

/* What is at @p path below @p id, where there is something: "job.npu", "types[].npu". */
static int graft_path_below(struct yaml_doc *doc, yaml_id id, const char *path,
                            const struct source_names *names, struct source_cache *cache, struct err *e)
{
    size_t n = strcspn(path, ".[");
    int rc = 0;
    if (!*path)
        return is_file_name(doc, id) && (!names->is_file || names->is_file(doc->nodes[id].text))
                   ? graft(doc, id, names->kind, cache, e)
                   : 0;
    id = yaml_get_part(doc, id, path, n);
    path += n;
    if (id < 0)
        return 0;
    if (strncmp(path, "[]", 2) != 0)
        return graft_path_below(doc, id, path + (*path == '.'), names, cache, e);
    path += strlen("[]");
    if (doc->nodes[id].kind != YAML_SEQ)
        return 0;
    yaml_each (member, doc, id)
        if (!rc)
            rc = graft_path_below(doc, member, path + (*path == '.'), names, cache, e);
    return rc;
}

/* Put in the files of a step. */
static int graft_step(struct yaml_doc *doc, enum source_step step, struct source_cache *cache, struct err *e)
{
    int rc = 0;
    for (const struct source_names *x = source_rules.names; x->path && !rc; x++) {
        bool other = x->otherwise && yaml_find(doc, x->path) < 0;
        if (x->step == step)
            rc = graft_path_below(doc, doc->root, other ? x->otherwise : x->path, x, cache, e);
    }
    return rc;
}

int source_fetch(struct yaml_doc *doc, int32_t own_source, const struct study_source *from, struct err *e)
{
    int rc = graft_step(doc, SOURCE_TOP, from->cache, e);
    if (!rc)
        rc = expand_members(doc, e);
    if (!rc)
        rc = apply(doc, own_source, from, SOURCE_NAMES, e);
    if (!rc)
        rc = expand_members(doc, e);
    if (!rc)
        rc = graft_step(doc, SOURCE_NAMES, from->cache, e);
    if (!rc)
        rc = apply(doc, own_source, from, SOURCE_INNER, e);
    if (!rc)
        rc = graft_step(doc, SOURCE_INNER, from->cache, e);
    return rc ? rc : apply(doc, own_source, from, SOURCE_REST, e);
}

int source_read(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e)
{
    int rc = source_open(doc, own_source, from, e);
    return rc ? rc : source_fetch(doc, *own_source, from, e);
}
