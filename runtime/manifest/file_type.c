/* manifest/file_type.c - media types of files. */
#include "manifest/file_parts.h"

static const struct {
    struct str ending, type;
} types[] = {
    {STR_INIT("txt"), STR_INIT("text/plain")},
    {STR_INIT("log"), STR_INIT("text/plain")},
    {STR_INIT("md"), STR_INIT("text/markdown")},
    {STR_INIT("html"), STR_INIT("text/html")},
    {STR_INIT("htm"), STR_INIT("text/html")},
    {STR_INIT("css"), STR_INIT("text/css")},
    {STR_INIT("csv"), STR_INIT("text/csv")},
    {STR_INIT("js"), STR_INIT("text/javascript")},
    {STR_INIT("json"), STR_INIT("application/json")},
    {STR_INIT("xml"), STR_INIT("application/xml")},
    {STR_INIT("yaml"), STR_INIT("application/yaml")},
    {STR_INIT("yml"), STR_INIT("application/yaml")},
    {STR_INIT("toml"), STR_INIT("application/toml")},
    {STR_INIT("svg"), STR_INIT("image/svg+xml")},
    {STR_INIT("png"), STR_INIT("image/png")},
    {STR_INIT("jpg"), STR_INIT("image/jpeg")},
    {STR_INIT("jpeg"), STR_INIT("image/jpeg")},
    {STR_INIT("gif"), STR_INIT("image/gif")},
    {STR_INIT("webp"), STR_INIT("image/webp")},
    {STR_INIT("pdf"), STR_INIT("application/pdf")},
    {STR_INIT("zip"), STR_INIT("application/zip")},
    {STR_INIT("gz"), STR_INIT("application/gzip")},
    {STR_INIT("wav"), STR_INIT("audio/wav")},
    {STR_INIT("mp3"), STR_INIT("audio/mpeg")},
    {STR_INIT("ogg"), STR_INIT("audio/ogg")},
    {STR_INIT("mp4"), STR_INIT("video/mp4")},
};

struct str file_type_of(struct str path)
{
    struct str ending = STR_NONE;
    for (uint32_t i = path.n; i > 0 && path.p[i - 1] != '/' && !ending.p; i--)
        if (path.p[i - 1] == '.')
            ending = (struct str){path.p + i, path.n - i};
    for (size_t i = 0; ending.n && i < sizeof types / sizeof *types; i++)
        if (str_eq_nocase(ending, types[i].ending))
            return types[i].type;
    return STR_NONE;
}

static bool ends_with(struct str text, struct str end)
{
    struct str tail = {text.p + text.n - end.n, end.n};
    return text.n >= end.n && str_eq_nocase(tail, end);
}

bool file_is_text_type(struct str mime_type)
{
    static const struct str ends[] = {STR_INIT("/json"), STR_INIT("+json"),       STR_INIT("/xml"),
                                      STR_INIT("+xml"),  STR_INIT("/javascript"), STR_INIT("/yaml"),
                                      STR_INIT("/toml")};
    struct str rest = mime_type, type = str_trim(str_cut(&rest, ';'));
    if (type.n >= 5 && str_eq_nocase((struct str){type.p, 5}, STR("text/")))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(type, ends[i]))
            return true;
    return false;
}
