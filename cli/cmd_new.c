/*
 * weft new: a study to start from, put together from a network, a model, an NPU and a server of the
 * catalogue, or a copy of one of its studies or clusters.
 *
 * The network is written out, so that its sizes and bandwidths can be changed there; what it names goes by
 * bare names (base/catalogue.h), so that the file works in any folder.
 */
/* realpath() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/catalogue.h"
#include "cli/edit.h"
#include "cli/output.h"
#include "cli/overrides.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/runner.h"
#include "study/source.h"
#include "study/study.h"
#include "topo/network.h"

/* From STUDY on a file is taken whole. */
enum part { NETWORK, MODEL, NPU, SERVER, STUDY, CLUSTER, N_PARTS };

static const struct {
    const char *kind, *title, *usual; /* of the catalogue; in the list; where --like names none of it */
} parts[N_PARTS] = {
    [NETWORK] = { "networks", "Networks", "hgx-h100" },
    [MODEL] = { "models", "Models", "llama3-70b" },
    [NPU] = { "npus", "NPUs", NULL },
    [SERVER] = { "servers", "Servers (for system.server)", NULL },
    [STUDY] = { "studies", "Studies", NULL },
    [CLUSTER] = { "clusters", "Clusters (for weft place)", NULL },
};

/** What is asked for: of each part a name and the text of its file. */
struct wish {
    const char *name[N_PARTS]; /* borrowed; NULL: none */
    struct text text[N_PARTS];
};

/* ---- the list ---- */

/* A file of the catalogue says in its first sentence what it is; a long one is cut between two words. */
static void put_first_line(struct text *out, const char *name, const struct text *file)
{
    enum { SHOWN = 92 };
    const char *s = text_str(file);
    s += strspn(s, "# ");
    size_t line = strcspn(s, "\n"), n = 0;
    while (n < line && !(s[n] == '.' && (n + 1 == line || s[n + 1] == ' ')))
        n++;
    bool whole = n < line && n <= SHOWN;
    for (n = n < SHOWN ? n : SHOWN; !whole && n > 0 && s[n] != ' ' && s[n] != '\n';)
        n--;
    while (!whole && n > 0 && strchr(" ,:;(", s[n - 1]))
        n--;
    text_printf(out, "  %-24s %.*s%s\n", name, (int)n, s, whole ? "" : " ...");
}

static int read_part(struct text *file, const char *kind, const char *name, struct err *e)
{
    struct text path = { 0 };
    int rc = 0;
    if (!catalogue_find(&path, kind, name))
        rc = err_set(e, ERR_PARSE, "%s: no such file among %s", name, kind);
    rc = rc ? rc : text_check(&path, e);
    rc = rc ? rc : text_read_file(file, text_str(&path), YAML_MAX_BYTES, e);
    text_free(&path);
    return rc;
}

static int put_choices(struct text *out, enum part p, struct err *e)
{
    struct catalogue c;
    struct text file = { 0 };
    int rc = catalogue_list(&c, parts[p].kind, e);
    if (!rc && c.n)
        text_printf(out, "%s%s:\n", out->n ? "\n" : "", parts[p].title);
    for (int32_t i = 0; i < c.n && !rc; i++) {
        rc = read_part(&file, parts[p].kind, c.names[i], e);
        if (!rc)
            put_first_line(out, c.names[i], &file);
    }
    text_free(&file);
    catalogue_free(&c);
    return rc;
}

static int list_parts(struct run *run, struct err *e)
{
    struct text out = { 0 };
    int rc = 0;
    for (int p = 0; p < N_PARTS && !rc; p++)
        rc = put_choices(&out, (enum part)p, e);
    if (!rc && !out.n)
        rc = err_set(e, ERR_IO, "no files to start from: set WEFT_DATA to the folder configs of weft");
    rc = rc ? rc : output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* ---- what is asked for ---- */

static int fail_name(const char *name, struct err *e)
{
    struct text hint = { 0 };
    for (int p = 0; p < N_PARTS && !hint.n; p++)
        catalogue_hint(&hint, parts[p].kind, name);
    int rc = err_set(e, ERR_USAGE, "option --like is \"%.60s\", expected a name that weft new lists%s", name,
                     text_str(&hint));
    text_free(&hint);
    return rc;
}

/* Which part is taken whole, N_PARTS: none. */
static int whole_part(const struct wish *w)
{
    int p = STUDY;
    while (p < N_PARTS && !w->name[p])
        p++;
    return p;
}

/* The first part that has a file of this name. */
static int take_name(struct wish *w, const char *name, struct err *e)
{
    struct text path = { 0 };
    int p = 0;
    while (p < N_PARTS && !catalogue_find(&path, parts[p].kind, name))
        p++;
    text_free(&path);
    if (p == N_PARTS)
        return fail_name(name, e);
    if (w->name[p])
        return err_set(e, ERR_USAGE, "option --like names two %s, %s and %s", parts[p].kind, w->name[p],
                       name);
    w->name[p] = name;
    return 0;
}

static int take_names(struct wish *w, const struct option_list *like, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < like->n && !rc; i++)
        rc = take_name(w, like->items[i], e);
    int whole = whole_part(w);
    if (!rc && whole < N_PARTS && like->n > 1)
        rc = err_set(e, ERR_USAGE, "option --like names %s, which is taken whole, and something else",
                     w->name[whole]);
    for (int p = 0; p < N_PARTS && !rc; p++) {
        if (!w->name[p] && whole == N_PARTS)
            w->name[p] = parts[p].usual;
        if (w->name[p])
            rc = read_part(&w->text[p], parts[p].kind, w->name[p], e);
    }
    return rc;
}

/* ---- writing ---- */

/* The length of a path to a file of the catalogue at @p s, "../npus/b200.yaml" or, in a cluster,
 * "profiles/llm-2024.yaml", and its bare name; 0: none. */
static size_t find_reference(const char *s, const char **name, size_t *n)
{
    static const char *const kinds[] = { "networks", "models",    "npus",   "servers", "systems",
                                         "parts",    "workloads", "curves", "profiles" };
    static const char ending[] = ".yaml";
    const char *at = s;
    while (strncmp(at, "../", 3) == 0)
        at += 3;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]), rest;
        if ((at == s && strcmp(kinds[i], "profiles") != 0) || strncmp(at, kinds[i], length) != 0 ||
            at[length] != '/')
            continue;
        *name = at + length + 1;
        rest = strcspn(*name, "/ ,]}\"'\n");
        *n = rest - (sizeof ending - 1);
        if (rest > sizeof ending && strncmp(*name + *n, ending, sizeof ending - 1) == 0)
            return (size_t)(*name - s) + rest;
    }
    return 0;
}

/* A file of edges has no bare name: its path in the data folder stands for it. */
static size_t put_graph(struct text *out, const char *s)
{
    static const char graphs[] = "../networks/graphs/";
    enum { N = sizeof graphs - 1 };
    struct text path = { 0 };
    char *whole = NULL, *name = NULL;
    size_t n = strncmp(s, graphs, N) == 0 ? strcspn(s + N, " ,}]\"'\n") : 0;
    if (n > 0 && (name = strndup(s + N, n)) && catalogue_find(&path, "networks/graphs", name))
        whole = realpath(text_str(&path), NULL);
    text_puts(out, whole ? whole : "");
    text_free(&path);
    free(name);
    n = whole ? N + n : 0;
    free(whole);
    return n;
}

/* @p n bytes with paths into the catalogue turned into names. A model beside a list of types needs a dot. */
static void put_named(struct text *out, const char *s, size_t n)
{
    static const char model[] = "\nmodel: ";
    enum { N = sizeof model - 1 };
    for (const char *begin = s, *end = s + n; s < end;) {
        const char *name;
        size_t length, path = find_reference(s, &name, &length), graph = path ? 0 : put_graph(out, s);
        bool dotted = path && s - begin >= N && strncmp(s - N, model, N) == 0;
        if (path)
            text_printf(out, "%.*s%s", (int)length, name, dotted ? ".yaml" : "");
        else if (!graph)
            text_add(out, s, 1);
        s += path ? path : graph ? graph : 1;
    }
}

/* A network's file as the map below `network:`; its NPU is another one where that is asked for. */
static void put_network(struct text *out, const struct wish *w)
{
    bool skipped = false, named = false;
    size_t n;
    for (const char *rest = text_str(&w->text[NETWORK]), *s; (s = text_next(&rest, '\n', &n));) {
        /* A key and what is indented below it. */
        bool inner = strchr(" \t#-", s[0]) != NULL || n == 0;
        bool npu = w->name[NPU] && (strncmp(s, "npu:", 4) == 0 || (skipped && inner));
        if (npu && !skipped)
            text_printf(out, "  npu: %s\n", w->name[NPU]);
        named = named || npu;
        skipped = npu;
        if (!npu) {
            text_puts(out, n ? "  " : "");
            put_named(out, s, n);
            text_puts(out, "\n");
        }
    }
    if (w->name[NPU] && !named)
        text_printf(out, "  npu: %s\n", w->name[NPU]);
}

/* How many NPUs the network has, and does it say how fast they compute? */
static int look_at_network(int64_t *n, bool *computes, const char *network, struct err *e)
{
    struct study_source from = { .path = network };
    struct yaml_doc doc;
    struct topo_network net;
    int32_t own_source;
    int rc = source_read(&doc, &own_source, &from, e);
    rc = rc ? rc : topo_read_network(&net, &doc, yaml_get(&doc, doc.root, "network"), e);
    *n = rc ? 0 : net.n_npus;
    *computes = !rc && net.npu.peak_flops > 0;
    yaml_free(&doc);
    return rc;
}

/* Sequences a step: about four million tokens, and as many for each NPU. 0 tokens: the model has none. */
static int choose_batch(int64_t *batch, double *tokens, const struct text *model, int64_t npus, struct err *e)
{
    enum { TOKENS = 1 << 22, SAMPLES = 64 };
    struct yaml_doc doc;
    int64_t seq = 0;
    int rc = yaml_read_text(&doc, "model", text_str(model), model->n, e);
    bool other = !rc && yaml_get(&doc, doc.root, "family") >= 0; /* no transformer */
    yaml_id id = rc || other ? -1 : yaml_get(&doc, doc.root, "seq");
    if (id >= 0)
        rc = yaml_count(&doc, id, &seq, e);
    *batch = seq > 0 ? npus * ((TOKENS / seq + npus - 1) / npus) : npus * SAMPLES;
    *tokens = (double)*batch * (double)seq;
    yaml_free(&doc);
    return rc;
}

static int put_study(struct text *out, struct wish *w, const char *file, struct err *e)
{
    int64_t npus, batch = 0;
    double tokens = 0;
    struct text path = { 0 };
    catalogue_find(&path, parts[NETWORK].kind, w->name[NETWORK]);
    int rc = text_check(&path, e);
    bool computes = true;
    rc = rc ? rc : look_at_network(&npus, &computes, text_str(&path), e);
    text_free(&path);
    if (!computes && !w->name[NPU])
        w->name[NPU] = "h100-80gb";
    rc = rc ? rc : choose_batch(&batch, &tokens, &w->text[MODEL], npus, e);
    if (rc)
        return rc;
    text_printf(
        out,
        "# %s on %s%s%s. Change what you like: `weft keys WORD` explains every key.\n"
        "#   weft sim %s             time of a training step, and whether it fits in memory\n"
        "#   weft explain %s         what limits the step, and what more bandwidth would save\n"
        "#   weft topo %s --bill     what the network costs, part by part\n"
        "#   weft alloc %s           the best bandwidths: leave bw_GBps out of a dimension to let "
        "weft choose\n"
        "#   weft sweep %s -o rows.csv   every variant below vary\n"
        "# Another number of NPUs: size of the last dimension, and batch. A 2:1 spine: weft keys taper\n",
        w->name[MODEL], w->name[NETWORK], w->name[NPU] ? " with " : "", w->name[NPU] ? w->name[NPU] : "",
        file, file, file, file, file);
    text_puts(out, "network:\n");
    put_network(out, w);
    text_printf(out, "model: alpha-beta # latency counts; others: weft keys study\nworkload:\n  model: %s\n",
                w->name[MODEL]);
    if (tokens > 0)
        text_printf(out,
                    "  parallel:\n"
                    "    batch: %lld # sequences per step, %.3g million tokens; grow it with the NPUs\n"
                    "    software: megatron # whose kernels; others: weft keys software\n"
                    "  search: { top: 3 } # every legal plan (tensor, pipeline, context, expert, data "
                    "parallel); or write\n"
                    "                     # tp: 8 and pp: 4 below parallel and delete this line\n",
                    (long long)batch, tokens / 1e6);
    else
        text_printf(out, "  parallel: { batch: %lld } # samples per step, data parallel\n", (long long)batch);
    if (w->name[SERVER])
        text_printf(out, "system:\n  server: %s # what owning costs, and what fails: weft keys system\n",
                    w->name[SERVER]);
    text_printf(out,
                "# vary: # each list is an axis of weft sweep\n#   workload.parallel.batch: [%lld, %lld]\n",
                (long long)batch, 2 * (long long)batch);
    return 0;
}

/* Of designs the first point is read as well; other kinds read theirs as they are opened. */
static int read_first(const struct study *study, struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point p;
    struct design_point point;
    if (study->kind != &design_kind)
        return 0;
    sweep_find_point(&p, &study->sweep, 0);
    const struct study_source from = study_source_at(axes, study, &p);
    int rc = design_point_read(&point, &from, DESIGN_NEEDS_NETWORK, e);
    design_point_free(&point);
    return rc;
}

/* The study as any command would read it, so that a key that is none is told before there is a file. */
static int check_study(struct run *run, const char *file, const struct text *out, struct err *e)
{
    struct study study = { .kind = NULL };
    struct study_ask ask = { .from = { .path = file, .text = text_str(out) } };
    struct yaml_doc doc;
    int rc = yaml_read_text(&doc, file, text_str(out), out->n, e);
    if (rc)
        return rc;
    ask.kind = study_kind_of(&doc);
    bool one = ask.kind == &design_kind && yaml_get(&doc, doc.root, "vary") < 0;
    yaml_free(&doc);
    rc = one ? study_open_point(&study, &ask, e) : study_open(&study, &ask, e);
    if (!rc)
        output_notes(run, &study.notes);
    rc = rc ? rc : read_first(&study, e);
    study_close(&study);
    return rc;
}

static int set_keys(struct run *run, const char *file, struct text *out, struct err *e)
{
    struct overrides o;
    int rc = overrides_read(&o, run, e);
    for (int32_t i = 0; i < o.n && !rc; i++)
        rc = edit_set(out, file, o.list[i].path, o.list[i].value, e);
    overrides_free(&o);
    return rc || run->opt.set.n == 0 ? rc : check_study(run, file, out, e);
}

static int run_new(struct run *run, struct err *e)
{
    const char *file = run->opt.n_operands ? run->opt.operands[0] : NULL;
    const char *called = file && strcmp(file, "-") != 0 ? file : "STUDY.yaml";
    struct wish w = { .name = { NULL } };
    struct text out = { 0 };
    if (!run->opt.like.n)
        return file || run->opt.set.n
                   ? err_set(e, ERR_USAGE, "option --like is missing; weft new alone lists what it may name")
                   : list_parts(run, e);
    int rc = take_names(&w, &run->opt.like, e);
    int whole = whole_part(&w);
    if (!rc && whole < N_PARTS)
        put_named(&out, text_str(&w.text[whole]), w.text[whole].n);
    else if (!rc)
        rc = put_study(&out, &w, called, e);
    rc = rc ? rc : set_keys(run, called, &out, e);
    rc = rc ? rc : output_file(run, file, &out, e);
    for (int p = 0; p < N_PARTS; p++)
        text_free(&w.text[p]);
    text_free(&out);
    return rc;
}

static const struct option like_rows[] = {
    LIST_OPTION(
        "like", "NAME", like,
        "a name of the list, of a study or cluster alone; several: a network, a model, an NPU, a server",
        .catalogue = "networks models npus servers studies clusters"),
    LIST_OPTION("set", "KEY=VALUE", set,
                "write this key, as in workload.parallel.batch=2048; may be repeated"),
};
static const struct option_group options_like = OPTION_GROUP("Start from", like_rows);

const struct command cmd_new = {
    .group = "Start here",
    .name = "new",
    .help = "write a study to start from; without --like list the networks, models and NPUs",
    .about = "Write a commented study to FILE from files that come with weft, or list those files.\n"
             "--set writes a key into it, and the study is then read as other commands read it.\n",
    .scope = SCOPE(0, 1, "[FILE]", &options_like, &options_alone),
    .run = run_new,
};
