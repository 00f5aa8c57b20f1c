/* tests/fuzz/replay.c - runs the corpus and the past crashes through one fuzz target, without a
 * fuzzer, and reports each file as a TAP line.
 *
 * The program's own name says which: .../fuzz_x reads tests/fuzz/corpus/fuzz_x/ and
 * tests/fuzz/regression/fuzz_x/. Each input ends at the end of its allocation, so that ASan sees an
 * overrun.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int n_run;

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    int ok = data && size >= 0 && fread(data, 1, (size_t)size, f) == (size_t)size;
    fclose(f);
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return ok ? 0 : -1;
}

static int replay_folder(const char *kind, const char *target)
{
    char path[512];
    int failed = 0;
    snprintf(path, sizeof path, "tests/fuzz/%s/%s", kind, target);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "tests/fuzz/%s/%s/%s", kind, target, e->d_name);
        int err = replay(path);
        printf("%sok %d - %s\n", err ? "not " : "", ++n_run, path);
        fflush(stdout);
        failed |= err;
    }
    if (dir)
        closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    const char *target = slash ? slash + 1 : argv[0];
    int failed = replay_folder("corpus", target) | replay_folder("regression", target);
    /* a target without a corpus still has to survive nothing at all */
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    printf("ok %d - %s survives empty input\n1..%d\n", n_run + 1, target, n_run + 1);
    return failed ? 1 : 0;
}
