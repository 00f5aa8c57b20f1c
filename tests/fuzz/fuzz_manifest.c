/* tests/fuzz/fuzz_manifest.c - component.json: whatever it holds is offered, or there is a fault
 * with the name of the file; nothing is run, and no file outside the folder is read. */
#include "base/err.h"
#include "core/component.h"
#include "manifest/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[96];

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

/* One of this process, gone at its end. */
static void make_folder(void)
{
    strcpy(folder,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/tenon-fuzz-XXXXXX" : "/tmp/tenon-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/" MANIFEST_FILE, folder);
    atexit(remove_folder);
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void check_faults(const struct manifest *m, int err)
{
    if ((err == ERR_PARAMS) != (m->faults.n > 0))
        abort();
    for (uint32_t i = 0; i < m->faults.n && i < MANIFEST_FAULTS_MAX; i++)
        if (!str_starts_with(m->faults.lines[i], m->file))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest *m;
    struct tenon *tenon;
    if (!*folder)
        make_folder();
    write_file(data, size);
    int err = manifest_load(str_of(folder), &m);
    if (err < 0 && err != ERR_PARAMS)
        return 0;
    check_faults(m, err);
    if (err == 0 && components_new(&tenon) == 0) {
        err = components_fill(tenon, m->folder, manifest_register, m);
        check_faults(m, err);
        components_free(tenon);
    }
    manifest_free(m);
    return 0;
}
