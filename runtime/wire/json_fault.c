/* wire/json_fault.c - the path to a fault, built only while unwinding from it: each frame puts its
 * key or index in front, so reading what is right pays nothing. */
#include "wire/json_scan.h"

#include <stdio.h>
#include <string.h>

const char *wire_reason_name(enum wire_reason reason)
{
    static const char *const names[] = {
        [WIRE_OK] = "ok",
        [WIRE_SYNTAX] = "syntax",
        [WIRE_UTF8] = "utf8",
        [WIRE_SURROGATE] = "surrogate",
        [WIRE_DEPTH] = "depth",
        [WIRE_TYPE] = "type",
        [WIRE_REQUIRED] = "required",
        [WIRE_DUPLICATE] = "duplicate",
        [WIRE_CHOICE] = "enum",
        [WIRE_RANGE] = "range",
        [WIRE_ITEMS] = "maxItems",
        [WIRE_VARIANT] = "anyOf",
        [WIRE_FORMAT] = "format",
        [WIRE_MEMORY] = "memory",
    };
    return (unsigned)reason < sizeof names / sizeof *names ? names[reason] : "unknown";
}

/* Cuts the pointer at `n` bytes or less, between two characters, and marks the cut. */
static size_t cut(char *pointer, size_t n)
{
    static const char mark[] = "...";
    n -= sizeof mark - 1;
    while (n && ((unsigned char)pointer[n] & 0xc0) == 0x80)
        n--;
    if (n && pointer[n - 1] == '~')
        n--;
    memcpy(pointer + n, mark, sizeof mark);
    return n + sizeof mark - 1;
}

/* What does not fit is lost at the far end, where the reader needs it least. */
static void prepend(struct wire_fault *fault, const char *segment, size_t n, bool whole)
{
    size_t room = sizeof fault->pointer - 1, old = strlen(fault->pointer);
    bool fits = whole && n + old <= room;
    if (n > room)
        n = room;
    if (old > room - n)
        old = room - n;
    memmove(fault->pointer + n, fault->pointer, old);
    memcpy(fault->pointer, segment, n);
    fault->pointer[n + old] = '\0';
    if (!fits)
        cut(fault->pointer, n + old < room ? n + old + 3 : room);
}

void scan_within_key(struct wire_fault *fault, struct str key)
{
    char segment[2 * JSON_POINTER_BYTES];
    size_t n = 0;
    uint32_t i = 0;
    segment[n++] = '/';
    for (; i < key.n && n < JSON_POINTER_BYTES; i++) {
        if (key.p[i] == '~' || key.p[i] == '/')
            segment[n++] = '~';
        segment[n++] = (char)(key.p[i] == '~' ? '0' : key.p[i] == '/' ? '1' : key.p[i]);
    }
    prepend(fault, segment, n, i == key.n);
}

void scan_within_item(struct wire_fault *fault, uint32_t index)
{
    char segment[16];
    int n = snprintf(segment, sizeof segment, "/%u", index);
    prepend(fault, segment, (size_t)n, true);
}
