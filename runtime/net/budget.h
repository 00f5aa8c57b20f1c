/* net/budget.h - bytes that a worker holds for its HTTP clients: bodies and unsent replies.
 *
 * A client says how much it will send before it sends anything, so thousands of small requests
 * could make a worker allocate all memory. What a body will need is taken first, and a request for
 * which nothing is left is refused before it has any effect. A reply is the result of work that was
 * done, so it is never refused: it may go over the limit, and then no new request runs until it is
 * sent.
 */
#ifndef TENON_NET_BUDGET_H
#define TENON_NET_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct budget {
    size_t used_bytes, max_bytes;
};

/* What one owner holds of a budget. Zeroed but for `budget` is "nothing". */
struct share {
    struct budget *budget;
    size_t bytes;
};

/* False: over the limit, or *share would go beyond it; it is as it was. */
bool share_resize(struct share *share, size_t bytes);
/* Never fails. */
void share_add(struct share *share, size_t bytes);
void share_return(struct share *share);
bool budget_is_over(const struct budget *budget);

#endif
