/**
 * @file YAML files as a small tree that remembers file, line and column of everything.
 *
 * A subset of YAML 1.1 as libyaml reads it: maps with scalar keys, lists, scalars. Nothing is interpreted
 * before it is asked for (yaml_real(), yaml_count(), ...), so "no" and "1e3" are what the reader of the key
 * takes them for. A document belongs to one thread while it changes; any number may read it.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* libyaml has a function of this name inside; without another symbol it would call ours. */
#define yaml_free yaml_doc_free

typedef int32_t yaml_id; /**< index into yaml_doc.nodes, -1 = none */

enum yaml_kind { YAML_SCALAR, YAML_SEQ, YAML_MAP };

/** Caps: far above any study, low enough that hostile input ends at once. All files of a document together.
 */
enum {
    YAML_MAX_DEPTH = 64, /**< maps and lists inside one another */
    YAML_MAX_NODES = 4000000,
    YAML_MAX_BYTES = 256 << 20,
    YAML_SHOWN = 64, /**< room for yaml_show() */
};

/** A scalar, list or map. Nothing written (`key:`), `~` and `null` are a scalar with text "", not quoted. */
struct yaml_node {
    const char *key;  /**< borrowed from the document; NULL unless the parent is a map */
    const char *text; /**< scalar's text, terminated, without NUL inside; NULL otherwise */
    enum yaml_kind kind;
    int32_t source;              /**< which of yaml_doc.sources the value was read from */
    int32_t text_line, text_col; /**< 1-based place of the value itself, in `source` */
    int32_t key_source;          /**< which of yaml_doc.sources the key was read from; else = source */
    int32_t line, col; /**< 1-based place of the key, in `key_source`; of the value if there is no key */
    yaml_id parent, first, next, last; /**< parent; first and last child; next sibling; -1: none */
    int32_t n;                         /**< number of children */
    int32_t index;                     /**< position among the parent's children */
    bool quoted; /**< scalar written in quotes or as a block (| or >): text, never a number */
};

struct yaml_chunk;

/**
 * A tree of nodes. Files can be grafted into it and values overridden, so one
 * document holds a study and all it refers to. Release with yaml_free().
 * Keys, texts and source names never move and live as long as the document.
 */
struct yaml_doc {
    struct yaml_node *nodes; /**< shape [n_nodes], owned; replaced content stays as unreachable nodes */
    int32_t n_nodes, cap_nodes;
    int32_t n_sources;
    const char **sources; /**< shape [n_sources], owned array of borrowed names: path, or "--set KEY=VALUE" */
    struct yaml_chunk *chunks; /**< owned: the memory behind key, text and names; of a copy: what it added */
    size_t n_bytes;            /**< YAML text read so far, counted against YAML_MAX_BYTES */
    yaml_id root;              /**< -1 when empty */
};

/**
 * Read one YAML document in UTF-8. Rejected with `file:line:col: ...`: aliases and
 * anchors, tags, duplicate keys, merge keys, NUL bytes, several documents, an empty file,
 * keys that are not scalars or empty, and anything beyond the caps.
 * @param[out] doc  uninitialised; on failure empty and safe to free.
 * @param name      stands for the file in messages.
 * @return 0, ERR_PARSE, ERR_RANGE (beyond a cap) or ERR_NOMEM. Time O(n log n) in the size of the text.
 */
int yaml_read_file(struct yaml_doc *doc, const char *path, struct err *e);
/** The same of @p n bytes in memory, which are not needed afterwards. */
int yaml_read_text(struct yaml_doc *doc, const char *name, const char *text, size_t n, struct err *e);
/**
 * Empty the document; an empty one may be freed again. The linker calls it yaml_doc_free. Copies that share
 * its texts must be gone.
 */
void yaml_free(struct yaml_doc *doc);

/**
 * A copy of the tree, for changing one without the other; costs one memcpy of the nodes.
 * Keys, texts and names that exist now are shared: @p doc must outlive the copy
 * (it may itself be changed). Several threads may copy one document and change
 * their copies at once as long as none changes the original.
 * @return 0 or ERR_NOMEM (@p out is then empty).
 */
int yaml_copy(struct yaml_doc *out, const struct yaml_doc *doc, struct err *e);

/**
 * Replace the content of node @p at by that of another file (or text); @p at keeps its
 * key, the place of the key and its place among its siblings; the value and the new
 * children remember the new source. On failure @p doc is as before.
 * @return as yaml_read_file().
 */
int yaml_graft_file(struct yaml_doc *doc, yaml_id at, const char *path, struct err *e);
/** As yaml_read_text() to yaml_read_file(). */
int yaml_graft_text(struct yaml_doc *doc, yaml_id at, const char *name, const char *text, size_t n,
                    struct err *e);

/**
 * The same with the content of @p from, a whole document that was read from a text of its own: costs one copy
 * of its nodes. Its keys, texts and names are shared: @p from must outlive @p doc and stay as it is.
 * @return 0; ERR_RANGE beyond a cap on all files together; ERR_NOMEM; on failure @p doc is as before.
 */
int yaml_graft_copy(struct yaml_doc *doc, yaml_id at, const struct yaml_doc *from, struct err *e);

/** Make @p at an empty map, and forget all nodes that the root does not lead to; ids change. ERR_NOMEM, then
 * @p doc is as before. */
int yaml_prune(struct yaml_doc *doc, yaml_id at, struct err *e);

/** Leave of map @p map only the members whose key is one of @p keys, NULL-terminated. */
void yaml_keep(struct yaml_doc *doc, yaml_id map, const char *const *keys);

/**
 * Override: @p path is `a.b[2].c`; members of a list that have a `name` can be
 * called by it (`dims.pod.size`). Missing map keys are created, list entries are
 * not. @p value is YAML text ("50", "[1, 2]", "{a: 1}"). Key and value then come
 * from the source "--set PATH=VALUE", which messages name as the file. On failure @p doc is as before.
 * @return 0, ERR_PARSE (path or value), ERR_RANGE (index past the end, caps) or ERR_NOMEM.
 */
int yaml_set(struct yaml_doc *doc, const char *path, const char *value, struct err *e);

/**
 * yaml_set() with a value that was parsed already: @p from, as yaml_graft_copy() takes it. Its places are
 * those of its own source, but where @p path does not lead there any more (it went by a name that the value
 * changes); key and, then, value come from the source "--set PATH=VALUE". On failure @p doc can only be
 * freed.
 */
int yaml_set_copy(struct yaml_doc *doc, const char *path, const char *value, const struct yaml_doc *from,
                  struct err *e);

/** Child of a map by key, or -1; also -1 when @p map is -1 or no map. Time O(children). */
yaml_id yaml_get(const struct yaml_doc *doc, yaml_id map, const char *key);
/** The same by the first @p n bytes of @p key. */
/** The first of @p keys, NULL-terminated, that map @p map has; -1: none, or no map. */
yaml_id yaml_get_any(const struct yaml_doc *doc, yaml_id map, const char *const *keys);
yaml_id yaml_get_part(const struct yaml_doc *doc, yaml_id map, const char *key, size_t n);
/** Node at @p path as in yaml_set(), or -1; "" is the root. O(length of the path * children on the way). */
yaml_id yaml_find(const struct yaml_doc *doc, const char *path);
/** Iterate over children: `yaml_each (id, doc, parent) ...`. */
#define yaml_each(id, doc, parent)                                                                           \
    for (yaml_id id = (doc)->nodes[parent].first; id >= 0; id = (doc)->nodes[id].next)

/**
 * Record `file:line:col: path.to.key FMT...` with the place of the value of node @p id; returns @p code.
 * FMT reads "is X, expected Y". The root, which has no path, is called "document".
 */
int yaml_fail(const struct yaml_doc *doc, yaml_id id, struct err *e, enum err_code code, const char *fmt, ...)
    ERR_PRINTF(5, 6);
/** The same with the place of the key: for what is wrong about the key and not its value. */
int yaml_fail_key(const struct yaml_doc *doc, yaml_id id, struct err *e, enum err_code code, const char *fmt,
                  ...) ERR_PRINTF(5, 6);
/** ERR_PARSE: the key of @p id is not known, at its place; the format adds a hint, such as the nearest key.
 */
int yaml_fail_unknown(const struct yaml_doc *doc, yaml_id id, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** Path of keys from the root of the whole tree ("network.dims[1].bw_GBps"; "" for the root), cut to fit.
 * Returns @p buf. */
const char *yaml_path(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n);
/** "file:line:col" of the value, cut to fit; of a very long file name its end. Returns @p buf. */
const char *yaml_place(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n);
/** "file:line:col" of the key. */
const char *yaml_key_place(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n);
/** File the node's value was read from. */
const char *yaml_source(const struct yaml_doc *doc, yaml_id id);
/**
 * Append the path of the file that scalar @p id names: below the folder of the file it is written in, unless
 * it is absolute, or from an override on the command line, which counts from the working directory.
 */
void yaml_beside(struct text *out, const struct yaml_doc *doc, yaml_id id);
/** Append the path of the file that scalar @p id names, where there is a regular file. A text without dot and
 * slash is a word, whatever files have the same name. False: it names none, or no memory (in @p out). */
bool yaml_names_file(struct text *out, const struct yaml_doc *doc, yaml_id id);
/** Is the file @p path, by whatever name, one that the document was read from, that one of its values names,
 * or that one in a YAML file among these names? Reads up to 1,000 of them. */
bool yaml_has_file(const struct yaml_doc *doc, const char *path);
/** What is there, for "is X" in messages: `a map`, `a list`, `empty`, `the text "50"`, or at most 40 bytes of
 * it. */
const char *yaml_show(const struct yaml_doc *doc, yaml_id id, char buf[YAML_SHOWN]);

/** True for a scalar with nothing in it: `key:`, `~`, `null`. */
bool yaml_is_null(const struct yaml_doc *doc, yaml_id id);

/**
 * Typed reading of a scalar; the message says what is there and what is needed.
 * Numbers as num_parse_real() and num_parse_count() take them, never in quotes; yaml_bool() takes
 * true and false only; yaml_text() any scalar but an empty unquoted one, borrowed from the document.
 * @return 0 or ERR_PARSE.
 */
int yaml_real(const struct yaml_doc *doc, yaml_id id, double *out, struct err *e);
int yaml_count(const struct yaml_doc *doc, yaml_id id, int64_t *out, struct err *e);
int yaml_bool(const struct yaml_doc *doc, yaml_id id, bool *out, struct err *e);
int yaml_text(const struct yaml_doc *doc, yaml_id id, const char **out, struct err *e);
/** 0 when the node is of that kind, else ERR_PARSE. */
int yaml_need(const struct yaml_doc *doc, yaml_id id, enum yaml_kind kind, struct err *e);
/**
 * A list of 1 to @p most entries, INT32_MAX: no limit. ERR_PARSE: no list or, without limit, empty;
 * ERR_RANGE: another number of them. @p what: "schedulers", without limit "one scheduler"; NULL: nothing is
 * said of them.
 */
int yaml_need_list(const struct yaml_doc *doc, yaml_id list, int32_t most, const char *what, struct err *e);
/**
 * The number of @p name among @p words, shape [n]; ERR_PARSE at @p id: "is NAME, expected WHAT" and the
 * words.
 */
int yaml_find_word(int32_t *out, const char *name, const char *const *words, size_t n,
                   const struct yaml_doc *doc, yaml_id id, const char *what, struct err *e);
/**
 * The numbers of the words of a list in @p out, which has room for @p most of them, @p *n_out so far; each
 * once.
 * @p what as in yaml_find_word(), @p many as in yaml_need_list().
 */
int yaml_read_words(int32_t *out, int32_t *n_out, int32_t most, const char *const *words, size_t n,
                    const struct yaml_doc *doc, yaml_id list, const char *what, const char *many,
                    struct err *e);

/**
 * Hash of content below @p id: keys, order, structure and scalars, not places, nor the key of @p id. So
 * comments, spaces and how a list is written (in a line or below one another) do not change it; an order of
 * keys, quotes around a value, or 1.0 in place of 1 do. O(nodes + bytes).
 */
unsigned long long yaml_hash(const struct yaml_doc *doc, yaml_id id);

#endif
