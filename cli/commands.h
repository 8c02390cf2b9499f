/** @file The table of commands, and what help, the manual pages and completion make of it. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

struct study_kind;

/** In the order of use; those of one group stand together. Shape [n_commands]. */
extern const struct command *const commands[];
extern const int n_commands;

/** What an exit code means, for --help and with more for the manual. */
struct exit_meaning {
    enum exit_code code;
    const char *brief, *more;
};
extern const struct exit_meaning exit_meanings[];
extern const int n_exit_meanings;

/** Append what weft --help prints, and what weft COMMAND --help does. */
void commands_list(struct text *out);
void commands_describe(struct text *out, const struct command *c);

/** The command of this name; NULL and ERR_USAGE with the nearest one in @p e. */
const struct command *commands_find(const char *name, struct err *e);

/** Are its operands studies, which may be bare names of the catalogue? */
bool command_reads_studies(const struct command *c);

/** The kind of study that the command is of alone; NULL: none. */
const struct study_kind *command_kind(const struct command *c);

/** Append what --list of the command prints; nothing where it has none. */
int command_write_list(struct text *out, const struct command *c, struct err *e);

/* ---- what the program says of itself ---- */

/**
 * Append page @p name for man(7): weft.1, weft-sweep.1, ..., weft-keys.5; NULL: the names of all pages, a
 * line each. A line `.\" more` stands where what no table says is put in, from docs/man. @return 0;
 * ERR_NOMEM; ERR_USAGE: no such page.
 */
int manpage_write(struct text *out, const char *name, struct err *e);

/**
 * Append what the last of argv[0..argc-1], the words after "weft", may become, for completion in a shell: a
 * line each, the whole word and behind a tab what it means. A word that ends in '=', '.' or ':' goes on. A
 * line ":files" says that a file may stand there too. Nothing where nothing fits. @return 0; ERR_NOMEM.
 */
int complete_words(struct text *out, int argc, char **argv, struct err *e);

#endif
