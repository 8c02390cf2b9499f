#include "cli/keys_schema.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* Of a form, a piece [s, end). */
struct schema_piece {
    const char *s, *end;
};

static bool take(struct schema_piece *p, const char *word)
{
    size_t n = strlen(word);
    bool is = (size_t)(p->end - p->s) >= n && strncmp(p->s, word, n) == 0;
    p->s += is ? n : 0;
    return is;
}

/* The next alternative, cut off @p rest; false: none is left. " or " inside brackets parts nothing. */
static bool next_alternative(struct schema_piece *part, struct schema_piece *rest)
{
    int depth = 0;
    if (rest->s >= rest->end)
        return false;
    *part = *rest;
    for (const char *s = rest->s; s < rest->end; s++) {
        depth += (*s == '(' || *s == '<') - (*s == ')' || *s == '>');
        if (depth == 0 && rest->end - s > 4 && strncmp(s, " or ", 4) == 0) {
            part->end = s;
            rest->s = s + 4;
            return true;
        }
    }
    rest->s = rest->end;
    return true;
}

/* ---- values ---- */

/* What YAML 1.1 makes of a word: "no", "1e6" and 12 are texts to the reader. */
static void put_texts(struct json *j)
{
    json_open(j, "type", '[');
    json_text(j, NULL, "string");
    json_text(j, NULL, "number");
    json_text(j, NULL, "boolean");
    json_close(j, ']');
}

static void put_min_max(struct json *j, const struct key *k)
{
    /* Nodes that are read elsewhere have none: both are 0. */
    if (!(k->min < k->max))
        return;
    if (isfinite(k->min))
        json_real(j, "minimum", k->min);
    if (isfinite(k->max))
        json_real(j, "maximum", k->max);
}

static void put_numeric(struct json *j, const struct key *k, bool whole)
{
    json_open(j, "anyOf", '[');
    json_open(j, NULL, '{');
    json_text(j, "type", whole ? "integer" : "number");
    put_min_max(j, k);
    json_close(j, '}');
    json_open(j, NULL, '{');
    json_text(j, "type", "string");
    json_text(j, "pattern", "^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$");
    json_close(j, '}');
    json_close(j, ']');
}

static void put_enum(struct json *j, const char *const *words)
{
    json_open(j, "enum", '[');
    for (; *words; words++) {
        char *end;
        long n = strtol(*words, &end, 10);
        json_text(j, NULL, *words);
        if (!*end)
            json_count(j, NULL, n);
        if (strcmp(*words, "true") == 0 || strcmp(*words, "false") == 0)
            json_bool(j, NULL, **words == 't');
    }
    json_close(j, ']');
}

static void put_reference(struct json *j, struct schema_piece name)
{
    struct text path = { 0 };
    text_puts(&path, "#/definitions/");
    for (; name.s < name.end && *name.s != '>'; name.s++)
        text_add(&path, isalnum((unsigned char)*name.s) || strchr(".-", *name.s) ? name.s : "_", 1);
    /* Beside $ref all else is ignored, the meaning of the key too. */
    json_open(j, "allOf", '[');
    json_open(j, NULL, '{');
    json_text(j, "$ref", text_str(&path));
    json_close(j, '}');
    json_close(j, ']');
    j->out->failed = j->out->failed || path.failed;
    text_free(&path);
}

static void put_form(struct json *j, struct schema_piece form, const struct key *k);

static void put_inner(struct json *j, const char *name, struct schema_piece form, const struct key *k)
{
    json_open(j, name, '{');
    put_form(j, form, k);
    json_close(j, '}');
}

static void put_alternative(struct json *j, struct schema_piece p, const struct key *k)
{
    if (take(&p, "list of ")) {
        json_text(j, "type", "array");
        put_inner(j, "items", p, k);
    } else if (take(&p, "map of ")) {
        json_text(j, "type", "object");
        put_inner(j, "additionalProperties", p, k);
    } else if (take(&p, "(")) {
        p.end--;
        put_form(j, p, k);
    } else if (take(&p, "<")) {
        put_reference(j, p);
    } else if (take(&p, "number") || take(&p, "count")) {
        put_numeric(j, k, strncmp(p.s - 5, "count", 5) == 0);
    } else if (take(&p, "true/false")) {
        json_text(j, "type", "boolean");
    } else if (take(&p, "word") && k->kind == KEY_WORD) {
        put_enum(j, k->words);
    } else if (!take(&p, "anything")) {
        put_texts(j);
    }
}

static void put_form(struct json *j, struct schema_piece form, const struct key *k)
{
    struct schema_piece part, rest = form;
    next_alternative(&part, &rest);
    if (rest.s >= rest.end) {
        put_alternative(j, part, k);
        return;
    }
    json_open(j, "anyOf", '[');
    while (next_alternative(&part, &form))
        put_inner(j, NULL, part, k);
    json_close(j, ']');
}

static void put_default(struct json *j, const struct key *k)
{
    if (k->required || isnan(k->dflt))
        return;
    if (k->kind == KEY_WORD)
        json_text(j, "default", k->words[(size_t)k->dflt]);
    else if (k->kind == KEY_BOOL)
        json_bool(j, "default", k->dflt > 0);
    else if (k->kind == KEY_REAL || k->kind == KEY_I32 || k->kind == KEY_I64)
        json_real(j, "default", k->dflt);
}

static void put_value(struct json *j, const char *name, const struct key *k)
{
    struct text form = { 0 };
    schema_form(&form, k);
    json_open(j, name, '{');
    json_text(j, "title", k->name);
    json_text(j, "description", k->help);
    if (k->unit && *k->unit)
        json_text(j, "unit", k->unit);
    put_default(j, k);
    put_form(j, (struct schema_piece){ text_str(&form), text_str(&form) + form.n }, k);
    json_close(j, '}');
    j->out->failed = j->out->failed || form.failed;
    text_free(&form);
}

/* ---- maps ---- */

/* Stands for any key. */
static bool is_any(const struct key *k)
{
    return strcmp(k->name, "KEY") == 0;
}

/* Factor and its tiers pass what they do not know on to the networks that they make. */
static bool passes_on(const struct section *s)
{
    return strncmp(s->name, "vary.factor", 11) == 0 && strcmp(s->name, "vary.factor.dims") != 0;
}

/* What is required may come from an axis, or be replaced by another key of the map. */
static bool may_lack(const struct section *s)
{
    for (size_t i = 0; i < s->n_keys; i++)
        if (strcmp(s->keys[i].name, "vary") == 0 || strcmp(s->keys[i].name, "factor") == 0)
            return true;
    return false;
}

static void put_section(struct json *j, const struct section *s)
{
    const struct key *any = NULL;
    struct text name = { 0 };
    for (const char *at = s->name; *at; at++)
        text_add(&name, isalnum((unsigned char)*at) || strchr(".-", *at) ? at : "_", 1);
    json_open(j, text_str(&name), '{');
    json_text(j, "title", s->name);
    json_text(j, "description", s->help);
    json_text(j, "type", "object");
    json_open(j, "properties", '{');
    for (size_t i = 0; i < s->n_keys; i++) {
        if (is_any(&s->keys[i]))
            any = &s->keys[i];
        else
            put_value(j, s->keys[i].name, &s->keys[i]);
    }
    json_close(j, '}');
    json_open(j, "required", '[');
    for (size_t i = 0; i < s->n_keys; i++)
        if (s->keys[i].required && !may_lack(s))
            json_text(j, NULL, s->keys[i].name);
    json_close(j, ']');
    if (any)
        put_value(j, "additionalProperties", any);
    else
        json_bool(j, "additionalProperties", passes_on(s));
    json_close(j, '}');
    j->out->failed = j->out->failed || name.failed;
    text_free(&name);
}

void manual_schema(struct text *out, const struct file_kind *kind)
{
    struct json j = { .out = out };
    bool reached[MANUAL_MOST_SECTIONS];
    const char *name = kind->section->name;
    manual_reach(reached, kind);
    json_open(&j, NULL, '{');
    json_text(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    struct text title = { 0 };
    text_printf(&title, "weft: %s", kind->name);
    json_text(&j, "title", text_str(&title));
    text_free(&title);
    put_reference(&j, (struct schema_piece){ name, name + strlen(name) });
    json_open(&j, "definitions", '{');
    for (int i = 0; i < manual_n_sections; i++)
        if (reached[i])
            put_section(&j, manual_sections[i]);
    json_close(&j, '}');
    json_close(&j, '}');
    text_puts(out, "\n");
}
