/*
 * Parsing follows what people know from GNU tools (long options with = or a blank, letters together, "--"
 * ends options), with two differences: a long name is never completed, so that a new option cannot change
 * what an old script means; and a word that begins with "-" is a value only if it is a number or "-" itself,
 * since "-o --of" is a value forgotten.
 *
 * Fields are found by their offset in struct options, so a row says once what an option is called, holds and
 * means; reading, checking, recording and help all come from it. What is read is borrowed from argv, which
 * lasts as long as the program.
 */
#include "cli/options.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "topo/network.h"

static const char *const format_words[] = { "text", "csv", "json", NULL };

static const struct option study_rows[] = {
    LIST_OPTION("set", "KEY=VALUE", set,
                "override one key, as in network.dims.pod.bw_GBps=50; may be repeated"),
    TEXT_OPTION("parts", "FILE", parts, "prices from this file instead of the study's", .catalogue = "parts"),
};

static const char *const search_words[] = { "parallelism", NULL };

static const struct option search_rows[] = {
    TEXT_OPTION("card", "FILE", card,
                "the workload is the model of FILE, a config.json of Hugging Face, with its best plan"),
    WORD_OPTION("search", "WHAT", search, search_words,
                "parallelism: find the best plan for the model, as `search: {}` in the workload does"),
};

/* A group of its own: commands that write no table list options_files alone. */
static const struct option format_rows[] = {
    WORD_OPTION("of", "FORMAT", format, format_words,
                "text, csv or json (default: by the extension of -o, else text)"),
    FLAG_OPTION("wide", wide, "text: lines as long as they are, not folded to 120 characters",
                .outside = true),
};

/* The order matters: options_alone is all of them but the first. */
static const struct option file_rows[] = {
    TEXT_OPTION("output", "FILE", out, "output file; - is standard output", .letter = 'o', .outside = true),
    FLAG_OPTION("force", force, "overwrite existing files", .letter = 'f', .outside = true),
    FLAG_OPTION("quiet", quiet, "print no warnings and no progress", .letter = 'q', .outside = true),
    FLAG_OPTION("verbose", verbose, "report on standard error what was read and how it was solved",
                .letter = 'v', .outside = true),
    FLAG_OPTION("help", help, "show this text", .letter = 'h', .outside = true),
};

const struct option_group options_study = OPTION_GROUP("Study", study_rows);
const struct option_group options_set = { "Study", study_rows, 1 };
const struct option_group options_search = OPTION_GROUP("Study", search_rows);
const struct option_group options_format = OPTION_GROUP("Output", format_rows);
const struct option_group options_alone = { "Output", file_rows + 1,
                                            sizeof file_rows / sizeof *file_rows - 1 };
const struct option_group options_files = OPTION_GROUP("Output", file_rows);

enum { MAX_OPTIONS = 48, MAX_SHOWN = 100 };

/* One option on the command line, under way. `seen` is for options that must not come twice; help and errors
 * find rows by the same numbers. */
struct reading {
    struct options *o;
    const struct option_scope *scope;
    int argc, at; /* at: the next word */
    char **argv;
    bool seen[MAX_OPTIONS]; /* by the order in which scope lists them */
    struct text *recorded;
};

int options_misuse(const char *option, const struct err *inner, struct err *e)
{
    if (inner->code == ERR_NOMEM || inner->code == ERR_PARSE)
        return err_set(e, inner->code, "%s", inner->msg);
    return err_set(e, ERR_USAGE, "option --%s %s", option, inner->msg);
}

const struct option *options_at(const struct option_scope *scope, size_t i)
{
    for (size_t g = 0; g < OPTIONS_MAX_GROUPS && scope->groups[g]; g++) {
        if (i < scope->groups[g]->n)
            return &scope->groups[g]->rows[i];
        i -= scope->groups[g]->n;
    }
    return NULL;
}

/*
 * A word as a shell would need it; control characters, which would break the head of an output, as '?'. A
 * word in single quotes stands for itself in every shell but for the quote, which ends them, is escaped, and
 * begins them again.
 */
static void record_word(struct text *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./=:@%+,-[]";
    bool quote = *word == '\0' || word[strspn(word, plain)] != '\0';
    text_puts(out, quote ? " '" : " ");
    for (; *word; word++) {
        bool control = (unsigned char)*word < 0x20 || *word == 0x7f;
        if (*word == '\'')
            text_puts(out, "'\\''");
        else
            text_add(out, control ? "?" : word, 1);
    }
    text_puts(out, quote ? "'" : "");
}

/* What other programs call --of. */
static const char *const forms[] = { "format", "output-format", "json", "csv" };
enum { N_FORMS = 4 };

static int fail_unknown(const struct reading *r, const char *name, size_t n, struct err *e)
{
    const char *names[MAX_OPTIONS];
    char asked[64];
    size_t n_names = 0;
    for (const struct option *k; (k = options_at(r->scope, n_names)); n_names++)
        names[n_names] = k->name;
    snprintf(asked, sizeof asked, "%.*s", (int)(n < sizeof asked ? n : sizeof asked - 1), name);
    const char *near = text_suggest(asked, names, n_names);
    bool keys = false;
    for (size_t i = 0; i < n_names; i++) {
        near = !near && strcmp(names[i], "of") == 0 && text_suggest(asked, forms, N_FORMS) ? "of" : near;
        keys = keys || strcmp(names[i], "set") == 0;
    }
    if (near)
        return err_set(e, ERR_USAGE, "unknown option --%s; did you mean --%s?", asked, near);
    return err_set(e, ERR_USAGE, "unknown option --%s%s", asked,
                   keys ? "; keys of a study are changed by --set KEY=VALUE" : "");
}

static int option_fail_word(const struct option *k, const char *value, struct err *e)
{
    size_t n = 0;
    struct text list = { 0 };
    while (k->words[n])
        n++;
    text_put_words(&list, k->words, n);
    err_set(e, ERR_USAGE, "option --%s is \"%.*s\", expected one of %s", k->name, MAX_SHOWN, value,
            text_str(&list));
    text_free(&list);
    return err_suggest(e, text_nearest(value, k->words, n));
}

static int store_word(int32_t *field, const struct option *k, const char *value, struct err *e)
{
    for (int32_t i = 0; k->words[i]; i++) {
        if (strcmp(k->words[i], value) == 0) {
            *field = i;
            return 0;
        }
    }
    return option_fail_word(k, value, e);
}

static int store_count(int64_t *field, const struct option *k, const char *value, struct err *e)
{
    int64_t n;
    if (!num_parse_count(value, &n) || n < k->min || n > k->max)
        return err_set(e, ERR_USAGE, "option --%s is \"%.*s\", expected a whole number from %lld to %lld",
                       k->name, MAX_SHOWN, value, (long long)k->min, (long long)k->max);
    *field = n;
    return 0;
}

static int store_real(double *field, const struct option *k, const char *value, struct err *e)
{
    if (!num_parse_real(value, field) || !(*field >= k->least && *field <= k->most))
        return err_set(e, ERR_USAGE, "option --%s is \"%.*s\", expected a number from %g to %g", k->name,
                       MAX_SHOWN, value, k->least, k->most);
    return 0;
}

/* One more at a time: a command line has few. */
static int store_item(struct option_list *list, const char *value, struct err *e)
{
    if (!vec_resize(list->items, list->n + 1))
        return err_nomem(e, "options");
    list->items[list->n++] = value;
    return 0;
}

static int store(struct options *o, const struct option *k, const char *value, struct err *e)
{
    void *field = (char *)o + k->offset;
    switch (k->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)field = value;
        return 0;
    case OPTION_WORD:
        return store_word(field, k, value, e);
    case OPTION_COUNT:
        return store_count(field, k, value, e);
    case OPTION_REAL:
        return store_real(field, k, value, e);
    case OPTION_LIST:
        return store_item(field, value, e);
    }
    return 0;
}

/* "-5" and "-" are values, "--of" after -o is a value forgotten. */
static bool is_value(const char *word)
{
    double x;
    return word[0] != '-' || word[1] == '\0' || num_parse_real(word, &x);
}

/* Take option number i, with the value that came attached to it or is the next word. */
static int option_take(struct reading *r, size_t i, const char *attached, struct err *e)
{
    const struct option *k = options_at(r->scope, i);
    const char *value = attached;
    assert(i < MAX_OPTIONS);
    /* Twice is a slip of somebody who edits a long line: the last one would win silently. */
    if (r->seen[i] && k->kind != OPTION_LIST && k->kind != OPTION_FLAG)
        return err_set(e, ERR_USAGE, "option --%s is given twice", k->name);
    r->seen[i] = true;
    if (k->kind == OPTION_FLAG && attached)
        return err_set(e, ERR_USAGE, "option --%s takes no value", k->name);
    if (k->kind != OPTION_FLAG && !attached) {
        if (r->at >= r->argc || !is_value(r->argv[r->at]))
            return err_set(e, ERR_USAGE, "option --%s needs %s, as in --%s %s", k->name, k->value, k->name,
                           k->value);
        value = r->argv[r->at++];
    }
    if (!k->outside) {
        text_printf(r->recorded, " --%s", k->name);
        if (value)
            record_word(r->recorded, value);
    }
    return store(r->o, k, value, e);
}

/* The whole name or none: "--forc" is unknown, with a hint. */
static int take_long(struct reading *r, const char *name, struct err *e)
{
    size_t n = strcspn(name, "=");
    const struct option *k;
    for (size_t i = 0; (k = options_at(r->scope, i)); i++)
        if (strncmp(k->name, name, n) == 0 && k->name[n] == '\0')
            return option_take(r, i, name[n] ? name + n + 1 : NULL, e);
    return fail_unknown(r, name, n, e);
}

/* "-fq", "-oFILE": letters up to the first that takes a value. */
static int take_letters(struct reading *r, const char *letters, struct err *e)
{
    for (const char *s = letters; *s; s++) {
        const struct option *k;
        size_t i = 0;
        while ((k = options_at(r->scope, i)) && k->letter != *s)
            i++;
        if (!k)
            return err_set(e, ERR_USAGE, "unknown option -%c", *s);
        bool flag = k->kind == OPTION_FLAG;
        int rc = option_take(r, i, flag || s[1] == '\0' ? NULL : s + 1, e);
        if (rc || !flag)
            return rc;
    }
    return 0;
}

/* Operands are part of what is recorded: the output depends on them. */
static int take_operand(struct reading *r, const char *word, struct err *e)
{
    if (r->o->n_operands >= r->scope->max_operands)
        return err_set(e, ERR_USAGE, "unexpected argument \"%.*s\", usage: %s%s", MAX_SHOWN, word,
                       r->scope->max_operands ? r->scope->operands : "none",
                       topo_is_spec(word) ? "; a network of several words is one argument, in quotes" : "");
    r->o->operands[r->o->n_operands++] = word;
    record_word(r->recorded, word);
    return 0;
}

/* Whether a word still to come would be taken for an option without the "--" before it. */
static bool needs_dashes(const struct reading *r)
{
    for (int i = r->at; i < r->argc; i++)
        if (r->argv[i][0] == '-' && r->argv[i][1] != '\0')
            return true;
    return false;
}

/* Options and operands may come in any order until "--", which is recorded where the command needs it. */
static int take_all(struct reading *r, struct err *e)
{
    bool only_operands = false;
    int rc = 0;
    while (!rc && r->at < r->argc) {
        const char *word = r->argv[r->at++];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            rc = take_operand(r, word, e);
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
            text_puts(r->recorded, needs_dashes(r) ? " --" : "");
        } else if (word[1] == '-') {
            rc = take_long(r, word + 2, e);
        } else {
            rc = take_letters(r, word + 1, e);
        }
    }
    return rc;
}

static const struct options none_given = { .format = -1,
                                           .image_format = -1,
                                           .model = -1,
                                           .search = -1,
                                           .shape = -1,
                                           .algorithm = -1,
                                           .in_switch = -1,
                                           .collective = -1,
                                           .kernel = -1,
                                           .trace = -1,
                                           .from = -1,
                                           .xy_log = -1,
                                           .power_W = NAN,
                                           .scatter_percent = NAN,
                                           /* One lane of two, and an NPU that is hot. */
                                           .slow_link = 0.5,
                                           .slow_npu = 0.8 };

int options_parse(struct options *o, const struct option_scope *scope, int argc, char **argv,
                  struct text *recorded, struct err *e)
{
    *o = none_given;
    struct reading r = { .o = o, .scope = scope, .argc = argc, .argv = argv, .recorded = recorded };
    int rc = take_all(&r, e);
    /* With --help nobody has to name a file. */
    if (!rc && !o->help && o->n_operands < scope->min_operands)
        rc = err_set(e, ERR_USAGE, "%s is missing, expected %s",
                     o->n_operands ? "second argument" : "argument", scope->operands);
    if (!rc)
        rc = text_check(recorded, e);
    if (rc)
        options_free(o);
    return rc;
}

void options_free(struct options *o)
{
    free(o->set.items);
    free(o->where.items);
    free(o->columns.items);
    free(o->like.items);
    free(o->limits.items);
    free(o->statuses.items);
    free(o->xy_y.items);
    free(o->xy_best.items);
    *o = none_given;
}

static bool is_given(const struct options *o, const struct option *row)
{
    const void *field = (const char *)o + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        return *(const bool *)field;
    case OPTION_TEXT:
        return *(const char *const *)field != NULL;
    case OPTION_WORD:
        return *(const int32_t *)field >= 0;
    case OPTION_COUNT:
        return *(const int64_t *)field != 0;
    case OPTION_REAL:
        return !isnan(*(const double *)field);
    case OPTION_LIST:
        return ((const struct option_list *)field)->n > 0;
    }
    return false;
}

const struct option *options_given(const struct options *o, const struct option_group *group, size_t first)
{
    for (size_t i = first; i < group->n; i++)
        if (is_given(o, &group->rows[i]))
            return &group->rows[i];
    return NULL;
}

static void option_head(char *buf, size_t n, const struct option *k)
{
    char letter[8] = "    ";
    if (k->letter)
        snprintf(letter, sizeof letter, "-%c, ", k->letter);
    snprintf(buf, n, "%s--%s%s%s", letter, k->name, k->value ? " " : "", k->value ? k->value : "");
}

/* Groups with the title of the one before go on under its heading. */
void options_help(struct text *out, const struct option_group *const *groups)
{
    char head[80];
    int width = 0;
    for (size_t g = 0; g < OPTIONS_MAX_GROUPS && groups[g]; g++)
        for (size_t i = 0; i < groups[g]->n; i++) {
            option_head(head, sizeof head, &groups[g]->rows[i]);
            width = (int)strlen(head) > width ? (int)strlen(head) : width;
        }
    for (size_t g = 0; g < OPTIONS_MAX_GROUPS && groups[g]; g++) {
        if (g == 0 || strcmp(groups[g]->title, groups[g - 1]->title) != 0)
            text_printf(out, "\n%s:\n", groups[g]->title);
        for (size_t i = 0; i < groups[g]->n; i++) {
            option_head(head, sizeof head, &groups[g]->rows[i]);
            text_printf(out, "  %-*s  %s\n", width, head, groups[g]->rows[i].help);
        }
    }
}
