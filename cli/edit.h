/** @file Keys set in the text of a YAML file, whose comments and order stay. */
#ifndef CLI_EDIT_H
#define CLI_EDIT_H

#include "base/text.h"
#include "base/yaml.h"

/**
 * Write @p value (YAML text) at @p path, as yaml_set() takes both: over the value that stands there, else as
 * a new key at the end of the innermost map that is there. The file then reads as yaml_set() makes it.
 * @param name  stands for the file in messages.
 * @return 0; ERR_PARSE, ERR_RANGE, also where the file is not written in lines that can be changed so, and @p
 *         file is as before; ERR_NOMEM.
 */
int edit_set(struct text *file, const char *name, const char *path, const char *value, struct err *e);

#endif
