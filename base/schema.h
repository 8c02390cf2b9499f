/**
 * @file Key tables: one row per YAML key drives reading, checking, defaults, units and the manual.
 *
 * A row says which field of a struct the key fills, and schema_read() fills it: the struct of the setting
 * itself, so that nothing is copied. Rows are written with the K_ macros below, which check at compile time
 * that the field has the type that the row writes.
 *
 * The same rows write settings back as a map (schema_write()), so that what is printed can be read.
 *
 * A row is also the manual: `weft keys` prints its help, unit, range and default, so what is documented is
 * what is read. Tables are constants, shared by all threads. Reading one map is O(keys in the file * rows of
 * the section).
 */
#ifndef BASE_SCHEMA_H
#define BASE_SCHEMA_H

#include <stddef.h>

#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"

/** What a key holds, and the type of the field it is stored in. */
enum key_kind {
    KEY_REAL,  /**< double; stored times `scale` */
    KEY_I64,   /**< int64_t */
    KEY_BOOL,  /**< bool */
    KEY_TEXT,  /**< const char *, borrowed from the document; absent = NULL; at SCHEMA_UNKEPT: only checked */
    KEY_WORD,  /**< int32_t, an enum or, of two words, a bool: index into `words` */
    KEY_NODE,  /**< yaml_id: read by code that knows its shape; absent = -1; at SCHEMA_UNKEPT: looked up there
                */
    KEY_I32,   /**< int32_t */
    KEY_NAME,  /**< char [room], a copy of at most room - 1 bytes; absent = "" */
    KEY_MAP,   /**< a struct that section `of` fills; absent: its defaults */
    KEY_LIST,  /**< an array of `room` structs that `of` fills, or of what `item` writes; how many is in
                  `count` */
    KEY_OWN,   /**< what `read` makes of it */
    KEY_RANGE, /**< struct draw_range: a number, or [least, most]; stored times `scale` */
};

#define SCHEMA_NONE   ((double)__builtin_nan(""))
#define SCHEMA_UNKEPT SIZE_MAX /**< offset of what is for the reader of the file */

struct section;
struct key;

/** Read node @p id into the field of key @p k; -1: the key is absent, and then @p doc and @p e are NULL. */
typedef int schema_read_own(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                            struct err *e);

/** Write the field of key @p k as @p k->read takes it; nothing where the key is absent or, unless @p always,
 * at its default. */
typedef void schema_write_own(struct json *j, const struct key *k, const void *field, bool always);

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order that tables are written in */
struct key {
    const char *name, *help;
    enum key_kind kind;
    bool required;
    bool whole;       /**< KEY_RANGE: both ends are whole numbers */
    bool own_absent;  /**< without a default: `absent` is stated; else NaN and -1 */
    size_t offset;    /**< of the field in the struct being filled */
    const char *unit; /**< the unit the YAML value is written in; NULL or "" for none */
    double scale;     /**< file unit to SI; 1 for none */
    double min, max;  /**< inclusive, in file units; -INFINITY and INFINITY for none; of a list: entries */
    double dflt, dflt_to;     /**< in file units; SCHEMA_NONE for none; dflt_to: upper end of a range */
    double absent;            /**< what the field is without a default, as it is stored */
    const char *const *words; /**< KEY_WORD: NULL-terminated */
    int32_t decimals;         /**< > 0: `scale` is 10 to this, and the product rounded once, from the text */
    size_t room, count; /**< bytes of a name, entries of a list; offset of the int32_t that counts those */
    const struct section *of; /**< KEY_MAP, KEY_LIST of maps */
    const struct key *item;   /**< KEY_LIST of anything else: each entry; its offset is 0 */
    const char *what;         /**< KEY_LIST: of what, in messages; NULL: "entries" */
    const char *form;      /**< what the value looks like where `kind` alone does not say it; schema_form() */
    bool owned;            /**< KEY_LIST: the field points to them, and its owner frees them */
    schema_read_own *read; /**< KEY_OWN */
    schema_read_own *word; /**< KEY_LIST: a scalar in its place; gets the struct, not the field; NULL: none */
    schema_write_own *write; /**< KEY_OWN that schema_write() writes */
    bool always;             /**< schema_write() writes it with its default too, where all is asked for */
    uint64_t uses; /**< bits, by the section's `uses`; none of them in play: a warning. 0: always used */
};

/** What a value is used for, after "it is used only": "by model flow". */
struct use {
    const char *only;
};

/** A map in a YAML file: what `weft keys` prints as one section. */
struct section {
    const char *name, *help;
    const struct key *keys; /**< shape [n_keys], borrowed */
    size_t n_keys;
    size_t size; /**< of the struct; 0: not said */
    /** What no row alone can check, after all keys were read; may settle what depends on several. */
    int (*check)(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e);
    const struct use *uses; /**< shape [bits], borrowed: what each bit of `uses` of its keys stands for */
    int n_uses;
};

/*
 * Rows. T: the struct; f: the field, which may lie deeper (a.b, a[3]); in, to_SI: the file's unit, and what
 * stores SI; least, most: limits in that unit; then the help and, if any, further members: .uses = ...,
 * .required = true. Rows with _OR have no default that the manual could show: where the key is absent, the
 * field is what they say, as it is stored.
 */
/* clang-format off */
#define K_COUNT_KIND(x)          _Generic(x, int32_t: KEY_I32, int64_t: KEY_I64, uint64_t: KEY_I64)
#define K_ANY_OF_3(x, a, b, c, value) _Generic(x, a: value, b: value, c: value)
/* clang-format on */
#define K_FIELD(T, f, type) _Generic(((T *)0)->f, type : offsetof(T, f))
#define K_PLAIN(T, f, type, what, key, ...)                                                                  \
    .name = key, .kind = what, .offset = K_FIELD(T, f, type), .help = __VA_ARGS__

#define K_REAL(T, f, key, in, to_SI, least, most, usual, ...)                                                \
    {                                                                                                        \
        .unit = in, .scale = to_SI, .min = least, .max = most, .dflt = usual,                                \
        K_PLAIN(T, f, double, KEY_REAL, key, __VA_ARGS__)                                                    \
    }
#define K_REAL_OR(T, f, key, in, to_SI, least, most, none, ...)                                              \
    {                                                                                                        \
        .unit = in, .scale = to_SI, .min = least, .max = most, .dflt = SCHEMA_NONE, .own_absent = true,      \
        .absent = none, K_PLAIN(T, f, double, KEY_REAL, key, __VA_ARGS__)                                    \
    }
/** int32_t, int64_t, or uint64_t that is read below 2^63. */
#define K_COUNT_FIELD(T, f, key, ...)                                                                        \
    .name = key, .kind = K_COUNT_KIND(((T *)0)->f), .scale = 1, .offset = offsetof(T, f), .help = __VA_ARGS__
#define K_COUNT(T, f, key, least, most, usual, ...)                                                          \
    {                                                                                                        \
        .min = least, .max = most, .dflt = usual, K_COUNT_FIELD(T, f, key, __VA_ARGS__)                      \
    }
#define K_COUNT_OR(T, f, key, least, most, none, ...)                                                        \
    {                                                                                                        \
        .min = least, .max = most, .dflt = SCHEMA_NONE, .own_absent = true, .absent = none,                  \
        K_COUNT_FIELD(T, f, key, __VA_ARGS__)                                                                \
    }
#define K_BOOL(T, f, key, usual, ...)                                                                        \
    {                                                                                                        \
        .dflt = usual, K_PLAIN(T, f, bool, KEY_BOOL, key, __VA_ARGS__)                                       \
    }
/** int32_t, an enum, or a bool. */
#define K_WORD_FIELD(T, f, key, list, ...)                                                                   \
    .name = key, .kind = KEY_WORD, .words = list, .room = sizeof(((T *)0)->f),                               \
    .offset = K_ANY_OF_3(((T *)0)->f, int32_t, uint32_t, bool, offsetof(T, f)), .help = __VA_ARGS__
#define K_WORD(T, f, key, list, usual, ...)                                                                  \
    {                                                                                                        \
        .dflt = usual, K_WORD_FIELD(T, f, key, list, __VA_ARGS__)                                            \
    }
#define K_WORD_OR(T, f, key, list, none, ...)                                                                \
    {                                                                                                        \
        .dflt = SCHEMA_NONE, .own_absent = true, .absent = none, K_WORD_FIELD(T, f, key, list, __VA_ARGS__)  \
    }
#define K_TEXT(T, f, key, ...)                                                                               \
    {                                                                                                        \
        .dflt = SCHEMA_NONE, K_PLAIN(T, f, const char *, KEY_TEXT, key, __VA_ARGS__)                         \
    }
/** For the reader of the file: text that is checked and not kept. */
#define K_REMARK(key, ...)                                                                                   \
    {                                                                                                        \
        .name = key, .kind = KEY_TEXT, .dflt = SCHEMA_NONE, .offset = SCHEMA_UNKEPT, .help = __VA_ARGS__     \
    }
#define K_NODE(T, f, key, ...)                                                                               \
    {                                                                                                        \
        .dflt = SCHEMA_NONE, K_PLAIN(T, f, yaml_id, KEY_NODE, key, __VA_ARGS__)                              \
    }
/** A node that the reader of the map looks up itself. */
#define K_ELSEWHERE(key, ...)                                                                                \
    {                                                                                                        \
        .name = key, .kind = KEY_NODE, .dflt = SCHEMA_NONE, .offset = SCHEMA_UNKEPT, .help = __VA_ARGS__     \
    }
/** least: bytes. */
#define K_NAME(T, f, key, least, ...)                                                                        \
    {                                                                                                        \
        .dflt = SCHEMA_NONE, .min = least, .room = sizeof(((T *)0)->f),                                      \
        K_PLAIN(T, f, char *, KEY_NAME, key, __VA_ARGS__)                                                    \
    }
#define K_MAP(T, f, key, section, ...)                                                                       \
    {                                                                                                        \
        .name = key, .kind = KEY_MAP, .dflt = SCHEMA_NONE, .offset = offsetof(T, f), .of = section,          \
        .room = sizeof(((T *)0)->f), .help = __VA_ARGS__                                                     \
    }
/** n: the field that counts the entries of the array f; least: fewest of them. */
#define K_LIST_FIELD(T, f, n, key, least, ...)                                                               \
    .name = key, .kind = KEY_LIST, .dflt = SCHEMA_NONE, .offset = offsetof(T, f), .min = least,              \
    .room = sizeof(((T *)0)->f) / sizeof(((T *)0)->f[0]), .count = K_FIELD(T, n, int32_t),                   \
    .help = __VA_ARGS__
#define K_LIST(T, f, n, key, least, section, ...)                                                            \
    {                                                                                                        \
        .of = section, K_LIST_FIELD(T, f, n, key, least, __VA_ARGS__)                                        \
    }
/** The same where f points to as many entries as there are, most at most; INFINITY: no limit. */
#define K_LIST_OWNED(T, f, n, key, least, most, section, ...)                                                \
    {                                                                                                        \
        .name = key, .kind = KEY_LIST, .owned = true, .dflt = SCHEMA_NONE, .offset = offsetof(T, f),         \
        .min = least, .max = most, .of = section, .count = K_FIELD(T, n, int32_t), .help = __VA_ARGS__       \
    }
/** entry: address of a key without a name, for a struct that is the entry: K_REAL_OR(double[1], ...) is none.
 */
#define K_LIST_OF(T, f, n, key, least, entry, ...)                                                           \
    {                                                                                                        \
        .item = entry, K_LIST_FIELD(T, f, n, key, least, __VA_ARGS__)                                        \
    }
/** reader: a schema_read_own, which looks at .scale, .min and others as it likes. */
#define K_OWN(T, f, key, reader, ...)                                                                        \
    {                                                                                                        \
        .name = key, .kind = KEY_OWN, .dflt = SCHEMA_NONE, .offset = offsetof(T, f), .read = reader,         \
        .help = __VA_ARGS__                                                                                  \
    }
/** from, to: the default, in the file's unit; integer: whole numbers alone. */
#define K_RANGE(T, f, key, in, to_SI, least, most, from, to, integer, ...)                                   \
    {                                                                                                        \
        .unit = in, .scale = to_SI, .min = least, .max = most, .dflt = from, .dflt_to = to,                  \
        .whole = integer, K_PLAIN(T, f, struct draw_range, KEY_RANGE, key, __VA_ARGS__)                      \
    }

#define K_SECTION(id, T, where, rows, ...)                                                                   \
    const struct section id = { .name = where,                                                               \
                                .keys = rows,                                                                \
                                .n_keys = sizeof(rows) / sizeof((rows)[0]),                                  \
                                .size = sizeof(T),                                                           \
                                .help = __VA_ARGS__ }

/** What the bits of a section's keys stand for: K_SECTION(..., K_USES(list)). */
#define K_USES(list) .uses = list, .n_uses = sizeof(list) / sizeof(list)[0]

/** What a key is called in the manual: "number", "count", "nested". */
const char *schema_kind_word(enum key_kind kind);

/**
 * Append what values of @p k look like, in words that a program can parse:
 *   FORM: ALTERNATIVE [or ALTERNATIVE]...
 *   ALTERNATIVE: "list of" ALTERNATIVE, "map of" ALTERNATIVE (any key), (FORM), <SECTION>, or one of
 *   number, count, word, text, true/false, file (a name), anything; in the plural behind "list of".
 * It is k->form, or follows from the kind: "list of <dims>", "number or list of numbers".
 */
void schema_form(struct text *out, const struct key *k);

/**
 * Fill @p base from map @p map: known keys only, checked, scaled, defaults for
 * the rest. Unknown key (with the nearest known one), missing required key, wrong type, word
 * not among `words` and value out of range are ERR_PARSE or ERR_RANGE with the place.
 * Texts are borrowed from @p doc. On failure fields are partly defaults.
 */
int schema_read(void *base, const struct section *s, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** The same, with defaults where @p map is -1. Errors as schema_read(). */
int schema_read_or(void *base, const struct section *s, const struct yaml_doc *doc, yaml_id map,
                   struct err *e);

/**
 * Read node @p id into the field of key @p k of @p base: a value whose key is not known before. @p base is
 * the struct, not the field; k->offset is added. Errors as schema_read().
 */
int schema_read_value(void *base, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e);

/**
 * Set every field to its default, as if the map were empty; required keys to that of SCHEMA_NONE. Nothing
 * fails and nothing is allocated: lists become empty, owned ones NULL.
 */
void schema_defaults(void *base, const struct section *s);

/**
 * Append the settings of @p base to the map that is open in @p j, so that schema_read() makes the same of
 * them, to the last bit: keys that are required, those that are not at their default and, with @p all, those
 * marked `always`. Of numbers, counts, words, names, true/false, and KEY_OWN with a writer; a section with
 * other kinds that are kept is a bug (assert).
 */
void schema_write(struct json *j, const struct section *s, const void *base, bool all);

/**
 * Add a line to @p notes for each key of @p map (not of maps inside it) that the user wrote,
 * that is in source @p first_source (0: the file given) or in an override "--set ...",
 * and whose uses are some, but none of @p active:
 * "file:line:col: dims[0].latency_ns has no effect here, it is used only by models other than bandwidth".
 * Keys of files that the study refers to are left alone: a library file serves many studies.
 */
void schema_note_unused(struct text *notes, const struct section *s, const struct yaml_doc *doc, yaml_id map,
                        int32_t first_source, uint64_t active);

#endif
