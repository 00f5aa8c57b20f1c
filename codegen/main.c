/* codegen/main.c - tenon-gen: which command is meant, and help. */
#include "base/version.h"
#include "codegen/diff.h"
#include "codegen/generate.h"
#include "codegen/import.h"

#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name, *arguments, *about;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
} commands[] = {
    {"import", "FILE REV [--out DIR]", "a published schema to spec/REV/", import_main},
    {"generate", "[--spec DIR] [--out DIR] [--sources DIR]", "spec/ to generated/", generate_main},
    {"diff", "REV REV [--json]", "what two revisions differ in", diff_main},
};

static void help(FILE *to)
{
    fputs("usage:\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  tenon-gen %s %s\n        %s\n", commands[i].name, commands[i].arguments,
                commands[i].about);
    fputs("  tenon-gen --help | --version\n"
          "Exit status: 0; 1 if the input or the file system is at fault; 2 for a wrong call.\n",
          to);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0)
        return help(stdout), 0;
    if (strcmp(name, "--version") == 0)
        return puts("tenon-gen " TENON_VERSION), 0;
    help(stderr);
    return 2;
}
