/* net/budget.c - see budget.h. */
#include "net/budget.h"

bool share_resize(struct share *share, size_t bytes)
{
    struct budget *budget = share->budget;
    size_t others = budget->used_bytes - share->bytes;
    if (bytes > share->bytes && (others > budget->max_bytes || bytes > budget->max_bytes - others))
        return false;
    budget->used_bytes = others + bytes;
    share->bytes = bytes;
    return true;
}

void share_add(struct share *share, size_t bytes)
{
    share->budget->used_bytes += bytes;
    share->bytes += bytes;
}

void share_return(struct share *share)
{
    share->budget->used_bytes -= share->bytes;
    share->bytes = 0;
}

bool budget_is_over(const struct budget *budget)
{
    return budget->used_bytes > budget->max_bytes;
}
