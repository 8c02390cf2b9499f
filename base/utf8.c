/* Characters of UTF-8 (RFC 3629), and which of them a terminal obeys rather than shows. */
#include "base/utf8.h"

#include <stdbool.h>

static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    /* Table 3-7 of the Unicode standard: the first byte says the length, and narrows the second where a
     * shorter form, a surrogate (U+D800 to U+DFFF) or a number beyond U+10FFFF would be written. */
    size_t n = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (n == 0 || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

size_t utf8_bytes(const char *s)
{
    return utf8_length((const unsigned char *)s);
}

/* Unicode Standard Annex 9, section 2 (explicit directional characters), and the separators of lines. */
static bool is_hidden(const unsigned char *s, size_t n)
{
    switch (n) {
    case 1:
        return s[0] < 0x20 || s[0] == 0x7f;
    case 2: /* U+0080 to U+009F, U+061C */
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    case 3: /* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 */
        return s[0] == 0xe2 &&
               ((s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
                (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
    default:
        return false;
    }
}

size_t utf8_shown(const char *s)
{
    size_t n = utf8_bytes(s);
    return is_hidden((const unsigned char *)s, n) ? 0 : n;
}
