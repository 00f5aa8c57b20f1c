/* core/audit_refused.c - requests refused by their credential or origin; see audit.h. A file of its
 * own, so that tests of net/ may have another core. */
#include "core/audit.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/core_state.h"
#include "core/metrics.h"

/* False: enough of them in this second. */
static bool may_tell(struct audit *audit)
{
    int64_t second = clock_mono_ms() / 1000;
    if (second != audit->second) {
        audit->second = second;
        audit->n_refused = 0;
    }
    bool may = audit->n_refused < AUDIT_REFUSALS_PER_S;
    audit->n_refused += may;
    audit->n_untold += !may;
    return may;
}

void audit_refused(struct core *core, int err, const char *why)
{
    struct audit *audit = core->config.audit;
    struct buf line = {0};
    if (core->config.metrics)
        metric_add(&core->config.metrics->refused, 1);
    if (!audit || !may_tell(audit))
        return;
    audit_begin_line(audit, &line);
    buf_printf(&line, ",\"status\":\"unauthorized\",\"httpStatus\":%d,\"errorMessage\":",
               err_http_status(err));
    audit_write_text(&line, str_of(why ? why : err_text(err)), AUDIT_TEXT_BYTES);
    if (audit->n_untold)
        buf_printf(&line, ",\"untold\":%u", audit->n_untold);
    audit->n_untold = 0;
    audit_end_line(core, &line);
}
