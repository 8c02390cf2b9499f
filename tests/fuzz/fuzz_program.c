/* The whole program: the first byte picks a command line, the rest is its study. It ends with a code of the
 * manual, and says why on standard error where that is not 0. Run with -close_fd_mask=3: the program's output
 * is not looked at. For libFuzzer. */
#define main weft_main
#include "cli/main.c"
#undef main

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names of files in a study are sought beside it: where the project's own lie. */
static char study[PATH_MAX], folder[PATH_MAX];

static void make_folder(void)
{
    char configs[PATH_MAX], link_path[PATH_MAX + 16];
    assert(realpath("configs", configs));
    snprintf(folder, sizeof folder, "%s/weft-fuzz-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
    assert(mkdir(folder, 0700) == 0);
    for (const char *const *sub = (const char *const[]){ "networks", "npus", "parts", "models", "workloads",
                                                         "curves", "clusters", "studies", NULL };
         *sub; sub++) {
        char target[2 * PATH_MAX];
        snprintf(target, sizeof target, "%s/%s", configs, *sub);
        snprintf(link_path, sizeof link_path, "%.4000s/%s", folder, *sub);
        assert(symlink(target, link_path) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const lines[][6] = {
        { "topo" },
        { "alloc" },
        { "sim" },
        { "explain" },
        { "check" },
        { "sweep" },
        { "sweep", "--dry-run" },
        { "sweep", "--of", "csv" },
        { "place" },
        { "hetero" },
        { "gossip" },
        { "sim", "--of", "json" },
        { "alloc", "--of", "json" },
        { "explain", "--of", "json" },
        { "place", "--dry-run" },
    };
    enum { N = sizeof lines / sizeof lines[0] };
    char *argv[10] = { "weft" };
    int argc = 1;
    if (size < 1)
        return 0;
    if (!folder[0])
        make_folder();
    snprintf(study, sizeof study, "%.4000s/study.yaml", folder);
    FILE *f = fopen(study, "wb");
    assert(f && fwrite(data + 1, 1, size - 1, f) == size - 1 && fclose(f) == 0);
    for (const char *const *word = lines[data[0] % N]; word < lines[data[0] % N] + 6 && *word; word++)
        argv[argc++] = (char *)(uintptr_t)*word;
    argv[argc++] = study;
    int code = weft_main(argc, argv);
    assert(code == 0 || code == 1 || code == 3 || code == 4);
    fflush(stdout);
    unlink(study);
    return 0;
}
