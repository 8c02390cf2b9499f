#include "study/notes.h"

#include <string.h>

static bool has_line(const char *text, const char *line, size_t n)
{
    for (const char *at = text; *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, line, n) == 0)
            return true;
    return false;
}

void notes_gather(struct text *out, const void *points, int64_t n, notes_of_point *notes)
{
    int64_t first = 0;
    while (first < n && !notes(points, first))
        first++;
    const char *line = first < n ? text_str(notes(points, first)) : "";
    for (size_t length; *line; line += length) {
        bool all = true;
        length = (size_t)(strchr(line, '\n') - line) + 1; /* with the newline: none is another's beginning */
        for (int64_t i = first + 1; i < n && all; i++) {
            const struct text *other = notes(points, i);
            all = !other || has_line(text_str(other), line, length);
        }
        if (all)
            text_add(out, line, length);
    }
}
