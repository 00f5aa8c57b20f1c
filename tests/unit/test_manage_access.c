/* tests/unit/test_manage_access.c - users, roles and tokens are made, listed, changed and dropped,
 * on both stores: every refusal with its words, and managers that come at the same time.
 */
#include "core/manage_access_parts.h"

#include "base/log.h"
#include "manage_rig.h"

#define READER "{\"databases\":{\"*\":{\"tables\":{\"*\":{\"read\":true}}}}}"
#define SUPER  "{\"super_user\":true}"

/* Of operations that come with roles; none runs here. */
int loop_offload(struct loop *loop, struct loop_work *work)
{
    (void)loop;
    (void)work;
    return ERR_BUSY;
}

static int put_role(struct rig *r, const char *name, const char *tree)
{
    return manage_put_role(&r->m, str_of(name), str_of(tree), false);
}

static int make_user(struct rig *r, const char *name, const char *role)
{
    struct str roles[] = {str_of(role ? role : "")};
    return manage_create_user(&r->m, str_of(name), roles, role != NULL);
}

static int make_token(struct rig *r, const char *user, struct manage_token *ret)
{
    return manage_create_token(&r->m, str_of(user), STR("a b"), 0, ret);
}

static void assert_refused(struct rig *r, int got, int err, const char *why)
{
    assert_int_equal(got, err);
    assert_why(r, err, why);
}

static int alter_roles(struct rig *r, const char *name, const char *role)
{
    struct str roles[] = {str_of(role ? role : "")};
    const struct manage_user_change change = {.roles = roles, .n_roles = role != NULL};
    return manage_alter_user(&r->m, str_of(name), &change);
}

static int disable(struct rig *r, const char *name, bool anyway)
{
    const struct manage_user_change change = {.disables = true, .anyway = anyway};
    return manage_alter_user(&r->m, str_of(name), &change);
}

/* ---- Listing as text ------------------------------------------------------------------------ */

static int add_user(void *ctx, const struct access_user *user)
{
    buf_printf(ctx, STR_FMT "%s:", STR_ARG(user->name), user->is_disabled ? "!" : "");
    for (uint32_t i = 0; i < user->n_roles; i++)
        buf_printf(ctx, "%s" STR_FMT, i ? "," : "", STR_ARG(user->roles[i]));
    buf_add_char(ctx, ' ');
    assert_int_equal(user->generation.n, ACCESS_GENERATION_BYTES);
    return 0;
}

static void assert_users(struct rig *r, const char *wanted)
{
    struct buf text = {0};
    assert_int_equal(manage_list_users(&r->m, STR_NONE, add_user, &text), 0);
    buf_add(&text, "", 1);
    assert_string_equal(text.p, wanted);
    buf_done(&text);
}

static int add_role(void *ctx, struct str name, struct str record)
{
    buf_printf(ctx, STR_FMT "=" STR_FMT " ", STR_ARG(name), STR_ARG(record));
    return 0;
}

static int count_token(void *ctx, const struct access_token *token)
{
    assert_int_equal(token->id.n, ACCESS_TOKEN_ID_BYTES);
    ++*(unsigned *)ctx;
    return 0;
}

static unsigned count_tokens(struct rig *r, const char *user)
{
    unsigned n = 0;
    struct str of = user ? str_of(user) : STR_NONE;
    assert_int_equal(manage_list_tokens(&r->m, of, count_token, &n), 0);
    return n;
}

/* ---- Users ---------------------------------------------------------------------------------- */

static void users_come_change_and_go(void **state)
{
    struct rig *r = *state;
    struct str many[] = {STR("writer"), STR("reader"), STR("writer")};
    assert_int_equal(put_role(r, "reader", READER), 0);
    assert_int_equal(put_role(r, "writer", READER), 0);
    assert_int_equal(manage_create_user(&r->m, STR("bo"), many, 3), 0);
    assert_int_equal(make_user(r, "ann", NULL), 0);
    assert_users(r, "ann: bo:reader,writer ");
    assert_int_equal(alter_roles(r, "ann", "writer"), 0);
    assert_int_equal(alter_roles(r, "bo", NULL), 0);
    assert_int_equal(disable(r, "bo", false), 0);
    assert_users(r, "ann:writer bo!: ");
    const struct manage_user_change enable = {.enables = true};
    assert_int_equal(manage_alter_user(&r->m, STR("bo"), &enable), 0);
    assert_int_equal(manage_drop_user(&r->m, STR("ann"), false), 0);
    assert_users(r, "bo: ");
}

static void bad_users_are_refused(void **state)
{
    struct rig *r = *state;
    char name[ACCESS_NAME_BYTES + 2];
    struct str roles[ACCESS_ROLES_MAX + 1];
    assert_int_equal(make_user(r, "ann", NULL), 0);
    assert_refused(r, make_user(r, "ann", NULL), ERR_EXISTS, "there is a user ann already");
    assert_refused(r, make_user(r, "bo", "x"), ERR_ABSENT, "there is no role x");
    assert_refused(r, make_user(r, "bo", "a b"), ERR_PARAMS, "the name of a role has to be");
    assert_refused(r, make_user(r, "", NULL), ERR_PARAMS, "the name of a user has to be 1 to 256");
    assert_refused(r, make_user(r, "a\nb", NULL), ERR_PARAMS, "without control characters");
    assert_refused(r, make_user(r, " a", NULL), ERR_PARAMS, "blanks at its ends");
    assert_refused(r, make_user(r, "a\xc3", NULL), ERR_PARAMS, "of text");
    memset(name, 'a', sizeof name);
    name[ACCESS_NAME_BYTES + 1] = '\0';
    assert_refused(r, make_user(r, name, NULL), ERR_PARAMS, "the name of a user has to be");
    name[ACCESS_NAME_BYTES] = '\0';
    assert_int_equal(make_user(r, name, NULL), 0);
    assert_refused(r, alter_roles(r, "x", NULL), ERR_ABSENT, "there is no user x");
    assert_refused(r, alter_roles(r, "ann", "x"), ERR_ABSENT, "there is no role x");
    assert_refused(r, manage_drop_user(&r->m, STR("x"), true), ERR_ABSENT, "there is no user x");
    for (int i = 0; i <= ACCESS_ROLES_MAX; i++)
        roles[i] = arena_printf(&r->arena, "role%d", i);
    for (int i = 0; i <= ACCESS_ROLES_MAX; i++)
        assert_int_equal(manage_put_role(&r->m, roles[i], STR(READER), false), 0);
    assert_refused(r, manage_create_user(&r->m, STR("bo"), roles, ACCESS_ROLES_MAX + 1), ERR_LIMIT,
                   "a user has at most 32 roles");
    assert_int_equal(manage_create_user(&r->m, STR("bo"), roles, ACCESS_ROLES_MAX), 0);
}

/* ---- Roles ---------------------------------------------------------------------------------- */

static void roles_come_change_and_go(void **state)
{
    struct rig *r = *state;
    struct buf text = {0};
    struct str record;
    assert_int_equal(put_role(r, "reader", "{ \"tools\" : [ \"a\" ] }"), 0);
    assert_int_equal(put_role(r, "admin", SUPER), 0);
    assert_int_equal(manage_list_roles(&r->m, STR_NONE, add_role, &text), 0);
    buf_add(&text, "", 1);
    assert_string_equal(text.p, "admin=" SUPER " reader={\"tools\":[\"a\"]} ");
    buf_done(&text);
    assert_int_equal(put_role(r, "reader", READER), 0);
    assert_int_equal(manage_find_role(&r->m, STR("reader"), &record), 0);
    assert_true(str_eq(record, STR(READER)));
    assert_int_equal(make_user(r, "ann", "reader"), 0);
    assert_refused(r, manage_drop_role(&r->m, STR("reader")), ERR_CONFLICT,
                   "ann has the role reader");
    assert_int_equal(manage_drop_role(&r->m, STR("admin")), 0);
    assert_int_equal(alter_roles(r, "ann", NULL), 0);
    assert_int_equal(manage_drop_role(&r->m, STR("reader")), 0);
}

static void the_same_role_again_changes_nothing(void **state)
{
    struct rig *r = *state;
    struct store_view *view;
    uint64_t version[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(put_role(r, "reader", READER), 0);
        assert_int_equal(store_view_open(r->store, STORE_DATA, &view), 0);
        assert_int_equal(store_access_version(view, &version[i]), 0);
        store_view_close(view);
    }
    assert_int_equal(version[0], version[1]);
}

static void bad_roles_are_refused(void **state)
{
    struct rig *r = *state;
    struct str record;
    char name[NAME_BYTES_MAX + 2];
    memset(name, 'a', sizeof name);
    name[NAME_BYTES_MAX + 1] = '\0';
    assert_refused(r, put_role(r, name, READER), ERR_PARAMS, "at most 64 in all");
    name[NAME_BYTES_MAX] = '\0';
    assert_int_equal(put_role(r, name, READER), 0);
    assert_refused(r, put_role(r, "", READER), ERR_PARAMS, "the name of a role has to be a letter");
    assert_refused(r, put_role(r, "9", READER), ERR_PARAMS, "the name of a role");
    assert_refused(r, put_role(r, "a b", READER), ERR_PARAMS, "the name of a role");
    assert_int_equal(put_role(r, "a_-.9", READER), 0);
    assert_refused(r, put_role(r, "a", ""), ERR_PARSE, "the role is not JSON");
    assert_refused(r, put_role(r, "a", "{"), ERR_PARSE, "the role is not JSON");
    assert_refused(r, put_role(r, "a", "[]"), ERR_PARAMS, "the role: type, expected object");
    assert_refused(r, put_role(r, "a", "{\"super_user\":1}"), ERR_PARAMS, "/super_user: ");
    assert_refused(r, put_role(r, "a", "{\"admin\":true}"), ERR_PARAMS, "/admin");
    char *large = malloc(ACCESS_RECORD_BYTES + 2);
    memset(large, ' ', ACCESS_RECORD_BYTES + 1);
    large[ACCESS_RECORD_BYTES + 1] = '\0';
    assert_refused(r, put_role(r, "a", large), ERR_TOO_LARGE, "a role is at most 262144 bytes");
    free(large);
    assert_refused(r, manage_find_role(&r->m, STR("a"), &record), ERR_ABSENT, "there is no role a");
    assert_refused(r, manage_drop_role(&r->m, STR("a")), ERR_ABSENT, "there is no role a");
    assert_refused(r, manage_drop_role(&r->m, STR("/")), ERR_PARAMS, "the name of a role");
}

/* ---- The last super user -------------------------------------------------------------------- */

#define LAST "no super user would be left who is not switched off"

static void the_last_super_user_stays(void **state)
{
    struct rig *r = *state;
    assert_int_equal(put_role(r, "admin", SUPER), 0);
    assert_int_equal(put_role(r, "reader", READER), 0);
    assert_int_equal(make_user(r, "ann", "reader"), 0);
    assert_int_equal(disable(r, "ann", false), 0); /* there was none before either */
    assert_int_equal(make_user(r, "root", "admin"), 0);
    assert_refused(r, manage_drop_user(&r->m, STR("root"), false), ERR_FORBIDDEN, LAST);
    assert_refused(r, disable(r, "root", false), ERR_FORBIDDEN, LAST);
    assert_refused(r, alter_roles(r, "root", "reader"), ERR_FORBIDDEN, LAST);
    assert_refused(r, put_role(r, "admin", READER), ERR_FORBIDDEN, LAST);
    assert_users(r, "ann!:reader root:admin ");
    assert_int_equal(make_user(r, "boss", "admin"), 0);
    assert_int_equal(disable(r, "boss", false), 0);
    assert_refused(r, disable(r, "root", false), ERR_FORBIDDEN, LAST); /* boss does not count */
    assert_int_equal(put_role(r, "other", SUPER), 0);
    assert_int_equal(make_user(r, "too", "other"), 0);
    assert_int_equal(manage_drop_user(&r->m, STR("root"), false), 0);
    assert_refused(r, put_role(r, "other", READER), ERR_FORBIDDEN, LAST);
    assert_int_equal(manage_put_role(&r->m, STR("other"), STR(READER), true), 0);
    assert_int_equal(disable(r, "too", false), 0);
}

static void anyway_he_goes(void **state)
{
    struct rig *r = *state;
    assert_int_equal(put_role(r, "admin", SUPER), 0);
    assert_int_equal(make_user(r, "root", "admin"), 0);
    assert_int_equal(disable(r, "root", true), 0);
    assert_int_equal(manage_drop_user(&r->m, STR("root"), true), 0);
    assert_users(r, "");
}

/* ---- Tokens --------------------------------------------------------------------------------- */

static void tokens_come_and_go(void **state)
{
    struct rig *r = *state;
    struct manage_token a, b;
    struct str user;
    assert_int_equal(make_user(r, "ann", NULL), 0);
    assert_int_equal(make_user(r, "bo", NULL), 0);
    assert_int_equal(make_token(r, "ann", &a), 0);
    assert_int_equal(make_token(r, "ann", &b), 0);
    assert_true(access_token_is_ours(str_of(a.text)));
    assert_string_not_equal(a.text, b.text);
    assert_string_not_equal(a.id, b.id);
    assert_int_equal(make_token(r, "bo", &b), 0);
    assert_int_equal(count_tokens(r, NULL), 3);
    assert_int_equal(count_tokens(r, "ann"), 2);
    assert_int_equal(manage_revoke_token(&r->m, str_of(a.id), &user), 0);
    assert_true(str_eq(user, STR("ann")));
    assert_refused(r, manage_revoke_token(&r->m, str_of(a.id), &user), ERR_ABSENT,
                   "there is no token ");
    assert_int_equal(manage_drop_user(&r->m, STR("ann"), false), 0);
    assert_int_equal(count_tokens(r, "ann"), 0);
    assert_int_equal(count_tokens(r, NULL), 1);
}

static void bad_tokens_are_refused(void **state)
{
    struct rig *r = *state;
    struct manage_token token;
    char label[ACCESS_LABEL_BYTES + 2];
    assert_refused(r, make_token(r, "ann", &token), ERR_ABSENT, "there is no user ann");
    assert_refused(r, make_token(r, "a\tb", &token), ERR_PARAMS, "the name of a user");
    assert_int_equal(make_user(r, "ann", NULL), 0);
    memset(label, 'x', sizeof label);
    label[ACCESS_LABEL_BYTES + 1] = '\0';
    assert_refused(r, manage_create_token(&r->m, STR("ann"), str_of(label), 0, &token), ERR_PARAMS,
                   "a label has to be at most 128 bytes");
    label[ACCESS_LABEL_BYTES] = '\0';
    assert_int_equal(manage_create_token(&r->m, STR("ann"), str_of(label), 0, &token), 0);
    assert_refused(r, manage_create_token(&r->m, STR("ann"), STR("a\033[2J"), 0, &token),
                   ERR_PARAMS, "without control characters");
    assert_refused(r, manage_create_token(&r->m, STR("ann"), STR(""), clock_wall_ms(), &token),
                   ERR_PARAMS, "the token would have expired already");
    assert_int_equal(manage_create_token(&r->m, STR("ann"), STR_NONE, 0, &token), 0);
}

static void ACCESS_TOKENS_MAX_bounds_the_tokens_of_a_user(void **state)
{
    struct rig *r = *state;
    struct manage_token token;
    int64_t soon_ms = clock_wall_ms() + 3600000;
    assert_int_equal(make_user(r, "ann", NULL), 0);
    assert_int_equal(make_user(r, "bo", NULL), 0);
    for (int i = 0; i < ACCESS_TOKENS_MAX; i++)
        assert_int_equal(
            manage_create_token(&r->m, STR("ann"), STR(""), i < 3 ? soon_ms : 0, &token), 0);
    assert_refused(r, make_token(r, "ann", &token), ERR_LIMIT, "ann has 900 tokens already");
    assert_int_equal(make_token(r, "bo", &token), 0);
    clock_advance_ms(3600000); /* those that expired make room, and are gone */
    assert_int_equal(make_token(r, "ann", &token), 0);
    assert_int_equal(count_tokens(r, "ann"), ACCESS_TOKENS_MAX - 2);
    assert_int_equal(manage_drop_user(&r->m, STR("ann"), false), 0);
    assert_int_equal(count_tokens(r, NULL), 1);
}

static int find_text(void *ctx, const struct store_access *access)
{
    const char *text = ctx;
    assert_null(memmem(access->record.p, access->record.n, text, 12));
    assert_null(memmem(access->name.p, access->name.n, text, 12));
    return 0;
}

static void the_text_of_a_token_is_in_no_record(void **state)
{
    struct rig *r = *state;
    struct manage_token token;
    struct store_view *view;
    assert_int_equal(make_user(r, "ann", NULL), 0);
    assert_int_equal(make_token(r, "ann", &token), 0);
    assert_int_equal(store_view_open(r->store, STORE_DATA, &view), 0);
    for (int kind = STORE_USER; kind <= STORE_TOKEN; kind++)
        assert_int_equal(store_scan_access(view, (enum store_access_kind)kind, STR_NONE, find_text,
                                           token.text + strlen(ACCESS_TOKEN_PREFIX)),
                         0);
    store_view_close(view);
}

/* ---- Two at a time -------------------------------------------------------------------------- */

struct race {
    struct rig *rig;
    int n_tries, n_overtaken; /* so often somebody else is faster */
};

static int plan_overtaken(struct access_plan *plan)
{
    struct race *race = plan->ctx;
    struct manage other = {.store = race->rig->store, .arena = plan->arena};
    static int n_made; /* the same role again would be no change */
    char name[32];
    race->n_tries++;
    snprintf(name, sizeof name, "role%d", n_made++);
    if (race->n_overtaken-- > 0)
        assert_int_equal(manage_put_role(&other, str_of(name), STR(READER), false), 0);
    return access_plan_add(plan, STORE_ROLE, STR("mine"), STR(READER), STORE_ANY);
}

static void who_is_overtaken_looks_again(void **state)
{
    struct rig *r = *state;
    struct race race = {.rig = r, .n_overtaken = 3};
    assert_int_equal(put_role(r, "first", READER), 0);
    assert_int_equal(manage_change_access(&r->m, plan_overtaken, &race), 0);
    assert_int_equal(race.n_tries, 4);
    race = (struct race){.rig = r, .n_overtaken = INT32_MAX};
    assert_refused(r, manage_change_access(&r->m, plan_overtaken, &race), ERR_STALE,
                   "users and roles are being changed all the time; try again");
    assert_int_equal(race.n_tries, ACCESS_RETRIES_MAX);
}

struct drops {
    struct rig *rig;
    const char *name;
    int err;
};

static void *drop_one(void *ctx)
{
    struct drops *d = ctx;
    struct arena arena;
    arena_init(&arena, 0);
    struct manage m = {.store = d->rig->store, .arena = &arena};
    d->err = manage_drop_user(&m, str_of(d->name), false);
    arena_done(&arena);
    return NULL;
}

/* Each sees the other, and only one may go. */
static void of_two_last_super_users_one_stays(void **state)
{
    struct rig *r = *state;
    assert_int_equal(put_role(r, "admin", SUPER), 0);
    for (int i = 0; i < 20; i++) {
        struct drops drops[] = {{r, "ann", 1}, {r, "bo", 1}};
        pthread_t threads[2];
        int made[] = {make_user(r, "ann", "admin"), make_user(r, "bo", "admin")};
        assert_true((made[0] == 0 || made[0] == ERR_EXISTS) && (!made[1] || made[1] == ERR_EXISTS));
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, drop_one, &drops[t]), 0);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        assert_int_equal(drops[0].err + drops[1].err, ERR_FORBIDDEN); /* the other is 0 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(users_come_change_and_go),
        BOTH(bad_users_are_refused),
        BOTH(roles_come_change_and_go),
        BOTH(the_same_role_again_changes_nothing),
        BOTH(bad_roles_are_refused),
        BOTH(the_last_super_user_stays),
        BOTH(anyway_he_goes),
        BOTH(tokens_come_and_go),
        BOTH(bad_tokens_are_refused),
        BOTH(ACCESS_TOKENS_MAX_bounds_the_tokens_of_a_user),
        BOTH(the_text_of_a_token_is_in_no_record),
        BOTH(who_is_overtaken_looks_again),
        BOTH(of_two_last_super_users_one_stays),
    };
    log_set_level(LOG_ERROR);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
