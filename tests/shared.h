/* tests/shared.h - where the suites and published schemas lie that are not part of this repository.
 *
 * TENON_SHARED names the folder; else it is looked for beside the checkout. A test that needs it
 * and finds none is skipped, loudly.
 */
#ifndef TENON_TESTS_SHARED_H
#define TENON_TESTS_SHARED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The path of `name` in the shared folder; NULL, said on stderr, if it is not there. One buffer,
 * overwritten by the next call. */
static inline const char *shared_path(const char *name)
{
    static char path[4096];
    const char *folder = getenv("TENON_SHARED");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared", name);
    if (access(path, R_OK) == 0)
        return path;
    fprintf(stderr, "SKIP: %s is missing (set TENON_SHARED)\n", path);
    return NULL;
}

#endif
