/*
 * From the command line to a command. What the process returns is decided in two places: command_finish() for
 * failures, run->exit_code for outcomes; nothing below main() exits.
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
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "study/source.h"
#include "weft.h"
#include "topo/graph.h"

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
        commands_describe(&out, c);
    else
        commands_list(&out);
    int rc = print_text(&out, &e);
    text_free(&out);
    return command_finish(c ? c->name : "", rc, &e);
}

static int show_text(int rc, struct text *out, struct err *e)
{
    rc = rc ? rc : print_text(out, e);
    text_free(out);
    return command_finish("", rc, e);
}

/* weft help [COMMAND], and what packages are made of: help --man [PAGE], help --words WORD... */
static int help_command(int argc, char **argv)
{
    struct text out = { 0 };
    struct err e = { 0 };
    if (argc > 0 && strcmp(argv[0], "--words") == 0)
        return show_text(complete_words(&out, argc - 1, argv + 1, &e), &out, &e);
    if (argc > 0 && strcmp(argv[0], "--man") == 0 && argc <= 2)
        return show_text(manpage_write(&out, argv[1], &e), &out, &e);
    if (argc > 1)
        err_set(&e, ERR_USAGE, "unexpected argument \"%.100s\"; give one COMMAND", argv[1]);
    const struct command *c = argc == 1 ? commands_find(argv[0], &e) : NULL;
    return e.code ? misused("", &e) : show_help(c);
}

/* weft --version [--verbose] */
static int show_version(int argc, char **argv)
{
    struct text out = { 0 };
    struct err e = { 0 };
    bool all = argc > 0 && (strcmp(argv[0], "--verbose") == 0 || strcmp(argv[0], "-v") == 0);
    if (argc > all) {
        err_set(&e, ERR_USAGE, "unexpected argument \"%.100s\"; behind --version may stand --verbose",
                argv[all]);
        return misused("", &e);
    }
    version_write(&out, all);
    return show_text(0, &out, &e);
}

/* ---- how far long work is ---- */

/* What the signal handler says; set before it may run. */
static const char *volatile waited_for;
static double waited_since_s;
/* How long all would take by what was known at the last signal [s]; NaN: nothing. */
static double waited_total_s;

/* When the first line is due; a line comes when twice as long was waited. */
enum { FIRST_S = 10 };

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
static void waiting_put_all(struct waiting_line *l, double spent_s)
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
    if (work_is_steady(&waited_total_s, spent_s, left_s) && left_s > 0) { /* not NaN */
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
    if (spent_s < FIRST_S - 1) { /* in between, to look alone */
        work_is_steady(&waited_total_s, spent_s, work_left_s());
        alarm(FIRST_S - FIRST_S / 2);
        return;
    }
    waiting_put(&l, "weft ");
    waiting_put(&l, waited_for);
    waiting_put(&l, ": ");
    waiting_put_s(&l, spent_s);
    waiting_put_all(&l, spent_s);
    waiting_put(&l, "\n");
    /* What cannot be said is not. */
    ssize_t written = write(STDERR_FILENO, l.s, l.n);
    alarm(written < 0 || spent_s > 1e8 ? 0 : (unsigned)(spent_s + 0.5));
}

/* Commands that show their progress, or are to be quiet, call alarm(0). */
static void waiting_begin(const struct command *c)
{
    struct sigaction action = { .sa_handler = waiting_say, .sa_flags = SA_RESTART };
    waited_for = c->name;
    waited_since_s = clock_now_s();
    waited_total_s = NAN;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGALRM, &action, NULL) == 0)
        alarm(FIRST_S / 2);
}

/* Of a command that reads studies, operands that are bare names become paths, kept in @p found. */
static int find_studies(struct run *run, struct text found[OPTIONS_MAX_OPERANDS], struct err *e)
{
    const bool reads = command_reads_studies(run->command);
    int rc = 0;
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
        for (int i = 0; i < n_commands; i++)
            text_printf(&names, "%s%s", i ? ", " : "", commands[i]->name);
        err_set(&e, ERR_USAGE, "no command given; commands: %s", text_str(&names));
        text_free(&names);
        return misused("", &e);
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return show_help(NULL);
    if (strcmp(name, "--version") == 0)
        return show_version(argc - 2, argv + 2);
    if (strcmp(name, "help") == 0)
        return help_command(argc - 2, argv + 2);
    if (name[0] == '-') {
        err_set(&e, ERR_USAGE, "unknown option %.100s; the command comes first", name);
        return misused("", &e);
    }
    const struct command *c = commands_find(name, &e);
    return c ? run_command(c, argc - 2, argv + 2) : misused("", &e);
}
