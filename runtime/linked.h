/* linked.h - components that are part of the program: `make LINKED="mine.c other.c"`.
 *
 * The Makefile writes the list and compiles each file with a name of its own in place of
 * tenon_component, so one file makes a shared object or a part of the program as it stands. They
 * are named "linked:mine", and offered before those that are loaded.
 */
#ifndef TENON_LINKED_H
#define TENON_LINKED_H

struct tenon;

struct linked_component {
    const char *name; /* NULL: the end */
    int (*entry)(struct tenon *tenon);
};

extern const struct linked_component linked_components[];

#endif
