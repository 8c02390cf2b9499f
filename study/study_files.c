#include "study/study_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/study_cache.h"

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

static int graft_path(struct yaml_doc *doc, yaml_id at, const char *path, struct err *e)
{
    int why = unreadable(path);
    if (why)
        return yaml_fail(doc, at, e, ERR_PARSE, "is %.200s, which cannot be read (%s)", doc->nodes[at].text,
                         strerror(why));
    return yaml_graft_file(doc, at, path, e);
}

/* From what is kept, or else is from now on; false: not so, the file must be read. */
static bool graft_kept(struct study_cache *cache, struct yaml_doc *doc, yaml_id at, struct text *path)
{
    struct err ignored;
    const struct yaml_doc *kept = study_cache_find(cache, text_str(path));
    if (!kept) {
        struct text name = { 0 };
        text_puts(&name, text_str(path));
        shorten(path);
        if (!name.failed && !path->failed && !unreadable(text_str(path)))
            kept = study_cache_add(cache, text_str(&name), text_str(path));
        text_free(&name);
    }
    return kept && yaml_graft_copy(doc, at, kept, &ignored) == 0;
}

/* Put in the file that scalar `at` names. */
static int graft(struct yaml_doc *doc, yaml_id at, struct study_cache *cache, struct err *e)
{
    const char *name = doc->nodes[at].text;
    struct text path = { 0 };
    if (name[0] != '/')
        add_folder(&path, yaml_source(doc, at));
    text_puts(&path, name);
    int rc = text_check(&path, e);
    if (!rc && !(cache && graft_kept(cache, doc, at, &path))) {
        shorten(&path);
        rc = text_check(&path, e);
        rc = rc ? rc : graft_path(doc, at, text_str(&path), e);
    }
    text_free(&path);
    return rc;
}

static bool is_file_name(const struct yaml_doc *doc, yaml_id id)
{
    return id >= 0 && doc->nodes[id].kind == YAML_SCALAR && !yaml_is_null(doc, id);
}

static int graft_if_named(struct yaml_doc *doc, yaml_id id, struct study_cache *cache, struct err *e)
{
    return is_file_name(doc, id) ? graft(doc, id, cache, e) : 0;
}

/* ---- opening ---- */

/* A document { network: ... } that holds the network given alone. */
static int wrap_network(struct yaml_doc *doc, const char *name, yaml_id *network, struct err *e)
{
    static const char text[] = "{ network: ~ }";
    int rc = yaml_read_text(doc, name, text, sizeof text - 1, e);
    *network = rc ? -1 : yaml_get(doc, doc->root, "network");
    return rc;
}

static int open_spec(struct yaml_doc *doc, const char *word, struct err *e)
{
    struct topo_network net;
    char spec[TOPO_SPEC + 2];
    yaml_id network;
    int rc = topo_parse_spec(&net, word, e);
    if (rc)
        return err_wrap(e, "network \"%.200s\"", word);
    /* In quotes and in its canonical form, so that no letter of it can be YAML. */
    topo_format_spec(spec + 1, &net);
    size_t n = strlen(spec + 1);
    spec[0] = spec[n + 1] = '\'';
    rc = wrap_network(doc, word, &network, e);
    if (!rc)
        rc = yaml_graft_text(doc, network, word, spec, n + 2, e);
    return rc;
}

static bool is_network(const struct yaml_doc *doc)
{
    return yaml_get(doc, doc->root, "dims") >= 0 && yaml_get(doc, doc->root, "network") < 0;
}

static int open_file(struct yaml_doc *doc, int32_t *own_source, const char *path, struct err *e)
{
    struct text file = { 0 };
    yaml_id network;
    struct stat st;
    /* A study is read again for each point, and to find what it holds. */
    if (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return err_set(e, ERR_PARSE, "%s:1:1: file is a pipe, need one that can be read more than once",
                       path);
    int rc = text_read_file(&file, path, YAML_MAX_BYTES, e);
    if (!rc)
        rc = yaml_read_text(doc, path, text_str(&file), file.n, e);
    if (!rc && is_network(doc)) {
        yaml_free(doc);
        rc = wrap_network(doc, path, &network, e);
        if (!rc)
            rc = yaml_graft_text(doc, network, path, text_str(&file), file.n, e);
        *own_source = -1;
    }
    text_free(&file);
    return rc;
}

/* ---- overrides ---- */

/* When an override applies: before any file is read, before the files that `network`
 * and `workloads` name, before those that these name further, or after all of them. */
enum level { LEVEL_TOP, LEVEL_NAMES, LEVEL_INNER, LEVEL_REST, N_LEVELS };

/* The keys of a network, a workload, a job or a type that name a file. */
static bool names_inner(const char *path)
{
    static const char *const ends[] = { "network.npu", "workload.model", "job.model", "job.npu" };
    size_t n = strlen(path);
    if (n > 4 && strncmp(path, "types", 5) == 0 && strcmp(path + n - 4, ".npu") == 0)
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t length = strlen(ends[i]);
        if (n >= length && strcmp(path + n - length, ends[i]) == 0)
            return n == length || path[n - length - 1] == '.';
    }
    return false;
}

/* What stands in the study's own file and is about its points together. */
static bool is_of_sweep(const char *path, size_t top)
{
    static const char *const keys[] = { "vary", "keep", "uncertain" };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i]) == top && strncmp(path, keys[i], top) == 0)
            return true;
    return false;
}

static enum level level_of(const char *path)
{
    static const char list[] = "workloads[";
    size_t top = strcspn(path, ".[");
    if (!path[top] || is_of_sweep(path, top))
        return LEVEL_TOP;
    if (strcmp(path, "network.parts") == 0)
        return LEVEL_NAMES;
    if (names_inner(path))
        return LEVEL_INNER;
    if (strncmp(path, list, sizeof list - 1) != 0)
        return LEVEL_REST;
    const char *s = path + sizeof list - 1;
    s += strspn(s, "0123456789");
    return strcmp(s, "]") == 0 || strcmp(s, "].workload") == 0 ? LEVEL_NAMES : LEVEL_REST;
}

/* True for what of a network given alone may be called without "network.". */
static bool is_network_path(const char *path)
{
    size_t n = strcspn(path, ".[");
    return (n == 4 && strncmp(path, "dims", n) == 0) || (n == 3 && strncmp(path, "npu", n) == 0);
}

static int set_override(struct yaml_doc *doc, const struct study_override *o, bool alone, struct err *e)
{
    if (!alone || !is_network_path(o->path))
        return yaml_set(doc, o->path, o->value, e);
    struct text path = { 0 };
    text_printf(&path, "network.%s", o->path);
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
    const struct yaml_doc *kept = from->cache ? study_cache_value(from->cache, study, o) : NULL;
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

static int apply(struct yaml_doc *doc, int32_t own_source, const struct study_source *from, enum level level,
                 struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < from->n && !rc; i++)
        if (level_of(from->overrides[i].path) == level)
            rc = set_override(doc, &from->overrides[i], own_source < 0, e);
    for (int32_t i = 0; i < from->n_axes && !rc; i++)
        if (level_of(from->axes[i].path) == level)
            rc = set_axis(doc, &from->axes[i], from, e);
    return rc;
}

int study_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e)
{
    *doc = (struct yaml_doc){ .root = -1 };
    *own_source = 0;
    int rc;
    if (from->cache) {
        rc = study_cache_open(doc, own_source, from, e);
    } else if (topo_is_spec(from->path)) {
        *own_source = -1;
        rc = open_spec(doc, from->path, e);
    } else {
        rc = open_file(doc, own_source, from->path, e);
    }
    if (!rc)
        rc = yaml_need(doc, doc->root, YAML_MAP, e);
    struct study_source rest = *from;
    if (from->cache)
        rest.n = 0; /* what is kept has these overrides */
    if (!rc)
        rc = apply(doc, *own_source, &rest, LEVEL_TOP, e);
    if (rc)
        yaml_free(doc);
    return rc;
}

yaml_id study_find_axis(const struct yaml_doc *doc, const struct study_source *from, const char *path)
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

/* A member that is a file name alone becomes { workload: FILE }; the name keeps its source. */
static int expand_members(struct yaml_doc *doc, struct err *e)
{
    static const char text[] = "{ workload: ~ }";
    yaml_id list = yaml_get(doc, doc->root, "workloads");
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return 0;
    int rc = 0;
    yaml_each (id, doc, list) {
        if (rc || !is_file_name(doc, id))
            continue;
        struct yaml_node name = doc->nodes[id];
        rc = yaml_graft_text(doc, id, doc->sources[name.source], text, sizeof text - 1, e);
        if (!rc) {
            struct yaml_node *to = &doc->nodes[yaml_get(doc, id, "workload")];
            to->text = name.text;
            to->quoted = name.quoted;
            to->source = name.source;
            to->text_line = name.text_line;
            to->text_col = name.text_col;
        }
    }
    return rc;
}

static int graft_members(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id list = yaml_get(doc, doc->root, "workloads");
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return 0;
    int rc = 0;
    yaml_each (id, doc, list)
        if (!rc)
            rc = graft_if_named(doc, yaml_get(doc, id, "workload"), cache, e);
    return rc;
}

static int graft_network(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id network = yaml_get(doc, doc->root, "network");
    if (!is_file_name(doc, network) || topo_is_spec(doc->nodes[network].text))
        return 0;
    return graft(doc, network, cache, e);
}

/* The NPUs of a list of types. */
static int graft_types(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id list = yaml_get(doc, doc->root, "types");
    int rc = 0;
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return 0;
    yaml_each (id, doc, list)
        if (!rc)
            rc = graft_if_named(doc, yaml_get(doc, id, "npu"), cache, e);
    return rc;
}

/* A model beside a list of types: a word where it is none of a file's, which has a dot or slash in it. */
static int graft_model(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id model = yaml_get(doc, doc->root, "model");
    return is_file_name(doc, model) && strpbrk(doc->nodes[model].text, "./") ? graft(doc, model, cache, e)
                                                                             : 0;
}

/* The model and the NPU that a worker of a gossip study stands for. */
static int graft_job(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id job = yaml_get(doc, doc->root, "job");
    int rc = graft_if_named(doc, yaml_get(doc, job, "model"), cache, e);
    return rc ? rc : graft_if_named(doc, yaml_get(doc, job, "npu"), cache, e);
}

/* What a network, workload, job or type that is there by now names further. */
static int graft_inner(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id list = yaml_get(doc, doc->root, "workloads");
    int rc = graft_if_named(doc, yaml_get(doc, yaml_get(doc, doc->root, "network"), "npu"), cache, e);
    if (!rc)
        rc = graft_types(doc, cache, e);
    if (!rc)
        rc = graft_job(doc, cache, e);
    if (!rc)
        rc = graft_if_named(doc, yaml_get(doc, yaml_get(doc, doc->root, "workload"), "model"), cache, e);
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return rc;
    yaml_each (id, doc, list)
        if (!rc)
            rc = graft_if_named(doc, yaml_get(doc, yaml_get(doc, id, "workload"), "model"), cache, e);
    return rc;
}

/* Those of the study; else those that the network names. */
static int graft_parts(struct yaml_doc *doc, struct study_cache *cache, struct err *e)
{
    yaml_id parts = yaml_get(doc, doc->root, "parts");
    if (parts < 0)
        parts = yaml_get(doc, yaml_get(doc, doc->root, "network"), "parts");
    return graft_if_named(doc, parts, cache, e);
}

int study_fetch(struct yaml_doc *doc, int32_t own_source, const struct study_source *from, struct err *e)
{
    int rc = graft_network(doc, from->cache, e);
    if (!rc)
        rc = graft_model(doc, from->cache, e);
    if (!rc)
        rc = expand_members(doc, e);
    if (!rc)
        rc = apply(doc, own_source, from, LEVEL_NAMES, e);
    if (!rc)
        rc = expand_members(doc, e);
    if (!rc)
        rc = graft_members(doc, from->cache, e);
    if (!rc)
        rc = graft_if_named(doc, yaml_get(doc, doc->root, "workload"), from->cache, e);
    if (!rc)
        rc = apply(doc, own_source, from, LEVEL_INNER, e);
    if (!rc)
        rc = graft_inner(doc, from->cache, e);
    if (!rc)
        rc = graft_parts(doc, from->cache, e);
    return rc ? rc : apply(doc, own_source, from, LEVEL_REST, e);
}
