#include "study/sweep_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/json.h"

/* ---- values as YAML text ---- */

/* Text that means the same with and without what stands around it in a list. */
static bool is_simple(const char *s)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    return *s && s[strspn(s, safe)] == '\0';
}

static void put_quoted(struct text *out, const char *s)
{
    struct json j = { .out = out };
    json_text(&j, NULL, s);
}

void sweep_put_yaml(struct text *out, const struct yaml_doc *doc, yaml_id id, bool inside)
{
    const struct yaml_node *node = &doc->nodes[id];
    if (node->kind == YAML_SCALAR) {
        if (yaml_is_null(doc, id))
            text_puts(out, "~");
        else if (!node->quoted && (!inside || is_simple(node->text)))
            text_puts(out, node->text);
        else
            put_quoted(out, node->text);
        return;
    }
    text_puts(out, node->kind == YAML_MAP ? "{" : "[");
    yaml_each (child, doc, id) {
        if (doc->nodes[child].index)
            text_puts(out, ", ");
        if (node->kind == YAML_MAP) {
            put_quoted(out, doc->nodes[child].key);
            text_puts(out, ": ");
        }
        sweep_put_yaml(out, doc, child, true);
    }
    text_puts(out, node->kind == YAML_MAP ? "}" : "]");
}

void sweep_column_put(struct sweep_column *c, const char *value)
{
    text_add(&c->text, value, strlen(value) + 1);
    c->n++;
}

void sweep_column_free(struct sweep_column *c)
{
    text_free(&c->text);
    *c = (struct sweep_column){ 0 };
}

static int read_list(struct sweep_column *c, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int32_t n = doc->nodes[list].n;
    if (n == 0)
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, need at least one value");
    if (n > SWEEP_MAX_VALUES)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d values, need at most %d", (int)n, SWEEP_MAX_VALUES);
    yaml_each (id, doc, list) {
        sweep_put_yaml(&c->text, doc, id, false);
        text_add(&c->text, "", 1);
        c->n++;
    }
    return text_check(&c->text, e);
}

/* ---- ranges ---- */

/*
 * Sums and products of decimals miss the decimal they mean by a few units in the
 * last place: 3 * 0.1 is 0.30000000000000004. Rounded to the 15th digit of the
 * range's largest value it is 0.3.
 */
static double clean(double x, double largest)
{
    char text[512];
    int decimals = 14 - (int)floor(log10(largest));
    snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, x);
    return strtod(text, NULL) + 0.0; /* -0 becomes 0 */
}

static double range_value(const struct range_conf *r, int64_t i)
{
    double largest = fmax(fabs(r->from), fabs(r->to)), share = (double)i / (double)(r->points - 1);
    char text[NUM_TEXT];
    if (!isnan(r->step))
        return clean(r->from + (double)i * r->step, fmax(largest, r->step));
    if (i == 0 || i == r->points - 1)
        return i ? r->to : r->from;
    if (r->scale != RANGE_LOG)
        return clean(r->from + (r->to - r->from) * share, largest);
    /* The functions of another C library may differ in the last digits. */
    snprintf(text, sizeof text, "%.12g", r->from * exp(log(r->to / r->from) * share));
    return strtod(text, NULL);
}

static int check_ends(const struct range_conf *r, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (!(r->to > r->from))
        return yaml_fail(doc, yaml_get(doc, map, "to"), e, ERR_RANGE, "is %g, need more than from, %g", r->to,
                         r->from);
    if (r->scale == RANGE_LOG && !(r->from > 0))
        return yaml_fail(doc, yaml_get(doc, map, "from"), e, ERR_RANGE,
                         "is %g, need more than 0 with scale log", r->from);
    return 0;
}

static int check_range(const struct range_conf *r, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (isnan(r->step) == (r->points < 0))
        return yaml_fail(doc, map, e, ERR_PARSE, "has %s, need one of step and points",
                         isnan(r->step) ? "neither" : "both");
    if (!isnan(r->step) && r->scale >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "scale"), e, ERR_PARSE,
                             "has no effect on step, need points");
    return check_ends(r, doc, map, e);
}

static int read_range(struct sweep_column *c, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct range_conf r;
    char text[NUM_TEXT];
    int rc = schema_read(&r, &sweep_range_section, doc, map, e);
    if (!rc)
        rc = check_range(&r, doc, map, e);
    if (rc)
        return rc;
    /* The last step may miss `to` by rounding. */
    double n = isnan(r.step) ? (double)r.points : floor((r.to - r.from) / r.step + 1e-9) + 1;
    if (n > SWEEP_MAX_VALUES)
        return yaml_fail(doc, map, e, ERR_RANGE, "has %.0f values, need at most %d", n, SWEEP_MAX_VALUES);
    for (int64_t i = 0; i < (int64_t)n; i++)
        sweep_column_put(c, num_format(text, range_value(&r, i)));
    c->generated = true;
    return text_check(&c->text, e);
}

/* ---- samples between two ends ---- */

int sweep_read_between(struct range_conf *r, bool *is_between, const struct yaml_doc *doc, yaml_id id,
                       struct err *e)
{
    *is_between = doc->nodes[id].kind == YAML_MAP && yaml_get(doc, id, "step") < 0 &&
                  yaml_get(doc, id, "points") < 0 && yaml_get(doc, id, "factor") < 0;
    if (!*is_between)
        return 0;
    int rc = schema_read(r, &sweep_range_section, doc, id, e);
    return rc ? rc : check_ends(r, doc, id, e);
}

const char *sweep_between(char buf[NUM_TEXT], const struct range_conf *r, double share)
{
    double x = r->from + (r->to - r->from) * share;
    if (r->scale == RANGE_LOG) {
        x = elementary_log(r->to / r->from) * share;
        elementary_exp(&x, 1);
        x *= r->from;
    }
    snprintf(buf, NUM_TEXT, "%.12g", fmin(fmax(x, r->from), r->to));
    return num_format(buf, strtod(buf, NULL) + 0.0);
}

/* ---- all of these ---- */

static int read_factor(struct sweep_column *c, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id factor = yaml_get(doc, map, "factor");
    yaml_each (id, doc, map)
        if (id != factor)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "is given besides factor, need one of them");
    if (strcmp(doc->nodes[map].key, "network") != 0)
        return yaml_fail_key(doc, factor, e, ERR_PARSE, "gives networks, need the key network for it");
    return sweep_factor_read(c, doc, factor, e);
}

int sweep_column_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    if (doc->nodes[id].kind == YAML_SEQ)
        return read_list(c, doc, id, e);
    if (doc->nodes[id].kind == YAML_MAP && yaml_get(doc, id, "factor") >= 0)
        return read_factor(c, doc, id, e);
    if (doc->nodes[id].kind == YAML_MAP)
        return read_range(c, doc, id, e);
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, need a list of values or a range { from, to, step }",
                     yaml_show(doc, id, shown));
}
