/* Which keys of studies name files, and what may stand in place of a study: struct source_rules. */
#include <string.h>

#include "study/source.h"
#include "topo/network.h"

static bool is_no_spec(const char *text)
{
    return !topo_is_spec(text);
}

/* A model beside a list of types: a word where it is none of a file's, which has a dot or slash in it. */
static bool looks_like_file(const char *text)
{
    return strpbrk(text, "./") != NULL;
}

static const struct source_names names[] = {
    { SOURCE_TOP, "network", NULL, is_no_spec, "networks" },
    { SOURCE_TOP, "model", NULL, looks_like_file, "models" },
    { SOURCE_NAMES, "workloads[].workload", NULL, NULL, "workloads" },
    { SOURCE_NAMES, "jobs.mix[].workload", NULL, NULL, "workloads" },
    { SOURCE_NAMES, "workload", NULL, NULL, "workloads" },
    { SOURCE_INNER, "network.npu", NULL, NULL, "npus" },
    { SOURCE_INNER, "network.npu.server", NULL, NULL, "servers" }, /* after the NPU's own file */
    { SOURCE_INNER, "system.server", NULL, NULL, "servers" },
    { SOURCE_INNER, "system.like", NULL, NULL, "systems" },
    { SOURCE_INNER, "network.dims[].curves", NULL, NULL, "curves" },
    { SOURCE_INNER, "types[].npu", NULL, NULL, "npus" },
    { SOURCE_INNER, "npus[].npu", NULL, NULL, "npus" },
    { SOURCE_INNER, "job.model", NULL, NULL, "models" }, /* what a worker of a gossip study stands for */
    { SOURCE_INNER, "job.npu", NULL, NULL, "npus" },
    { SOURCE_INNER, "workload.model", NULL, NULL, "models" },
    { SOURCE_INNER, "workloads[].workload.model", NULL, NULL, "models" },
    { SOURCE_INNER, "jobs.mix[].model", NULL, NULL, "models" },
    { SOURCE_INNER, "jobs.mix[].workload.model", NULL, NULL, "models" },
    { SOURCE_INNER, "parts", "network.parts", NULL,
      "parts" }, /* those of the study; else those that the network names */
    { .path = NULL },
};

/* The keys of a network, a workload, a job or a type that name a file. */
static bool names_inner(const char *path)
{
    static const char *const ends[] = { "network.npu", "workload.model", "job.model",
                                        "job.npu",     "system.server",  "system.like" };
    size_t n = strlen(path);
    if (n > 7 && strstr(path, "network.dims") && strcmp(path + n - 7, ".curves") == 0)
        return true;
    if (n > 4 && (strncmp(path, "types", 5) == 0 || strncmp(path, "npus", 4) == 0) &&
        strcmp(path + n - 4, ".npu") == 0)
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t length = strlen(ends[i]);
        if (n >= length && strcmp(path + n - length, ends[i]) == 0)
            return n == length || path[n - length - 1] == '.';
    }
    return false;
}

/* Behind "LIST[3]" of @p path; NULL: it is not in that list. */
static const char *after_member(const char *path, const char *list)
{
    size_t n = strlen(list);
    if (strncmp(path, list, n) != 0)
        return NULL;
    const char *s = path + n;
    s += strspn(s, "0123456789");
    return *s == ']' ? s + 1 : NULL;
}

static enum source_step step_of(const char *path)
{
    const char *member = after_member(path, "workloads["), *job = after_member(path, "jobs.mix[");
    if (strcmp(path, "network.parts") == 0 || strcmp(path, "jobs.mix") == 0)
        return SOURCE_NAMES;
    if (names_inner(path) || (job && strcmp(job, ".model") == 0))
        return SOURCE_INNER;
    member = member ? member : job;
    return member && (!*member || strcmp(member, ".workload") == 0) ? SOURCE_NAMES : SOURCE_REST;
}

static int put_spec(struct text *out, const char *word, struct err *e)
{
    struct topo_network net;
    char spec[TOPO_SPEC];
    int rc = topo_parse_spec(&net, word, e);
    if (!rc)
        text_puts(out, topo_format_spec(spec, &net));
    return rc;
}

static const char *const of_study[] = { "vary", "where", "keep", "uncertain", NULL };
static const char *const own_kinds[] = { "studies", "networks", "clusters", NULL };
static const char *const alone_keys[] = { "dims", "npu", "graph", "classes", NULL };

const struct source_rules source_rules = {
    .names = names,
    .list = "workloads",
    .member = "workload",
    .of_study = of_study,
    .step_of = step_of,
    .own_kinds = own_kinds,
    .profile = "profile",
    .profiles = "clusters/profiles",
    .alone = "network",
    .alone_keys = alone_keys,
    .is_word = topo_is_spec,
    .put_word = put_spec,
};
