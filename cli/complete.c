/*
 * The scripts in cli/completion ask the program at every tab, so that they know what this program knows: its
 * commands and options, the words and columns of its tables, the keys of files, and the catalogue.
 *
 * What stands where a value is expected follows from what help calls it: KEY=VALUE, COLUMN, FILE. Words that
 * were typed before are read as cli/options.c does, but never refused: the line is not finished.
 */
#include <stdio.h>
#include <string.h>

#include "base/catalogue.h"
#include "cli/commands.h"
#include "cli/manual.h"
#include "study/kind.h"
#include "study/source.h"

/* One question. Answers are `before`, then a word that begins with `typed`. */
struct asked {
    struct text *out;
    const char *before; /* of the word under the cursor, up to `typed` */
    size_t n_before;
    const char *typed;
    const char *study; /* the first operand so far; NULL: none */
};

/* What is before @p to has been dealt with. */
static struct asked asked_behind(const struct asked *a, const char *to)
{
    return (struct asked){ a->out, a->before, a->n_before + (size_t)(to - a->typed), to, a->study };
}

static void offer(const struct asked *a, const char *word, const char *end, const char *help)
{
    if (strncmp(word, a->typed, strlen(a->typed)) != 0 || strchr(word, ' '))
        return;
    text_add(a->out, a->before, a->n_before);
    text_printf(a->out, "%s%s\t%.*s\n", word, end, (int)strcspn(help, "\t\n"), help);
}

static void offer_words(const struct asked *a, const char *const *words)
{
    for (; *words; words++)
        offer(a, *words, "", "");
}

static void offer_files(const struct asked *a)
{
    text_puts(a->out, ":files\n");
}

static int offer_catalogue(const struct asked *a, const char *kind, struct err *e)
{
    struct catalogue c;
    int rc = catalogue_list(&c, kind, e);
    for (int32_t i = 0; i < c.n && !rc; i++)
        offer(a, c.names[i], "", kind);
    catalogue_free(&c);
    return rc;
}

/* @p kinds: names with blanks between. */
static int offer_catalogues(const struct asked *a, const char *kinds, struct err *e)
{
    char kind[64];
    int rc = 0;
    size_t n;
    for (const char *s; !rc && (s = text_next(&kinds, ' ', &n));) {
        snprintf(kind, sizeof kind, "%.*s", (int)n, s);
        rc = offer_catalogue(a, kind, e);
    }
    return rc;
}

/* First words of the lines of a list. */
static int offer_list(const struct asked *a, const struct command *c, struct err *e)
{
    char name[64];
    struct text list = { 0 };
    int rc = command_write_list(&list, c, e);
    for (const char *s = text_str(&list); *s && !rc; s += strcspn(s, "\n"), s += *s == '\n') {
        size_t n = strcspn(s, " \n");
        snprintf(name, sizeof name, "%.*s", (int)n, s);
        offer(a, name, "", s + n + strspn(s + n, " "));
    }
    text_free(&list);
    return rc;
}

/* ---- columns ---- */

static void offer_columns_of(const struct asked *a, const struct study_kind *kind, const char *end)
{
    char name[COLUMN_NAME];
    for (const struct column *c = kind->tables[TABLE_ROWS].columns; c->name; c++)
        for (int32_t i = 0; i < column_count(c); i++)
            if (c->help && column_is_in(c, IN_CSV) && !(c->flags & COLUMN_HIDDEN))
                offer(a, column_name(name, c, i), end, c->help);
}

/* "time_s,min:cost": the column behind the last comma and colon. */
static void offer_columns(const struct asked *a, const struct command *c, const char *end)
{
    const char *typed = a->typed;
    for (const char *s = typed; (s = strpbrk(s, ",:"));)
        typed = ++s;
    const struct asked last = asked_behind(a, typed);
    for (int32_t i = 0; i < n_study_kinds; i++)
        if (!command_kind(c) || command_kind(c) == study_kinds[i])
            offer_columns_of(&last, study_kinds[i], end);
}

/* ---- keys after --set ---- */

/* The sections that a path has led to; a list or map of them, whose entry is to be named first. */
struct place {
    bool here[MANUAL_MOST_SECTIONS];
    bool entry;
};

static bool is_scalar(const char *form)
{
    return !strchr(form, '<') || strstr(form, " or ");
}

static void offer_keys_here(const struct asked *a, const struct place *p)
{
    for (int i = 0; i < manual_n_sections; i++) {
        for (size_t k = 0; p->here[i] && k < manual_sections[i]->n_keys; k++) {
            const struct key *key = &manual_sections[i]->keys[k];
            struct text form = { 0 };
            schema_form(&form, key);
            if (is_scalar(text_str(&form)))
                offer(a, key->name, "=", key->help);
            if (strchr(text_str(&form), '<'))
                offer(a, key->name, ".", key->help);
            a->out->failed = a->out->failed || form.failed;
            text_free(&form);
        }
    }
}

/* Key @p name in any of the sections. */
static const struct key *find_completed_key(const struct place *p, const char *name, size_t n)
{
    for (int i = 0; i < manual_n_sections; i++)
        for (size_t k = 0; p->here[i] && k < manual_sections[i]->n_keys; k++) {
            const struct key *key = &manual_sections[i]->keys[k];
            if (strlen(key->name) == n && strncmp(key->name, name, n) == 0)
                return key;
        }
    return NULL;
}

/* Into the maps of a key. @p counted: "dims[3]" names its entry already. */
static void go_into(struct place *p, const struct key *k, bool counted)
{
    struct text form = { 0 };
    schema_form(&form, k);
    *p = (struct place){ .entry = !counted && strstr(text_str(&form), " of <") };
    for (const char *open = strchr(text_str(&form), '<'); open; open = strchr(open + 1, '<')) {
        int at = manual_find(open + 1, strcspn(open + 1, ">"));
        if (at >= 0)
            p->here[at] = true;
    }
    text_free(&form);
}

/* Names of the catalogue that @p path, as typed, may have: "types[0].npu" is "types[].npu" there. */
static int offer_names(const struct asked *a, const char *path, size_t n, struct err *e)
{
    struct text general = { 0 };
    for (size_t i = 0; i < n; i++)
        if (path[i] < '0' || path[i] > '9')
            text_add(&general, path + i, 1);
    int rc = text_check(&general, e);
    for (const struct source_names *s = source_rules.names; s->path && !rc; s++)
        if (strcmp(s->path, text_str(&general)) == 0) {
            rc = offer_catalogue(a, s->kind, e);
            offer_files(a);
        }
    text_free(&general);
    return rc;
}

static int offer_value(const struct asked *a, const struct key *k, const char *path, size_t n, struct err *e)
{
    static const char *const truths[] = { "true", "false", NULL };
    if (k && k->kind == KEY_WORD)
        offer_words(a, k->words);
    if (k && k->kind == KEY_BOOL)
        offer_words(a, truths);
    return offer_names(a, path, n, e);
}

static void offer_members(const struct asked *a, const struct yaml_doc *doc, yaml_id list)
{
    struct err ignored;
    yaml_each (id, doc, list) {
        yaml_id name = yaml_get(doc, id, "name");
        const char *called = doc->nodes[id].key;
        if (called || (name >= 0 && !yaml_text(doc, name, &called, &ignored)))
            offer(a, called, ".", "");
    }
}

/* What the entries of a list or map are called in the study, such as the dimensions of its network; nothing
 * where it cannot be read. */
static int offer_entries(const struct asked *a, const char *path, size_t n, struct err *e)
{
    struct text file = { 0 }, at = { 0 }, inner = { 0 };
    struct yaml_doc doc = { .root = -1 };
    struct err unread;
    int32_t own;
    int rc = a->study ? source_find(&file, a->study, e) : 0;
    const struct study_source from = { .path = text_str(&file) };
    text_add(&at, path, n);
    text_printf(&inner, "%s.%s", source_rules.alone, text_str(&at));
    if (file.n && !rc && !source_read(&doc, &own, &from, &unread)) {
        yaml_id list = yaml_find(&doc, text_str(&at));
        if (list < 0)
            list = yaml_find(&doc, text_str(&inner));
        if (list >= 0)
            offer_members(a, &doc, list);
    }
    yaml_free(&doc);
    text_free(&file);
    text_free(&at);
    text_free(&inner);
    return rc;
}

/* Those of the network, which may stand at the top (source_rules.alone_keys), are offered there too. */
static void begin_path(struct place *p, const struct asked *a, const struct command *c)
{
    const struct study_kind *kind = command_kind(c) ? command_kind(c) : study_kinds[0];
    size_t n = strcspn(a->typed, ".=[");
    *p = (struct place){ .entry = false };
    p->here[manual_find(kind->keys->name, strlen(kind->keys->name))] = true;
    const struct key *alone = find_completed_key(p, source_rules.alone, strlen(source_rules.alone));
    for (const char *const *key = source_rules.alone_keys; *key && alone; key++)
        if (a->typed[n] && strlen(*key) == n && strncmp(*key, a->typed, n) == 0 &&
            !find_completed_key(p, a->typed, n))
            go_into(p, alone, false);
    for (const char *const *key = source_rules.alone_keys; *key && alone && !a->typed[n]; key++)
        offer(a, *key, ".", alone->help);
}

static int offer_keys(const struct asked *a, const struct command *c, struct err *e)
{
    struct place p;
    begin_path(&p, a, c);
    for (const char *s = a->typed;;) {
        size_t n = strcspn(s, ".="), name = strcspn(s, ".=[");
        const struct key *k = find_completed_key(&p, s, name);
        const struct asked rest = asked_behind(a, s[n] ? s + n + 1 : s);
        if (s[n] == '=')
            return offer_value(&rest, k, a->typed, (size_t)(s + n - a->typed), e);
        if (s[n] == '\0') {
            if (p.entry)
                return offer_entries(&rest, a->typed, (size_t)(s - a->typed - 1), e);
            offer_keys_here(&rest, &p);
            return 0;
        }
        if (!p.entry && !k)
            return 0;
        if (p.entry)
            p.entry = false;
        else
            go_into(&p, k, s[name] == '[');
        s += n + 1;
    }
}

/* ---- values and operands ---- */

static int offer_option_value(const struct asked *a, const struct command *c, const struct option *k,
                              struct err *e)
{
    int rc = 0;
    if (k->words)
        offer_words(a, k->words);
    else if (strcmp(k->value, "KEY=VALUE") == 0)
        rc = offer_keys(a, c, e);
    else if (strncmp(k->value, "COLUMN", 6) == 0)
        offer_columns(a, c, strchr(k->value, '=') ? "=" : "");
    else if (k->catalogue)
        rc = offer_catalogues(a, k->catalogue, e);
    else if (strcmp(k->value, "TABLE") == 0)
        for (int32_t i = 0; i < n_study_kinds; i++)
            for (int32_t t = TABLE_RUNS; t < study_kinds[i]->n_tables; t++)
                offer(a, study_kinds[i]->tables[t].word, "", study_kinds[i]->what);
    /* "FILE", "FILE.db", "NPU.yaml". */
    if (strstr(k->value, "FILE") || (strchr(k->value, '.') && !strchr(k->value, '=')))
        offer_files(a);
    return rc;
}

static void offer_options(const struct asked *a, const struct command *c)
{
    const struct option *k;
    if (strncmp(a->typed, "--", strlen(a->typed) < 2 ? strlen(a->typed) : 2) != 0)
        return;
    const struct asked name = asked_behind(a, a->typed + strspn(a->typed, "-"));
    const struct asked whole = { a->out, "--", 2, name.typed, NULL };
    for (size_t i = 0; (k = options_at(&c->scope, i)); i++)
        offer(&whole, k->name, "", k->help);
}

static void offer_manual(const struct asked *a, bool kinds)
{
    for (int i = 0; kinds && i < manual_n_kinds; i++)
        offer(a, manual_kinds[i].name, "", manual_kinds[i].section->help);
    for (int i = 0; !kinds && i < manual_n_sections; i++) {
        offer(a, manual_sections[i]->name, "", manual_sections[i]->help);
        for (size_t k = 0; k < manual_sections[i]->n_keys; k++)
            offer(a, manual_sections[i]->keys[k].name, "", manual_sections[i]->keys[k].help);
    }
}

/* The line so far: what it says before the word under the cursor. */
struct line {
    const struct command *command;
    const char *study;          /* the first operand */
    const struct option *waits; /* for its value */
    int32_t n_operands;
    bool only_operands, schema;
};

static int offer_operand(const struct asked *a, const struct line *l, struct err *e)
{
    const struct command *c = l->command;
    int rc = 0;
    if (l->n_operands >= c->scope.max_operands) {
        offer_options(a, c);
        return 0;
    }
    if (c == &cmd_keys) {
        offer_manual(a, l->schema);
        return 0;
    }
    /* weft plot FIGURE DATA */
    if (c->list && l->n_operands == 0 && c->scope.max_operands > 1 &&
        strncmp(c->scope.operands, "FIGURE", 6) == 0)
        return offer_list(a, c, e);
    for (const char *const *kind = source_rules.own_kinds; *kind && !rc && command_reads_studies(c); kind++)
        rc = offer_catalogue(a, *kind, e);
    offer_files(a);
    return rc;
}

/* ---- the line ---- */

static const struct option *find_option(const struct command *c, const char *word)
{
    const struct option *k;
    size_t n = strcspn(word, "=");
    for (size_t i = 0; (k = options_at(&c->scope, i)); i++) {
        bool is_long = n > 2 && strncmp(word, "--", 2) == 0 && strlen(k->name) == n - 2 &&
                       strncmp(word + 2, k->name, n - 2) == 0;
        /* "-fo": the last of several letters. */
        bool is_letter = word[0] == '-' && word[1] != '-' && k->letter && k->letter == word[strlen(word) - 1];
        if (is_long || is_letter)
            return k;
    }
    return NULL;
}

static void read_typed(struct line *l, const char *word)
{
    const struct option *waited = l->waits;
    l->waits = NULL;
    if (waited)
        return;
    if (l->only_operands || word[0] != '-' || !word[1]) {
        l->study = l->n_operands++ ? l->study : word;
    } else if (strcmp(word, "--") == 0) {
        l->only_operands = true;
    } else {
        const struct option *k = find_option(l->command, word);
        if (k && k->kind != OPTION_FLAG && !strchr(word, '='))
            l->waits = k;
        l->schema = l->schema || (k && strcmp(k->name, "schema") == 0);
    }
}

static void offer_commands(const struct asked *a, bool first)
{
    for (int i = 0; i < n_commands; i++)
        offer(a, commands[i]->name, "", commands[i]->help);
    if (!first)
        return;
    offer(a, "help", "", "what a command does, and its options");
    if (*a->typed == '-') {
        offer(a, "--help", "", "list the commands");
        offer(a, "--version", "", "the version; with --verbose its libraries");
    }
}

int complete_words(struct text *out, int argc, char **argv, struct err *e)
{
    const char *word = argc > 0 ? argv[argc - 1] : "";
    struct asked a = { out, word, 0, word, NULL };
    struct err unknown;
    int rc = 0;
    if (argc <= 1 || (argc == 2 && strcmp(argv[0], "help") == 0)) {
        offer_commands(&a, argc <= 1);
        return text_check(out, e);
    }
    struct line l = { .command = commands_find(argv[0], &unknown) };
    if (!l.command)
        return 0;
    for (int i = 1; i < argc - 1; i++)
        read_typed(&l, argv[i]);
    a.study = l.study;
    const char *equals = strchr(a.typed, '=');
    if (!l.waits && !l.only_operands && equals && (l.waits = find_option(l.command, a.typed))) {
        const struct asked value = asked_behind(&a, equals + 1);
        rc = offer_option_value(&value, l.command, l.waits, e);
    } else if (l.waits) {
        rc = offer_option_value(&a, l.command, l.waits, e);
    } else if (a.typed[0] == '-' && !l.only_operands) {
        offer_options(&a, l.command);
    } else {
        rc = offer_operand(&a, &l, e);
    }
    return rc ? rc : text_check(out, e);
}
