#include "kinds/design/uncertain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/stat.h"
#include "kinds/design/uncertain_trial.h"

/* ---- keys ---- */

struct conf {
    int64_t draws, seed;
    yaml_id percentiles, keys;
};

static const struct key keys[] = {
    { .name = "draws",
      .help = "how often all keys are drawn, for every point the same",
      .kind = KEY_COUNT,
      .offset = offsetof(struct conf, draws),
      .unit = "",
      .scale = 1,
      .min = 1,
      .max = UNCERTAIN_MAX_DRAWS,
      .dflt = 1000 },
    { .name = "seed",
      .help = "of the draws; absent: the study's",
      .kind = KEY_COUNT,
      .offset = offsetof(struct conf, seed),
      .unit = "",
      .scale = 1,
      .min = 0,
      .max = 9e18,
      .dflt = SCHEMA_NONE },
    { .name = "percentiles",
      .help = "ascending list of what rows tell of time and cost; absent: [10, 50, 90]",
      .kind = KEY_NODE,
      .offset = offsetof(struct conf, percentiles),
      .unit = "" },
    { .name = "keys",
      .help = "KEY: a distribution; a KEY is a path as in --set, of prices, network, workload or simulation",
      .kind = KEY_NODE,
      .offset = offsetof(struct conf, keys),
      .unit = "",
      .required = true },
};

struct key_conf {
    yaml_id kinds[4]; /* in the order of enum uncertain_kind */
    bool relative;
};

#define KIND(key_name, at, text)                                                                             \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_NODE, .offset = offsetof(struct key_conf, kinds[at]),    \
        .unit = ""                                                                                           \
    }

static const struct key key_keys[] = {
    KIND("normal", UNCERTAIN_NORMAL, "[mean, standard deviation]; cut at 4 standard deviations"),
    KIND("uniform", UNCERTAIN_UNIFORM, "[lowest, highest]"),
    KIND("lognormal", UNCERTAIN_LOGNORMAL,
         "[median, factor]: two in three are within the factor of the median; cut at its 4th power"),
    KIND("triangular", UNCERTAIN_TRIANGULAR, "[lowest, typical, highest]"),
    { .name = "relative",
      .help = "true: what is drawn is a factor of the value the study has",
      .kind = KEY_BOOL,
      .offset = offsetof(struct key_conf, relative),
      .unit = "" },
};

const struct section uncertain_section = { .name = "uncertain",
                                           .help = "what is not known for sure, and percentiles of it",
                                           .keys = keys,
                                           .n_keys = sizeof keys / sizeof keys[0] };
const struct section uncertain_key_section = { .name = "uncertain.keys",
                                               .help = "one distribution",
                                               .keys = key_keys,
                                               .n_keys = sizeof key_keys / sizeof key_keys[0] };

/* ---- reading ---- */

static int read_numbers(double *out, int32_t least, int32_t most, int32_t *n, const struct yaml_doc *doc,
                        yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    *n = doc->nodes[list].n;
    if (*n < least || *n > most)
        return yaml_fail(doc, list, e, ERR_PARSE, "has %d numbers, need %d%s%.0d", (int)*n, (int)least,
                         most > least ? " to " : "", most > least ? (int)most : 0);
    yaml_each (id, doc, list)
        if (!rc)
            rc = yaml_real(doc, id, out++, e);
    return rc;
}

static int read_percentiles(struct uncertain *u, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    static const double usual[] = { 10, 50, 90 };
    u->n_percentiles = 3;
    memcpy(u->percentiles, usual, sizeof usual);
    if (list < 0)
        return 0;
    int rc = read_numbers(u->percentiles, 1, UNCERTAIN_MAX_PERCENTILES, &u->n_percentiles, doc, list, e);
    for (int32_t i = 0; i < u->n_percentiles && !rc; i++)
        if (!(u->percentiles[i] >= 0 && u->percentiles[i] <= 100) ||
            (i && !(u->percentiles[i] > u->percentiles[i - 1])))
            rc = yaml_fail(doc, list, e, ERR_RANGE, "has %g as number %d, need 0 to 100 in ascending order",
                           u->percentiles[i], (int)i + 1);
    return rc;
}

/* Which values a distribution may have. */
static int check_values(const struct uncertain_key *k, const struct yaml_doc *doc, yaml_id list,
                        struct err *e)
{
    const double *x = k->x;
    if (k->kind == UNCERTAIN_NORMAL && !(x[1] >= 0))
        return yaml_fail(doc, list, e, ERR_RANGE, "has standard deviation %g, need >= 0", x[1]);
    if (k->kind == UNCERTAIN_UNIFORM && !(x[0] <= x[1]))
        return yaml_fail(doc, list, e, ERR_RANGE, "is %g to %g, need lowest <= highest", x[0], x[1]);
    if (k->kind == UNCERTAIN_LOGNORMAL && !(x[0] > 0 && x[1] >= 1 && x[1] <= 1000))
        return yaml_fail(doc, list, e, ERR_RANGE, "is median %g, factor %g, need > 0 and 1 to 1000", x[0],
                         x[1]);
    if (k->kind == UNCERTAIN_TRIANGULAR && !(x[0] <= x[1] && x[1] <= x[2]))
        return yaml_fail(doc, list, e, ERR_RANGE, "is %g, %g, %g, need lowest <= typical <= highest", x[0],
                         x[1], x[2]);
    return 0;
}

static int read_key(struct uncertain *u, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct key_conf conf;
    int32_t given = 0, n;
    if (u->n_keys == UNCERTAIN_MAX_KEYS)
        return yaml_fail_key(doc, id, e, ERR_RANGE, "is key number %d, need at most %d",
                             UNCERTAIN_MAX_KEYS + 1, UNCERTAIN_MAX_KEYS);
    struct uncertain_key *k = &u->keys[u->n_keys];
    int rc = schema_read(&conf, &uncertain_key_section, doc, id, e);
    if (rc)
        return rc;
    for (int kind = 0; kind < 4; kind++)
        if (conf.kinds[kind] >= 0) {
            k->kind = (enum uncertain_kind)kind;
            given++;
        }
    if (given != 1)
        return yaml_fail(doc, id, e, ERR_PARSE,
                         "has %d distributions, need one of normal, uniform, lognormal, triangular",
                         (int)given);
    k->relative = conf.relative;
    int32_t need = k->kind == UNCERTAIN_TRIANGULAR ? 3 : 2;
    rc = read_numbers(k->x, need, need, &n, doc, conf.kinds[k->kind], e);
    if (!rc)
        rc = check_values(k, doc, conf.kinds[k->kind], e);
    if (!rc)
        rc = uncertain_check_path(doc, id, e);
    if (rc)
        return rc;
    k->path = strdup(doc->nodes[id].key);
    if (!k->path)
        return err_nomem(e, "what is uncertain");
    u->n_keys++;
    return 0;
}

/* ---- draws ---- */

/* How many standard deviations are drawn at most: 6 of 100,000 lie beyond. */
#define MOST_SD 4.0

static double draw_normal(struct rng *r)
{
    double z;
    do
        z = rng_normal(r);
    while (fabs(z) > MOST_SD);
    return z;
}

/* median * factor^z */
static double lognormal_at(const struct uncertain_key *k, double z)
{
    double x = z * elementary_log(k->x[1]);
    elementary_exp(&x, 1);
    return k->x[0] * x;
}

/* The inverse of the distribution function: a parabola up to the typical value, another one from there. */
static double triangular_at(const double x[3], double share)
{
    double width = x[2] - x[0], up = x[1] - x[0];
    if (!(width > 0))
        return x[0];
    if (share * width < up)
        return x[0] + sqrt(share * width * up);
    return x[2] - sqrt((1 - share) * width * (x[2] - x[1]));
}

static double draw(const struct uncertain_key *k, struct rng *r)
{
    switch (k->kind) {
    case UNCERTAIN_NORMAL:
        return k->x[0] + k->x[1] * draw_normal(r);
    case UNCERTAIN_UNIFORM:
        return rng_range(r, k->x[0], k->x[1]);
    case UNCERTAIN_LOGNORMAL:
        return lognormal_at(k, draw_normal(r));
    default:
        return triangular_at(k->x, rng_uniform(r));
    }
}

void uncertain_ends(double ends[2], const struct uncertain_key *k)
{
    ends[0] = k->x[0];
    ends[1] = k->kind == UNCERTAIN_TRIANGULAR ? k->x[2] : k->x[1];
    if (k->kind == UNCERTAIN_NORMAL) {
        ends[0] = k->x[0] - MOST_SD * k->x[1];
        ends[1] = k->x[0] + MOST_SD * k->x[1];
    }
    for (int i = 0; i < 2 && k->kind == UNCERTAIN_LOGNORMAL; i++)
        ends[i] = lognormal_at(k, i ? MOST_SD : -MOST_SD);
}

/* Each key from a stream of its own, by its path: a key more changes none of the others' draws. */
static int draw_all(struct uncertain *u, struct err *e)
{
    u->drawn = calloc((size_t)(u->draws * u->n_keys), sizeof *u->drawn);
    if (!u->drawn)
        return err_nomem(e, "draws");
    for (int32_t k = 0; k < u->n_keys; k++) {
        const char *path = u->keys[k].path;
        struct rng *r;
        int rc = rng_build(&r, (uint64_t)u->seed, (uint32_t)text_hash(TEXT_HASH_SEED, path, strlen(path)), e);
        if (rc)
            return rc;
        for (int64_t i = 0; i < u->draws; i++)
            u->drawn[i * u->n_keys + k] = draw(&u->keys[k], r);
        rng_free(r);
    }
    return 0;
}

int uncertain_read(struct uncertain *u, const struct yaml_doc *doc, yaml_id id, int64_t seed, struct err *e)
{
    struct conf conf;
    *u = (struct uncertain){ 0 };
    if (id < 0)
        return 0;
    int rc = schema_read(&conf, &uncertain_section, doc, id, e);
    if (!rc)
        rc = yaml_need(doc, conf.keys, YAML_MAP, e);
    if (!rc && doc->nodes[conf.keys].n == 0)
        rc = yaml_fail(doc, conf.keys, e, ERR_PARSE, "is empty, need at least one key");
    if (!rc)
        rc = read_percentiles(u, doc, conf.percentiles, e);
    if (!rc) {
        u->draws = conf.draws;
        u->seed = conf.seed < 0 ? seed : conf.seed;
        yaml_each (key, doc, conf.keys)
            if (!rc)
                rc = read_key(u, doc, key, e);
    }
    if (!rc)
        rc = draw_all(u, e);
    if (rc)
        uncertain_free(u);
    return rc;
}

void uncertain_free(struct uncertain *u)
{
    for (int32_t k = 0; k < u->n_keys; k++)
        free(u->keys[k].path);
    free(u->drawn);
    *u = (struct uncertain){ 0 };
}

/* ---- columns ---- */

int32_t uncertain_n_columns(const struct uncertain *u)
{
    return u->n_keys ? 2 * u->n_percentiles : 0;
}

void uncertain_column(char name[COLUMN_NAME], const struct uncertain *u, int32_t i)
{
    char number[NUM_TEXT];
    bool cost = i >= u->n_percentiles;
    num_format(number, u->percentiles[i % u->n_percentiles]);
    snprintf(name, COLUMN_NAME, "%s_p%s_%s", cost ? "cost" : "time", number, cost ? "usd" : "s");
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_percentiles(double *values, double *x, const struct uncertain *u)
{
    qsort(x, (size_t)u->draws, sizeof *x, ascending);
    for (int32_t i = 0; i < u->n_percentiles; i++)
        values[i] = stat_quantile(x, u->draws, u->percentiles[i] / 100);
}

int uncertain_fill(double *values, const struct uncertain *u, const struct design_point *s,
                   const struct design *d, struct err *e)
{
    struct uncertain_trial *trial = NULL;
    if (!u->n_keys)
        return 0;
    double *time_s = calloc(2 * (size_t)u->draws, sizeof *time_s);
    double *cost_usd = time_s ? time_s + u->draws : NULL;
    int rc = time_s ? uncertain_trial_build(&trial, u, s, e) : err_nomem(e, "draws");
    for (int64_t i = 0; i < u->draws && !rc; i++)
        rc = uncertain_trial_run(&time_s[i], &cost_usd[i], trial, &u->drawn[i * u->n_keys], d->bw_Bps, e);
    if (!rc) {
        put_percentiles(values, time_s, u);
        put_percentiles(values + u->n_percentiles, cost_usd, u);
    }
    for (int32_t i = 0; i < u->n_percentiles && !rc && !s->has_parts; i++)
        values[u->n_percentiles + i] = NAN;
    uncertain_trial_free(trial);
    free(time_s);
    return rc;
}
