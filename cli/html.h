/** @file Texts of others in an HTML page: every name, value and message of a page goes through these two. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "base/text.h"

enum { HTML_PANEL_PX = 380 /* of figures: nearly as wide as a telephone, where 9 px stay 9 px */ };

/** What report.css and report.js hold, made by the Makefile. */
extern const char html_style[], html_script[];

/** Append @p s as text or as the value of an attribute between double quotes: what HTML gives a meaning is
 * escaped; controls, marks that turn the direction and bytes that are no character are shown as "?". NULL is
 * nothing. */
void html_put(struct text *out, const char *s);
/** The same of lines, which stay lines: for <pre>. */
void html_put_lines(struct text *out, const char *s);
/** Append @p s as a string of JSON, quotes included, which no element <script> ends at. */
void html_put_json(struct text *out, const char *s);

/** Append a figure; without @p svg, which is markup already, that it could not be drawn and @p why. */
void html_figure(struct text *out, const char *svg, const char *why);

#endif
