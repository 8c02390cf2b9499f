/** @file Manual pages, made of the tables that help and `weft keys` print. */
#ifndef CLI_MANPAGE_H
#define CLI_MANPAGE_H

#include "base/text.h"

/**
 * Append page @p name for man(7): weft.1, weft-sweep.1, ..., weft-keys.5; NULL: the names of all pages, a
 * line each. A line `.\" more` stands where what no table says is put in, from docs/man. @return 0;
 * ERR_NOMEM; ERR_USAGE: no such page.
 */
int manpage_write(struct text *out, const char *name, struct err *e);

#endif
