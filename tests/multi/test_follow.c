/* tests/multi/test_follow.c - 1,000 times: initialize, subscribe, commit, leave and come back, on
 * four workers with a new connection for each request. Nobody misses the last state of anything; in
 * mode all nobody misses a change; who goes on by ids is told nothing twice.
 *
 * TENON_FOLLOW_N: other than 1,000.
 */
#include "tests/multi/follow_rig.h"

int main(void)
{
    const char *wanted = getenv("TENON_FOLLOW_N");
    int n = wanted && atoi(wanted) > 0 ? atoi(wanted) : 1000;
    if (begin_follow()) {
        run_all(live_once, 0, n);
        tap_ok(n_faults == 0,
               "%d subscribers: %u updates of %u commits over %u streams, exactly those due", n,
               n_told, n_committed, n_returns);
    }
    return end_follow();
}
