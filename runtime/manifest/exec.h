/* manifest/exec.h - tools that are commands: the member `exec` of a tool in component.json.
 *
 *   "exec": {
 *     "argv": ["./resize", "--to={{width}}", ["--quality", "{{quality}}"], "--", "{{file}}"],
 *     "stdin": "arguments",          "none": nothing is written to it
 *     "output": "text",              "json": one result; "lines": progress, then the result
 *     "timeoutMs": 30000,
 *     "maxBytes": 1048576,           of the result, or of one line
 *     "environment": ["PATH", "HOME", "LANG", "TZ", "MODE=fast"],
 *     "dashes": false                a string argument may begin a word with "-"
 *   }
 *
 * There is no shell: each word of argv is one argument of the program, whatever {{argument}} puts
 * into it. A string goes in as it is, everything else as JSON. A list within argv is left out as a
 * whole when one of its arguments is absent; all others must be `required` by the inputSchema. The
 * first word is the program: literal, a path in the manifest's folder if it holds a slash, else
 * looked for in PATH. A word that begins with a string argument must not begin with "-", so that
 * no argument is taken for an option, unless a word "--" stands before it.
 *
 * The program runs in the manifest's folder, in a session (and so a process group) of its own, with
 * no descriptors but 0, 1 and 2, no environment but what is listed ("NAME" passes the server's on,
 * "NAME=value" sets it), and default signals. The arguments are written to its stdin as one line of
 * JSON. What it writes to stderr goes to the server's log, EXEC_STDERR_LINES of a call. Its exit
 * status decides: other than 0 is a result with isError. When it has ended, is cancelled, takes too
 * long or writes too much, all of its group is ended: SIGTERM, after EXEC_STOP_MS SIGKILL.
 *
 * The output of "json" is {"content": [..], "structuredContent": {..}, "isError": true}, each of
 * them optional, content as in the protocol (text, image, audio, resource, resource_link). That of
 * "lines" is one JSON object per line:
 *   {"progress": 3, "total": 10, "message": "three"}      total and message are optional
 *   {"log": <any JSON>, "level": "info", "logger": "x"}   level and logger are optional
 *   {"result": "text"} or {"result": {"content": ..}}     once
 *   {"error": "text"}                                     instead of a result
 */
#ifndef TENON_MANIFEST_EXEC_H
#define TENON_MANIFEST_EXEC_H

#include "base/json_tree.h"
#include "tenon.h"

struct exec; /* constant once parsed */

/* Reads the member `exec` of the tool of that name, whose inputSchema is `input` (NULL: none), of
 * the manifest in `folder` (an absolute path). What it keeps lies in the arena and points into the
 * tree. 0; ERR_PARAMS with *error, the place and what is wrong; ERR_NO_MEMORY. */
int exec_parse(const struct json *exec, const struct json *input, struct str tool,
               struct str folder, struct arena *arena, const struct exec **ret,
               struct json_error *error);

/* For tenon_tool: .run = exec_run, .ctx = (void *)exec. Not inline. */
int exec_run(struct tenon_call *call, void *exec);

#endif
