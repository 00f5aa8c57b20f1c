/* cli_component.c - `tenon component check` and `tenon component apply`: folders that are
 * components, looked at without a server. */
#include "base/err.h"
#include "cli_data.h"
#include "components.h"
#include "linked.h"
#include "manifest/manifest.h"

#include <stdio.h>
#include <string.h>

/* ---- check ---------------------------------------------------------------------------------- */

static int tell_faults(const struct manifest *m)
{
    for (uint32_t i = 0; i < m->faults.n && i < MANIFEST_FAULTS_MAX; i++)
        fprintf(stderr, STR_FMT "\n", STR_ARG(m->faults.lines[i]));
    if (m->faults.n > MANIFEST_FAULTS_MAX)
        fprintf(stderr, STR_FMT ": and %u more\n", STR_ARG(m->file),
                m->faults.n - MANIFEST_FAULTS_MAX);
    return CLI_FAILED;
}

static void print_counts(const struct manifest *m)
{
    static const char *const lists[][2] = {{"tables", "table"},
                                           {"tools", "tool"},
                                           {"resources", "resource"},
                                           {"resourceTemplates", "template"},
                                           {"prompts", "prompt"}};
    const char *before = "";
    printf(STR_FMT ":", STR_ARG(m->file));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct tape_node *list = tape_get(m->root, str_of(lists[i][0]));
        if (!list || !list->n)
            continue;
        printf("%s %u %s%s", before, list->n, lists[i][1], list->n == 1 ? "" : "s");
        before = ",";
    }
    printf("%s\n", *before ? "" : " nothing");
}

static int check_offers(struct manifest *m)
{
    struct tenon *tenon;
    int err = components_new(&tenon);
    if (err == 0) {
        err = components_fill(tenon, m->folder, manifest_register, m);
        components_free(tenon);
    }
    return err;
}

static int run_check(const struct cli_args *args)
{
    struct manifest *m;
    int err = manifest_load(str_of(args->operands[0]), &m);
    if (err < 0 && err != ERR_PARAMS)
        return cli_failed("%s: %s", args->operands[0], err_text(err));
    if (err == 0)
        err = check_offers(m);
    if (err == 0)
        print_counts(m);
    int status = err == 0 ? cli_flush() : tell_faults(m);
    manifest_free(m);
    return status;
}

/* ---- apply ---------------------------------------------------------------------------------- */

static uint32_t count_linked(void)
{
    uint32_t n = 0;
    while (linked_components[n].name)
        n++;
    return n;
}

int cli_gather_components(const struct cli_args *args, struct arena *arena,
                          struct config_list *list)
{
    uint32_t n_linked = count_linked(), n = n_linked + list->n;
    struct str *v = arena_array(arena, (size_t)n + args->n_given, sizeof *v);
    if (!v)
        return cli_failed("%s", err_text(ERR_NO_MEMORY));
    for (uint32_t i = 0; i < n_linked; i++)
        v[i] = str_of(linked_components[i].name);
    if (list->n)
        memcpy(v + n_linked, list->v, list->n * sizeof *v);
    for (uint32_t i = 0; i < args->n_given; i++)
        if (strcmp(args->given[i].option->name, "--component") == 0)
            v[n++] = str_of(args->given[i].value);
    *list = (struct config_list){v, n};
    return 0;
}

static int apply(struct cli_data *data)
{
    struct tenon *tenon;
    const struct config_list *files = &data->config.components;
    if (!files->n)
        return cli_failed("no component is given: --component, or \"components\" of the settings");
    if (components_load(files, &tenon) < 0)
        return CLI_FAILED;
    int err = components_make_tables(files, tenon, data->store);
    components_free(tenon);
    return err < 0 ? CLI_FAILED : CLI_DONE;
}

static int run_apply(const struct cli_args *args)
{
    struct cli_data data;
    cli_data_init(&data);
    int status = cli_data_open(&data, args, CLI_WRITES);
    if (status == 0)
        status = cli_gather_components(args, &data.arena, &data.config.components);
    if (status == 0)
        status = apply(&data);
    cli_data_close(&data);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

static const struct cli_option apply_options[] = {
    CLI_OPTION_CONFIG, CLI_OPTION_DATA, CLI_OPTION_MODE, CLI_OPTION_COMPONENT, CLI_OPTIONS_END,
};

const struct cli_command cli_component_check = {
    .name = "component check",
    .operands = "DIR",
    .summary = "Say what is wrong with a component that is a folder",
    .notes = "Each fault is a line DIR/component.json:LINE: /pointer: what was expected. What only "
             "a\nserver can see is told when it starts: names that another component or a table "
             "has, and rows\nthat do not fit a table.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_check,
};

const struct cli_command cli_component_apply = {
    .name = "component apply",
    .operands = "",
    .summary = "Make and change the tables of components now",
    .options = apply_options,
    .notes = "A server does the same when it starts, and when a folder changes.",
    .run = run_apply,
};
