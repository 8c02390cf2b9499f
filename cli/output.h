/**
 * @file What a run says: data to standard output or a file, whole or not at all; messages to standard error.
 *
 * Everything that can be refused is refused before long work (output_check(), extra_check()): a file that
 * exists, a file that the command reads, a folder that is not there, two outputs of one name. Files are
 * written by base/outfile.h and get their names together when the command has succeeded, so a failure or a
 * signal leaves what was there before.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/outfile.h"
#include "base/report.h"
#include "cli/command.h"
#include "kinds/design/ask/point.h"

/** Does a file's name have this ending, in upper or lower case? */
bool output_ends_with(const char *path, const char *ending);
/** What reads stores of a sweep: option, operands, and the sentence about them. */
#define OPTION_PARTIAL                                                                                       \
    FLAG_OPTION("partial", partial,                                                                          \
                "of several stores: also where a shard is missing, or not all of it is done")

/** Is it a store, or a folder, whose stores count together? ERR_PARSE as store_is(). */
int output_is_store(bool *is, const char *path, struct err *e);
/**
 * The stores that are operands from @p first on, as one (store_read_together()). Of several, or of a folder,
 * that have not all points of their study ERR_NO_DESIGN, unless --partial is given. ERR_USAGE: there are
 * tables among them.
 */
int output_read_stores(struct store **out, const struct run *run, int32_t first, struct err *e);
/** Says how many points they have, where these are not all. */
void output_warn_incomplete(struct run *run, const struct store *s, int32_t first);
/** Are the operands from @p first on stores, not a table? Several are. ERR_PARSE: a study by its name, which
 * has no rows yet. */
int output_names_stores(bool *is, const struct run *run, int32_t first, struct err *e);
/** Is @p path the store, or one of the files that SQLite keeps beside it? */
bool output_is_of_store(const char *path, const char *store);

/** --of, else by the extension of -o (.csv, .json, .jsonl), else text. */
enum table_format output_format(const struct run *run);

/** Is the file that -o names free to write, and with -f none that the command reads:
 * an operand, or a file that the study puts in or names? Is -o no name of a format that is not written, and
 * its folder there? ERR_USAGE, ERR_IO. Asked before long work. */
int output_check(const struct run *run, struct err *e);
/** The same where -o is no table: @p endings are those that its name may have, ".yaml .yml" for example;
 * NULL: any.
 * @p has_of: --of says the format whatever the name. */
int output_check_as(const struct run *run, const char *endings, bool has_of, struct err *e);

/** Does the name of a store to be made promise something else? ERR_USAGE. */
int output_check_store(const char *path, struct err *e);

/** Where a result comes from. */
struct origin {
    bool known; /**< hash and seed mean something */
    unsigned long long study_hash;
    int64_t seed;
    const char *version, *command; /**< borrowed; NULL: of this program, of this run */
    const char *semantics;         /**< borrowed; of design_point_semantics() */
};
/** That of one design: the hash of its study. O(nodes of the document). */
struct origin output_origin(const struct design_point *s);

/** Append the lines of the head: version, command, study_hash, seed; semantics where it is not physical. */
void output_head(struct text *head, const struct run *run, struct origin from);
/** The same as member "weft" of the open object. */
void output_json_head(struct json *j, const struct run *run, struct origin from);

/** Files of a run that are whole and have no name yet. */
struct output_files {
    struct outfile *held; /**< shape [n], owned */
    int32_t n, cap;
};
/** Take over a file that was begun and is whole; it appears with all others of the run at its end. Standard
 * output is flushed. @p f is empty then. ERR_IO, ERR_NOMEM. */
int output_hold(const struct run *run, struct outfile *f, struct err *e);
/** Write @p t to @p path, NULL or "-": standard output. Errors as output_hold(), and ERR_USAGE: it exists. */
int output_file(const struct run *run, const char *path, const struct text *t, struct err *e);
/** All files that are held get their names, or none. ERR_IO; ERR_USAGE: one came up meanwhile. */
int output_end(struct run *run, struct err *e);
void output_drop(struct run *run); /**< what is held is as if it had never begun */

/** Write to where -o says. ERR_USAGE, ERR_IO, ERR_NOMEM. */
int output_write(const struct run *run, const struct text *t, struct err *e);
/** Text for people: names in it are shown, never obeyed (text_show()). */
int output_text(const struct run *run, struct text *t, struct err *e);
/** Write @p t in the format of the run, head included. */
int output_table(const struct run *run, const struct table *t, struct origin from, struct err *e);

/** Begin the report of a run in its form: an object with the head in JSON. Release with report_free(). */
void output_begin(struct report *r, const struct run *run, struct origin from);
/** Close, write and release it. ERR_USAGE, ERR_IO, ERR_NOMEM. */
int output_report(struct report *r, const struct run *run, struct origin from, struct err *e);
/** Write one that output_begin() did not begin, rows in CSV, to another file. Errors likewise. */
int output_report_to(struct report *r, const struct run *run, const char *path, struct origin from,
                     struct err *e);

/** "weft COMMAND: warning: ..." on standard error, once per text and not under -q. */
void output_warn(struct run *run, const char *fmt, ...) ERR_PRINTF(2, 3);
/** Every line of @p notes as a warning. */
void output_notes(struct run *run, const struct text *notes);
/** "weft COMMAND: ..." on standard error; for outcomes, which -q does not silence. */
void output_say(const struct run *run, const char *fmt, ...) ERR_PRINTF(2, 3);
/** Every line of @p lines so. */
void output_say_lines(const struct run *run, const struct text *lines);
/** The same, only under -v. */
void output_verbose(const struct run *run, const char *fmt, ...) ERR_PRINTF(2, 3);

/**
 * What the process returns after a failure. ERR_PARSE, ERR_RANGE and ERR_UNSUP are input; ERR_NOMEM, ERR_IO
 * and ERR_LIB failures of the run.
 */
int output_exit_code(int rc);
/** One of several outcomes of @p run: wrong input counts before no design, no design before a failure. */
void output_outcome(struct run *run, enum exit_code code);

/*
 * Tables beside the main one, each in a CSV file of its own.
 */

struct extra {
    const char *name;    /**< of its option, "runs" */
    const char *path;    /**< NULL: not asked for */
    bool alone;          /**< on standard output it stands there in place of the report */
    const char *endings; /**< that its name may have, separated by blanks; NULL: ".csv" */
};

/** Can all files be written, that of -o too: is each free, named once, whatever the spelling, none the study
 * (operand 0), and its folder there? ERR_USAGE, ERR_IO. Asked before long work. */
int extra_check(const struct run *run, const struct extra *extras, int n, struct err *e);

#endif
