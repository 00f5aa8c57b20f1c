/* codegen/json_out.c - see json_out.h. */
#include "codegen/json_out.h"

#include <string.h>

void json_out_string(struct buf *out, struct str s)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    buf_add_char(out, '"');
    for (uint32_t i = 0; i < s.n; i++) {
        const char *at = s.p[i] ? strchr(named, s.p[i]) : NULL;
        if (at)
            buf_printf(out, "\\%c", names[at - named]);
        else if ((unsigned char)s.p[i] < 0x20)
            buf_printf(out, "\\u%04x", s.p[i]);
        else
            buf_add_char(out, s.p[i]);
    }
    buf_add_char(out, '"');
}

void json_out_line(struct buf *out, int level)
{
    buf_printf(out, "\n%*s", level, "");
}

void json_out_pointer(struct buf *out, struct str name)
{
    buf_add_char(out, '/');
    for (uint32_t i = 0; i < name.n; i++) {
        if (name.p[i] == '~')
            buf_add_lit(out, "~0");
        else if (name.p[i] == '/')
            buf_add_lit(out, "~1");
        else
            buf_add_char(out, name.p[i]);
    }
}
