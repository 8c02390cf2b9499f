/* Whole files are told of in test_base_text.c, which writes through the same calls. */
#include "tests/unit/folder.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/infile.h"
#include "base/outfile.h"

FOLDER_FOR("out.csv")

TEST_WITH(pieces_appear_together_at_the_end, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct outfile f = { 0 };
    OK(outfile_begin(&f, s->path, false, e));
    OK(outfile_put(&f, "one ", 4, e));
    OK(outfile_put(&f, "", 0, e));
    assert_int_not_equal(access(s->path, F_OK), 0);
    OK(outfile_put(&f, "two", 3, e));
    OK(outfile_end(&f, e));
    assert_holds(s->path, "one two");
    outfile_drop(&f); /* what is ended stays */
    assert_holds(s->path, "one two");
    assert_int_equal(scratch_count(s->dir), 1);
}

TEST_WITH(what_is_dropped_leaves_nothing_and_what_was_there, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct outfile f = { 0 };
    for (int old = 0; old < 2; old++) {
        OK(outfile_begin(&f, s->path, true, e));
        OK(outfile_put(&f, "new", 3, e));
        outfile_drop(&f);
        assert_int_equal(scratch_count(s->dir), old);
        scratch_file(s->path, s->dir, "out.csv", "old", 3);
    }
    assert_holds(s->path, "old");
    outfile_drop(&f);
}

TEST_WITH(a_killed_process_leaves_nothing, make_folder, remove_folder)
{
    struct folder *s = *state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct outfile f = { 0 };
        if (outfile_begin(&f, s->path, false, e) || outfile_put(&f, "part", 4, e))
            _exit(1);
        _exit(f.side ? 2 : 0); /* a file system without nameless files */
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        skip();
    assert_int_equal(scratch_count(s->dir), 0);
}

TEST_WITH(a_file_that_comes_up_meanwhile_is_kept_unless_forced, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct outfile f = { 0 };
    for (int force = 0; force < 2; force++) {
        OK(outfile_begin(&f, s->path, force, e));
        OK(outfile_put(&f, "ours", 4, e));
        scratch_file(s->path, s->dir, "out.csv", "theirs", 6);
        if (force)
            OK(outfile_end(&f, e));
        else
            FAILS(outfile_end(&f, e), ERR_USAGE, "out.csv: exists; use -f to overwrite it");
        assert_holds(s->path, force ? "ours" : "theirs");
        assert_int_equal(scratch_count(s->dir), 1);
        assert_int_equal(remove(s->path), 0);
    }
}

TEST_WITH(an_existing_file_is_refused_before_anything_is_written, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct outfile f = { 0 };
    scratch_file(s->path, s->dir, "out.csv", "old", 3);
    FAILS(outfile_begin(&f, s->path, false, e), ERR_USAGE, "out.csv: exists; use -f to overwrite it");
    FAILS(outfile_begin(&f, "/dev/full/x", false, e), ERR_IO, "cannot be written: Not a directory");
    OK(outfile_begin(&f, "/dev/full", false, e));
    FAILS(outfile_put(&f, "x", 1, e), ERR_IO, "/dev/full: cannot be written: No space left on device");
    outfile_drop(&f);
}

/* The last of three cannot have its name: the others give back theirs. */
TEST_WITH(files_get_their_names_together_or_none_does, make_folder, remove_folder)
{
    struct folder *s = *state;
    char old[SUPPORT_PATH], fresh[SUPPORT_PATH];
    scratch_path(fresh, s->dir, "new.csv");
    for (int taken = 0; taken < 2; taken++) {
        struct outfile f[3] = { { 0 } };
        scratch_file(old, s->dir, "old.csv", "old", 3);
        OK(outfile_begin(&f[0], old, true, e));
        OK(outfile_begin(&f[1], fresh, false, e));
        OK(outfile_begin(&f[2], s->path, false, e));
        for (int i = 0; i < 3; i++)
            OK(outfile_put(&f[i], "ours", 4, e));
        if (taken)
            scratch_file(s->path, s->dir, "out.csv", "theirs", 6);
        if (taken)
            FAILS(outfile_end_all(f, 3, e), ERR_USAGE, "out.csv: exists; use -f to overwrite it");
        else
            OK(outfile_end_all(f, 3, e));
        assert_holds(old, taken ? "old" : "ours");
        assert_holds(s->path, taken ? "theirs" : "ours");
        assert_int_equal(access(fresh, F_OK), taken ? -1 : 0);
        assert_int_equal(scratch_count(s->dir), 3 - taken);
        assert_int_equal(remove(s->path), 0);
        assert_int_equal(taken ? 0 : remove(fresh), 0);
    }
}

TEST_WITH(links_stay_also_those_that_lead_to_no_file_yet, make_folder, remove_folder)
{
    struct folder *s = *state;
    char target[SUPPORT_PATH], link[SUPPORT_PATH];
    struct stat st;
    scratch_path(target, s->dir, "target.csv");
    scratch_path(link, s->dir, "link.csv");
    assert_int_equal(symlink("target.csv", link), 0);
    assert_int_equal(symlink(link, s->path), 0);
    for (int there = 0; there < 2; there++) {
        struct outfile f = { 0 };
        OK(outfile_begin(&f, s->path, true, e));
        OK(outfile_put(&f, there ? "two" : "one", 3, e));
        OK(outfile_end(&f, e));
        assert_true(lstat(s->path, &st) == 0 && S_ISLNK(st.st_mode));
        assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
        assert_true(lstat(target, &st) == 0 && S_ISREG(st.st_mode));
        assert_holds(target, there ? "two" : "one");
    }
    assert_int_equal(remove(target), 0);
    assert_int_equal(remove(link), 0);
    assert_int_equal(symlink("out.csv", link), 0); /* in a circle */
    struct outfile f = { 0 };
    FAILS(outfile_begin(&f, link, true, e), ERR_IO,
          "link.csv: cannot be written: Too many levels of symbolic");
}

TEST_WITH(one_thing_has_many_names, make_folder, remove_folder)
{
    struct folder *s = *state;
    char other[SUPPORT_PATH], roundabout[2 * SUPPORT_PATH], link[SUPPORT_PATH];
    scratch_path(other, s->dir, "other.csv");
    scratch_path(link, s->dir, "link.csv");
    snprintf(roundabout, sizeof roundabout, "%s/./out.csv", s->dir);
    assert_int_equal(symlink("./out.csv", link), 0);
    for (int there = 0; there < 2; there++) {
        assert_true(outfile_is_same(s->path, roundabout));
        assert_true(outfile_is_same(link, roundabout));
        assert_false(outfile_is_same(s->path, other));
        assert_false(outfile_is_same(link, other));
        assert_false(outfile_is_same(s->path, "-"));
        assert_int_equal(outfile_replaces(link), there);
        scratch_file(s->path, s->dir, "out.csv", "here", 4);
    }
    assert_true(outfile_is_same("-", "/dev/fd/1"));
    assert_true(outfile_is_stdout("/dev/stdout") && outfile_is_stdout("/proc/self/fd/1"));
    assert_false(outfile_is_stdout("/dev/fd/") || outfile_is_stdout("/dev/fd/1x") || outfile_is_stdout(NULL));
}

/* "-" is standard output, here no file; "./-" would be a file, which is not there yet. */
TEST(standard_output_is_no_file_called_so)
{
    int stdout_fd = dup(STDOUT_FILENO), null_fd = open("/dev/null", O_WRONLY);
    assert_true(stdout_fd >= 0 && dup2(null_fd, STDOUT_FILENO) == STDOUT_FILENO);
    bool same = outfile_is_same("-", "./-") || outfile_is_same("./-", "-");
    /* Two outputs that end in one device do not overwrite each other. */
    same = same || outfile_is_same("-", "/dev/null") || outfile_is_same("/dev/null", "-");
    dup2(stdout_fd, STDOUT_FILENO);
    close(stdout_fd);
    close(null_fd);
    assert_false(same);
}

/* What was written before stays, and other descriptors of this process are nobody's. */
TEST_WITH(a_descriptor_goes_on_where_it_is, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct outfile f = { 0 };
    char name[SUPPORT_PATH];
    int fd = open(s->path, O_WRONLY | O_CREAT, 0600);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(write(fd, "head ", 5), 5);
    OK(outfile_begin(&f, name, false, e));
    OK(outfile_put(&f, "ours", 4, e));
    OK(outfile_end(&f, e));
    assert_int_equal(write(fd, " tail", 5), 5);
    assert_holds(s->path, "head ours tail");
    assert_false(outfile_replaces(name));
    OK(outfile_check_folder(name, e));
    assert_int_equal(fcntl(fd, F_SETFD, FD_CLOEXEC), 0);
    FAILS(outfile_check_folder(name, e), ERR_IO, "cannot be written: Bad file descriptor");
    FAILS(outfile_begin(&f, name, true, e), ERR_IO, "cannot be written: Bad file descriptor");
    close(fd);
    FAILS(outfile_begin(&f, name, true, e), ERR_IO, "cannot be written: Bad file descriptor");
}

/* In a child, as what is remembered is of the process. */
static int child_replaces(const struct folder *s, bool remembers)
{
    struct outfile f[2] = { { 0 } };
    struct text content = { 0 };
    char link[SUPPORT_PATH];
    struct err err, *e = &err;
    scratch_path(link, s->dir, "link.csv");
    if (remembers)
        infile_remember();
    int rc = text_read_file(&content, s->path, 100, e);
    rc = rc ? rc : outfile_begin(&f[0], link, true, e);
    rc = rc ? rc : outfile_begin(&f[1], "/dev/null", true, e);
    rc = rc ? rc : outfile_end_all(f, 2, e);
    text_free(&content);
    return rc;
}

TEST_WITH(what_was_read_is_not_replaced_under_another_name, make_folder, remove_folder)
{
    struct folder *s = *state;
    char link[SUPPORT_PATH];
    scratch_path(link, s->dir, "link.csv");
    for (int remembers = 1; remembers >= 0; remembers--) {
        int status = -1;
        scratch_file(s->path, s->dir, "out.csv", "read", 4);
        assert_int_equal(symlink("out.csv", link), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(child_replaces(s, remembers));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), (remembers ? ERR_USAGE : 0) & 0xff);
        assert_holds(s->path, remembers ? "read" : "");
        assert_int_equal(scratch_count(s->dir), 2);
        assert_int_equal(remove(link), 0);
    }
}

/* How many of N_READ files are taken for what they are not, where all but each third were read, twice and in
 * another order than they were made. */
enum { N_READ = 300 };
static int child_remembers(const struct folder *s)
{
    int n_wrong = 0;
    struct stat st;
    struct text content = { 0 };
    struct err err, *e = &err;
    char name[32], path[SUPPORT_PATH];
    infile_remember();
    for (int k = 0; k < 3 * N_READ; k++) {
        int i = k < N_READ ? k : k * 97 % N_READ;
        snprintf(name, sizeof name, "%d.csv", i);
        scratch_path(path, s->dir, name);
        if (k < N_READ)
            scratch_file(path, s->dir, name, "read", 4);
        else if (i % 3)
            n_wrong += text_read_file(&content, path, 100, e) != 0;
        if (k >= 2 * N_READ)
            n_wrong += stat(path, &st) != 0 || infile_was_read(&st) != (i % 3 != 0);
        text_clear(&content);
    }
    text_free(&content);
    return n_wrong > 0;
}

TEST_WITH(each_of_many_files_that_were_read_is_known, make_folder, remove_folder)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(child_remembers(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_WITH(permissions_stay_also_none_at_all, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct outfile f = { 0 };
    struct stat st;
    scratch_file(s->path, s->dir, "out.csv", "old", 3);
    assert_int_equal(chmod(s->path, 0), 0);
    OK(outfile_begin(&f, s->path, true, e));
    OK(outfile_end(&f, e));
    assert_int_equal(stat(s->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0);
}
