#include "base/yaml.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "base/yaml_doc.h"

enum { SHOWN_BYTES = 40 };

static const struct yaml_node *node_at(const struct yaml_doc *doc, yaml_id id)
{
    assert(id >= 0 && id < doc->n_nodes);
    return &doc->nodes[id];
}

yaml_id yaml_get(const struct yaml_doc *doc, yaml_id map, const char *key)
{
    if (map < 0 || node_at(doc, map)->kind != YAML_MAP)
        return -1;
    yaml_each (id, doc, map)
        if (strcmp(doc->nodes[id].key, key) == 0)
            return id;
    return -1;
}

bool yaml_is_null(const struct yaml_doc *doc, yaml_id id)
{
    const struct yaml_node *node = node_at(doc, id);
    return node->kind == YAML_SCALAR && !node->quoted && !*node->text;
}

/* Bytes of s, at most max, that do not end inside a UTF-8 character. */
static size_t whole_prefix(const char *s, size_t max)
{
    size_t n = strnlen(s, max);
    if (n == max)
        while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
            n--;
    return n;
}

static size_t add_step(const struct yaml_node *node, char *buf, size_t used, size_t room)
{
    int n;
    if (!node->key)
        n = node->parent < 0 ? 0 : snprintf(buf + used, room, "[%d]", (int)node->index);
    else
        n = snprintf(buf + used, room, "%s%.*s", used ? "." : "", (int)strnlen(node->key, room), node->key);
    return (size_t)n;
}

const char *yaml_path(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n)
{
    yaml_id up[YAML_MAX_DEPTH + 1];
    int n_up = 0;
    for (; id >= 0; id = node_at(doc, id)->parent)
        up[n_up++] = id;

    assert(n > 3);
    size_t used = 0;
    buf[0] = '\0';
    while (n_up && used < n)
        used += add_step(&doc->nodes[up[--n_up]], buf, used, n - used);
    if (used >= n)
        strcpy(buf + whole_prefix(buf, n - 4), "...");
    return buf;
}

const char *yaml_source(const struct yaml_doc *doc, yaml_id id)
{
    return doc->sources[node_at(doc, id)->source];
}

const char *yaml_place(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n)
{
    const struct yaml_node *node = node_at(doc, id);
    snprintf(buf, n, "%s:%d:%d", yaml_doc_tail(doc->sources[node->source]), (int)node->text_line,
             (int)node->text_col);
    return buf;
}

const char *yaml_key_place(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n)
{
    const struct yaml_node *node = node_at(doc, id);
    snprintf(buf, n, "%s:%d:%d", yaml_doc_tail(doc->sources[node->key_source]), (int)node->line,
             (int)node->col);
    return buf;
}

static int fail_named(const struct yaml_doc *doc, yaml_id id, const char *place, struct err *e,
                      enum err_code code, const char *fmt, va_list ap)
{
    char path[256], what[512];
    yaml_path(doc, id, path, sizeof path);
    vsnprintf(what, sizeof what, fmt, ap);
    return err_set(e, code, "%s: %s %s", place, *path ? path : "document", what);
}

int yaml_fail(const struct yaml_doc *doc, yaml_id id, struct err *e, enum err_code code, const char *fmt, ...)
{
    char place[400];
    yaml_place(doc, id, place, sizeof place);
    va_list ap;
    va_start(ap, fmt);
    int rc = fail_named(doc, id, place, e, code, fmt, ap);
    va_end(ap);
    return rc;
}

int yaml_fail_key(const struct yaml_doc *doc, yaml_id id, struct err *e, enum err_code code, const char *fmt,
                  ...)
{
    char place[400];
    yaml_key_place(doc, id, place, sizeof place);
    va_list ap;
    va_start(ap, fmt);
    int rc = fail_named(doc, id, place, e, code, fmt, ap);
    va_end(ap);
    return rc;
}

const char *yaml_show(const struct yaml_doc *doc, yaml_id id, char buf[YAML_SHOWN])
{
    const struct yaml_node *node = node_at(doc, id);
    if (node->kind != YAML_SCALAR)
        return strcpy(buf, node->kind == YAML_MAP ? "a map" : "a list");
    if (yaml_is_null(doc, id))
        return strcpy(buf, "empty");
    size_t n = whole_prefix(node->text, SHOWN_BYTES);
    snprintf(buf, YAML_SHOWN, node->quoted ? "the text \"%.*s%s\"" : "%.*s%s", (int)n, node->text,
             node->text[n] ? "..." : "");
    return buf;
}

static int fail_need(const struct yaml_doc *doc, yaml_id id, struct err *e, const char *need)
{
    char shown[YAML_SHOWN];
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, need %s", yaml_show(doc, id, shown), need);
}

static bool is_plain(const struct yaml_doc *doc, yaml_id id)
{
    return node_at(doc, id)->kind == YAML_SCALAR && !doc->nodes[id].quoted;
}

/* "010" is 8 to some readers and 10 to others, so num refuses it; the message says what is the matter. */
static bool has_leading_zero(const char *s)
{
    if (*s == '+' || *s == '-')
        s++;
    return s[0] == '0' && s[1] >= '0' && s[1] <= '9';
}

static int fail_number(const struct yaml_doc *doc, yaml_id id, struct err *e, const char *need)
{
    if (is_plain(doc, id) && has_leading_zero(doc->nodes[id].text))
        return fail_need(doc, id, e, "a number without leading zeros");
    return fail_need(doc, id, e, need);
}

int yaml_real(const struct yaml_doc *doc, yaml_id id, double *out, struct err *e)
{
    if (is_plain(doc, id) && num_parse_real(doc->nodes[id].text, out))
        return 0;
    return fail_number(doc, id, e, "a number");
}

int yaml_count(const struct yaml_doc *doc, yaml_id id, int64_t *out, struct err *e)
{
    if (is_plain(doc, id) && num_parse_count(doc->nodes[id].text, out))
        return 0;
    return fail_number(doc, id, e, "a whole number, 0 to 9223372036854775807");
}

int yaml_bool(const struct yaml_doc *doc, yaml_id id, bool *out, struct err *e)
{
    if (is_plain(doc, id)) {
        const char *text = doc->nodes[id].text;
        *out = strcmp(text, "true") == 0;
        if (*out || strcmp(text, "false") == 0)
            return 0;
    }
    return fail_need(doc, id, e, "true or false");
}

int yaml_text(const struct yaml_doc *doc, yaml_id id, const char **out, struct err *e)
{
    if (node_at(doc, id)->kind != YAML_SCALAR || yaml_is_null(doc, id))
        return fail_need(doc, id, e, "text");
    *out = doc->nodes[id].text;
    return 0;
}

int yaml_need(const struct yaml_doc *doc, yaml_id id, enum yaml_kind kind, struct err *e)
{
    static const char *const names[] = {
        [YAML_SCALAR] = "a single value", [YAML_SEQ] = "a list", [YAML_MAP] = "a map"
    };
    if (node_at(doc, id)->kind == kind)
        return 0;
    return fail_need(doc, id, e, names[kind]);
}

static unsigned long long hash_node(const struct yaml_doc *doc, yaml_id id, unsigned long long h)
{
    const struct yaml_node *node = &doc->nodes[id];
    const char kind = (char)(node->quoted ? 'q' : "slm"[node->kind]);
    h = text_hash(h, &kind, 1);
    if (node->text)
        h = text_hash(h, node->text, strlen(node->text) + 1);
    yaml_each (child, doc, id) {
        const char *key = doc->nodes[child].key;
        if (key)
            h = text_hash(h, key, strlen(key) + 1);
        h = hash_node(doc, child, h);
    }
    return text_hash(h, ".", 1);
}

unsigned long long yaml_hash(const struct yaml_doc *doc, yaml_id id)
{
    assert(id >= 0 && id < doc->n_nodes);
    return hash_node(doc, id, TEXT_HASH_SEED);
}
