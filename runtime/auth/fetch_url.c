/* auth/fetch_url.c - see fetch.h.
 *
 * libcurl is opened when it is first needed: it brings 27 libraries along, which would nearly
 * triple the time that every command takes to start, and few servers fetch anything.
 */
#include "auth/fetch.h"

#include "auth/uri.h"
#include "base/err.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY "libcurl.so.4"

/* X(name): what is used of it */
#define CURL_LIST(X)      \
    X(curl_global_init)   \
    X(curl_easy_init)     \
    X(curl_easy_setopt)   \
    X(curl_easy_perform)  \
    X(curl_easy_getinfo)  \
    X(curl_easy_strerror) \
    X(curl_easy_cleanup)  \
    X(curl_slist_append)  \
    X(curl_slist_free_all)

/* its header checks the arguments by macros of these names, for calls by these names only */
#undef curl_easy_setopt
#undef curl_easy_getinfo

static struct {
#define CURL_MEMBER(name) __typeof__(name) *name;
    CURL_LIST(CURL_MEMBER)
#undef CURL_MEMBER
    bool is_open;
} curl;

static void open_library(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
#define CURL_FIND(name) found = found && (curl.name = dlsym(library, #name));
    CURL_LIST(CURL_FIND)
#undef CURL_FIND
    curl.is_open = found && curl.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static size_t take(char *data, size_t size, size_t n, void *ctx)
{
    struct buf *out = ctx;
    buf_add(out, data, size * n);
    return out->failed ? 0 : size * n;
}

/* SSL_CERT_FILE, as in OpenSSL's own programs, which the library does not ask for itself. */
static void trust(CURL *easy)
{
    const char *file = getenv("SSL_CERT_FILE");
    if (!file || !*file)
        return;
    curl.curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    curl.curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

/* An http URL leads to this machine; a proxy of the environment is for others. */
static void set_up(CURL *easy, const char *url, struct buf *out)
{
    struct uri uri;
    bool here = uri_cut(str_of(url), &uri) && uri_is_loopback(&uri);
    curl.curl_easy_setopt(easy, CURLOPT_URL, url);
    curl.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, here ? "http,https" : "https");
    curl.curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, out);
    curl.curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl.curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    if (here)
        curl.curl_easy_setopt(easy, CURLOPT_PROXY, "");
    trust(easy);
}

static int perform(CURL *easy, const struct buf *out, char ret_why[FETCH_WHY_BYTES])
{
    long status = 0;
    CURLcode code = curl.curl_easy_perform(easy);
    curl.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (out->failed)
        snprintf(ret_why, FETCH_WHY_BYTES, "the answer is too large");
    else if (code != CURLE_OK)
        snprintf(ret_why, FETCH_WHY_BYTES, "%s", curl.curl_easy_strerror(code));
    else if (status != 200)
        snprintf(ret_why, FETCH_WHY_BYTES, "the answer is %ld", status);
    else
        return 0;
    return ERR_IO;
}

int fetch_url(const char *url, long timeout_ms, struct buf *out, char ret_why[FETCH_WHY_BYTES])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    CURL *easy = curl.is_open ? curl.curl_easy_init() : NULL;
    struct curl_slist *headers = NULL;
    if (!easy) {
        snprintf(ret_why, FETCH_WHY_BYTES, "%s cannot be used", LIBRARY);
        return ERR_IO;
    }
    set_up(easy, url, out);
    curl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    headers = curl.curl_slist_append(NULL, "Accept: application/jwk-set+json, application/json");
    curl.curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    int err = perform(easy, out, ret_why);
    curl.curl_easy_cleanup(easy);
    curl.curl_slist_free_all(headers);
    return err;
}
