/* Which keys name files, and in which step of reading a study they are followed. */
#include "study/source.h"
#include "tests/support.h"

TEST(keys_that_name_files_are_followed_in_their_step)
{
    CASES(const char *path; enum source_step step) = {
        { "network.parts", SOURCE_NAMES },
        { "workloads[0]", SOURCE_NAMES },
        { "workloads[120].workload", SOURCE_NAMES },
        { "network.npu", SOURCE_INNER },
        { "workload.model", SOURCE_INNER },
        { "workloads[1].workload.model", SOURCE_INNER },
        { "job.model", SOURCE_INNER },
        { "job.npu", SOURCE_INNER },
        { "types[0].npu", SOURCE_INNER },
        { "types.a.npu", SOURCE_INNER },
        { "network.dims[3].curves", SOURCE_INNER },
        { "network.dims.pod.curves", SOURCE_INNER },
        { "network.dims.pod.curves[0]", SOURCE_REST },
        { "network.dims.curves.size", SOURCE_REST },
        { "network.parts.name", SOURCE_REST },
        { "dims[0].curves", SOURCE_REST },
        { "mynetwork.npu", SOURCE_REST },
        { "subjob.npu", SOURCE_REST },
        { "type.npu", SOURCE_REST },
        { ".npu", SOURCE_REST },
        { "workloads[1].weight", SOURCE_REST },
        { "workloads[a]", SOURCE_REST },
        { "workloads", SOURCE_REST },
        { "total_GBps", SOURCE_REST },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (source_rules.step_of(cases[i].path) != cases[i].step)
            fail_msg("%s", cases[i].path);
}

/* A word in place of a network's file is a network, a model without dot or slash none of a file's. */
TEST(words_are_told_from_files)
{
    CASES(const char *path, *file, *word) = {
        { "network", "net.yaml", "ring:4 switch:8" },
        { "model", "models/gpt", "slots" },
        { "model", "gpt.yaml", "slots" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (const struct source_names *x = source_rules.names; x->path; x++)
            if (x->step == SOURCE_TOP && strcmp(x->path, cases[i].path) == 0)
                assert_true(x->is_file(cases[i].file) && !x->is_file(cases[i].word));
    KEEP(struct text, out, text_free) = { 0 };
    assert_true(source_rules.is_word("ring:4 switch:8") && !source_rules.is_word("net.yaml"));
    OK(source_rules.put_word(&out, "ring:4@50  switch:8", e));
    assert_string_equal(text_str(&out), "ring:4@50 switch:8");
    FAILS(source_rules.put_word(&out, "ring:1", e), ERR_RANGE, "size is 1");
}
