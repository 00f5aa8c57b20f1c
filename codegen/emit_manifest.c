/* codegen/emit_manifest.c - MANIFEST: the SHA-256 of every input, so that a stale output is seen
 * without running the generator: the schemas, the overlay, the generator's own sources.
 *
 * Of a schema the facts are hashed, not the bytes, so that a published file and its import give the
 * same output.
 */
#include "codegen/emit.h"

#include "codegen/file.h"
#include "codegen/import.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

static void add_hash(struct buf *text, struct str bytes, struct str name)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    must(EVP_Digest(bytes.p, bytes.n, hash, &n, EVP_sha256(), NULL) ? hash : NULL);
    for (unsigned i = 0; i < n; i++)
        buf_printf(text, "%02x", hash[i]);
    buf_printf(text, "  " STR_FMT "\n", STR_ARG(name));
}

static void add_file(const char *path, struct str name, bool facts, struct buf *text)
{
    struct buf bytes = {0}, imported = {0}, why = {0};
    if (file_read(path, &bytes) < 0)
        fault_at((struct place){path, 0}, "cannot be read: %s", strerror(errno));
    else if (facts && import_text(path, buf_str(&bytes), &imported, &why) < 0)
        fault_line(why.p, (int)why.n);
    else
        add_hash(text, buf_str(facts ? &imported : &bytes), name);
    buf_done(&bytes);
    buf_done(&imported);
    buf_done(&why);
}

static int is_source(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && *entry->d_name != '.' &&
           (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".re") || !strcmp(dot, ".y"));
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_sources(const struct model *model, const char *dir, struct buf *text)
{
    struct dirent **list;
    int n = scandir(dir, &list, is_source, by_bytes);
    if (n < 0) {
        fault_at((struct place){dir, 0}, "cannot be read: %s", strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        add_file(arena_printf(model->arena, "%s/%s", dir, list[i]->d_name).p,
                 arena_printf(model->arena, "codegen/%s", list[i]->d_name), false, text);
        free(list[i]);
    }
    free(list);
}

void emit_manifest(const struct model *model, const char *sources_dir, struct out *out)
{
    struct buf *text = out_open(out, NULL, "MANIFEST");
    for (unsigned i = 0; i < model->n_revisions; i++)
        add_file(model->revisions[i].file.path,
                 arena_printf(model->arena, "spec/" STR_FMT "/schema.json",
                              STR_ARG(model->revisions[i].name)),
                 true, text);
    add_file(model->overlay.path, STR("spec/overlay.mcp"), false, text);
    add_sources(model, sources_dir, text);
}
