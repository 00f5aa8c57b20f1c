/* core/operations_schemas.h - pieces of the JSON Schemas of operations that more than one uses. */
#ifndef TENON_CORE_OPERATIONS_SCHEMAS_H
#define TENON_CORE_OPERATIONS_SCHEMAS_H

#include "core/file_transfer.h"
#include "core/job_record.h"

#define CLOSED "\"additionalProperties\":false}"

#define NAME_SCHEMA "{\"type\":\"string\",\"maxLength\":64}"
#define TABLE_NAMES "\"database\":" NAME_SCHEMA ",\"table\":" NAME_SCHEMA
/* A table; a table and something of it. */
#define TABLE_SCHEMA                                         \
    "{\"type\":\"object\",\"properties\":{" TABLE_NAMES "}," \
    "\"required\":[\"database\",\"table\"]," CLOSED
#define TABLE_WITH(name, schema)                                                     \
    "{\"type\":\"object\",\"properties\":{" TABLE_NAMES ",\"" name "\":" schema "}," \
    "\"required\":[\"database\",\"table\",\"" name "\"]," CLOSED

#define DEFINITION_SCHEMA                                                                      \
    "{\"type\":\"object\",\"description\":\"As describe_table shows one: primaryKey (name of " \
    "an attribute of type string or integer), schema (JSON Schema of a row, of type object), " \
    "and optionally title, description, indexes (each as create_index takes one).\"}"
#define INDEX_SCHEMA                                                                             \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":64},"      \
    "\"on\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"description\":" \
    "\"Attributes, the first goes first; - before one: descending.\"},\"unique\":{\"type\":"     \
    "\"boolean\"}},\"required\":[\"on\"]," CLOSED

#define FILE_NAME_SCHEMA                                                          \
    "{\"type\":\"string\",\"maxLength\":128,\"pattern\":\"" TRANSFER_NAME_PATTERN \
    "\",\"description\":\"Such as cities.ndjson: json, ndjson or csv.\"}"
#define IMPORT_SCHEMA                                                                 \
    "{\"type\":\"object\",\"properties\":{" TABLE_NAMES ",\"name\":" FILE_NAME_SCHEMA \
    ",\"replace\":{\"type\":\"boolean\"},\"skip_bad\":{\"type\":\"boolean\"}},"       \
    "\"required\":[\"database\",\"table\",\"name\"]," CLOSED

#define JOB_STARTED                                                                     \
    "{\"type\":\"object\",\"properties\":{\"job\":{\"type\":\"string\"}},\"required\":" \
    "[\"job\"]," CLOSED
#define JOB_ID \
    "{\"type\":\"object\",\"properties\":{\"id\":" NAME_SCHEMA "},\"required\":[\"id\"]," CLOSED
#define TIME_SCHEMA  "{\"type\":\"string\",\"format\":\"date-time\"}"
#define COUNT_SCHEMA "{\"type\":\"integer\",\"minimum\":0}"
#define JOB_SCHEMA                                                                                 \
    "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"kind\":{\"type\":"        \
    "\"string\"},\"database\":{\"type\":\"string\"},\"table\":{\"type\":\"string\"},"              \
    "\"state\":{\"enum\":[" JOB_STATE_NAMES "]},\"done\":" COUNT_SCHEMA ",\"total\":" COUNT_SCHEMA \
    ",\"cancelling\":{\"type\":\"boolean\"},\"created\":" TIME_SCHEMA ",\"started\":" TIME_SCHEMA  \
    ",\"finished\":" TIME_SCHEMA ",\"result\":{\"type\":\"object\"},\"error\":{\"type\":"          \
    "\"string\"},\"details\":{\"type\":\"object\"}},\"required\":[\"id\",\"kind\",\"state\","      \
    "\"done\",\"created\"]," CLOSED
#define JOB_LIST_INPUT                                                                 \
    "{\"type\":\"object\",\"properties\":{\"state\":{\"enum\":[" JOB_STATE_NAMES "]}," \
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}}," CLOSED
#define JOB_LIST_OUTPUT                                                                       \
    "{\"type\":\"object\",\"properties\":{\"jobs\":{\"type\":\"array\",\"items\":" JOB_SCHEMA \
    "}},\"required\":[\"jobs\"]," CLOSED
/* Users, roles, tokens. */
#define AT_ONCE " Holds at once."
#define OBJECT(members, required) \
    "{\"type\":\"object\",\"properties\":{" members "},\"required\":[" required "]," CLOSED
#define TEXT_SCHEMA      "{\"type\":\"string\"}"
#define LONG_NAME_SCHEMA "{\"type\":\"string\",\"minLength\":1,\"maxLength\":256}"
#define NAMES_SCHEMA     "{\"type\":\"array\",\"items\":" NAME_SCHEMA ",\"maxItems\":32}"
#define USER_NAME        OBJECT("\"name\":" LONG_NAME_SCHEMA, "\"name\"")
#define USER_ONLY        OBJECT("\"user\":" LONG_NAME_SCHEMA, "\"user\"")
#define USER_WISH        OBJECT("\"name\":" LONG_NAME_SCHEMA ",\"roles\":" NAMES_SCHEMA, "\"name\"")
#define USER_CHANGE                                                \
    OBJECT("\"name\":" LONG_NAME_SCHEMA ",\"roles\":" NAMES_SCHEMA \
           ",\"disabled\":{\"type\":\"boolean\"}",                 \
           "\"name\"")
#define USER_LIST                                                                                  \
    OBJECT("\"users\":{\"type\":\"array\",\"items\":" OBJECT(                                      \
               "\"name\":" TEXT_SCHEMA ",\"roles\":{\"type\":\"array\",\"items\":" TEXT_SCHEMA     \
               "},\"disabled\":{\"type\":\"boolean\"},\"created\":" TIME_SCHEMA,                   \
               "\"name\",\"roles\",\"disabled\",\"created\"") "},\"more\":{\"type\":\"boolean\"}", \
           "\"users\",\"more\"")
#define PAGE_WISH                                                                            \
    "{\"type\":\"object\",\"properties\":{\"after\":{\"type\":\"string\",\"maxLength\":256," \
    "\"description\":\"Name of the last one on the page "                                    \
    "before.\"},\"limit\":{\"type\":\"integer\","                                            \
    "\"minimum\":1,\"maximum\":1000}}," CLOSED
#define ROLE_NAME OBJECT("\"name\":" NAME_SCHEMA, "\"name\"")
#define ROLE_WHOLE                                                                            \
    OBJECT("\"name\":" NAME_SCHEMA ",\"permissions\":{\"type\":\"object\",\"description\":"   \
           "\"super_user: true for everything; else databases (name or *: {describe, tables " \
           "(name or *: {describe, read, insert, update, delete, attribute_permissions})}), " \
           "operations, tools, prompts, resources, components (each a list of names, * for "  \
           "any characters). What is not said is not allowed.\"}",                            \
           "\"name\",\"permissions\"")
#define ROLE_LIST                                                               \
    OBJECT("\"roles\":{\"type\":\"array\",\"items\":" OBJECT(                   \
               "\"name\":" TEXT_SCHEMA ",\"superUser\":{\"type\":\"boolean\"}", \
               "\"name\",\"superUser\"") "},\"more\":{\"type\":\"boolean\"}",   \
           "\"roles\",\"more\"")
#define TOKEN_WISH                                                                               \
    OBJECT(                                                                                      \
        "\"user\":" LONG_NAME_SCHEMA ",\"label\":{\"type\":\"string\",\"maxLength\":128,"        \
        "\"description\":\"What it is for.\"},\"expiresInSeconds\":{\"type\":\"integer\","       \
        "\"minimum\":0,\"maximum\":3153600000,\"description\":\"0: never; default: 90 days.\"}", \
        "\"user\"")
#define TOKEN_MADE                                                                  \
    OBJECT("\"id\":" TEXT_SCHEMA ",\"user\":" TEXT_SCHEMA ",\"token\":" TEXT_SCHEMA \
           ",\"expires\":" TIME_SCHEMA,                                             \
           "\"id\",\"user\",\"token\"")
#define TOKEN_LIST                                                                      \
    OBJECT("\"tokens\":{\"type\":\"array\",\"items\":" OBJECT(                          \
               "\"id\":" TEXT_SCHEMA ",\"user\":" TEXT_SCHEMA ",\"label\":" TEXT_SCHEMA \
               ",\"created\":" TIME_SCHEMA ",\"expires\":" TIME_SCHEMA                  \
               ",\"expired\":{\"type\":\"boolean\"}",                                   \
               "\"id\",\"user\",\"label\",\"created\",\"expired\"") "}",                \
           "\"tokens\"")
#define TOKEN_ID      OBJECT("\"id\":" NAME_SCHEMA, "\"id\"")
#define TOKEN_ID_USER OBJECT("\"id\":" TEXT_SCHEMA ",\"user\":" TEXT_SCHEMA, "\"id\",\"user\"")
#define CALLER                                                                             \
    OBJECT("\"user\":" TEXT_SCHEMA ",\"roles\":{\"type\":\"array\",\"items\":" TEXT_SCHEMA \
           "},\"superUser\":{\"type\":\"boolean\"},\"expires\":" TIME_SCHEMA,              \
           "\"user\",\"roles\",\"superUser\"")
#define BY_JOB " Takes time on many rows, so it is a job: get_job tells what becomes of it."

#endif
