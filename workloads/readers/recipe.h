/**
 * @file Training recipes of other programs as a workload of weft: a Hugging Face config.json, the arguments
 * of Megatron-LM, a recipe of NeMo or Megatron-Bridge (YAML), a job of torchtitan (TOML).
 *
 * A file is first a flat list of settings with their places, whatever its syntax (recipe_read_settings());
 * one table then says which setting of which program is which fact of a workload
 * (workloads/readers/recipe.c). What a file says and weft cannot honour is a note; what it does not say and
 * weft must assume, another.
 */
#ifndef WORKLOADS_READERS_RECIPE_H
#define WORKLOADS_READERS_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

enum recipe_format {
    RECIPE_HF,         /**< config.json of Hugging Face: a model alone */
    RECIPE_MEGATRON,   /**< options of Megatron-LM: a command line, or a shell script that holds it */
    RECIPE_NEMO,       /**< YAML of NeMo 2 or Megatron-Bridge */
    RECIPE_TORCHTITAN, /**< TOML */
    N_RECIPE_FORMATS
};

/** NULL-terminated; and a line of help for each. */
extern const char *const recipe_format_words[N_RECIPE_FORMATS + 1],
    *const recipe_format_help[N_RECIPE_FORMATS];

/** One setting: `model.num_layers`, its value as text, "" for an option without one. */
struct recipe_setting {
    const char *name, *value; /**< of the arena */
    int32_t line, col;        /**< of the name, from 1 */
};

/** Settings in the order of the file. Release with recipe_settings_free(). */
struct recipe_settings {
    struct recipe_setting *items; /**< shape [n], owned */
    int32_t n, cap;
    const char *path; /**< borrowed, for messages */
    struct arena arena;
};

enum { RECIPE_MAX_BYTES = 16 << 20 };

/**
 * Read @p path. Names: keys of maps and tables joined by dots, entries of lists by [i]; of an option the
 * words behind "--", with "_" for "-". In shell text `$NAME`, `${NAME}` and `${NAME:-text}` stand for what
 * `NAME=text` of the same file says; others stay as they are.
 * @param[out] s  uninitialised; safe to free after failure.
 * @return 0; ERR_PARSE with FILE:LINE:COL; ERR_RANGE (too large); ERR_NOMEM; ERR_IO.
 */
int recipe_read_settings(struct recipe_settings *s, enum recipe_format format, const char *path,
                         struct err *e);
/** TOML, as recipe_read_settings() does it, of @p n bytes in memory: tables, dotted keys, strings of one
 * line, numbers, booleans, lists; no inline tables, arrays of tables, or strings of several lines
 * (ERR_UNSUP). */
int recipe_read_toml(struct recipe_settings *s, const char *text, size_t n, struct err *e);
/** Likewise of shell text. */
int recipe_read_shell(struct recipe_settings *s, const char *text, size_t n, struct err *e);
void recipe_settings_free(struct recipe_settings *s);

/** Set @p e to "FILE:LINE:COL: what" is wrong at @p at, of @p s. @return @p code. */
int recipe_fail(const struct recipe_settings *s, const struct recipe_setting *at, struct err *e,
                enum err_code code, const char *fmt, ...) ERR_PRINTF(5, 6);

/** Append a setting; NULL-safe for lack of memory. ERR_NOMEM. */
int recipe_add(struct recipe_settings *s, const char *name, const char *value, int32_t line, int32_t col,
               struct err *e);

/** Append, as a YAML scalar, what the workload of file @p path is called: its name, or that of its folder
 * where the file is a config.json, as every model's is. */
void recipe_put_name(struct text *out, const char *path);

/**
 * Append to @p out the workload that file @p path of @p format describes, each line behind @p indent.
 * @param n_npus  of the network it is for; 0: not known. A batch that is stated per NPU, or not at all, needs
 * it.
 * @param notes   a line for each setting that has no counterpart, and each fact that is assumed.
 * @return 0; ERR_PARSE, ERR_RANGE, ERR_UNSUP with the place: a fact that is missing (layers, vocabulary), a
 *         value that is none; ERR_NOMEM.
 */
int recipe_format_workload(struct text *out, struct text *notes, enum recipe_format format, const char *path,
                           int64_t n_npus, const char *indent, struct err *e);

#endif
