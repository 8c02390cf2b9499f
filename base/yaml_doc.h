/**
 * @file Memory behind struct yaml_doc, for the files of base that build and change documents.
 */
#ifndef BASE_YAML_DOC_H
#define BASE_YAML_DOC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct yaml_doc;
struct yaml_node;
typedef int32_t yaml_id; /* as base/yaml.h has it, which this header stands beside */

/** Copy @p n bytes and a terminator to where they stay for the life of the document. ERR_NOMEM. */
int yaml_doc_keep(struct yaml_doc *doc, const char *s, size_t n, const char **out, struct err *e);

/** Add a source; @p out is its index. ERR_NOMEM. */
int yaml_doc_source(struct yaml_doc *doc, const char *name, int32_t *out, struct err *e);

/** Append a node that nothing links to yet (children and siblings of @p node are ignored). ERR_NOMEM. */
int yaml_doc_node(struct yaml_doc *doc, const struct yaml_node *node, yaml_id *out, struct err *e);

/** Make @p id the last child of @p parent. */
void yaml_doc_link(struct yaml_doc *doc, yaml_id parent, yaml_id id);

/** Move the content of node @p from, which nothing links to, into @p at; @p at keeps its key and siblings. */
void yaml_doc_splice(struct yaml_doc *doc, yaml_id at, yaml_id from);

/** 1 for the root, 2 for its children, ... */
int32_t yaml_doc_depth(const struct yaml_doc *doc, yaml_id id);

/** What of a source name is shown: the last 300 bytes. */
const char *yaml_doc_tail(const char *name);

/**
 * Parse YAML text into a subtree that nothing links to yet.
 * @param prefix  path the subtree will have, for messages; NULL for a root.
 * @param depth   depth its top node will have, >= 1.
 * @return 0, ERR_PARSE, ERR_RANGE or ERR_NOMEM; on failure @p doc has the nodes and sources it had before.
 */
int yaml_doc_parse(struct yaml_doc *doc, const char *name, const char *text, size_t n, const char *prefix,
                   int32_t depth, yaml_id *top, struct err *e);

#endif
