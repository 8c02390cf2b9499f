/* Manual pages, made of the tables that help and `weft keys` print. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/manual.h"
#include "weft.h"

/* Of the text of the tables as it is in this version. */
static const char man_date[] = "2026-11-28";

static const char keys_page[] = "weft-keys.5";

/* ---- roff ---- */

/* A character as roff must have it: hyphens that can be copied, quotes and accents that stay ASCII. */
static void put_char(struct text *out, char c)
{
    static const struct {
        char c;
        const char *shown;
    } special[] = {
        { '\\', "\\e" },  { '-', "\\-" },   { '\'', "\\(aq" },
        { '^', "\\(ha" }, { '~', "\\(ti" }, { '"', "\\(dq" },
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].c == c) {
            text_puts(out, special[i].shown);
            return;
        }
    text_add(out, &c, 1);
}

/* Text that is filled, in lines of its own: what stands in backquotes is bold, an empty line begins a
 * paragraph, a blank at the beginning of a line, which would break it, is left out. */
static void put_prose(struct text *out, const char *s)
{
    enum { LONG = 52 };
    bool bold = false, begins = true;
    size_t line = out->n;
    while (line > 0 && out->s[line - 1] != '\n')
        line--;
    for (; *s; s++) {
        if (begins && *s == ' ')
            continue;
        if (begins && *s == '\n') {
            text_puts(out, ".PP\n");
            continue;
        }
        if (begins && (*s == '.' || *s == '\''))
            text_puts(out, "\\&");
        begins = *s == '\n' || (*s == ' ' && out->n - line > LONG);
        if (begins) {
            text_puts(out, "\n");
            line = out->n;
        } else if (*s == '`') {
            bold = !bold;
            text_puts(out, bold ? "\\fB" : "\\fR");
        } else {
            put_char(out, *s);
        }
    }
    text_puts(out, begins ? "" : "\n");
}

/* In a font, B or I, without a newline. */
static void put_font(struct text *out, char font, const char *s)
{
    text_printf(out, "\\f%c", font);
    for (; *s; s++)
        put_char(out, *s);
    text_puts(out, "\\fR");
}

/* @p title as a heading in capitals. */
static void put_heading(struct text *out, const char *title)
{
    text_puts(out, ".SH ");
    for (; *title; title++)
        put_char(out, *title >= 'a' && *title <= 'z' ? (char)(*title - 'a' + 'A') : *title);
    text_puts(out, "\n");
}

/* Of page "weft-keys.5": its name, or "weft". */
static void put_title(struct text *out, const char *page)
{
    size_t n = strcspn(page, ".");
    text_puts(out, ".TH ");
    for (size_t i = 0; i < n; i++)
        put_char(out, page[i] == '-' ? '-' : (char)(page[i] - 'a' + 'A'));
    text_printf(out, " %s %s \"weft %s\" \"%s\"\n", page + n + 1, man_date, WEFT_VERSION,
                strcmp(page, keys_page) == 0 ? "File Formats" : "User Commands");
}

static void put_name(struct text *out, const char *page, const char *help)
{
    put_title(out, page);
    text_puts(out, ".SH NAME\n");
    for (const char *s = page; *s != '.'; s++)
        put_char(out, *s);
    text_puts(out, " \\- ");
    put_prose(out, help);
}

/* What no table says: tests/install.sh puts it in. */
static void put_more(struct text *out)
{
    text_puts(out, ".\\\" more\n");
}

static void put_exit_status(struct text *out)
{
    put_heading(out, "Exit status");
    for (int i = 0; i < n_exit_meanings; i++) {
        text_printf(out, ".TP\n.B %d\n%c%s.\n", exit_meanings[i].code, exit_meanings[i].brief[0] - 'a' + 'A',
                    exit_meanings[i].brief + 1);
        put_prose(out, exit_meanings[i].more);
    }
}

/* ---- a command ---- */

static void put_option(struct text *out, const struct option *k)
{
    text_puts(out, ".TP\n");
    if (k->letter) {
        put_font(out, 'B', (const char[]){ '-', k->letter, '\0' });
        text_puts(out, ", ");
    }
    text_puts(out, "\\fB\\-\\-\\fR");
    put_font(out, 'B', k->name);
    if (k->value) {
        text_puts(out, " ");
        put_font(out, 'I', k->value);
    }
    text_puts(out, "\n");
    put_prose(out, k->help);
}

static void put_options(struct text *out, const struct option_group *const *groups)
{
    put_heading(out, "Options");
    for (size_t g = 0; g < OPTIONS_MAX_GROUPS && groups[g]; g++) {
        if (g == 0 || strcmp(groups[g]->title, groups[g - 1]->title) != 0)
            text_printf(out, ".SS %s\n", groups[g]->title);
        for (size_t i = 0; i < groups[g]->n; i++)
            put_option(out, &groups[g]->rows[i]);
    }
}

/* What --list prints, as it is; figures, formats, schedulers. */
static int put_man_list(struct text *out, const struct command *c, struct err *e)
{
    struct text list = { 0 };
    int rc = command_write_list(&list, c, e);
    if (!rc && list.n) {
        put_heading(out, "To choose from");
        text_puts(out, ".nf\n");
        for (const char *s = text_str(&list); *s; s++) {
            text_puts(out, (s == text_str(&list) || s[-1] == '\n') && (*s == '.' || *s == '\'') ? "\\&" : "");
            put_char(out, *s);
        }
        text_puts(out, ".fi\n");
    }
    text_free(&list);
    return rc;
}

static int put_command(struct text *out, const char *page, const struct command *c, struct err *e)
{
    put_name(out, page, c->help);
    text_puts(out, ".SH SYNOPSIS\n");
    text_printf(out, ".B weft %s\n", c->name);
    put_font(out, 'I', "[OPTIONS] ");
    put_font(out, 'I', c->scope.operands);
    text_puts(out, "\n.SH DESCRIPTION\n");
    put_prose(out, c->about);
    put_more(out);
    put_options(out, c->scope.groups);
    int rc = put_man_list(out, c, e);
    put_exit_status(out);
    text_puts(out, ".SH SEE ALSO\n.BR weft (1),\n.BR weft\\-keys (5)\n");
    return rc;
}

/* ---- the overview ---- */

static void put_overview(struct text *out, const char *page)
{
    put_name(out, page, "explore interconnects for distributed deep-learning training");
    text_puts(
        out,
        ".SH SYNOPSIS\n.B weft\n.I COMMAND\n.RI [ OPTIONS ]\n.I FILE\n.br\n.B weft help\n.RI [ COMMAND ]\n"
        ".br\n.B weft \\-\\-version\n.RB [ \\-\\-verbose ]\n");
    put_heading(out, "Commands");
    const char *group = "";
    for (int i = 0; i < n_commands; i++) {
        if (strcmp(group, commands[i]->group) != 0)
            text_printf(out, ".SS %s\n", commands[i]->group);
        group = commands[i]->group;
        text_printf(out, ".TP\n.BR weft\\-%s (1)\n", commands[i]->name);
        put_prose(out, commands[i]->help);
    }
    put_more(out);
    put_exit_status(out);
    text_puts(out,
              ".SH SEE ALSO\n.BR weft\\-keys (5),\n.BR gnuplot (1)\n.SH COPYING\nGPL\\-3.0\\-or\\-later.\n");
}

/* ---- the keys ---- */

static void put_key(struct text *out, const struct key *k)
{
    char number[NUM_TEXT];
    struct text facts = { 0 }, range = { 0 };
    const char *usual = manual_default(number, k);
    schema_form(&facts, k);
    manual_range(&range, k);
    if (k->unit && *k->unit)
        text_printf(&facts, ", %s", k->unit);
    if (range.n)
        text_printf(&facts, ", %s%s", k->kind == KEY_WORD ? "one of " : "", text_str(&range));
    if (*usual)
        text_printf(&facts, k->required ? ", %s" : ", default %s", usual);
    text_puts(out, ".TP\n");
    put_font(out, 'B', k->name);
    text_puts(out, "  (");
    put_font(out, 'I', text_str(&facts));
    text_puts(out, ")\n");
    put_prose(out, k->help);
    out->failed = out->failed || facts.failed || range.failed;
    text_free(&facts);
    text_free(&range);
}

static void put_keys(struct text *out)
{
    put_name(out, keys_page, "keys of the YAML files that weft reads");
    text_puts(out, ".SH DESCRIPTION\n");
    put_prose(
        out,
        "A file is a map; its kind follows from where it is named, and of a study from its keys. Each kind\n"
        "begins with a section:\n");
    for (int i = 0; i < manual_n_kinds; i++)
        text_printf(out, ".TP\n.B %s\n%s\n", manual_kinds[i].name, manual_kinds[i].section->name);
    text_puts(out, ".PP\n");
    put_prose(
        out, "Behind a key stands what its value looks like, where <NAME> is a map with the keys of that\n"
             "section, its unit, range and default. `weft keys WORD` searches this page and shows examples;\n"
             "`weft keys --schema KIND` writes a JSON Schema of it.\n");
    put_more(out);
    text_puts(out, ".SH KEYS\n");
    for (int i = 0; i < manual_n_sections; i++) {
        text_puts(out, ".SS ");
        put_prose(out, manual_sections[i]->name);
        put_prose(out, manual_sections[i]->help);
        for (size_t k = 0; k < manual_sections[i]->n_keys; k++)
            put_key(out, &manual_sections[i]->keys[k]);
    }
    text_puts(out, ".SH SEE ALSO\n.BR weft (1),\n.BR weft\\-keys (1)\n");
}

int manpage_write(struct text *out, const char *name, struct err *e)
{
    char page[64];
    for (int i = 0; i < n_commands; i++) {
        snprintf(page, sizeof page, "weft-%s.1", commands[i]->name);
        if (name && strcmp(name, page) == 0) {
            int rc = put_command(out, page, commands[i], e);
            return rc ? rc : text_check(out, e);
        }
        if (!name)
            text_printf(out, "%s\n", page);
    }
    if (!name)
        text_printf(out, "weft.1\n%s\n", keys_page);
    else if (strcmp(name, keys_page) == 0)
        put_keys(out);
    else if (strcmp(name, "weft.1") == 0)
        put_overview(out, name);
    else
        return err_set(e, ERR_USAGE, "no page \"%.60s\"; weft help --man lists them", name);
    return text_check(out, e);
}
