/** @file Short texts beside markers, where there is room. */
#ifndef PLOTS_PLACES_H
#define PLOTS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "plots/canvas.h"

enum { PLACES_MAX = 4096 };

/** What of a panel is taken; `= { .inside = box }` is free. Beyond PLACES_MAX things the rest counts as free.
 */
struct places {
    struct canvas_box inside; /**< of the panel */
    struct canvas_box taken[PLACES_MAX];
    bool thin[PLACES_MAX]; /**< a line: may be crossed where there is no other room */
    int32_t n;
};

/** Half a marker with some air [px]. */
#define PLACES_MARKER_PX 5

/** Take the room of a marker; of a line from @p a to @p b. All in pixels of the page. */
void places_take_marker(struct places *p, struct canvas_xy at);
void places_take_line(struct places *p, struct canvas_xy a, struct canvas_xy b);

/** Write @p s beside the marker at @p at: above, below, right, left or at a corner, rather than over a line;
 * false, and nothing written, when there is no room. O(p->n). */
bool places_put(struct places *p, struct canvas *c, struct canvas_xy at, const char *s, const char *color);

/** Append the letter of the @p k-th thing, from 0: "a" to "z", then "aa" to "zz". */
void places_put_letter(struct text *out, int32_t k);

#endif
