/* The whole program: the first byte picks a command line, the rest is the file that it is of: a study, a
 * store, or measured operators. It ends with a code of the manual. Run with -close_fd_mask=3: what it prints
 * is not looked at. Threads and processes end as they would in the program; limits of time and memory are
 * libFuzzer's. For libFuzzer. */
int weft_main(int argc, char **argv);
#define main weft_main
#include "cli/main.c"
#undef main

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names of files in a study are sought beside it: where the project's own lie. */
static char study[PATH_MAX], folder[PATH_MAX];

static void make_folder(void)
{
    char here[PATH_MAX], link_path[PATH_MAX + 16];
    assert(getcwd(here, sizeof here));
    snprintf(folder, sizeof folder, "%s/weft-fuzz-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
    assert(mkdir(folder, 0700) == 0);
    for (const char *const *sub =
             (const char *const[]){ "networks", "npus", "servers", "systems", "parts", "models", "workloads",
                                    "curves", "clusters", "studies", NULL };
         *sub; sub++) {
        char target[2 * PATH_MAX];
        snprintf(target, sizeof target, "%s/configs/%s", here, *sub);
        snprintf(link_path, sizeof link_path, "%.4000s/%s", folder, *sub);
        assert(symlink(target, link_path) == 0);
    }
}

/* Command lines: tests/fuzz/run.sh makes seeds by these numbers, so new ones come last. "@" is the file, "@/"
 * begins a path in its folder. */
static const char *const lines[][7] = {
    { "topo", "@" },
    { "alloc", "@" },
    { "sim", "@" },
    { "explain", "@" },
    { "check", "@" },
    { "sweep", "@" },
    { "sweep", "@", "--dry-run" },
    { "sweep", "@", "--of", "csv" },
    { "place", "@" },
    { "hetero", "@" },
    { "gossip", "@" },
    { "sim", "@", "--of", "json" },
    { "alloc", "@", "--of", "json" },
    { "explain", "@", "--of", "json" },
    { "place", "@", "--dry-run" },
    { "fail", "@" },
    { "tornado", "@" },
    { "export", "@" },
    { "front", "@", "--of", "csv" },
    { "merge", "-f", "@/out.db", "@" },
    { "calibrate", "--npu", "@/npus/a100-80gb.yaml", "@" },
    { "calibrate", "@" },
};

static char *word_of(char *path, const char *word)
{
    if (*word != '@')
        return (char *)(uintptr_t)word;
    if (!word[1])
        return study;
    snprintf(path, PATH_MAX, "%.3000s%.1000s", folder, word + 1);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[2][PATH_MAX];
    enum { N = sizeof lines / sizeof lines[0], WORDS = sizeof lines[0] / sizeof lines[0][0] };
    char *argv[WORDS + 3] = { "weft" };
    int argc = 1, n_paths = 0;
    if (size < 1)
        return 0;
    if (!folder[0])
        make_folder();
    snprintf(study, sizeof study, "%.4000s/study.yaml", folder);
    FILE *f = fopen(study, "wb");
    assert(f && fwrite(data + 1, 1, size - 1, f) == size - 1 && fclose(f) == 0);
    for (int i = 0; i < WORDS && lines[data[0] % N][i]; i++) {
        const char *word = lines[data[0] % N][i];
        argv[argc++] = word_of(path[n_paths], word);
        n_paths += argv[argc - 1] == path[n_paths];
    }
    /* Without it weft takes the signal that libFuzzer counts time by. */
    argv[argc++] = (char *)(uintptr_t) "-q";
    int code = weft_main(argc, argv);
    /* A table without the columns that `front` goes by asks for an option. */
    bool asks = code == 2 && strcmp(argv[1], "front") == 0;
    assert(code == 0 || code == 1 || code == 3 || code == 4 || asks);
    fflush(stdout);
    unlink(study);
    return 0;
}
