/* cli_limits.c - see cli_limits.h. */
#include "cli_limits.h"

#include <sys/mman.h>

/* Pages that nothing is counted on take no memory. */
struct rates *cli_limits_new(void)
{
    void *rates = mmap(NULL, sizeof(struct rates), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return rates == MAP_FAILED || rates_init(rates) < 0 ? NULL : rates;
}

void cli_limits_fill(const struct config_limits *config, bool rates, struct admission_limits *ret)
{
    *ret = (struct admission_limits){
        .quota = config->quota,
        .quota_window_ms = config->quota_window_s * INT64_C(1000),
    };
    if (!rates)
        return;
    ret->tool = rate_of(config->tool_per_s, config->tool_burst);
    ret->session = rate_of(config->session_per_s, 0);
    ret->client = rate_of(config->client_per_s, config->client_burst);
    ret->session_concurrency = config->session_concurrency;
}
