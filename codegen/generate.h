/* codegen/generate.h - `tenon-gen generate`: from spec/ to generated/. */
#ifndef TENON_CODEGEN_GENERATE_H
#define TENON_CODEGEN_GENERATE_H

/* `tenon-gen generate [--spec DIR] [--out DIR] [--sources DIR]`: argv[0] is "generate". Writes
 * nothing if anything is wrong, and only files whose text changed. Returns the exit status: 0, 1
 * for a fault in the input or the file system, 2 for a wrong call. */
int generate_main(int argc, char **argv);

#endif
