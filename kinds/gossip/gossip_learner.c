/* What a study of training with little communication learns, and from which examples. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kinds/gossip/gossip_point.h"
#include "sim/gossip/data.h"

/* ---- learner ---- */

static int read_width(int32_t *out, const struct gossip_point *p, yaml_id id, struct err *e)
{
    int64_t n;
    char shown[YAML_SHOWN];
    *out = 0;
    if (yaml_count(&p->doc, id, &n, e))
        return yaml_fail(&p->doc, id, e, ERR_PARSE, "is %s, need a whole number, 1 to %d units",
                         yaml_show(&p->doc, id, shown), GOSSIP_MAX_WIDTH);
    if (n < 1 || n > GOSSIP_MAX_WIDTH)
        return yaml_fail(&p->doc, id, e, ERR_RANGE, "is %lld, need 1 to %d units", (long long)n,
                         GOSSIP_MAX_WIDTH);
    *out = (int32_t)n;
    return 0;
}

/* A width, a list of them, or nothing: one layer of 64. */
static int read_hidden(int32_t width[GOSSIP_MAX_LAYERS], int32_t *n, const struct gossip_point *p, yaml_id id,
                       struct err *e)
{
    int rc = 0;
    *n = 1;
    width[0] = 64;
    if (id < 0)
        return 0;
    if (p->doc.nodes[id].kind != YAML_SEQ)
        return read_width(&width[0], p, id, e);
    *n = p->doc.nodes[id].n;
    if (*n >= GOSSIP_MAX_LAYERS)
        return yaml_fail(&p->doc, id, e, ERR_RANGE, "is a list of %d, need at most %d layers", *n,
                         GOSSIP_MAX_LAYERS - 1);
    yaml_each (at, &p->doc, id)
        if (!rc)
            rc = read_width(&width[p->doc.nodes[at].index], p, at, e);
    return rc;
}

static int read_decays(struct gossip_learning *l, const struct gossip_point *p, yaml_id list, struct err *e)
{
    if (list < 0)
        return 0;
    int rc = yaml_need(&p->doc, list, YAML_SEQ, e);
    l->n_decays = 0;
    if (!rc && p->doc.nodes[list].n > GOSSIP_MAX_DECAYS)
        rc = yaml_fail(&p->doc, list, e, ERR_RANGE, "is a list of %d, need at most %d shares",
                       (int)p->doc.nodes[list].n, GOSSIP_MAX_DECAYS);
    if (rc)
        return rc;
    yaml_each (id, &p->doc, list) {
        double last = l->n_decays ? l->decay_at[l->n_decays - 1] : 0, share;
        rc = yaml_real(&p->doc, id, &share, e);
        if (rc)
            return rc;
        if (!(share > last && share < 1))
            return yaml_fail(&p->doc, id, e, ERR_RANGE, "is %g, need more than %g and less than 1", share,
                             last);
        l->decay_at[l->n_decays++] = share;
    }
    return 0;
}

static int read_learning(struct gossip_point *p, const struct gossip_learner_conf *x, struct err *e)
{
    struct gossip_learning *l = &p->learning;
    *l = gossip_learning_default();
    l->batch = (int32_t)x->batch;
    l->epochs = x->epochs;
    l->optimizer = (enum gossip_optimizer)x->optimizer;
    l->rate = x->rate;
    l->momentum = x->momentum;
    l->weight_decay = x->weight_decay;
    l->schedule = (enum gossip_schedule)x->schedule;
    l->decay = x->decay;
    p->uses |= l->schedule == GOSSIP_RATE_STEPS ? USE_GOSSIP_STEPS : 0;
    return read_decays(l, p, x->decay_at, e);
}

/* ---- examples ---- */

static int copy_path(char **out, const struct gossip_point *p, const char *key, struct err *e)
{
    yaml_id at = yaml_get(&p->doc, p->conf.data, key);
    struct text path = { 0 };
    yaml_beside(&path, &p->doc, at);
    int rc = text_check(&path, e);
    if (!rc && strcmp(text_str(&path), "-") == 0)
        rc = yaml_fail(&p->doc, at, e, ERR_PARSE, "is -, need a file that can be read more than once");
    else if (!rc && access(text_str(&path), R_OK) != 0)
        rc = yaml_fail(&p->doc, at, e, ERR_PARSE, "is %.200s, which cannot be read (%s)", text_str(&path),
                       strerror(errno));
    *out = rc ? NULL : strdup(text_str(&path));
    text_free(&path);
    return rc ? rc : *out ? 0 : err_nomem(e, "the name of a file");
}

int gossip_point_own_data(struct gossip_data *train, struct gossip_data *test, const struct gossip_point *p,
                          struct err *e)
{
    struct gossip_labels labels = { 0 };
    *test = (struct gossip_data){ 0 };
    int rc = gossip_data_read_csv(train, &labels, p->train_csv, p->label, e);
    if (!rc)
        rc = gossip_data_read_csv(test, &labels, p->test_csv, NULL, e);
    if (rc)
        gossip_data_free(train);
    gossip_labels_free(&labels);
    return rc;
}

static unsigned long long hash_data(unsigned long long hash, const struct gossip_data *d)
{
    hash = text_hash(hash, d->x, (size_t)(d->n * d->n_features) * sizeof *d->x);
    return text_hash(hash, d->y, (size_t)d->n * sizeof *d->y);
}

/* The files are read to know what they hold, and let go of: a run reads them again. */
static int read_own_data(struct gossip_point *p, const struct gossip_data_conf *x, struct err *e)
{
    struct gossip_data train, test;
    if (!x->train_csv || !x->test_csv)
        return yaml_fail(&p->doc, p->conf.data, e, ERR_PARSE, "has %s alone, need train_csv and test_csv",
                         x->train_csv ? "train_csv" : "test_csv");
    p->own_data = true;
    p->label = x->label ? strdup(x->label) : NULL;
    if (x->label && !p->label)
        return err_nomem(e, "the name of a column");
    int rc = copy_path(&p->train_csv, p, "train_csv", e);
    if (!rc)
        rc = copy_path(&p->test_csv, p, "test_csv", e);
    if (!rc)
        rc = gossip_point_own_data(&train, &test, p, e);
    if (rc)
        return rc;
    p->data_hash = hash_data(hash_data(TEXT_HASH_SEED, &train), &test);
    p->n_train = train.n;
    p->teacher.n_features = train.n_features;
    p->teacher.n_classes = train.n_classes;
    gossip_data_free(&train);
    gossip_data_free(&test);
    if (isnan(p->conf.drift_at))
        return 0;
    return yaml_fail_key(&p->doc, yaml_get(&p->doc, p->doc.root, "drift_at"), e, ERR_PARSE,
                         "is given with data.train_csv, need examples of a teacher");
}

static int read_data(struct gossip_point *p, struct err *e)
{
    struct gossip_data_conf x;
    int rc = gossip_read_section(&x, &gossip_data_section, p, p->conf.data, e);
    if (rc)
        return rc;
    if (x.train_csv || x.test_csv)
        return read_own_data(p, &x, e);
    if (x.label)
        return yaml_fail_key(&p->doc, yaml_get(&p->doc, p->conf.data, "label"), e, ERR_PARSE,
                             "is given without train_csv, need files");
    p->uses |= USE_GOSSIP_TEACHER;
    p->teacher = (struct gossip_teacher){ .n_features = (int32_t)x.features,
                                          .hidden = (int32_t)x.hidden,
                                          .n_classes = (int32_t)x.classes,
                                          .gain = x.gain,
                                          .noise = x.noise,
                                          .n_train = x.train,
                                          .n_test = x.test };
    p->n_train = x.train;
    return 0;
}

/* Each worker needs an example: of workers and examples, what the study says is at fault. */
static int check_shards(const struct gossip_point *p, struct err *e)
{
    yaml_id workers = yaml_get(&p->doc, p->doc.root, "workers");
    yaml_id at = yaml_get(&p->doc, p->conf.data, p->own_data ? "train_csv" : "train");
    int32_t n = p->fabric.n_workers;
    if (n <= p->n_train)
        return 0;
    if (workers >= 0)
        return yaml_fail(&p->doc, workers, e, ERR_RANGE, "is %d, need at most %lld, the examples to train on",
                         n, (long long)p->n_train);
    return yaml_fail(&p->doc, at >= 0 ? at : p->conf.network, e, ERR_RANGE,
                     "makes %lld examples to train on, need at least %d, one for each worker",
                     (long long)p->n_train, n);
}

int gossip_point_learner(struct gossip_point *p, struct err *e)
{
    struct gossip_learner_conf x;
    int32_t width[GOSSIP_MAX_LAYERS], n;
    char place[400];
    int rc = gossip_read_section(&x, &gossip_learner_section, p, p->conf.learner, e);
    if (!rc)
        rc = read_hidden(width, &n, p, x.hidden, e);
    if (!rc)
        rc = read_learning(p, &x, e);
    if (!rc)
        rc = read_data(p, e);
    if (!rc)
        rc = check_shards(p, e);
    if (rc)
        return rc;
    rc = gossip_net_build(&p->net, p->teacher.n_features, width, n, p->teacher.n_classes, e);
    yaml_id at = p->conf.learner >= 0 ? p->conf.learner : p->doc.root;
    return rc ? err_wrap(e, "%s: learner", yaml_place(&p->doc, at, place, sizeof place)) : 0;
}

int64_t gossip_point_epoch_steps(const struct gossip_point *p)
{
    int64_t shard = p->n_train / p->fabric.n_workers;
    return shard / (p->learning.batch < shard ? p->learning.batch : shard);
}

int64_t gossip_point_steps(const struct gossip_point *p)
{
    double n = p->learning.epochs * (double)gossip_point_epoch_steps(p);
    return n < 1 ? 1 : (int64_t)n;
}
