/* The methods of a study: settings of each, and what its row is called. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kinds/gossip/gossip_point.h"

bool gossip_has_fixed_period(const struct gossip_settings *s)
{
    uint64_t uses = gossip_method_uses(s);
    return (uses & USE_GOSSIP_PERIOD) && !(uses & USE_GOSSIP_CAP);
}

/* ---- labels ---- */

/* Is the key's value part of the label by itself? */
static bool is_named_apart(const char *key, uint64_t uses)
{
    bool ruled = (uses & USE_GOSSIP_RULE) && (uses & USE_GOSSIP_THETA);
    return strcmp(key, "method") == 0 || strcmp(key, "name") == 0 || strcmp(key, "period") == 0 ||
           strcmp(key, "rule") == 0 || (ruled && (strcmp(key, "theta") == 0 || strcmp(key, "cap") == 0));
}

/* What else is written and has an effect: "fragments 4". */
static void add_others(struct text *label, const struct gossip_point *p, yaml_id map, uint64_t uses)
{
    for (size_t i = 0; i < gossip_method_section.n_keys; i++) {
        const struct key *k = &gossip_method_section.keys[i];
        yaml_id at = yaml_get(&p->doc, map, k->name);
        if (at >= 0 && p->doc.nodes[at].text && (k->uses & uses) && !is_named_apart(k->name, uses))
            text_printf(label, " %s %s", k->name, p->doc.nodes[at].text);
    }
}

/* "pair 16", "pair drift 0.05/64", "diloco 50 fragments 4"; a name that is given, and the period where a list
 * makes several rows of it. */
static void make_label(struct text *label, const struct gossip_point *p, yaml_id map, const char *name,
                       const struct gossip_settings *s)
{
    uint64_t uses = gossip_method_uses(s);
    yaml_id period = yaml_get(&p->doc, map, "period");
    bool many = period >= 0 && p->doc.nodes[period].kind == YAML_SEQ && p->doc.nodes[period].n > 1;
    text_puts(label, name ? name : gossip_method_name(s->method));
    if ((!name || many) && (uses & USE_GOSSIP_PERIOD))
        text_printf(label, " %lld", (long long)s->period);
    if (name)
        return;
    if ((uses & USE_GOSSIP_RULE) && (uses & USE_GOSSIP_THETA))
        text_printf(label, " %s %g/%lld", gossip_rule_words[s->rule], s->theta, (long long)s->cap);
    add_others(label, p, map, uses);
}

/* ---- rows ---- */

/* Can it be run? What is wrong has the place of the method. */
static int check_entry(const struct gossip_point *p, yaml_id id, const char *label,
                       const struct gossip_settings *s, struct err *e)
{
    struct gossip_setup setup = gossip_point_setup(p);
    char place[400], path[200];
    int rc = gossip_check(&setup, s, e);
    if (rc)
        return err_wrap(e, "%s: %s", yaml_place(&p->doc, id, place, sizeof place),
                        yaml_path(&p->doc, id, path, sizeof path));
    for (int32_t i = 0; i < p->n_entries; i++)
        if (strcmp(p->entries[i].label, label) == 0)
            return yaml_fail(&p->doc, id, e, ERR_PARSE,
                             "makes row %d, called \"%.100s\" as row %d is, need another name",
                             p->n_entries + 1, label, i + 1);
    return 0;
}

static int add_entry(struct gossip_point *p, yaml_id id, const char *name, const struct gossip_settings *s,
                     struct err *e)
{
    struct text label = { 0 };
    if (p->n_entries == GOSSIP_MAX_METHODS)
        return yaml_fail(&p->doc, p->conf.methods, e, ERR_RANGE, "makes more than %d rows, need fewer",
                         GOSSIP_MAX_METHODS);
    struct gossip_entry *grown = array_grow(p->entries, p->n_entries, &p->cap_entries, sizeof *grown);
    if (!grown)
        return err_nomem(e, "methods");
    p->entries = grown;
    make_label(&label, p, id, name, s);
    int rc = text_check(&label, e);
    if (!rc)
        rc = check_entry(p, id, text_str(&label), s, e);
    char *copy = rc ? NULL : strdup(text_str(&label));
    text_free(&label);
    if (rc)
        return rc;
    if (!copy)
        return err_nomem(e, "methods");
    p->uses |= gossip_method_uses(s);
    p->entries[p->n_entries++] = (struct gossip_entry){ .label = copy, .settings = *s };
    return 0;
}

/* ---- reading ---- */

static int find_method(int32_t *out, const struct gossip_point *p, yaml_id id, const char *name,
                       struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST];
    assert(gossip_n_methods <= MOST);
    *out = gossip_find_method(name);
    if (*out >= 0)
        return 0;
    for (int32_t i = 0; i < gossip_n_methods; i++)
        names[i] = gossip_method_name(i);
    const char *near = text_nearest(name, names, (size_t)gossip_n_methods);
    return yaml_fail(&p->doc, id, e, ERR_PARSE, "is %.60s, need a method of weft gossip --list%s%s%s", name,
                     near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
}

/* A period that adapts may not begin above the cap: the default makes room for it. That a list of periods can
 * go beyond 64 without more words is this project's choice. */
static void raise_cap(struct gossip_settings *s, const struct gossip_point *p, yaml_id id)
{
    uint64_t both = USE_GOSSIP_PERIOD | USE_GOSSIP_CAP;
    if ((gossip_method_uses(s) & both) == both && yaml_get(&p->doc, id, "cap") < 0 && s->cap < s->period)
        s->cap = s->period;
}

/* A row with the period of @p s. */
static int add_period(struct gossip_point *p, yaml_id id, const char *name, struct gossip_settings s,
                      struct err *e)
{
    raise_cap(&s, p, id);
    return add_entry(p, id, name, &s, e);
}

static int read_period(int64_t *out, const struct gossip_point *p, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    if (yaml_count(&p->doc, id, out, e))
        return yaml_fail(&p->doc, id, e, ERR_PARSE, "is %s, need a whole number, at least 1 step",
                         yaml_show(&p->doc, id, shown));
    if (*out < 1)
        return yaml_fail(&p->doc, id, e, ERR_RANGE, "is %lld, need at least 1 step", (long long)*out);
    return 0;
}

/* Rows of one method: one, or one for each period. */
static int add_periods(struct gossip_point *p, yaml_id id, const struct gossip_method_conf *x,
                       struct gossip_settings *s, struct err *e)
{
    yaml_id at = x->period;
    bool list = at >= 0 && p->doc.nodes[at].kind == YAML_SEQ;
    yaml_id first = list ? p->doc.nodes[at].first : at;
    int rc = 0;
    if (list && first < 0)
        return yaml_fail(&p->doc, at, e, ERR_PARSE, "is empty, need at least one period");
    if (first < 0)
        return add_period(p, id, x->name, *s, e);
    for (yaml_id one = first; one >= 0 && !rc; one = list ? p->doc.nodes[one].next : -1) {
        rc = read_period(&s->period, p, one, e);
        if (!rc)
            rc = add_period(p, id, x->name, *s, e);
    }
    return rc;
}

/* A label stands in tables, legends and `baseline`. That it is at most 40 bytes is this project's choice. */
static int check_name(const struct gossip_point *p, yaml_id map, const char *name, struct err *e)
{
    enum { MOST = 40 };
    size_t n = name ? strlen(name) : 1;
    yaml_id at = yaml_get(&p->doc, map, "name");
    if (n < 1 || n > MOST)
        return yaml_fail(&p->doc, at, e, ERR_RANGE, "has %zu bytes, need 1 to %d", n, MOST);
    for (const char *c = name; c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return yaml_fail(&p->doc, at, e, ERR_PARSE, "has a control character, need printable text");
    return 0;
}

static int read_method(struct gossip_point *p, yaml_id id, struct err *e)
{
    struct gossip_method_conf x;
    bool word = p->doc.nodes[id].kind == YAML_SCALAR;
    int32_t method;
    schema_defaults(&x, &gossip_method_section);
    int rc =
        word ? yaml_text(&p->doc, id, &x.method, e) : schema_read(&x, &gossip_method_section, &p->doc, id, e);
    if (!rc && !word)
        rc = check_name(p, id, x.name, e);
    if (!rc)
        rc = find_method(&method, p, word ? id : yaml_get(&p->doc, id, "method"), x.method, e);
    if (rc)
        return rc;
    struct gossip_settings s = x.settings;
    s.method = method;
    s.period = gossip_method_period(method);
    s.rule = (enum gossip_rule)x.rule;
    s.graph = (enum gossip_graph)x.graph;
    s.inner = x.inner < 0 ? N_GOSSIP_OPTIMIZERS : (enum gossip_optimizer)x.inner;
    rc = add_periods(p, id, &x, &s, e);
    if (!rc && !word)
        schema_note_unused(&p->notes, &gossip_method_section, &p->doc, id, p->own_source,
                           gossip_method_uses(&s));
    return rc;
}

/* Nobody asked for a method that cannot be run here: it is left out, and that is told. */
static int add_all(struct gossip_point *p, struct err *e)
{
    struct gossip_settings s = gossip_settings_default();
    struct gossip_setup setup = gossip_point_setup(p);
    int rc = 0;
    for (s.method = 0; s.method < gossip_n_methods && !rc; s.method++) {
        struct err why = { 0 };
        s.period = gossip_method_period(s.method);
        if (gossip_check(&setup, &s, &why))
            text_printf(&p->notes, "%s: method %s is left out: %s\n",
                        p->doc.sources[p->doc.nodes[p->doc.root].source], gossip_method_name(s.method),
                        why.msg);
        else
            rc = add_entry(p, p->doc.root, NULL, &s, e);
    }
    return rc;
}

static int find_baseline(struct gossip_point *p, struct err *e)
{
    const char *label = p->conf.baseline, *names[GOSSIP_MAX_METHODS] = { NULL };
    int32_t pair = gossip_find_method("pair");
    p->baseline = 0;
    for (int32_t i = p->n_entries - 1; i >= 0; i--) {
        const struct gossip_settings *s = &p->entries[i].settings;
        names[i] = p->entries[i].label;
        if (label ? strcmp(label, names[i]) == 0
                  : s->method == pair && gossip_has_fixed_period(s) && s->period == 1)
            p->baseline = i;
    }
    if (!label || strcmp(label, p->entries[p->baseline].label) == 0)
        return 0;
    const char *near = text_nearest(label, names, (size_t)p->n_entries);
    return yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "baseline"), e, ERR_PARSE,
                     "is %.100s, need the label of a row, such as \"%.100s\"", label,
                     near ? near : p->entries[0].label);
}

int gossip_point_methods(struct gossip_point *p, struct err *e)
{
    yaml_id list = p->conf.methods;
    int rc = list < 0 ? add_all(p, e) : yaml_need(&p->doc, list, YAML_SEQ, e);
    if (!rc && list >= 0 && p->doc.nodes[list].n == 0)
        rc = yaml_fail(&p->doc, list, e, ERR_PARSE, "is empty, need at least one method");
    if (rc)
        return rc;
    if (list >= 0)
        yaml_each (id, &p->doc, list)
            if (!rc)
                rc = read_method(p, id, e);
    return rc ? rc : find_baseline(p, e);
}
