/* codegen/main.c - tenon-gen: which command is meant. */
#include "codegen/diff.h"
#include "codegen/generate.h"
#include "codegen/import.h"

#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
} commands[] = {
    {"import", import_main},
    {"generate", generate_main},
    {"diff", diff_main},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (argc > 1 && strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "usage: tenon-gen import|generate|diff ...\n");
    return 2;
}
