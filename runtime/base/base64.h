/* base/base64.h - bytes as text (RFC 4648, section 4), for what JSON cannot hold. */
#ifndef TENON_BASE_BASE64_H
#define TENON_BASE_BASE64_H

#include "base/str.h"

/* Appends the text, padded, on one line. */
void base64_write(const void *data, size_t n, struct buf *out);
/* Appends the bytes of such a text. 0; ERR_SYNTAX (another character, no padding, bits that are
 * lost), ERR_NO_MEMORY. */
int base64_read(struct str text, struct buf *out);
/* Appends the bytes of a text in the alphabet for URLs, without padding (RFC 4648, section 5). 0;
 * ERR_SYNTAX (another character, padding, a length or bits that no bytes have), ERR_NO_MEMORY. */
int base64url_read(struct str text, struct buf *out);

#endif
