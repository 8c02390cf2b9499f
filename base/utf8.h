/** @file Characters of UTF-8: how long they are, and which of them a terminal obeys. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/** Bytes of the UTF-8 character at @p s, 0 when there is none: overlong forms, surrogates and what is beyond
 * U+10FFFF are none (RFC 3629, section 4). The terminator is one of 1. */
size_t utf8_bytes(const char *s);

/** The same, but 0 also of what a terminal does not show but obeys: control characters (also U+0080 to
 * U+009F), line separators, and those that turn the direction of what is around them (U+202E and the like).
 */
size_t utf8_shown(const char *s);

#endif
