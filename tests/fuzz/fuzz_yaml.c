/* Any bytes: yaml_read_text() refuses them in one line that names a place, or gives a tree whose links,
 * paths, typed reads, copies and overrides hold together. For libFuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check_message(const struct err *e)
{
    size_t n = strlen(e->msg);
    require(e->code != 0 && n > 0 && n < sizeof e->msg);
    require(strncmp(e->msg, "fuzz:", 5) == 0 || strncmp(e->msg, "--set ", 6) == 0);
    require(!strchr(e->msg, '\n'));
}

static void read_typed(const struct yaml_doc *doc, yaml_id id)
{
    struct err e = { 0 };
    double x;
    int64_t n;
    bool flag;
    const char *text;
    if (yaml_real(doc, id, &x, &e))
        check_message(&e);
    if (yaml_count(doc, id, &n, &e))
        check_message(&e);
    if (yaml_bool(doc, id, &flag, &e))
        check_message(&e);
    if (yaml_text(doc, id, &text, &e))
        check_message(&e);
    if (yaml_need(doc, id, YAML_MAP, &e))
        check_message(&e);
}

static bool is_word(const char *s)
{
    return *s && !strpbrk(s, ".[]");
}

/* A node whose path needs only plain keys is found by it; @p plain says so of its parent. */
static void walk(const struct yaml_doc *doc, yaml_id id, bool plain)
{
    char path[4096], shown[YAML_SHOWN];
    const struct yaml_node *node = &doc->nodes[id];
    if (node->key && !is_word(node->key))
        plain = false;
    yaml_path(doc, id, path, sizeof path);
    require(strlen(path) < sizeof path);
    require(strlen(yaml_show(doc, id, shown)) < sizeof shown);
    if (plain && strlen(path) < sizeof path - 4)
        require(yaml_find(doc, path) == id);
    require(node->line >= 1 && node->col >= 1 && node->text_line >= 1 && node->text_col >= 1);
    require((node->text != NULL) == (node->kind == YAML_SCALAR));
    read_typed(doc, id);

    int32_t n = 0;
    yaml_each (child, doc, id) {
        require(doc->nodes[child].parent == id && doc->nodes[child].index == n++);
        require((doc->nodes[child].key != NULL) == (node->kind == YAML_MAP));
        walk(doc, child, plain);
    }
    require(n == node->n);
}

/* Input as a path, as a value and as a file to graft; the original must not notice. */
static void change_copy(const struct yaml_doc *doc, const char *input, size_t size)
{
    struct yaml_doc copy;
    struct err e = { 0 };
    unsigned long long before = yaml_hash(doc, doc->root);
    require(yaml_copy(&copy, doc, &e) == 0);
    require(yaml_hash(&copy, copy.root) == before);

    if (yaml_set(&copy, input, "1", &e))
        require(strncmp(e.msg, "--set ", 6) == 0);
    if (yaml_set(&copy, "a.b", input, &e))
        require(strncmp(e.msg, "--set ", 6) == 0);
    yaml_id at = copy.nodes[copy.root].first;
    if (at >= 0 && yaml_graft_text(&copy, at, "fuzz", input, size, &e))
        check_message(&e);
    walk(&copy, copy.root, true);
    yaml_free(&copy);
    require(yaml_hash(doc, doc->root) == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_doc doc;
    struct err e = { 0 };
    char *input = malloc(size + 1);
    if (!input)
        return 0;
    if (size)
        memcpy(input, data, size);
    input[size] = '\0';
    if (yaml_read_text(&doc, "fuzz", input, size, &e)) {
        check_message(&e);
        require(doc.root == -1 && !doc.nodes);
    } else {
        walk(&doc, doc.root, true);
        change_copy(&doc, input, size);
    }
    yaml_free(&doc);
    free(input);
    return 0;
}
