/* tests/unit/manifest_rig.h - folders with a component.json for tests: written, loaded, offered. */
#ifndef TENON_TESTS_MANIFEST_RIG_H
#define TENON_TESTS_MANIFEST_RIG_H

#include "base/err.h"
#include "core/component.h"
#include "manifest/manifest.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* behind what it needs */
#include <cmocka.h>

static char rig_folder[64];

static inline int rig_open(void **state)
{
    (void)state;
    strcpy(rig_folder, "/tmp/tenon-manifest-XXXXXX");
    return mkdtemp(rig_folder) ? 0 : -1;
}

static inline int rig_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline int rig_close(void **state)
{
    (void)state;
    return nftw(rig_folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_open, rig_close)

static inline void rig_write_bytes(const char *name, const void *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", rig_folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static inline void rig_write(const char *name, const char *text)
{
    rig_write_bytes(name, text, strlen(text));
}

/* Loads the folder and registers it; what is wrong is in its faults. */
static inline int rig_load(struct tenon *tenon, struct manifest **ret)
{
    int err = manifest_load(str_of(rig_folder), ret);
    if (err == 0)
        err = components_fill(tenon, str_of(rig_folder), manifest_register, *ret);
    return err;
}

/* The i-th fault without the name of the file: ":3: /prompts/0: expected ..."; "": there is none.
 */
static inline const char *rig_fault(const struct manifest *m, uint32_t i)
{
    return i < m->faults.n && i < MANIFEST_FAULTS_MAX ? m->faults.lines[i].p + m->file.n : "";
}

#endif
