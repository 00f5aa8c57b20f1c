/* config_parts.h - what the files that read settings share: config.c holds the table of keys, and
 * judges and stores values; config_file.c reads the file. */
#ifndef TENON_CONFIG_PARTS_H
#define TENON_CONFIG_PARTS_H

#include "config.h"
#include "schema/json_schema.h"

enum kind { COUNT, RATE, SWITCH, TEXT, HEADER, ADDRESS, ADDRESS_OR_OFF, PATH, MODE, LIST };

struct key {
    const char *path;
    enum kind kind;
    uint16_t offset; /* in struct config */
    uint32_t min, max;
    const char *standard; /* as a flag would give it; NULL: zero */
    const char *help;     /* NULL: known and checked, but without effect */
};

extern const struct key config_keys[];
extern const size_t config_n_keys;

/* A value on its way into the config, and where complaints about it go. */
struct setting {
    const struct key *key;
    struct config *config;
    struct arena *arena;
    struct config_fault *fault;
    uint32_t line;
};

const struct key *config_find_key(struct str path); /* NULL: a group, or nothing */
/* Fills *fault; each returns the error that it is. */
int config_fault_at(struct config_fault *fault, uint32_t line, struct str path, const char *text);
int config_refuse(const struct setting *setting);
int config_no_memory(struct config_fault *fault);
/* Opens JSON text that is borrowed. */
int config_open_text(struct str text, struct arena *arena, const struct tape_node **ret,
                     struct wire_fault *fault);
/* Judges a value by the schema of a key, or (NULL) of the whole file. As json_schema_check. */
int config_check(const struct key *key, const struct tape_node *value, struct arena *arena,
                 struct schema_faults *faults);
/* Stores a value that has passed. */
int config_store(const struct setting *setting, const struct tape_node *value);

#endif
