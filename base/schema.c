/*
 * Reading of maps by key tables. One pass over the keys of a map looks each up in its section, reads the
 * value as its row says, and writes it into the struct; defaults were written before, so a field has a value
 * whatever the file holds. Values are checked in the file's unit, which is the one the message shows, and
 * scaled last.
 *
 * Fields are written through memcpy() or by pointers that the K_ macros have checked: a row whose field has
 * another type does not compile. Nothing is allocated but owned lists, whose owner is the caller, also after
 * a failure (the field is NULL or a valid array from the first key on).
 */

#include "base/schema.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rng.h"

enum { RANGE_TEXT = 2 * NUM_TEXT + 64 };

const char *schema_kind_word(enum key_kind kind)
{
    static const char *const words[] = {
        [KEY_REAL] = "number", [KEY_I64] = "count",   [KEY_BOOL] = "true/false", [KEY_TEXT] = "text",
        [KEY_WORD] = "word",   [KEY_NODE] = "nested", [KEY_I32] = "count",       [KEY_NAME] = "text",
        [KEY_MAP] = "nested",  [KEY_LIST] = "nested", [KEY_RANGE] = "nested",    [KEY_OWN] = "nested",
    };
    return words[kind];
}

void schema_form(struct text *out, const struct key *k)
{
    if (k->form)
        text_puts(out, k->form);
    else if (k->kind == KEY_MAP)
        text_printf(out, "<%s>", k->of->name);
    else if (k->kind == KEY_LIST && k->of)
        text_printf(out, "list of <%s>", k->of->name);
    else if (k->kind == KEY_LIST)
        text_printf(out, "list of %ss", schema_kind_word(k->item->kind));
    else if (k->kind == KEY_RANGE)
        text_puts(out, k->whole ? "count or list of counts" : "number or list of numbers");
    else
        text_puts(out, k->kind == KEY_NODE || k->kind == KEY_OWN ? "anything" : schema_kind_word(k->kind));
}

static const char *range_text(char buf[RANGE_TEXT], const struct key *k)
{
    char lo[NUM_TEXT], hi[NUM_TEXT];
    const char *unit = k->unit ? k->unit : "", *gap = *unit ? " " : "";
    num_format(lo, k->min);
    num_format(hi, k->max);
    if (isinf(k->max))
        snprintf(buf, RANGE_TEXT, ">= %s%s%.40s", lo, gap, unit);
    else if (isinf(k->min))
        snprintf(buf, RANGE_TEXT, "<= %s%s%.40s", hi, gap, unit);
    else
        snprintf(buf, RANGE_TEXT, "%s to %s%s%.40s", lo, hi, gap, unit);
    return buf;
}

static int fail_range(const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN], range[RANGE_TEXT];
    return yaml_fail(doc, id, e, ERR_RANGE, "is %s, expected %s", yaml_show(doc, id, shown),
                     range_text(range, k));
}

/* @p x, in the key's range, as it is written: 1e9 is a whole number, but not in digits. */
static int fail_whole(const struct key *k, double x, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN], range[RANGE_TEXT];
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected a whole number%s, %s", yaml_show(doc, id, shown),
                     x == floor(x) ? " in digits" : "", range_text(range, k));
}

static int read_real(double *out, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    double x;
    int rc = yaml_real(doc, id, &x, e);
    if (rc)
        return rc;
    if (!(x >= k->min && x <= k->max))
        return fail_range(k, doc, id, e);
    /* A value within its range may still overflow in SI units. */
    if (!isfinite(x * k->scale)) {
        char shown[YAML_SHOWN];
        return yaml_fail(doc, id, e, ERR_RANGE, "is %s, expected a number below %g",
                         yaml_show(doc, id, shown), 1e308 / fabs(k->scale));
    }
    const char *text = doc->nodes[id].text;
    /* Moving the decimal point of the text rounds once; in text times 1e9 two roundings would add up. */
    bool exact = k->decimals && strlen(text) < NUM_TEXT;
    *out = exact ? num_scaled(text, k->decimals) : x * k->scale;
    return 0;
}

static int read_count(int64_t *out, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                      struct err *e)
{
    int64_t n;
    double x;
    int rc = yaml_count(doc, id, &n, e);
    struct err other;
    /* -3 and 1.5 are better answered by the key's own range than by that of all counts. */
    if (rc && yaml_real(doc, id, &x, &other) == 0)
        return x >= k->min && x <= k->max ? fail_whole(k, x, doc, id, e) : fail_range(k, doc, id, e);
    if (rc)
        return rc;
    /* Limits are doubles for all kinds: above 2^53 they are good to a few units, which no limit needs. */
    if (!((double)n >= k->min && (double)n <= k->max))
        return fail_range(k, doc, id, e);
    *out = n;
    return 0;
}

static void put_count(void *field, const struct key *k, int64_t n)
{
    /* Limits of the row keep n within int32_t where the field is one; a row whose limits do not is a bug. */
    int32_t small = (int32_t)n;
    assert(k->kind == KEY_I64 || small == n);
    if (k->kind == KEY_I64)
        memcpy(field, &n, sizeof n);
    else
        memcpy(field, &small, sizeof small);
}

/* Enums are as wide as int32_t here; of a bool, word 1 is true. */
static void put_word(void *field, const struct key *k, int32_t word)
{
    enum any { ANY };
    bool yes = word > 0;
    _Static_assert(sizeof(enum any) == sizeof word, "words are written into enums");
    if (k->room == sizeof yes)
        memcpy(field, &yes, sizeof yes);
    else
        memcpy(field, &word, sizeof word);
}

static int schema_fail_word(const struct key *k, size_t n_words, const struct yaml_doc *doc, yaml_id id,
                            struct err *e)
{
    char shown[YAML_SHOWN];
    struct text need = { 0 };
    text_put_words(&need, k->words, n_words);
    const char *text = doc->nodes[id].text;
    yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected one of %s", yaml_show(doc, id, shown), text_str(&need));
    text_free(&need);
    return err_suggest(e, text ? text_nearest(text, k->words, n_words) : NULL);
}

static int read_word(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *text = doc->nodes[id].text;
    size_t n = 0;
    for (; k->words[n]; n++) {
        if (text && text_same(text, k->words[n])) {
            put_word(field, k, (int32_t)n);
            return 0;
        }
    }
    return schema_fail_word(k, n, doc, id, e);
}

static int read_name(char *out, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *text;
    int rc = yaml_text(doc, id, &text, e);
    size_t n = rc ? 0 : strlen(text);
    if (rc)
        return rc;
    /* Bytes, with room for the terminator. */
    if (n >= k->room || (double)n < k->min)
        return yaml_fail(doc, id, e, ERR_RANGE, "is %zu bytes long, expected %s%zu", n,
                         k->min > 0 ? "1 to " : "at most ", k->room - 1);
    memcpy(out, text, n + 1);
    return 0;
}

/* ---- ranges ---- */

static int read_range_end(double *x, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                          struct err *e)
{
    int rc = yaml_real(doc, id, x, e);
    if (rc)
        return rc;
    if (!(*x >= k->min && *x <= k->max))
        return yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected %g to %g", *x, k->min, k->max);
    if (k->whole && *x != floor(*x))
        return yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected a whole number", *x);
    *x *= k->scale;
    return 0;
}

/* One number is a range of one value. */
static int read_range(struct draw_range *range, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                      struct err *e)
{
    const struct yaml_node *node = &doc->nodes[id];
    if (node->kind == YAML_SCALAR) {
        int rc = read_range_end(&range->lo, k, doc, id, e);
        range->hi = range->lo;
        return rc;
    }
    if (node->kind != YAML_SEQ || node->n != 2)
        return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected a number or a list [least, most]",
                         node->kind == YAML_SEQ ? "a list of another length" : "a map");
    int rc = read_range_end(&range->lo, k, doc, node->first, e);
    if (!rc)
        rc = read_range_end(&range->hi, k, doc, node->last, e);
    if (!rc && !(range->lo <= range->hi))
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is from %g to %g, expected the smaller one first",
                       range->lo / k->scale, range->hi / k->scale);
    return rc;
}

/* ---- lists ---- */

static size_t size_of_item(const struct key *k)
{
    switch (k->kind) {
    case KEY_REAL:
        return sizeof(double);
    case KEY_I64:
        return sizeof(int64_t);
    case KEY_BOOL:
        return sizeof(bool);
    case KEY_NODE:
        return sizeof(yaml_id);
    case KEY_TEXT:
        return sizeof(const char *);
    case KEY_RANGE:
        return sizeof(struct draw_range);
    case KEY_I32:
        return sizeof(int32_t);
    default: /* KEY_WORD, KEY_NAME, KEY_MAP */
        return k->room;
    }
}

static int fail_length(const struct key *k, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    const char *what = k->what ? k->what : "entries";
    double most = k->owned ? k->max : (double)k->room;
    if (isinf(most))
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, expected at least one row");
    if (k->min > 0)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d %s, expected %.0f to %.0f", (int)doc->nodes[list].n,
                         what, k->min, most);
    return yaml_fail(doc, list, e, ERR_RANGE, "has %d %s, expected at most %.0f", (int)doc->nodes[list].n,
                     what, most);
}

/* Where the entries go: NULL for lack of memory. */
static char *place_list(void *base, const struct key *k, int32_t n, size_t size)
{
    char *field = (char *)base + k->offset;
    if (!k->owned)
        return field;
    /* One more than there are: an empty list still has an address, and NULL means lack of memory alone. */
    char *entries = calloc((size_t)n + 1, size);
    memcpy(field, &entries, sizeof entries);
    return entries;
}

static int schema_read_list(void *base, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                            struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    int32_t n = doc->nodes[list].n;
    if (n < k->min || n > (k->owned ? k->max : (double)k->room))
        return fail_length(k, doc, list, e);
    size_t size = k->of ? k->of->size : size_of_item(k->item);
    char *entry = place_list(base, k, n, size);
    if (!entry)
        return err_nomem(e, "a list");
    n = 0;
    yaml_each (id, doc, list) {
        /* Members that no key stands for begin as zero. */
        memset(entry, 0, size);
        rc = k->of ? schema_read(entry, k->of, doc, id, e) : schema_read_value(entry, k->item, doc, id, e);
        if (rc)
            return rc;
        entry += size;
        n++;
        /* Counted one by one: after a failure the owner frees what was read and no more. */
        memcpy((char *)base + k->count, &n, sizeof n);
    }
    return 0;
}

/* A key that is not kept is checked all the same: it may be read elsewhere. */
int schema_read_value(void *base, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    void *field = (char *)base + (k->offset == SCHEMA_UNKEPT ? 0 : k->offset);
    const char *unkept;
    int64_t n;
    int rc;
    switch (k->kind) {
    case KEY_REAL:
        return read_real(field, k, doc, id, e);
    case KEY_I32:
    case KEY_I64:
        rc = read_count(&n, k, doc, id, e);
        if (!rc)
            put_count(field, k, n);
        return rc;
    case KEY_BOOL:
        return yaml_bool(doc, id, field, e);
    case KEY_TEXT:
        return yaml_text(doc, id, k->offset == SCHEMA_UNKEPT ? &unkept : field, e);
    case KEY_WORD:
        return read_word(field, k, doc, id, e);
    case KEY_NAME:
        return read_name(field, k, doc, id, e);
    case KEY_MAP:
        return schema_read(field, k->of, doc, id, e);
    case KEY_LIST:
        if (k->word && doc->nodes[id].kind == YAML_SCALAR && !yaml_is_null(doc, id))
            return k->word(base, k, doc, id, e);
        return schema_read_list(base, k, doc, id, e);
    case KEY_RANGE:
        return read_range(field, k, doc, id, e);
    case KEY_OWN:
        return k->read(field, k, doc, id, e);
    case KEY_NODE:
        if (k->offset != SCHEMA_UNKEPT)
            *(yaml_id *)field = id;
    }
    return 0;
}

static const struct key *find_key(const struct section *s, const char *name)
{
    for (size_t i = 0; i < s->n_keys; i++)
        if (text_same(s->keys[i].name, name))
            return &s->keys[i];
    return NULL;
}

/* With the nearest key where one is near, else all of them: a list of 40 keys helps nobody who mistyped one
 * letter. */
static int fail_unknown(const struct section *s, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char **names = malloc((s->n_keys + 1) * sizeof *names);
    if (!names)
        return err_nomem(e, "names of keys");
    for (size_t i = 0; i < s->n_keys; i++)
        names[i] = s->keys[i].name;

    struct text all = { 0 };
    const char *key = doc->nodes[id].key, *near = text_nearest(key, names, s->n_keys), *longer = NULL;
    size_t n = strlen(key);
    /* What it may be cut short of: nic of nic_GBps, where the nearest is nics. */
    for (size_t i = 0; i < s->n_keys && near && !longer; i++)
        longer = strncmp(names[i], key, n) == 0 && names[i][n] == '_' ? names[i] : NULL;
    longer = longer && strcmp(longer, near) != 0 ? longer : NULL;
    int rc;
    if (near) {
        rc = yaml_fail_unknown(doc, id, e, "; did you mean \"%s\"%s%s%s?", near, longer ? " or \"" : "",
                               longer ? longer : "", longer ? "\"" : "");
    } else {
        text_put_words(&all, names, s->n_keys);
        rc = yaml_fail_unknown(doc, id, e, ", expected one of %s", text_str(&all));
    }
    text_free(&all);
    free(names);
    return rc;
}

/* After all keys: a misspelt one is named before the one that it leaves missing. */
static int check_required(const struct section *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    for (size_t i = 0; i < s->n_keys; i++) {
        const struct key *k = &s->keys[i];
        if (k->required && yaml_get(doc, map, k->name) < 0)
            return yaml_fail(doc, map, e, ERR_PARSE, "has no %s (%s)", k->name, k->help);
    }
    return 0;
}

int schema_read(void *base, const struct section *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    schema_defaults(base, s);
    int rc = yaml_need(doc, map, YAML_MAP, e);
    if (rc)
        return rc;
    yaml_each (id, doc, map) {
        const struct key *k = find_key(s, doc->nodes[id].key);
        rc = k ? schema_read_value(base, k, doc, id, e) : fail_unknown(s, doc, id, e);
        if (rc)
            return rc;
    }
    /* Last of all what keys say about each other, which may rely on every one of them. */
    rc = check_required(s, doc, map, e);
    return rc || !s->check ? rc : s->check(base, doc, map, e);
}

int schema_read_or(void *base, const struct section *s, const struct yaml_doc *doc, yaml_id map,
                   struct err *e)
{
    if (map >= 0)
        return schema_read(base, s, doc, map, e);
    schema_defaults(base, s);
    return 0;
}

static double absent_value(const struct key *k)
{
    /* Most fields take NaN and -1 for "not given"; a row states another where those are values. */
    if (k->own_absent)
        return k->absent;
    return k->kind == KEY_REAL ? SCHEMA_NONE : -1;
}

static void set_default(void *base, const struct key *k)
{
    if (k->offset == SCHEMA_UNKEPT)
        return;
    void *field = (char *)base + k->offset;
    bool none = k->required || isnan(k->dflt);
    int32_t empty = 0;
    char *nothing = NULL;
    switch (k->kind) {
    case KEY_REAL:
        *(double *)field = none ? absent_value(k) : k->dflt * k->scale;
        break;
    case KEY_I32:
    case KEY_I64:
        put_count(field, k, (int64_t)(none ? absent_value(k) : k->dflt));
        break;
    case KEY_BOOL:
        *(bool *)field = !none && k->dflt != 0;
        break;
    case KEY_TEXT:
        *(const char **)field = NULL;
        break;
    case KEY_WORD:
        put_word(field, k, (int32_t)(none ? absent_value(k) : k->dflt));
        break;
    case KEY_NAME:
        memset(field, 0, k->room);
        break;
    case KEY_MAP:
        schema_defaults(field, k->of);
        break;
    case KEY_LIST:
        memcpy((char *)base + k->count, &empty, sizeof empty);
        if (k->owned)
            memcpy(field, &nothing, sizeof nothing);
        break;
    case KEY_OWN:
        /* A reader of one's own gives the default where it has no node. */
        k->read(field, k, NULL, -1, NULL);
        break;
    case KEY_RANGE:
        *(struct draw_range *)field = (struct draw_range){ k->dflt * k->scale, k->dflt_to * k->scale };
        break;
    case KEY_NODE:
        *(yaml_id *)field = -1;
    }
}

void schema_defaults(void *base, const struct section *s)
{
    for (size_t i = 0; i < s->n_keys; i++)
        set_default(base, &s->keys[i]);
}

/* ---- writing ---- */

/* A number of the file that is stored as x. Dividing may miss it by a bit or two: its neighbours are tried.
 */
static double unscaled(const struct key *k, double x)
{
    double at = x / k->scale, down = at, up = at;
    for (int i = 0; i < 4; i++) {
        if (down * k->scale == x)
            return down;
        if (up * k->scale == x)
            return up;
        down = nextafter(down, -INFINITY);
        up = nextafter(up, INFINITY);
    }
    return at;
}

static void write_word(struct json *j, const struct key *k, const char *word)
{
    bool yes = strcmp(word, "true") == 0;
    if (yes || strcmp(word, "false") == 0)
        json_bool(j, k->name, yes);
    else
        json_text(j, k->name, word);
}

/* A field of a whole number, as put_count() and put_word() store it. */
static int64_t get_count(const void *field, const struct key *k)
{
    size_t size = size_of_item(k);
    int64_t wide;
    int32_t narrow;
    bool yes;
    if (size == sizeof wide)
        return memcpy(&wide, field, sizeof wide), wide;
    if (size == sizeof narrow)
        return memcpy(&narrow, field, sizeof narrow), narrow;
    return memcpy(&yes, field, sizeof yes), yes;
}

/* Is the field what it would be if the file did not have the key? */
static bool is_default(const struct key *k, const void *field)
{
    union {
        double real;
        int64_t count;
    } usual = { .count = 0 };
    struct key alone = *k;
    alone.offset = 0;
    if (k->kind == KEY_NAME)
        return *(const char *)field == 0;
    set_default(&usual, &alone);
    if (k->kind == KEY_REAL) {
        double x = *(const double *)field;
        return x == usual.real || (isnan(x) && isnan(usual.real));
    }
    return get_count(field, k) == get_count(&usual, &alone);
}

static void write_value(struct json *j, const struct key *k, const void *field)
{
    switch (k->kind) {
    case KEY_REAL:
        assert(!k->decimals); /* of those, digits would have to be moved */
        json_real(j, k->name, unscaled(k, *(const double *)field));
        break;
    case KEY_I32:
    case KEY_I64:
        json_count(j, k->name, get_count(field, k));
        break;
    case KEY_BOOL:
        json_bool(j, k->name, *(const bool *)field);
        break;
    case KEY_WORD:
        write_word(j, k, k->words[get_count(field, k)]);
        break;
    case KEY_NAME:
        json_text(j, k->name, field);
        break;
    default:
        assert(false); /* a kind that cannot be written: see schema_write() */
    }
}

void schema_write(struct json *j, const struct section *s, const void *base, bool all)
{
    for (size_t i = 0; i < s->n_keys; i++) {
        const struct key *k = &s->keys[i];
        const char *field = (const char *)base + k->offset;
        bool always = k->required || (all && k->always);
        if (k->offset == SCHEMA_UNKEPT)
            continue;
        if (k->kind == KEY_OWN)
            k->write(j, k, field, always);
        else if (always || !is_default(k, field))
            write_value(j, k, field);
    }
}

/* In the study itself or on the command line. Files that are put in, as of a network, may serve many studies
 * and have keys that this one does not use. */
static bool is_users_own(const struct yaml_doc *doc, yaml_id id, int32_t study)
{
    int32_t from = doc->nodes[id].key_source;
    return from == study || strncmp(doc->sources[from], "--set ", 6) == 0;
}

static void note_unused(struct text *notes, const struct section *s, const struct key *k,
                        const struct yaml_doc *doc, yaml_id id)
{
    char place[400], path[256];
    yaml_key_place(doc, id, place, sizeof place);
    yaml_path(doc, id, path, sizeof path);
    text_printf(notes, "%s: %s has no effect here, it is used only", place, path);
    const char *join = "";
    for (int i = 0; i < s->n_uses; i++) {
        if (k->uses >> i & 1) {
            text_printf(notes, "%s %s", join, s->uses[i].only);
            join = " or";
        }
    }
    text_puts(notes, "\n");
}

void schema_note_unused(struct text *notes, const struct section *s, const struct yaml_doc *doc, yaml_id map,
                        int32_t first_source, uint64_t active)
{
    yaml_each (id, doc, map) {
        const struct key *k = find_key(s, doc->nodes[id].key);
        if (k && k->uses && !(k->uses & active) && is_users_own(doc, id, first_source))
            note_unused(notes, s, k, doc, id);
    }
}
