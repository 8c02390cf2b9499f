/*
 * weft keys: the manual of the YAML files, printed from the tables that read them (base/schema.h), so that
 * what it says of units, limits and defaults is what a run takes.
 *
 * Sections are those of cli/manual.c. Range, unit and default are those that reading checks and fills in;
 * words around them are the help of each key.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasestr() */
#endif

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/catalogue.h"
#include "base/json.h"
#include "base/num.h"
#include "base/sheet.h"
#include "cli/manual.h"
#include "cli/output.h"

/* All without a name; "pool" asks for "pool of model batch" too. */
static bool is_asked(const struct section *s, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return !name || (strncmp(s->name, name, n) == 0 && (s->name[n] == '\0' || s->name[n] == ' '));
}

struct key_row {
    const char *section, *shown, *key, *kind, *form, *unit, *range, *words, *usual, *dflt, *required, *help;
    double min, max;
};

/* One row a key, of which text has a table for each section. */
static const struct column key_columns[] = {
    COLUMN_WORD(struct key_row, section, "of the file", .in = IN_CSV),
    COLUMN_WORD(struct key_row, shown, "with its place", .in = IN_TEXT, .title = "  key"),
    COLUMN_WORD(struct key_row, key, "its name", .in = IN_CSV),
    COLUMN_WORD(struct key_row, kind, "of value", .in = IN_CSV),
    COLUMN_WORD(struct key_row, form, "what the value looks like; <NAME> is a map of that section",
                .title = "holds"),
    /* Left out of text where no key of the section has one. */
    COLUMN_WORD(struct key_row, unit, "of numbers"),
    COLUMN_WORD(struct key_row, range, "of numbers, or the words", .in = IN_TEXT),
    COLUMN_REAL(struct key_row, min, "least number", .in = IN_CSV),
    COLUMN_REAL(struct key_row, max, "largest number", .in = IN_CSV),
    COLUMN_WORD(struct key_row, words, "that it may have", .in = IN_CSV),
    COLUMN_AT(struct key_row, usual, "default", TABLE_TEXT, "where it is not given", .in = IN_TEXT),
    COLUMN_AT(struct key_row, dflt, "default", TABLE_TEXT, "likewise", .in = IN_CSV),
    COLUMN_WORD(struct key_row, required, "must it be given?", .in = IN_CSV),
    COLUMN_WORD(struct key_row, help, "what it means", .title = "meaning"),
    COLUMNS_END,
};

/* @p found: among keys of many sections, which its name then tells. */
static void put_key(struct report *r, const struct section *s, const struct key *k, bool found)
{
    char number[NUM_TEXT], shown[SHOW_VALUE];
    struct text range = { 0 }, form = { 0 };
    const char *usual = manual_default(number, k);
    manual_range(&range, k);
    schema_form(&form, k);
    snprintf(shown, sizeof shown, "  %s%s%s", found ? s->name : "", found ? "." : "", k->name);
    report_row(r, &(struct key_row){ .section = s->name,
                                     .shown = shown,
                                     .key = k->name,
                                     .kind = schema_kind_word(k->kind),
                                     .form = text_str(&form),
                                     .unit = k->unit && *k->unit     ? k->unit
                                             : report_is(r, IN_TEXT) ? ""
                                                                     : NULL,
                                     .range = text_str(&range),
                                     .min = manual_is_number(k) ? k->min : (double)NAN,
                                     .max = manual_is_number(k) ? k->max : (double)NAN,
                                     .words = k->kind == KEY_WORD ? text_str(&range) : NULL,
                                     .usual = usual,
                                     .dflt = k->required || !*usual ? NULL : usual,
                                     .required = k->required ? "yes" : "no",
                                     .help = k->help });
    r->failed = r->failed || range.failed || form.failed;
    text_free(&range);
    text_free(&form);
}

static bool manual_asks(const char *name)
{
    for (int i = 0; i < manual_n_sections; i++)
        if (is_asked(manual_sections[i], name))
            return true;
    return false;
}

static void put_sections(struct report *r, const char *only)
{
    bool apart = report_is(r, IN_TEXT), any = false;
    if (!apart)
        report_list(r, NULL, key_columns);
    for (int i = 0; i < manual_n_sections; i++) {
        const struct section *s = manual_sections[i];
        if (!is_asked(s, only))
            continue;
        report_line(r, "%s%s: %s\n", any ? "\n" : "", s->name, s->help);
        any = true;
        if (apart)
            report_list(r, NULL, key_columns);
        for (size_t k = 0; k < s->n_keys; k++)
            put_key(r, s, &s->keys[k], false);
        if (apart)
            report_list_end(r);
    }
    if (!apart)
        report_list_end(r);
}

/* ---- search ---- */

static bool has_word(const char *text, const char *word)
{
    return text && strcasestr(text, word);
}

/* Every word stands in the key's name, its section's, its meaning or the words it may have. */
static bool is_hit(const struct section *s, const struct key *k, const struct options *opt)
{
    for (int32_t i = 0; i < opt->n_operands; i++) {
        const char *word = opt->operands[i];
        bool hit = has_word(k->name, word) || has_word(s->name, word) || has_word(k->help, word);
        for (size_t w = 0; !hit && k->kind == KEY_WORD && k->words[w]; w++)
            hit = has_word(k->words[w], word);
        if (!hit)
            return false;
    }
    return true;
}

/* Is the key itself what is asked for: "taper", "dims taper" or "dims.taper"? */
static bool is_named(const struct section *s, const struct key *k, const struct options *opt)
{
    const char *last = opt->operands[opt->n_operands - 1];
    size_t n = strlen(s->name);
    if (strncmp(last, s->name, n) == 0 && last[n] == '.' && strcasecmp(last + n + 1, k->name) == 0)
        return true;
    return strcasecmp(last, k->name) == 0 && is_hit(s, k, opt);
}

/* How often each kind of hit is there: of the key itself, and in words. */
struct hits {
    int named, other;
};

static struct hits count_hits(const struct options *opt)
{
    struct hits n = { 0 };
    for (int i = 0; i < manual_n_sections; i++) {
        for (size_t k = 0; k < manual_sections[i]->n_keys; k++) {
            bool named = is_named(manual_sections[i], &manual_sections[i]->keys[k], opt);
            n.named += named;
            n.other += !named && is_hit(manual_sections[i], &manual_sections[i]->keys[k], opt);
        }
    }
    return n;
}

/* ---- an example from the catalogue ---- */

/* What the map of a section is called where it stands: dims.nics in `nics`, layers of hetero in `layers`. */
static void put_role(char role[], size_t room, const char *section)
{
    const char *dot = strrchr(section, '.');
    size_t n = strcspn(dot ? dot + 1 : section, " [");
    snprintf(role, room, "%.*s", (int)n, dot ? dot + 1 : section);
}

/* The first key @p name in a map with that role: its own key is it, or that of the list it is in; the
 * outermost map has the role of its file. */
static yaml_id find_example_key(const struct yaml_doc *doc, yaml_id map, const char *role, bool is,
                                const char *name)
{
    yaml_each (id, doc, map) {
        const struct yaml_node *node = &doc->nodes[id];
        bool has = node->key ? strcmp(node->key, role) == 0 : is;
        if (is && node->key && strcmp(node->key, name) == 0)
            return id;
        yaml_id found = node->kind == YAML_SCALAR ? -1 : find_example_key(doc, id, role, has, name);
        if (found >= 0)
            return found;
    }
    return -1;
}

/* The line of @p file that node @p id stands on. */
static void put_example(struct text *out, const struct text *file, int32_t line, const char *name)
{
    enum { SHOWN = 84 };
    const char *s = text_str(file);
    for (; line > 1 && *s; line--)
        s += strcspn(s, "\n") + (s[strcspn(s, "\n")] != '\0');
    s += strspn(s, " ");
    size_t line_n = strcspn(s, "\n"), n = line_n < SHOWN ? line_n : SHOWN;
    while (n < line_n && n > 0 && s[n] != ' ')
        n--;
    text_printf(out, "%.*s%s   (%s)", (int)n, s, n < line_n ? " ..." : "", name);
}

static bool look_in(struct text *out, const char *folder, const char *name, const char *root,
                    const struct section *s, const struct key *k)
{
    char role[64];
    struct text path = { 0 }, file = { 0 };
    struct yaml_doc doc;
    struct err ignored;
    yaml_id id = -1;
    put_role(role, sizeof role, s->name);
    if (catalogue_find(&path, folder, name) &&
        !text_read_file(&file, text_str(&path), YAML_MAX_BYTES, &ignored) &&
        strstr(text_str(&file), k->name) && !yaml_read_text(&doc, name, text_str(&file), file.n, &ignored)) {
        id = find_example_key(&doc, doc.root, role, strcmp(role, root) == 0, k->name);
        if (id >= 0)
            put_example(out, &file, doc.nodes[id].line, name);
        yaml_free(&doc);
    }
    text_free(&path);
    text_free(&file);
    return id >= 0;
}

/* A line of a file that comes with weft and has the key; nothing where none has. */
static void find_example(struct text *out, const struct section *s, const struct key *k)
{
    static const struct {
        const char *folder, *root;
    } places[] = {
        { "studies", "study" },  { "networks", "network" },   { "npus", "npu" },
        { "servers", "server" }, { "systems", "like" },       { "models", "model" },
        { "parts", "parts" },    { "workloads", "workload" }, { "clusters", "placement" },
    };
    for (size_t i = 0; i < sizeof places / sizeof *places && !out->n; i++) {
        struct catalogue c;
        struct err ignored;
        if (!catalogue_list(&c, places[i].folder, &ignored))
            for (int32_t f = 0; f < c.n && !out->n; f++)
                look_in(out, places[i].folder, c.names[f], places[i].root, s, k);
        catalogue_free(&c);
    }
}

/* ---- what was found ---- */

/* Which files may hold the section. */
static void put_files(struct text *out, const struct section *s)
{
    for (int i = 0; i < manual_n_kinds; i++) {
        bool reached[MANUAL_MOST_SECTIONS];
        manual_reach(reached, &manual_kinds[i]);
        if (reached[manual_find(s->name, strlen(s->name))])
            text_printf(out, "%s%s", out->n ? ", " : "", manual_kinds[i].name);
    }
}

static void put_whole(struct report *r, const struct section *s, const struct key *k)
{
    char number[NUM_TEXT];
    struct text range = { 0 }, form = { 0 }, files = { 0 }, example = { 0 };
    const char *usual = manual_default(number, k);
    manual_range(&range, k);
    schema_form(&form, k);
    put_files(&files, s);
    find_example(&example, s, k);
    report_line(r, "%s in %s: %s\n", k->name, s->name, k->help);
    report_line(r, "  holds    %s%s%s\n", text_str(&form), k->unit && *k->unit ? ", " : "",
                k->unit ? k->unit : "");
    if (range.n)
        report_line(r, "  %s  %s\n", k->kind == KEY_WORD ? "words  " : "range  ", text_str(&range));
    if (*usual)
        report_line(r, "  default  %s\n", usual);
    report_line(r, "  files    %s\n", text_str(&files));
    if (example.n)
        report_line(r, "  example  %s\n", text_str(&example));
    report_line(r, "\n");
    r->failed = r->failed || range.failed || form.failed || files.failed || example.failed;
    text_free(&range);
    text_free(&form);
    text_free(&files);
    text_free(&example);
}

/* Rows of the keys that are hit, named or not. */
static void put_hits(struct report *r, const struct options *opt, bool named)
{
    for (int i = 0; i < manual_n_sections; i++) {
        for (size_t k = 0; k < manual_sections[i]->n_keys; k++) {
            const struct key *key = &manual_sections[i]->keys[k];
            if (is_hit(manual_sections[i], key, opt) && (named || !is_named(manual_sections[i], key, opt)))
                put_key(r, manual_sections[i], key, true);
        }
    }
}

static void put_found(struct report *r, const struct options *opt, struct hits n)
{
    bool whole = report_is(r, IN_TEXT) && (n.named || n.other == 1);
    for (int i = 0; i < manual_n_sections && whole; i++)
        for (size_t k = 0; k < manual_sections[i]->n_keys; k++)
            if (n.named ? is_named(manual_sections[i], &manual_sections[i]->keys[k], opt)
                        : is_hit(manual_sections[i], &manual_sections[i]->keys[k], opt))
                put_whole(r, manual_sections[i], &manual_sections[i]->keys[k]);
    if (whole && (!n.named || !n.other))
        return;
    if (whole)
        report_line(r, "Keys whose meaning has %s too:\n", opt->operands[opt->n_operands - 1]);
    report_list(r, NULL, key_columns);
    put_hits(r, opt, !whole);
    report_list_end(r);
}

/* ---- nothing was found ---- */

/* The words that a search looks at, each ended by '\0'; some several times. */
static void put_words(struct text *out, const char *s)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    enum { SHORTEST = 3 };
    for (s += strcspn(s, letters); *s; s += strcspn(s, letters)) {
        size_t n = strspn(s, letters);
        if (n >= SHORTEST) {
            text_add(out, s, n);
            text_add(out, "", 1);
        }
        s += n;
    }
}

static void put_all_words(struct text *out)
{
    for (int i = 0; i < manual_n_sections; i++) {
        put_words(out, manual_sections[i]->name);
        for (size_t k = 0; k < manual_sections[i]->n_keys; k++) {
            put_words(out, manual_sections[i]->keys[k].name);
            put_words(out, manual_sections[i]->keys[k].help);
        }
    }
}

/* "; did you mean taper or tapers?": at most three. The list is used up. */
static void put_nearest(struct text *out, const char *word, const char **words, size_t n)
{
    enum { MOST = 3 };
    const char *near[MOST];
    int found = 0;
    while (found < MOST && (near[found] = text_nearest(word, words, n))) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (strcasecmp(words[i], near[found]) != 0)
                words[kept++] = words[i];
        n = kept;
        found++;
    }
    for (int i = 0; i < found; i++)
        text_printf(out, "%s%s", i == 0 ? "; did you mean " : i + 1 < found ? ", " : " or ", near[i]);
    text_puts(out, found ? "?" : "");
}

static int find_nearest(struct text *out, const char *word, struct err *e)
{
    struct text all = { 0 };
    size_t n = 0;
    put_all_words(&all);
    const char **words = calloc(all.n + 1, sizeof *words);
    int rc = words ? text_check(&all, e) : err_nomem(e, "words of the manual");
    for (size_t at = 0; !rc && at < all.n; at += strlen(all.s + at) + 1)
        words[n++] = all.s + at;
    if (!rc)
        put_nearest(out, word, words, n);
    free(words);
    text_free(&all);
    return rc;
}

/* Blames the first word that nothing has; where each has something, they have nothing in common. */
static int fail_search(const struct options *opt, struct err *e)
{
    struct text near = { 0 };
    for (int32_t i = 0; i < opt->n_operands; i++) {
        const struct options one = { .operands = { opt->operands[i] }, .n_operands = 1 };
        const struct hits n = count_hits(&one);
        if (n.named || n.other)
            continue;
        int rc = find_nearest(&near, opt->operands[i], e);
        if (!rc)
            rc = err_set(e, ERR_USAGE, "no section, key or meaning has \"%.60s\"%s", opt->operands[i],
                         text_str(&near));
        text_free(&near);
        return rc;
    }
    return err_set(e, ERR_USAGE, "each word has keys, but no key has all %d; leave one out",
                   (int)opt->n_operands);
}

/* ---- the command ---- */

static const struct file_kind *find_kind(const char *name, struct err *e)
{
    struct text all = { 0 };
    for (int i = 0; i < manual_n_kinds; i++) {
        if (strcmp(manual_kinds[i].name, name) == 0) {
            text_free(&all);
            return &manual_kinds[i];
        }
        text_printf(&all, "%s%s", i ? ", " : "", manual_kinds[i].name);
    }
    err_set(e, ERR_USAGE, "no schema of \"%.60s\", expected one of %s", name, text_str(&all));
    text_free(&all);
    return NULL;
}

/* ---- JSON Schema (draft-07) of the files, from the same tables ---- */

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

/*
 * Append the schema of a file of @p kind: keys with type, limits, unit, default and meaning; a key that is
 * not in it is refused, as the reader does. Numbers may be texts like "1e6", which YAML 1.1 does not take for
 * numbers. What depends on several keys is for the reader alone.
 */
static void put_schema(struct text *out, const struct file_kind *kind)
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

static int write_schema(struct run *run, struct err *e)
{
    const struct file_kind *kind = find_kind(run->opt.n_operands ? run->opt.operands[0] : "study", e);
    struct text out = { 0 };
    if (!kind)
        return ERR_USAGE;
    put_schema(&out, kind);
    int rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int run_keys(struct run *run, struct err *e)
{
    const struct options *opt = &run->opt;
    const char *only = opt->n_operands ? opt->operands[0] : NULL;
    int rc = output_check(run, e);
    if (rc)
        return rc;
    if (opt->schema)
        return write_schema(run, e);
    bool section = !only || (opt->n_operands == 1 && manual_asks(only));
    struct hits n = { 0 };
    if (!section)
        n = count_hits(opt);
    if (!section && !n.named && !n.other)
        return fail_search(opt, e);
    /* JSON as rows too: a program that reads the manual wants a table, not a tree. */
    struct report r = { .rows = true };
    output_begin(&r, run, (struct origin){ .known = false });
    if (section)
        put_sections(&r, only);
    else
        put_found(&r, opt, n);
    return output_report(&r, run, (struct origin){ .known = false }, e);
}

static const struct option schema_rows[] = {
    FLAG_OPTION("schema", schema,
                "write a JSON Schema of study files, or of the kind named: network, npu, parts, model, ..."),
};
static const struct option_group options_schema = OPTION_GROUP("Schema", schema_rows);

const struct command cmd_keys = {
    .group = "Manual",
    .name = "keys",
    .help = "every key of the YAML files: unit, range, default, meaning",
    .about =
        "List the keys that YAML files may have: all, those of one section, or those whose name, meaning or\n"
        "words have every WORD. A key that is named is shown whole, with a line of a file that uses it.\n",
    .scope = SCOPE(0, 8, "[SECTION | WORD...]", &options_schema, &options_format, &options_files),
    .run = run_keys,
};
