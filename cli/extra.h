/** @file Tables beside the main one, each in a CSV file of its own. */
#ifndef CLI_EXTRA_H
#define CLI_EXTRA_H

#include "cli/output.h"

/** Zero but for `name` and `path`; release the table with extra_free(). */
struct extra {
    const char *name; /**< of its option, "runs" */
    const char *path; /**< NULL: not asked for */
    struct table table;
};

/** Row of an option that names such a file, kept in field COMMAND_ID of struct options. */
#define EXTRA_OPTION(command, id, text)                                                                      \
    {                                                                                                        \
        .name = #id, .value = "FILE", .help = text, .kind = OPTION_TEXT,                                     \
        .offset = offsetof(struct options, command##_##id), .outside = true                                  \
    }

/** Can all files be written, that of -o too: is each free, named once, whatever the spelling, none the study
 * (operand 0), and its folder there? ERR_USAGE, ERR_IO. Asked before long work. */
int extra_check(const struct run *run, const struct extra *extras, int n, struct err *e);
/** Where to fill it; NULL when it is not asked for. */
struct table *extra_table(struct extra *x);
/** Write those that are asked for, with the head of the run. ERR_USAGE, ERR_IO, ERR_NOMEM. */
int extra_write(const struct run *run, const struct extra *extras, int n, struct origin from, struct err *e);
void extra_free(struct extra *extras, int n);

#endif
