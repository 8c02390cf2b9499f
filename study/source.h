/**
 * @file The document of a study: its own file, overrides applied, the files it names put in.
 *
 * Which keys name files is for the kinds to say (struct source_rules, kinds/files.c). File names count from
 * the folder of the file they stand in; those of --set from the working directory. Where there is no such
 * file, NAME may be NAME.yaml there or a file of the catalogue (base/catalogue.h).
 *
 * An override may change the name of a file, or a key inside a file that another override names. So they are
 * applied in steps (enum source_step): names before what is in the files they name. Within a step --set comes
 * first, then axes, each in the order given; the last one to a key wins.
 */
#ifndef STUDY_SOURCE_H
#define STUDY_SOURCE_H

#include "base/text.h"
#include "base/yaml.h"

/** Override of one key, from --set or from an axis: value is YAML text. */
struct study_override {
    const char *path, *value; /**< borrowed */
};

struct source_cache;

/** What a study is made from; all borrowed. */
struct study_source {
    const char *path;                       /**< file or spec word */
    const char *text;                       /**< what the file says, which is not there yet; NULL: read it */
    const struct study_override *overrides; /**< shape [n]; file names count from the working directory */
    int32_t n;
    const struct study_override *axes; /**< shape [n_axes], applied after those; file names count from the
                                            folder of `path` */
    int32_t n_axes;
    struct source_cache *cache; /**< files that were read before; NULL = read each again */
};

/**
 * What a user names as a study, written over @p path: the bare name of a study or network of the catalogue
 * becomes its path; all else stays as it is, whether there is such a file or not. ERR_NOMEM.
 */
int source_find(struct text *path, const char *name, struct err *e);

/**
 * Read the study's own file and apply overrides of whole top-level keys; no other file is read.
 * @param[out] doc         uninitialised; empty after failure.
 * @param[out] own_source  of doc.sources: the study's own file; -1 = a network alone was given.
 *
 * @return 0; ERR_PARSE, ERR_RANGE with the place: no such file, not YAML, an override that leads nowhere;
 *         ERR_NOMEM.
 */
int source_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e);

/**
 * Put in the files that an opened document names, and apply the other overrides. Errors as source_open().
 * Deterministic: the same files and overrides give the same tree, with or without a cache.
 */
int source_fetch(struct yaml_doc *doc, int32_t own_source, const struct study_source *from, struct err *e);

/** Both, one after the other: all of the study. @p doc: to be freed after failure too. */
int source_read(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e);

/**
 * The node whose value is that of the axis @p path, and of nothing that was applied after it; else -1. Told
 * by the name of its source: "STUDY vary.PATH".
 */
yaml_id source_find_axis(const struct yaml_doc *doc, const struct study_source *from, const char *path);

/* ---- files that were read before ---- */

/**
 * YAML files that were parsed, put into the next study without reading them again. Of studies that are made
 * from the same file with the same overrides, axes apart. One a thread. Axes are at most SOURCE_MAX_VALUES,
 * known by the addresses of their texts, which must stay. Zero-initialise; release with source_cache_free()
 * when no study that was read with it is left. Files are taken to stay as they are while a study runs.
 */
struct source_cache {
    bool has_top;
    struct yaml_doc top; /**< the study's own file with overrides of top-level keys, without `vary` */
    int32_t own_source;
    struct source_file *files;   /**< shape [n_files], owned */
    struct source_value *values; /**< shape [n_values], owned: the last one of each axis */
    int32_t n_files, n_values;
};
enum { SOURCE_MAX_VALUES = 16 };

void source_cache_free(struct source_cache *c);

/* ---- what the kinds name in files ---- */

/** Overrides apply step by step; after those of a step the files are put in that keys of it name. */
enum source_step {
    SOURCE_TOP,   /**< what stands in the study's own file */
    SOURCE_NAMES, /**< names of files in what is there by now */
    SOURCE_INNER, /**< names of files in these */
    SOURCE_REST,  /**< all else; no files */
};

/**
 * The file that scalar @p id names and that is read by itself, such as a profile of jobs, written over @p
 * path: beside the file that names it, with the ending .yaml or without, else of the catalogue's @p kind;
 * where there is none, the path beside. See path->failed.
 */
void source_beside(struct text *path, const struct yaml_doc *doc, yaml_id id, const char *kind);

/** Keys that name a file, in the order they are put in. */
struct source_names {
    enum source_step step;
    const char *path;                  /**< "job.npu", "types[].npu": of each member of a list */
    const char *otherwise;             /**< looked at where `path` is absent; NULL: nothing */
    bool (*is_file)(const char *text); /**< NULL: every text names a file */
    const char *kind;                  /**< of the catalogue (base/catalogue.h) where there is no such file */
};

/** The rules of this program; kinds/files.c. */
struct source_rules {
    const struct source_names *names; /**< ends with path NULL */
    /** A list whose members may be a file name alone, which stands for { MEMBER: FILE }. */
    const char *list, *member;
    const char *const *of_study; /**< NULL-terminated: top-level keys about points together, such as vary */
    /** When an override applies of what is below a top-level key: _NAMES, _INNER or _REST. */
    enum source_step (*step_of)(const char *path);
    /* A network alone: a word, or a file with its keys outermost, in place of a study. */
    const char *const
        *own_kinds;      /**< NULL-terminated: kinds of the catalogue that a study's own file may be of */
    const char *profile; /**< key of a file of the catalogue's kind `profiles` that is read by itself */
    const char *profiles;
    const char *alone; /**< "network": the key under which a study has it */
    const char *const
        *alone_keys; /**< NULL-terminated: may be written without "network."; the first is always there */
    bool (*is_word)(const char *path);
    /** Its canonical form, in quotes. ERR_PARSE. */
    int (*put_word)(struct text *out, const char *word, struct err *e);
};
extern const struct source_rules source_rules;

#endif
