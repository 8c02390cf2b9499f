/*
 * Networks of a given number of NPUs, as the values of an axis (key vary.network.factor): every way to write
 * the number as a product of sizes, in every order of shapes, under limits of tiers (shapes, sizes, ports,
 * packaging, dimensions per tier). Networks are numbered: the number of ways to complete a beginning is
 * counted once per (tier, dimensions left, divisor left) and remembered, so that network number i is found by
 * walking down the counts, without listing those before it. Order: by number of dimensions, then by tier,
 * shape and size of the innermost dimension, of the next, and so on. Counts: 2^k NPUs in D dimensions of S
 * shapes have C(k - 1, D - 1) S^D networks.
 */
#include "kinds/factor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MAX_KEYS = 32 }; /* of a map with those that are passed on */

/* ---- keys; absent counts and nodes are -1 ---- */

/* Where keys that are passed on are read to, for their check alone. */
union factor_other {
    double real;
    int64_t count;
    int32_t word;
    bool yes;
    const char *text;
    yaml_id node;
};

/* What may be said of a tier, and beside `tiers` of all of them. */
struct factor_limits {
    yaml_id shapes, sizes;
    int64_t min, max, radix;
    int64_t npus; /* of a network; of a tier: at most, with those inside it */
    union factor_other other;
};

#define LIMITS(shapes_of, of)                                                                                \
    K_NODE(struct factor_limits, shapes, "shapes", "list of words as in network dims" shapes_of,             \
           .form = "list of words"),                                                                         \
        K_NODE(struct factor_limits, sizes, "sizes", "list of the sizes that a dimension may have" of,       \
               .form = "list of counts"),                                                                    \
        K_COUNT(struct factor_limits, min, "min", TOPO_MIN_SIZE, TOPO_MAX_SIZE, SCHEMA_NONE,                 \
                "least size of a dimension" of),                                                             \
        K_COUNT(struct factor_limits, max, "max", TOPO_MIN_SIZE, TOPO_MAX_SIZE, SCHEMA_NONE,                 \
                "largest size of a dimension" of),                                                           \
        K_COUNT(struct factor_limits, radix, "radix", 1, TOPO_MAX_SIZE, SCHEMA_NONE,                         \
                "ports: a switch of n needs n, full of n needs n-1, a ring or line 2 (of two members 1)" of)

static const struct key factor_keys[] = {
    K_COUNT(struct factor_limits, npus, "npus", TOPO_MIN_SIZE, TOPO_MAX_NPUS, SCHEMA_NONE,
            "NPUs of each network: the product of its sizes", .required = true),
    K_ELSEWHERE("dims", "how many dimensions: a number, or see vary.factor.dims (default: 1 to 8)",
                .form = "count or <vary.factor.dims>"),
    LIMITS(", where a tier does not say (default: ring, full, switch)",
           ", where a tier does not say (default: any)"),
    K_ELSEWHERE(
        "tiers",
        "list, innermost first, see vary.factor.tiers[] (default: one for all dimensions). Other keys of "
        "a network but dims are passed on to each",
        .form = "list of <vary.factor.tiers[]>"),
};

static const struct key factor_tier_keys[] = {
    LIMITS(" (default: those beside tiers)", " (default: that beside tiers)"),
    K_COUNT(struct factor_limits, npus, "max_npus", 1, TOPO_MAX_NPUS, SCHEMA_NONE,
            "packaging: product of the sizes up to and including this tier (default: any)"),
    K_ELSEWHERE(
        "dims",
        "how many dimensions of a network lie in this tier: a number, or see vary.factor.dims (default: 0 "
        "or 1). Other keys of a dimension but shape and size are passed on to each",
        .form = "count or <vary.factor.dims>"),
};

static const struct key factor_dims_keys[] = {
    K_COUNT(struct factor_dims, from, "from", 0, TOPO_MAX_DIMS, SCHEMA_NONE,
            "least number (default: 0 of a tier, else 1)"),
    K_COUNT(struct factor_dims, to, "to", 0, TOPO_MAX_DIMS, SCHEMA_NONE, "largest number (default: 8)"),
};

K_SECTION(sweep_factor_section, struct factor_limits, "vary.factor", factor_keys,
          "all ways to factor NPUs into dimensions");
K_SECTION(sweep_factor_tier_section, struct factor_limits, "vary.factor.tiers[]", factor_tier_keys,
          "what dimensions may lie in one tier");
K_SECTION(sweep_factor_dims_section, struct factor_dims, "vary.factor.dims", factor_dims_keys,
          "a number of dimensions as a range");

/* ---- keys that are passed on ---- */

static bool is_one_of(const char *key, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(key, *words) == 0)
            return true;
    return false;
}

/* One that is looked at where the network is read is only passed on here. */
static enum key_kind kind_to_pass(enum key_kind kind)
{
    if (kind == KEY_NAME)
        return KEY_TEXT;
    return kind == KEY_MAP || kind == KEY_LIST || kind == KEY_OWN ? KEY_NODE : kind;
}

/* Keys of `own`, and those of `more` but `without`, read to `other` for their check. */
static struct section merge(struct key *keys, const struct section *own, const struct section *more,
                            const char *const *without, size_t other)
{
    struct section s = { .name = own->name, .help = own->help, .keys = keys, .n_keys = own->n_keys };
    memcpy(keys, own->keys, own->n_keys * sizeof *keys);
    for (size_t i = 0; i < more->n_keys && s.n_keys < MAX_KEYS; i++)
        if (!is_one_of(more->keys[i].name, without)) {
            keys[s.n_keys] = more->keys[i];
            keys[s.n_keys].required = false;
            keys[s.n_keys].kind = kind_to_pass(more->keys[i].kind);
            keys[s.n_keys++].offset = other;
        }
    return s;
}

static bool is_own(const struct section *own, const char *key)
{
    for (size_t i = 0; i < own->n_keys; i++)
        if (strcmp(own->keys[i].name, key) == 0)
            return true;
    return false;
}

static void pass_on(struct text *out, const struct yaml_doc *doc, yaml_id id)
{
    text_printf(out, "%s%s: ", out->n ? ", " : "", doc->nodes[id].key);
    sweep_put_yaml(out, doc, id, true);
}

/* ---- numbers of dimensions ---- */

/* A number or a range; what a range leaves open is the caller's, or as many as there can be. */
static int read_dims(struct factor_dims *dims, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct factor_dims read;
    int64_t n = 0;
    if (id < 0)
        return 0;
    bool range = doc->nodes[id].kind != YAML_SCALAR;
    int rc = range ? schema_read(&read, &sweep_factor_dims_section, doc, id, e) : yaml_count(doc, id, &n, e);
    if (rc)
        return rc;
    if (range)
        n = read.to < 0 ? TOPO_MAX_DIMS : read.to;
    if (n < 1 || n > TOPO_MAX_DIMS)
        return yaml_fail(doc, id, e, ERR_RANGE, "is at most %lld, expected 1 to %d dimensions", (long long)n,
                         TOPO_MAX_DIMS);
    read.to = (int32_t)n;
    read.from = !range ? read.to : read.from < 0 ? dims->from : read.from;
    if (read.from > read.to)
        return yaml_fail(doc, id, e, ERR_RANGE, "is from %d to %d, expected from at most to", (int)read.from,
                         (int)read.to);
    *dims = read;
    return 0;
}

/* ---- shapes and sizes ---- */

#define COMMA_WORD(NAME, id, word) ", " word

/* Each shape once: twice would list every network with it twice. */
static int read_shape(struct factor_tier *t, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    for (int i = 0; topo_plain_words[i]; i++) {
        if (!doc->nodes[id].text || strcmp(doc->nodes[id].text, topo_plain_words[i]) != 0)
            continue;
        for (int32_t k = 0; k < t->n_shapes; k++)
            if (t->shapes[k] == (enum topo_shape)i)
                return yaml_fail(doc, id, e, ERR_RANGE, "is %s, which is there already", topo_shape_words[i]);
        t->shapes[t->n_shapes++] = (enum topo_shape)i;
        return 0;
    }
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected one of %s", yaml_show(doc, id, shown),
                     &TOPO_PLAIN_SHAPES(COMMA_WORD)[strlen(", ")]);
}

static int read_shapes(struct factor_tier *t, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need_list(doc, list, FACTOR_SHAPES, NULL, e);
    t->n_shapes = 0;
    if (rc)
        return rc;
    yaml_each (id, doc, list)
        rc = rc ? rc : read_shape(t, doc, id, e);
    return rc;
}

/* Explicit sizes; bounds and ports still apply to them. */
static int read_sizes(struct factor_tier *t, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need_list(doc, list, FACTOR_MAX_SIZES, NULL, e);
    t->n_sizes = 0;
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        int64_t *size = &t->sizes[t->n_sizes++];
        rc = rc ? rc : yaml_count(doc, id, size, e);
        if (!rc && (*size < TOPO_MIN_SIZE || *size > TOPO_MAX_SIZE))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected %d to %d", (long long)*size,
                           TOPO_MIN_SIZE, TOPO_MAX_SIZE);
    }
    return rc;
}

/* What `l` says goes before what the tier has so far. */
static int read_limits(struct factor_tier *t, const struct factor_limits *l, const struct yaml_doc *doc,
                       struct err *e)
{
    int rc = l->shapes < 0 ? 0 : read_shapes(t, doc, l->shapes, e);
    if (!rc && l->sizes >= 0)
        rc = read_sizes(t, doc, l->sizes, e);
    t->min = l->min < 0 ? t->min : l->min;
    t->max = l->max < 0 ? t->max : l->max;
    t->radix = l->radix < 0 ? t->radix : l->radix;
    return rc;
}

/* ---- tiers ---- */

/* The rules of names in networks, checked here so that the message points at this file. */
static int take_dim_name(struct factor_tier *t, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *name = doc->nodes[id].text, *s = name;
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '-')
        s++;
    if (*s || isdigit((unsigned char)*name) || *name == '-')
        return yaml_fail(doc, id, e, ERR_PARSE,
                         "is \"%.60s\", expected a letter or _ and then letters, digits, _ or -", name);
    /* With room for the number of a dimension. */
    if (s - name > TOPO_NAME - 2)
        return yaml_fail(doc, id, e, ERR_RANGE, "is %d bytes long, expected at most %d", (int)(s - name),
                         TOPO_NAME - 2);
    strcpy(t->name, name);
    return 0;
}

/* Keys that are not the tier's own go into each of its dimensions as they are; those of switches into
 * switches alone. */
static int take_others(struct factor_tier *t, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const of_switch[] = { "in_switch", "in_switch_min", NULL };
    yaml_each (id, doc, map) {
        const char *key = doc->nodes[id].key;
        int rc = 0;
        if (strcmp(key, "name") == 0)
            rc = take_dim_name(t, doc, id, e);
        else if (!is_own(&sweep_factor_tier_section, key))
            pass_on(is_one_of(key, of_switch) ? &t->switch_words : &t->words, doc, id);
        if (rc)
            return rc;
    }
    int rc = text_check(&t->words, e);
    return rc ? rc : text_check(&t->switch_words, e);
}

/* A network must not come twice: in one tier and, word for word, in another. */
static int check_distinct(const struct factor *f, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct factor_tier *t = &f->tiers[f->n_tiers - 1];
    for (int32_t i = 0; i + 1 < f->n_tiers; i++) {
        const struct factor_tier *other = &f->tiers[i];
        if (t->name[0] && strcmp(t->name, other->name) == 0)
            return yaml_fail(doc, yaml_get(doc, map, "name"), e, ERR_RANGE,
                             "is %s, as that of tiers[%d]; choose another name", t->name, (int)i);
        if (strcmp(t->name, other->name) == 0 && strcmp(text_str(&t->words), text_str(&other->words)) == 0)
            return yaml_fail(doc, map, e, ERR_RANGE,
                             "has nothing to tell its dimensions from those of tiers[%d], expected a name",
                             (int)i);
    }
    return 0;
}

/* The next tier; it begins as `like`. */
static int read_tier(struct factor *f, const struct factor_tier *like, const struct yaml_doc *doc,
                     yaml_id map, struct err *e)
{
    static const char *const without[] = { "shape", "size", NULL };
    struct key keys[MAX_KEYS];
    struct section s = merge(keys, &sweep_factor_tier_section, &topo_dim_section, without,
                             offsetof(struct factor_limits, other));
    struct factor_limits limits;
    struct factor_tier *t = &f->tiers[f->n_tiers++];
    *t = *like;
    int rc = schema_read(&limits, &s, doc, map, e);
    if (!rc)
        rc = read_limits(t, &limits, doc, e);
    t->dims = (struct factor_dims){ 0, 1 };
    if (!rc)
        rc = read_dims(&t->dims, doc, yaml_get(doc, map, "dims"), e);
    if (rc)
        return rc;
    t->max_npus = limits.npus < 0 ? INT64_MAX : limits.npus;
    rc = take_others(t, doc, map, e);
    return rc ? rc : check_distinct(f, doc, map, e);
}

static int read_tiers(struct factor *f, const struct factor_tier *like, const struct yaml_doc *doc,
                      yaml_id list, struct err *e)
{
    int rc = yaml_need_list(doc, list, FACTOR_MAX_TIERS, NULL, e);
    if (rc)
        return rc;
    yaml_each (id, doc, list)
        rc = rc ? rc : read_tier(f, like, doc, id, e);
    return rc;
}

/* ---- all of it ---- */

/* The section of a factor is its own keys and those of a network, so that misspelt ones are found here. */
static int read_factor(struct factor *f, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const without[] = { "dims", NULL };
    struct key keys[MAX_KEYS];
    struct section s = merge(keys, &sweep_factor_section, &topo_network_section, without,
                             offsetof(struct factor_limits, other));
    struct factor_limits limits;
    struct factor_tier like = { .min = TOPO_MIN_SIZE,
                                .max = TOPO_MAX_SIZE,
                                .radix = -1,
                                .max_npus = INT64_MAX,
                                .dims = { 0, TOPO_MAX_DIMS } };
    yaml_id tiers = yaml_get(doc, map, "tiers");
    for (int32_t i = 0; i < N_TOPO_PLAIN; i++)
        if (topo_shapes[i]->factored)
            like.shapes[like.n_shapes++] = (enum topo_shape)i;
    int rc = schema_read(&limits, &s, doc, map, e);
    if (rc)
        return rc;
    f->npus = limits.npus;
    f->dims = (struct factor_dims){ 1, TOPO_MAX_DIMS };
    yaml_each (id, doc, map)
        if (!is_own(&sweep_factor_section, doc->nodes[id].key))
            pass_on(&f->words, doc, id);
    rc = text_check(&f->words, e);
    if (!rc)
        rc = read_dims(&f->dims, doc, yaml_get(doc, map, "dims"), e);
    if (!rc)
        rc = read_limits(&like, &limits, doc, e);
    if (!rc && tiers >= 0)
        return read_tiers(f, &like, doc, tiers, e);
    f->tiers[f->n_tiers++] = like;
    return rc;
}

static int check_count(int64_t n, const struct factor *f, const struct yaml_doc *doc, yaml_id map,
                       struct err *e)
{
    char dims[32];
    snprintf(dims, sizeof dims, f->dims.from < f->dims.to ? "%d to %d" : "%d", (int)f->dims.from,
             (int)f->dims.to);
    if (n == 0)
        return yaml_fail(doc, map, e, ERR_RANGE,
                         "makes no network: %lld NPUs have no factors for %s dimensions under these limits; "
                         "expected others",
                         (long long)f->npus, dims);
    if (n > SWEEP_MAX_VALUES)
        return yaml_fail(doc, map, e, ERR_RANGE, "makes %lld networks, expected at most %d", (long long)n,
                         SWEEP_MAX_VALUES);
    return 0;
}

int sweep_factor_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct factor f = { .n_tiers = 0 };
    int64_t n = 0;
    int rc = read_factor(&f, doc, id, e);
    if (!rc)
        rc = factor_count(&n, &f, e);
    if (!rc)
        rc = check_count(n, &f, doc, id, e);
    if (!rc)
        rc = factor_write(c, &f, e);
    factor_free(&f);
    return rc;
}

enum { DIMS = TOPO_MAX_DIMS };

/* Far more than can be written; sums of a few of these stay within 64 bits. */
static const int64_t MANY = INT64_C(1) << 53;

/* A divisor of a divisor. */
struct factor_part {
    int64_t size; /* >= 2 */
    int32_t rest; /* the divisor over it, as an index */
};

struct factor_walk {
    struct arena arena; /* of all arrays */
    const struct factor *f;
    int64_t *divisors; /* shape [n]; ascending */
    int32_t n;
    struct factor_part
        *parts;     /* shape [first[n]]: of divisor i those from first[i] to first[i+1], ascending */
    int32_t *first; /* shape [n + 1] */
    /* shape [n_tiers][DIMS + 1][DIMS + 1][n]: by tier, dimensions in it so far, dimensions still to
     * come and the product they need: in how many ways; -1 = not asked yet */
    int64_t *ways;
    struct text text; /* the network so far */
    struct sweep_column *out;
};

/* ---- divisors ---- */

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Only divisors of the number can be sizes or products of sizes. */
static int list_divisors(struct factor_walk *w, struct err *e)
{
    int32_t n = 0;
    for (int64_t d = 1; d * d <= w->f->npus; d++)
        n += w->f->npus % d == 0 ? 1 + (d * d != w->f->npus) : 0;
    w->divisors = ARENA_TAKE(&w->arena, n, *w->divisors);
    int rc = arena_check(&w->arena, "divisors", e);
    if (rc)
        return rc;
    for (int64_t d = 1; d * d <= w->f->npus; d++)
        if (w->f->npus % d == 0) {
            w->divisors[w->n++] = d;
            if (d * d != w->f->npus)
                w->divisors[w->n++] = w->f->npus / d;
        }
    qsort(w->divisors, (size_t)w->n, sizeof *w->divisors, by_size);
    return 0;
}

static int32_t index_of(const struct factor_walk *w, int64_t divisor)
{
    const int64_t *found = bsearch(&divisor, w->divisors, (size_t)w->n, sizeof divisor, by_size);
    return (int32_t)(found - w->divisors);
}

/* Counted first and then, with room for them, listed. */
static int32_t split_divisors(struct factor_walk *w)
{
    int32_t n = 0;
    for (int32_t i = 0; i < w->n; i++) {
        if (w->parts)
            w->first[i] = n;
        for (int32_t k = 1; k <= i; k++)
            if (w->divisors[i] % w->divisors[k] == 0) {
                if (w->parts)
                    w->parts[n] =
                        (struct factor_part){ w->divisors[k], index_of(w, w->divisors[i] / w->divisors[k]) };
                n++;
            }
    }
    return n;
}

static int list_parts(struct factor_walk *w, struct err *e)
{
    int32_t n = split_divisors(w);
    w->first = ARENA_TAKE(&w->arena, w->n + 1, *w->first);
    w->parts = ARENA_TAKE(&w->arena, n, *w->parts);
    int rc = arena_check(&w->arena, "divisors", e);
    if (rc)
        return rc;
    w->first[w->n] = split_divisors(w);
    return 0;
}

/* ---- ways ---- */

static bool has_ports(enum topo_shape shape, int64_t size, int64_t radix)
{
    struct shape_counts c;
    struct err none = { 0 };
    if (topo_check_size(shape, size, &none))
        return false;
    topo_shapes[shape]->counts(&c, &(struct topo_dim){ .shape = shape, .size = (int32_t)size });
    return radix < 0 || c.ports <= radix;
}

static bool has_size(const struct factor_tier *t, int64_t size)
{
    bool listed = t->n_sizes == 0;
    for (int32_t i = 0; i < t->n_sizes; i++)
        listed = listed || t->sizes[i] == size;
    return listed && size >= t->min && size <= t->max;
}

static int32_t count_shapes(const struct factor_tier *t, int64_t size)
{
    int32_t n = 0;
    if (has_size(t, size))
        for (int32_t i = 0; i < t->n_shapes; i++)
            n += has_ports(t->shapes[i], size, t->radix);
    return n;
}

/* May what lies outside tier `tier`, with `in` dimensions in it, begin here? `rest` is still to come. */
static bool may_leave(const struct factor_walk *w, int32_t tier, int32_t in, int32_t rest)
{
    const struct factor_tier *t = &w->f->tiers[tier];
    return in >= t->dims.from && w->f->npus / w->divisors[rest] <= t->max_npus;
}

static int64_t count(const struct factor_walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest);

static int64_t sum_ways(const struct factor_walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest)
{
    const struct factor_tier *t = &w->f->tiers[tier];
    int64_t n = may_leave(w, tier, in, rest) ? count(w, tier + 1, 0, dims, rest) : 0;
    if (in == t->dims.to || dims == 0)
        return n;
    for (int32_t i = w->first[rest]; i < w->first[rest + 1]; i++) {
        int32_t shapes = count_shapes(t, w->parts[i].size);
        n += shapes ? shapes * count(w, tier, in + 1, dims - 1, w->parts[i].rest) : 0;
        n = n < MANY ? n : MANY;
    }
    return n;
}

/* A way through the tiers passes each of them once, so none is counted twice. */
static int64_t count(const struct factor_walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest)
{
    if (tier == w->f->n_tiers)
        return dims == 0 && rest == 0;
    int64_t *ways = &w->ways[(((int64_t)tier * (DIMS + 1) + in) * (DIMS + 1) + dims) * w->n + rest];
    if (*ways < 0)
        *ways = sum_ways(w, tier, in, dims, rest);
    return *ways;
}

/* -1 marks ways that have not been counted yet. */
static int factor_begin(struct factor_walk *w, const struct factor *f, struct err *e)
{
    *w = (struct factor_walk){ .f = f };
    int rc = list_divisors(w, e);
    if (!rc)
        rc = list_parts(w, e);
    if (rc)
        return rc;
    int64_t n = (int64_t)f->n_tiers * (DIMS + 1) * (DIMS + 1) * w->n;
    w->ways = ARENA_TAKE(&w->arena, n, *w->ways);
    for (int64_t i = 0; i < n && w->ways; i++)
        w->ways[i] = -1;
    return arena_check(&w->arena, "divisors", e);
}

static void factor_end(struct factor_walk *w)
{
    arena_free(&w->arena);
    text_free(&w->text);
}

int factor_count(int64_t *n, const struct factor *f, struct err *e)
{
    struct factor_walk w;
    int rc = factor_begin(&w, f, e);
    *n = 0;
    for (int32_t dims = f->dims.from; dims <= f->dims.to && !rc; dims++) {
        *n += count(&w, 0, 0, dims, w.n - 1);
        *n = *n < MANY ? *n : MANY;
    }
    factor_end(&w);
    return rc;
}

/* ---- networks ---- */

static void put_factor_words(struct text *out, const struct text *words)
{
    if (words->n)
        text_printf(out, ", %s", text_str(words));
}

static void factor_cut(struct text *t, size_t n)
{
    t->n = n;
    if (t->s)
        t->s[n] = '\0';
}

static void put_networks(struct factor_walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest);

/* Every way to go on with this dimension as the next. */
static void write_dim(struct factor_walk *w, int32_t tier, int32_t in, int32_t dims, enum topo_shape shape,
                      const struct factor_part *part)
{
    const struct factor_tier *t = &w->f->tiers[tier];
    size_t length = w->text.n;
    text_puts(&w->text, length ? ", {" : "{");
    /* Several dimensions of a tier are told apart by a number, also where there is but one. */
    if (t->name[0] && t->dims.to > 1)
        text_printf(&w->text, "name: %s%d, ", t->name, (int)in + 1);
    else if (t->name[0])
        text_printf(&w->text, "name: %s, ", t->name);
    text_printf(&w->text, "shape: %s, size: %lld", topo_shape_name(shape), (long long)part->size);
    put_factor_words(&w->text, &t->words);
    if (topo_shapes[shape]->reduces)
        put_factor_words(&w->text, &t->switch_words);
    text_puts(&w->text, "}");
    put_networks(w, tier, in + 1, dims - 1, part->rest);
    factor_cut(&w->text, length);
}

static void write_network(struct factor_walk *w)
{
    struct text *out = &w->out->text;
    text_puts(out, "{dims: [");
    text_add(out, text_str(&w->text), w->text.n);
    text_puts(out, "]");
    put_factor_words(out, &w->f->words);
    text_add(out, "}", 2);
    w->out->n++;
}

/* Ways that end nowhere are not begun, so the time is that of what is written. */
static void put_networks(struct factor_walk *w, int32_t tier, int32_t in, int32_t dims, int32_t rest)
{
    if (count(w, tier, in, dims, rest) == 0)
        return;
    if (dims == 0) {
        write_network(w);
        return;
    }
    const struct factor_tier *t = &w->f->tiers[tier];
    for (int32_t s = 0; s < t->n_shapes && in < t->dims.to; s++)
        for (int32_t i = w->first[rest]; i < w->first[rest + 1]; i++) {
            const struct factor_part *part = &w->parts[i];
            if (has_size(t, part->size) && has_ports(t->shapes[s], part->size, t->radix) &&
                count(w, tier, in + 1, dims - 1, part->rest))
                write_dim(w, tier, in, dims, t->shapes[s], part);
        }
    if (may_leave(w, tier, in, rest))
        put_networks(w, tier + 1, 0, dims, rest);
}

int factor_write(struct sweep_column *out, const struct factor *f, struct err *e)
{
    struct factor_walk w;
    int rc = factor_begin(&w, f, e);
    w.out = out;
    for (int32_t dims = f->dims.from; dims <= f->dims.to && !rc; dims++)
        put_networks(&w, 0, 0, dims, w.n - 1);
    out->generated = true;
    factor_end(&w);
    if (!rc)
        rc = text_check(&w.text, e);
    return rc ? rc : text_check(&out->text, e);
}

void factor_free(struct factor *f)
{
    for (int32_t i = 0; i < f->n_tiers; i++) {
        text_free(&f->tiers[i].words);
        text_free(&f->tiers[i].switch_words);
    }
    text_free(&f->words);
    *f = (struct factor){ 0 };
}
