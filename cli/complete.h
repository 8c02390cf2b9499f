/** @file What the word under the cursor may become: the words of completion in bash, zsh and fish. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/text.h"

/**
 * Append what the last of argv[0..argc-1], the words after "weft", may become: a line each, the whole word
 * and behind a tab what it means. A word that ends in '=', '.' or ':' goes on. A line ":files" says that a
 * file may stand there too. Nothing where nothing fits. @return 0; ERR_NOMEM.
 */
int complete_words(struct text *out, int argc, char **argv, struct err *e);

#endif
