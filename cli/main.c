/*
 * The list of commands, help, and exit codes. What the process returns is decided in two places:
 * command_finish() for failures, run->exit_code for outcomes; nothing below main() exits.
 *
 * SIGINT is taken by the commands that can stop with what they have (sweeps); elsewhere it ends the program,
 * which loses nothing, as outputs are written whole at the end.
 *
 * Who waits is told how far it is, on standard error, after 10 s, 20 s, 40 s and so on: what the loops of the
 * library count (base/work.h), and by their rate so far how long the rest takes. A line after each doubling
 * is twelve lines in half a day.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/catalogue.h"
#include "base/infile.h"
#include "base/work.h"
#include "cli/output.h"
#include "study/source.h"
#include "weft.h"
#include "topo/graph.h"

/* In the order of use; those of one group stand together. */
static const struct command *const commands[] = {
    &cmd_new,    &cmd_topo,  &cmd_alloc,  &cmd_sim,    &cmd_explain, &cmd_fail,      &cmd_check,
    &cmd_diff,   &cmd_sweep, &cmd_export, &cmd_merge,  &cmd_front,   &cmd_tornado,   &cmd_plot,
    &cmd_report, &cmd_place, &cmd_hetero, &cmd_gossip, &cmd_import,  &cmd_calibrate, &cmd_keys,
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const char exit_codes[] =
    "\n"
    "Exit codes: 0 success, 1 run-time failure, 2 invalid command line, 3 invalid input,\n"
    "            4 no feasible design or over budget, 130 interrupted\n";

static void list_commands(struct text *out)
{
    text_puts(out, "Usage: weft COMMAND [OPTIONS] FILE\n"
                   "       weft help COMMAND\n"
                   "       weft --version\n");
    const char *group = "";
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(group, commands[i]->group) != 0)
            text_printf(out, "\n%s:\n", commands[i]->group);
        group = commands[i]->group;
        text_printf(out, "  %-9s %s\n", commands[i]->name, commands[i]->help);
    }
    text_puts(out, "\nA FILE that describes a network may be a word instead: \"ring:4@250 switch:32@50\".\n");
    text_puts(out, exit_codes);
}

static void describe_command(struct text *out, const struct command *c)
{
    text_printf(out, "Usage: weft %s [OPTIONS]%s%s\n\n%s", c->name, *c->scope.operands ? " " : "",
                c->scope.operands, c->about);
    options_help(out, c->scope.groups);
    text_puts(out, exit_codes);
}

static int print_text(const struct text *t, struct err *e)
{
    return outfile_write_text(t, NULL, false, e);
}

/* Two lines: what is wrong, where help is. */
static int misused(const char *command, const struct err *e)
{
    fprintf(stderr, "weft%s%s: %s\nTry \"weft %s%s--help\".\n", *command ? " " : "", command, e->msg, command,
            *command ? " " : "");
    return EXIT_USAGE;
}

static const struct command *find_command(const char *name, struct err *e)
{
    const char *names[N_COMMANDS + 1];
    for (int i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return commands[i];
    }
    /* Not in the table, as it takes no options, but something to suggest. */
    names[N_COMMANDS] = "help";
    const char *near = text_nearest(name, names, N_COMMANDS + 1);
    err_set(e, ERR_USAGE, "command \"%.100s\" is unknown%s%s%s", name, near ? "; did you mean " : "",
            near ? near : "", near ? "?" : "");
    return NULL;
}

/* Only a wrong command line gets the second line: help on options does not mend a study. */
static int command_finish(const char *command, int rc, const struct err *e)
{
    if (rc == ERR_USAGE)
        return misused(command, e);
    if (rc)
        fprintf(stderr, "weft%s%s: %s\n", *command ? " " : "", command, e->msg);
    return output_exit_code(rc);
}

static int show_help(const struct command *c)
{
    struct text out = { 0 };
    struct err e = { 0 };
    if (c)
        describe_command(&out, c);
    else
        list_commands(&out);
    int rc = print_text(&out, &e);
    text_free(&out);
    return command_finish(c ? c->name : "", rc, &e);
}

/* weft help [COMMAND] */
static int help_command(int argc, char **argv)
{
    struct err e = { 0 };
    if (argc > 1)
        err_set(&e, ERR_USAGE, "unexpected argument \"%.100s\"; give one COMMAND", argv[1]);
    const struct command *c = argc == 1 ? find_command(argv[0], &e) : NULL;
    return e.code ? misused("", &e) : show_help(c);
}

static int show_version(void)
{
    struct text out = { 0 };
    struct err e = { 0 };
    text_puts(&out, "weft " WEFT_VERSION "\nLicense GPL-3.0-or-later\n");
    int rc = print_text(&out, &e);
    text_free(&out);
    return command_finish("", rc, &e);
}

/* ---- how far long work is ---- */

/* What the signal handler says; set before it may run. */
static const char *volatile waited_for;
static double waited_since_s;

/* A line that is put together without stdio, which a signal handler may not use. */
struct waiting_line {
    char s[256];
    size_t n;
};

static void waiting_put(struct waiting_line *l, const char *s)
{
    while (*s && l->n < sizeof l->s)
        l->s[l->n++] = *s++;
}

static void waiting_put_count(struct waiting_line *l, int64_t n)
{
    char digits[32];
    size_t at = sizeof digits - 1;
    int shown = 0;
    digits[at] = '\0';
    do {
        if (shown && shown % 3 == 0)
            digits[--at] = ',';
        digits[--at] = (char)('0' + n % 10);
        shown++;
    } while ((n /= 10) > 0);
    waiting_put(l, digits + at);
}

static void waiting_put_s(struct waiting_line *l, double s)
{
    double unit = s < 300 ? 1 : s < 36000 ? 60 : 3600;
    if (!(s / unit < 1e9))
        waiting_put(l, "more than ");
    waiting_put_count(l, s / unit < 1e9 ? (int64_t)(s / unit + 0.5) : 1000000000);
    waiting_put(l, unit > 60 ? " h" : unit > 1 ? " min" : " s");
}

static void waiting_put_work(struct waiting_line *l, const struct work_state *w)
{
    waiting_put_count(l, w->done);
    waiting_put(l, " of ");
    waiting_put_count(l, w->total);
    waiting_put(l, " ");
    waiting_put(l, w->what);
}

/* How far each level is, but those of a single step, and how long all takes. */
static void waiting_put_all(struct waiting_line *l)
{
    const char *before = ": ";
    for (int level = 0; level < WORK_LEVELS; level++) {
        struct work_state w = work_look(level);
        if (!w.what || w.total == 1)
            continue;
        waiting_put(l, before);
        waiting_put_work(l, &w);
        before = "; in one of these ";
    }
    double left_s = work_left_s();
    if (left_s > 0) { /* not NaN */
        waiting_put(l, *before == ':' ? ": about " : ", about ");
        waiting_put_s(l, left_s);
        waiting_put(l, " left");
    }
}

static void waiting_say(int signal)
{
    struct waiting_line l = { .n = 0 };
    double spent_s = clock_now_s() - waited_since_s;
    (void)signal;
    waiting_put(&l, "weft ");
    waiting_put(&l, waited_for);
    waiting_put(&l, ": ");
    waiting_put_s(&l, spent_s);
    waiting_put_all(&l);
    waiting_put(&l, "\n");
    /* What cannot be said is not. */
    ssize_t written = write(STDERR_FILENO, l.s, l.n);
    alarm(written < 0 || spent_s > 1e8 ? 0 : (unsigned)(spent_s + 0.5));
}

/* Commands that show their progress, or are to be quiet, call alarm(0). */
static void waiting_begin(const struct command *c)
{
    enum { FIRST_S = 10 };
    struct sigaction action = { .sa_handler = waiting_say, .sa_flags = SA_RESTART };
    waited_for = c->name;
    waited_since_s = clock_now_s();
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGALRM, &action, NULL) == 0)
        alarm(FIRST_S);
}

/* Of a command that reads studies, operands that are bare names become paths, kept in @p found. */
static int find_studies(struct run *run, struct text found[OPTIONS_MAX_OPERANDS], struct err *e)
{
    bool reads = false;
    int rc = 0;
    for (const struct option_group *const *g = run->command->scope.groups; *g; g++)
        reads = reads || *g == &options_study || *g == &options_set;
    for (int32_t i = 0; i < run->opt.n_operands && reads && !rc; i++) {
        rc = source_find(&found[i], run->opt.operands[i], e);
        run->opt.operands[i] = text_str(&found[i]);
    }
    return rc;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct text found[OPTIONS_MAX_OPERANDS] = { { 0 } };
    struct output_files files = { 0 };
    struct run run = { .command = c, .files = &files };
    struct text recorded = { 0 };
    struct err e = { 0 };
    text_printf(&recorded, "weft %s", c->name);
    /* run.recorded is borrowed from `recorded`, which does not grow any more. */
    int rc = options_parse(&run.opt, &c->scope, argc, argv, &recorded, &e);
    run.recorded = text_str(&recorded);
    int code;
    if (!rc && run.opt.help) {
        code = show_help(c);
    } else {
        if (!rc && !run.opt.quiet)
            waiting_begin(c);
        if (!rc)
            rc = find_studies(&run, found, &e);
        if (!rc)
            rc = c->run(&run, &e);
        if (!run.opt.quiet)
            alarm(0);
        /* What is said of an input whose words were cut is not to be believed, nor is an output. */
        if (rc != ERR_NOMEM && text_any_cut())
            rc = err_nomem(&e, "text");
        if (!rc)
            rc = output_end(&run, &e);
        code = rc ? command_finish(c->name, rc, &e) : run.exit_code;
    }
    output_drop(&run);
    options_free(&run.opt);
    for (int i = 0; i < OPTIONS_MAX_OPERANDS; i++)
        text_free(&found[i]);
    text_free(&run.warned);
    text_free(&recorded);
    return code;
}

/* A standard stream that is closed would lend its number to the next file that is opened, a store, which
 * messages would then go to. Opened the wrong way round, so that writing fails as it does without. */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    keep_standard_streams();
    infile_remember();
    catalogue_use(getenv("WEFT_DATA"));
    /* Before any other call: igraph's own error handler ends the program. */
    topo_graph_init();
    /* Beyond the limit on file size a write shall fail with a message, not end the program. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        struct text names = { 0 };
        for (int i = 0; i < N_COMMANDS; i++)
            text_printf(&names, "%s%s", i ? ", " : "", commands[i]->name);
        err_set(&e, ERR_USAGE, "no command given; commands: %s", text_str(&names));
        text_free(&names);
        return misused("", &e);
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return show_help(NULL);
    if (strcmp(name, "--version") == 0)
        return show_version();
    if (strcmp(name, "help") == 0)
        return help_command(argc - 2, argv + 2);
    if (name[0] == '-') {
        err_set(&e, ERR_USAGE, "unknown option %.100s; the command comes first", name);
        return misused("", &e);
    }
    const struct command *c = find_command(name, &e);
    return c ? run_command(c, argc - 2, argv + 2) : misused("", &e);
}
