/* Whole files are told of in test_base_text.c, which writes through the same calls. */
#include "tests/unit/folder.h"
#include <sys/stat.h>
#include <unistd.h>

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
