/* core/on_logging.c - logging/setLevel. What is sent by it: core/log_messages.h. */
#include "base/err.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "generated/methods.h"

static void answer(struct call *call, int err)
{
    static const struct mcp_result nothing;
    if (err < 0)
        dispatch_fail(call, err);
    else
        call_done(call, &nothing);
}

int mcp_on_logging_set_level(struct call *call, const struct mcp_set_level_request_params *params,
                             struct mcp_result *ret)
{
    (void)ret;
    int err = session_set_level(call->core, call, params->level, answer);
    return err < 0 ? err : CALL_LATER;
}
