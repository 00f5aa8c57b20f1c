/* store/directory_check.c - what somebody else may have put in place of the files of a data
 * directory.
 *
 * The directory may be a symbolic link: that is how an operator puts it on another disk, and what
 * counts is where it leads. In it there are only files of our own. A link among them would make a
 * server write where somebody else wants it to, and a pipe would make it wait.
 */
#include "store/internal.h"

#include "base/err.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {
    "data.mdb",  "data.mdb-lock", "sys.mdb",         "sys.mdb-lock",
    "open.lock", "sys.users",     "sys.state",       "sys.state.new",
    "load.lock", "build.lock",    "secret",          "serve.lock",
    "wake",      "sys.mdb.aside", "components.seen", "import-kept.ndjson",
};

static int check_file(int dir, const char *name, const char **ret_why)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return 0; /* it is not there; or who opens it says what is wrong */
    if (S_ISREG(st.st_mode))
        return 0;
    *ret_why = S_ISLNK(st.st_mode) ? "is a symbolic link, and is not followed" : "is not a file";
    return ERR_FORBIDDEN;
}

int directory_check(const char *path, const char **ret_name, const char **ret_why)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
    for (size_t i = 0; dir >= 0 && !err && i < sizeof names / sizeof *names; i++) {
        err = check_file(dir, names[i], ret_why);
        *ret_name = names[i];
    }
    if (dir >= 0)
        close(dir);
    return err; /* a directory that cannot be read may still be used */
}
