/* codegen/diff.h - `tenon-gen diff REV REV [--json] [--spec DIR]`. */
#ifndef TENON_CODEGEN_DIFF_H
#define TENON_CODEGEN_DIFF_H

/* argv[0] is "diff". Prints the changes between DIR/REV/schema.json of the two (DIR: "spec").
 * Returns the exit status: 0, 1 for a file that cannot be read, 2 for a wrong call. */
int diff_main(int argc, char **argv);

#endif
