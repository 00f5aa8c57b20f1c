/* core/operations.c - the list of operations, and who may call which. */
#include "core/operations.h"

#include "base/err.h"
#include "core/operations_schemas.h"
#include "core/table_run.h"

#define NO_INPUT "{\"type\":\"object\",\"additionalProperties\":false}"
#define TEXT     "{\"type\":\"string\"}"
#define FLAG     "{\"type\":\"boolean\"}"
#define TIME     "{\"type\":\"string\",\"format\":\"date-time\"}"
#define COUNT    "{\"type\":\"integer\",\"minimum\":0}"
#define TABLE_MEMBERS                                                     \
    "\"database\":{\"type\":\"string\"},\"table\":{\"type\":\"string\"}," \
    "\"rows\":" COUNT ",\"version\":" COUNT

/* By name. */
static const struct operation operations[] = {
    {"alter_table", "Alter a table",
     "Gives a table another definition, if all its rows fit that. The primary key and the indexes "
     "stay; an index whose attribute goes away has to be dropped first." BY_JOB,
     TABLE_WITH("definition", DEFINITION_SCHEMA), JOB_STARTED, false, false, true,
     operation_alter_table, false},
    {"alter_user", "Alter a user",
     "Gives a user other roles instead of those that he has, or switches him off and on: who is "
     "disabled is refused with all his tokens." AT_ONCE,
     USER_CHANGE, USER_NAME, false, true, true, operation_alter_user, true},
    {"cancel_job", "Cancel a job",
     "Asks a job to stop. What it has not finished is taken back; get_job tells when it has "
     "stopped.",
     JOB_ID, JOB_STARTED, false, false, false, operation_cancel_job, false},
    {"close_session", "Close a session",
     "Ends a client's session: its next request is answered 404, and it has to initialize again. "
     "One may close one's own.",
     "{\"type\":\"object\",\"properties\":{\"session\":{\"type\":\"string\",\"description\":\"As "
     "list_sessions names it.\",\"maxLength\":64}},\"required\":[\"session\"],"
     "\"additionalProperties\":false}",
     "{\"type\":\"object\",\"properties\":{\"session\":{\"type\":\"string\"},\"closed\":{\"const\":"
     "true}},\"required\":[\"session\",\"closed\"],\"additionalProperties\":false}",
     false, true, true, operation_close_session, false},
    {"create_index", "Create an index",
     "Makes an index of a table by which searches find and order its rows. A - before an attribute "
     "is descending order." BY_JOB,
     TABLE_WITH("index", INDEX_SCHEMA), JOB_STARTED, false, false, false, operation_create_index,
     false},
    {"create_table", "Create a table", "Makes a new table, without rows.",
     TABLE_WITH("definition", DEFINITION_SCHEMA), TABLE_SCHEMA, false, false, false,
     operation_create_table, false},
    {"create_token", "Create a token",
     "Makes a token by which a client is that user. The result is the only place where its text "
     "ever stands.",
     TOKEN_WISH, TOKEN_MADE, false, false, false, operation_create_token, true},
    {"create_user", "Create a user",
     "Makes a user with these roles. Without one he may do nothing." AT_ONCE, USER_WISH, USER_NAME,
     false, false, false, operation_create_user, true},
    {"describe_all", "Describe all tables", "Every table with its number of rows.", NO_INPUT,
     "{\"type\":\"object\",\"properties\":{\"tables\":{\"type\":\"array\",\"items\":{\"type\":"
     "\"object\",\"properties\":{" TABLE_MEMBERS ",\"title\":{\"type\":\"string\"},"
     "\"description\":{\"type\":\"string\"},\"indexes\":" COUNT
     "},\"required\":[\"database\",\"table\","
     "\"rows\",\"version\",\"indexes\"],"
     "\"additionalProperties\":false}}},\"required\":[\"tables\"],\"additionalProperties\":false}",
     true, false, true, operation_describe_all, false},
    {"describe_role", "Describe a role", "What a role may do.", ROLE_NAME, ROLE_WHOLE, true, false,
     true, operation_describe_role, true},
    {"describe_table", "Describe a table",
     "A table's definition as the operator knows it, with hidden attributes and with the indexes "
     "that are ready; its number of rows; the version of the definition.",
     "{\"type\":\"object\",\"properties\":{\"database\":{\"type\":\"string\"},\"table\":{\"type\":"
     "\"string\"}},\"required\":[\"database\",\"table\"],\"additionalProperties\":false}",
     "{\"type\":\"object\",\"properties\":{" TABLE_MEMBERS ",\"title\":" TEXT
     ",\"description\":" TEXT ",\"primaryKey\":" TEXT
     ",\"schema\":{\"type\":\"object\"},\"attributes\":{\"type\":"
     "\"object\",\"additionalProperties\":{\"type\":\"object\"}},\"indexes\":{\"type\":\"array\","
     "\"items\":{\"type\":\"object\",\"properties\":{\"name\":" TEXT ",\"on\":{\"type\":\"array\","
     "\"items\":" TEXT "},\"unique\":" FLAG "},\"required\":[\"name\",\"on\"],"
     "\"additionalProperties\":false}},\"building\":{\"type\":\"array\",\"items\":" TEXT "},"
     "\"annotations\":{\"type\":\"object\"}},\"required\":[\"database\",\"table\",\"rows\","
     "\"version\",\"primaryKey\",\"schema\"]}",
     true, false, true, operation_describe_table, false},
    {"drop_index", "Drop an index", "Removes an index of a table; its rows stay.",
     TABLE_WITH("index", NAME_SCHEMA), TABLE_WITH("index", NAME_SCHEMA), false, true, false,
     operation_drop_index, false},
    {"drop_role", "Drop a role", "Removes a role that no user has.", ROLE_NAME, ROLE_NAME, false,
     true, false, operation_drop_role, true},
    {"drop_table", "Drop a table", "Removes a table with all its rows, for good.", TABLE_SCHEMA,
     TABLE_SCHEMA, false, true, false, operation_drop_table, false},
    {"drop_user", "Drop a user",
     "Removes a user with all his tokens. One of that name that is made later is somebody "
     "else." AT_ONCE,
     USER_NAME, USER_NAME, false, true, false, operation_drop_user, true},
    {"explain_search", "Explain a search",
     "How a search would find its rows: by which index or by a scan of all, in which ranges, "
     "whether "
     "rows are tested and sorted besides, and which index would help.",
     "{\"type\":\"object\",\"properties\":{\"database\":" TEXT ",\"table\":" TEXT
     ",\"where\":{\"type\":[\"string\",\"object\"],\"description\":\"As of the search tool: a "
     "filter, or "
     "an object of attributes with the values they must have.\"},\"order_by\":{\"type\":\"array\","
     "\"items\":" TEXT ",\"description\":\"Attributes; with - before the name the greatest come "
     "first.\"}},\"required\":[\"database\",\"table\"],\"additionalProperties\":false}",
     "{\"type\":\"object\",\"properties\":{\"access\":{\"enum\":[\"nothing\",\"scan\",\"primary\","
     "\"index\"]},\"index\":" TEXT ",\"rangeCount\":" COUNT
     ",\"ranges\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"unique\":" FLAG
     ",\"descending\":" FLAG ",\"test\":" FLAG ",\"ordered\":" FLAG
     ",\"order\":{\"type\":\"array\",\"items\":" TEXT "},\"advice\":" TEXT
     "},\"required\":[\"access\",\"rangeCount\",\"ranges\",\"unique\",\"descending\",\"test\","
     "\"ordered\",\"order\"],\"additionalProperties\":false}",
     true, false, true, operation_explain_search, false},
    {"export_table", "Export a table",
     "Writes all rows of a table, as of one moment, to a file in the folder exports of the data "
     "directory; its name tells the format. A file of that name is replaced." BY_JOB,
     TABLE_WITH("name", FILE_NAME_SCHEMA), JOB_STARTED, false, false, true, operation_export_table,
     false},
    {"get_job", "Get a job", "How far a job is, and what became of it.", JOB_ID, JOB_SCHEMA, true,
     false, true, operation_get_job, false},
    {"import_table", "Import into a table",
     "Puts the records of a file in the folder imports of the data directory into a table: all of "
     "them or, if one is bad, none. With skip_bad bad ones go to NAME.rejects instead. With "
     "replace rows whose primary key exists are overwritten." BY_JOB,
     IMPORT_SCHEMA, JOB_STARTED, false, true, false, operation_import_table, false},
    {"list_jobs", "List jobs", "The newest jobs of all workers, newest first.", JOB_LIST_INPUT,
     JOB_LIST_OUTPUT, true, false, true, operation_list_jobs, false},
    {"list_roles", "List roles", "The roles by name.", PAGE_WISH, ROLE_LIST, true, false, true,
     operation_list_roles, true},
    {"list_sessions", "List sessions", "The sessions of clients, oldest first.",
     "{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\",\"minimum\":1,"
     "\"maximum\":200},\"cursor\":{\"type\":\"string\",\"description\":\"nextCursor of the page "
     "before.\"}},\"additionalProperties\":false}",
     "{\"type\":\"object\",\"properties\":{\"sessions\":{\"type\":\"array\",\"items\":{\"type\":"
     "\"object\",\"properties\":{\"session\":" TEXT ",\"profile\":{\"enum\":[\"application\","
     "\"operations\"]},\"user\":" TEXT
     ",\"client\":{\"type\":\"object\",\"properties\":{\"name\":" TEXT ",\"version\":" TEXT
     "},\"required\":[\"name\",\"version\"],\"additionalProperties\":false},"
     "\"protocolVersion\":" TEXT ",\"initialized\":" FLAG ",\"created\":" TIME ",\"active\":" TIME
     ",\"expires\":" TIME ",\"current\":" FLAG "},\"required\":[\"session\",\"profile\",\"user\","
     "\"client\",\"protocolVersion\",\"initialized\",\"created\",\"active\",\"expires\","
     "\"current\"],"
     "\"additionalProperties\":false}},\"nextCursor\":" TEXT "},\"required\":[\"sessions\"],"
     "\"additionalProperties\":false}",
     true, false, true, operation_list_sessions, false},
    {"list_tokens", "List tokens", "The tokens of a user, without their texts.", USER_ONLY,
     TOKEN_LIST, true, false, true, operation_list_tokens, true},
    {"list_users", "List users", "The users by name.", PAGE_WISH, USER_LIST, true, false, true,
     operation_list_users, true},
    {"put_role", "Put a role",
     "Makes a role, or gives it other permissions instead of those that it has." AT_ONCE,
     ROLE_WHOLE, ROLE_NAME, false, true, true, operation_put_role, true},
    {"read_log", "Read the log",
     "The server's last log entries of at least this level, newest first.",
     "{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\",\"minimum\":1,"
     "\"maximum\":512},\"level\":{\"enum\":[\"debug\",\"info\",\"warning\",\"error\"]}},"
     "\"additionalProperties\":false}",
     "{\"type\":\"object\",\"properties\":{\"entries\":{\"type\":\"array\",\"items\":{\"type\":"
     "\"object\",\"properties\":{\"time\":{\"type\":\"string\",\"format\":\"date-time\"},\"level\":"
     "{"
     "\"enum\":[\"debug\",\"info\",\"warning\",\"error\"]},\"from\":{\"type\":\"string\"},\"text\":"
     "{"
     "\"type\":\"string\"}},\"required\":[\"time\",\"level\",\"from\",\"text\"],"
     "\"additionalProperties\":false}}},\"required\":[\"entries\"],\"additionalProperties\":false}",
     true, false, false, operation_read_log, false},
    {"revoke_token", "Revoke a token", "Makes a token worthless, for good." AT_ONCE, TOKEN_ID,
     TOKEN_ID_USER, false, true, false, operation_revoke_token, true},
    {"system_information", "System information",
     "Version, processes, tables, sessions and sizes of the server.", NO_INPUT,
     "{\"type\":\"object\",\"properties\":{\"name\":" TEXT ",\"version\":" TEXT
     ",\"protocolVersions\":{\"type\":\"array\",\"items\":" TEXT "},\"started\":" TIME
     ",\"uptimeSeconds\":" COUNT ",\"pid\":" COUNT ",\"worker\":" COUNT ",\"workers\":" COUNT
     ",\"tables\":" COUNT ",\"rows\":" COUNT ",\"sessions\":" COUNT ",\"sequence\":" COUNT
     ",\"data\":{\"$ref\":\"#/$defs/space\"},\"system\":{\"$ref\":\"#/$defs/"
     "space\"}},\"required\":["
     "\"name\",\"version\",\"protocolVersions\",\"started\",\"uptimeSeconds\",\"pid\",\"worker\","
     "\"workers\",\"tables\",\"rows\",\"sessions\",\"sequence\",\"data\",\"system\"],"
     "\"additionalProperties\":false,\"$defs\":{\"space\":{\"type\":\"object\",\"properties\":{"
     "\"usedBytes\":" COUNT ",\"freeBytes\":" COUNT ",\"diskBytes\":" COUNT ",\"mostBytes\":" COUNT
     ",\"readers\":" COUNT
     "},\"required\":[\"usedBytes\",\"freeBytes\",\"diskBytes\",\"mostBytes\","
     "\"readers\"],\"additionalProperties\":false}}}",
     true, false, false, operation_system_information, false},
    {"whoami", "Who am I", "Whose requests these are, and by which roles.", NO_INPUT, CALLER, true,
     false, true, operation_whoami, false},
};
#define N_OPERATIONS (sizeof operations / sizeof *operations)

const struct operation *operation_at(uint32_t i)
{
    return i < N_OPERATIONS ? &operations[i] : NULL;
}

/* On a misfit the last star takes one character more: no recursion, at most n * m steps. */
bool operation_glob(struct str pattern, struct str name)
{
    uint32_t p = 0, n = 0, star = UINT32_MAX, taken = 0;
    while (n < name.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            taken = n;
        } else if (p < pattern.n && pattern.p[p] == name.p[n]) {
            p++;
            n++;
        } else if (star != UINT32_MAX) {
            p = star + 1;
            n = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

static bool is_in(const struct name_globs *globs, struct str name)
{
    for (uint32_t i = 0; i < globs->n; i++)
        if (operation_glob(globs->v[i], name))
            return true;
    return false;
}

static bool is_allowed_by_default(struct str name)
{
    for (struct str rest = STR(OPERATIONS_ALLOW); rest.p;)
        if (operation_glob(str_trim(str_cut(&rest, ',')), name))
            return true;
    return false;
}

bool operation_is_of_access(struct str name)
{
    for (size_t i = 0; i < N_OPERATIONS; i++)
        if (str_eq(str_of(operations[i].name), name))
            return operations[i].of_access;
    return false;
}

bool operation_is_allowed(const struct core_config *config, const struct operation *operation)
{
    struct str name = str_of(operation->name);
    bool allowed = config->operations_allow.v ? is_in(&config->operations_allow, name)
                                              : is_allowed_by_default(name);
    return allowed && !is_in(&config->operations_deny, name);
}

int operation_run(struct call *call, const struct operation *operation,
                  const struct tape_node *args)
{
    struct buf out = {0};
    int err = operation->run(call, args, &out);
    if (err == 0 && out.failed)
        err = ERR_NO_MEMORY;
    if (err == 0)
        tool_succeed(call, buf_str(&out));
    else if (err == ERR_ABSENT)
        tool_fail(call, STR("There is no such table"));
    buf_done(&out);
    return err == 0 || err == ERR_ABSENT ? CALL_LATER : err;
}
