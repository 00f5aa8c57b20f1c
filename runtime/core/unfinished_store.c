/* Stands in until the store has mail; its builder deletes this file. */
#include "core/store.h"

int store_scan_mail(struct store_view *view, uint32_t slot, uint64_t after_seq, store_mail_fn fn,
                    void *ctx)
{
    (void)view, (void)slot, (void)after_seq, (void)fn, (void)ctx;
    return 0;
}
