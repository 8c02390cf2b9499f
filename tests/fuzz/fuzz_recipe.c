/* Any bytes as a training recipe, of the program that the first one says ('a' is the first): refused with a
 * message, or a workload that is YAML again, whose model and plan are read or refused. For libFuzzer. */
#include "tests/fuzz/memory_file.h"

#include <assert.h>
#include <string.h>

#include "base/yaml.h"
#include "workloads/model.h"
#include "workloads/readers/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_workload(const struct text *out)
{
    struct yaml_doc doc;
    struct err e = { 0 };
    struct model m;
    int rc = yaml_read_text(&doc, "workload", out->s, out->n, &e);
    assert(rc == 0);
    yaml_id model = yaml_get(&doc, doc.root, "model");
    assert(model >= 0 && yaml_get(&doc, doc.root, "parallel") >= 0);
    rc = model_read(&m, &doc, model, &e);
    assert(rc == 0 || (e.code == (enum err_code)rc && e.msg[0]));
    yaml_free(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t npus[] = { 0, 8, 96 };
    if (size < 1)
        return 0;
    char path[MEMORY_PATH];
    int fd = memory_file(path, data + 1, size - 1),
        format = (data[0] + N_RECIPE_FORMATS - 'a' % N_RECIPE_FORMATS) % N_RECIPE_FORMATS;
    struct text out = { 0 }, notes = { 0 };
    struct err e = { 0 };
    int rc = recipe_format_workload(&out, &notes, (enum recipe_format)format, path,
                                    npus[data[0] / N_RECIPE_FORMATS % 3], "", &e);
    assert(rc == 0 ? e.code == 0 : e.code == (enum err_code)rc && e.msg[0]);
    if (rc == 0)
        check_workload(&out);
    text_free(&out);
    text_free(&notes);
    close(fd);
    return 0;
}
