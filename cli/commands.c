#include "cli/commands.h"

#include <string.h>

#include "study/kind.h"

/* In the order of use; those of one group stand together. */
const struct command *const commands[] = {
    &cmd_new,   &cmd_topo,   &cmd_alloc,  &cmd_sim,    &cmd_explain,   &cmd_fail,    &cmd_check, &cmd_diff,
    &cmd_sweep, &cmd_best,   &cmd_export, &cmd_merge,  &cmd_front,     &cmd_tornado, &cmd_plot,  &cmd_report,
    &cmd_place, &cmd_hetero, &cmd_gossip, &cmd_import, &cmd_calibrate, &cmd_keys,
};
const int n_commands = sizeof commands / sizeof commands[0]; /* NOLINT(bugprone-sizeof-expression) */

const struct exit_meaning exit_meanings[] = {
    { EXIT_DONE, "success",
      "Also a search whose best design is not proved against every plan (unproved), which is said on\n"
      "standard error." },
    { EXIT_FAILED, "run-time failure",
      "Memory, files, libraries; or a split whose proof falls short (stalled)." },
    { EXIT_USAGE, "invalid command line", "Nothing was read." },
    { EXIT_INPUT, "invalid input",
      "A file, or what it says, is wrong. The message starts with FILE:LINE:COLUMN." },
    { EXIT_NO_DESIGN, "no feasible design or over budget",
      "Infeasible, unbounded, ill-posed; a model that does not fit in the memory of an NPU; a search without "
      "a\n"
      "plan; or over budget." },
    { EXIT_INTERRUPT, "interrupted",
      "Nothing is written but what a store has, with which the same command goes on." },
};
const int n_exit_meanings = sizeof exit_meanings / sizeof exit_meanings[0];

static void put_exit_codes(struct text *out)
{
    enum { BREAK = 4 }; /* as many as fit on a line */
    text_puts(out, "\nExit codes: ");
    for (int i = 0; i < n_exit_meanings; i++)
        text_printf(out, "%s%d %s",
                    i == 0       ? ""
                    : i == BREAK ? ",\n            "
                                 : ", ",
                    exit_meanings[i].code, exit_meanings[i].brief);
    text_puts(out, "\n");
}

void commands_list(struct text *out)
{
    text_puts(out, "Usage: weft COMMAND [OPTIONS] FILE\n"
                   "       weft help COMMAND\n"
                   "       weft --version [--verbose]\n");
    const char *group = "";
    for (int i = 0; i < n_commands; i++) {
        if (strcmp(group, commands[i]->group) != 0)
            text_printf(out, "\n%s:\n", commands[i]->group);
        group = commands[i]->group;
        text_printf(out, "  %-9s %s\n", commands[i]->name, commands[i]->help);
    }
    text_puts(out, "\nA FILE that describes a network may be a word instead: \"ring:4@250 switch:32@50\".\n");
    put_exit_codes(out);
}

void commands_describe(struct text *out, const struct command *c)
{
    text_printf(out, "Usage: weft %s [OPTIONS]%s%s\n\n%s", c->name, *c->scope.operands ? " " : "",
                c->scope.operands, c->about);
    options_help(out, c->scope.groups);
    put_exit_codes(out);
}

const struct command *commands_find(const char *name, struct err *e)
{
    const char *names[sizeof commands / sizeof commands[0] + 1]; /* NOLINT(bugprone-sizeof-expression) */
    for (int i = 0; i < n_commands; i++) {
        names[i] = commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return commands[i];
    }
    /* Not in the table, as it takes no options, but something to suggest. */
    names[n_commands] = "help";
    err_set(e, ERR_USAGE, "command \"%.100s\" is unknown", name);
    err_suggest(e, text_suggest(name, names, (size_t)n_commands + 1));
    return NULL;
}

bool command_reads_studies(const struct command *c)
{
    bool reads = false;
    for (const struct option_group *const *g = c->scope.groups; *g; g++)
        reads = reads || *g == &options_study || *g == &options_set;
    return reads;
}

const struct study_kind *command_kind(const struct command *c)
{
    for (int32_t i = 0; i < n_study_kinds; i++)
        if (strcmp(study_kinds[i]->word, c->name) == 0)
            return study_kinds[i];
    return NULL;
}

int command_write_list(struct text *out, const struct command *c, struct err *e)
{
    const struct study_kind *kind = command_kind(c);
    return c->list ? c->list(out, e) : kind && kind->list ? kind->list(out, e) : 0;
}
