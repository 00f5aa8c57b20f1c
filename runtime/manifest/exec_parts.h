/* manifest/exec_parts.h - what the files exec_*.c share. */
#ifndef TENON_MANIFEST_EXEC_PARTS_H
#define TENON_MANIFEST_EXEC_PARTS_H

#include "manifest/exec.h"
#include "manifest/placeholders.h"
#include "wire/tape.h"

#include <sys/types.h>

enum exec_output { EXEC_TEXT, EXEC_JSON, EXEC_LINES };

struct exec_word {
    struct placeholders text;
    uint32_t group; /* 0: none. Words of one stand together, and are left out together */
};

struct exec {
    struct str tool;
    const char *program; /* absolute path */
    const char *folder;
    const struct exec_word *words; /* the first is literal */
    uint32_t n_words;
    char *const *environment; /* ends with NULL */
    enum exec_output output;
    bool wants_arguments; /* on stdin */
    bool allows_dashes;
    int64_t timeout_ms;
    size_t bytes_max;
};

struct exec_why {
    char text[200];
};

/* exec_argv.c: the words of one call, in the arena, ending with NULL. 0; ERR_PARAMS with *ret_why;
 * ERR_NO_MEMORY. */
int exec_expand(const struct exec *exec, const struct tape_node *args, struct arena *arena,
                char *const **ret, struct exec_why *ret_why);

/* ---- exec_spawn.c: processes ---------------------------------------------------------------- */

struct exec_child {
    pid_t pid;        /* also of its group */
    int pidfd;        /* readable once it has ended; -1: the system has none */
    int in, out, err; /* our ends, which do not block; -1: closed */
};

/* Runs it. 0, or the errno of what failed. */
int exec_spawn(const struct exec *exec, char *const *argv, struct exec_child *ret);
/* To the whole group. */
void exec_signal(const struct exec_child *child, int signal);
/* Whether it has ended; its place stays taken until exec_bury. */
bool exec_has_ended(const struct exec_child *child);
/* After that: ends what is left of its group and closes all. Its status as of waitpid. */
int exec_bury(struct exec_child *child);
void exec_close(int *fd);

/* ---- exec_output.c: what it writes ---------------------------------------------------------- */

/* Valid UTF-8 without NUL: what is neither becomes U+FFFD. A text that ends with NUL in the
 * arena, or absent: no memory. */
struct str exec_text(struct arena *arena, struct str bytes);

/* What an output comes to: a result that was given to the call, or a text that says why not. */
struct exec_outcome {
    bool has_result;
    struct str error; /* of {"error": ..}, or the texts of a result that `isError` */
};

/* Gives a result, a string or an object. 0; ERR_PARAMS with *ret_why; ERR_NO_MEMORY. */
int exec_give(struct tenon_call *call, const struct tape_node *result, struct arena *arena,
              struct exec_outcome *ret, struct exec_why *ret_why);
/* The same of the text of a whole output. */
int exec_give_text(struct tenon_call *call, struct str json, struct arena *arena,
                   struct exec_outcome *ret, struct exec_why *ret_why);
/* One line of "lines"; blank ones are nothing. The same; ret->has_result may be set already. */
int exec_take_line(struct tenon_call *call, struct str line, struct arena *arena,
                   struct exec_outcome *ret, struct exec_why *ret_why);

#endif
