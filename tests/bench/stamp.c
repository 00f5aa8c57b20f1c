/* tests/bench/stamp.c - the component that bench_streams loads: tools that tell when they did it.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. What is known
 * only after the client can be told goes into a file that both have mapped ($TENON_BENCH_SLOTS,
 * made by the client): one number per call.
 */
#include <tenon.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

TENON_COMPONENT

static _Atomic int64_t *slots;
static int64_t n_slots;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Which worker answers? */
static int on_where(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_textf(call, "worker %d.", (int)getpid());
}

static int on_tell(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_log(call, TENON_INFO, "stamp", tenon_format(call, "%lld", (long long)now_ns()));
    return tenon_text(call, "told");
}

/* Until it is cancelled. */
static int on_hold(struct tenon_call *call, void *ctx)
{
    int64_t slot = tenon_argument_int(call, "slot", -1);
    (void)ctx;
    tenon_logf(call, TENON_INFO, "worker %d.", (int)getpid());
    int err = tenon_wait(call, 60000);
    if (err == TENON_ERR_CANCELLED && slot >= 0 && slot < n_slots)
        atomic_store(&slots[slot], now_ns());
    return err;
}

static void map_slots(const char *path)
{
    struct stat st;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        slots = p == MAP_FAILED ? NULL : p;
        n_slots = slots ? st.st_size / (int64_t)sizeof *slots : 0;
    }
    if (fd >= 0)
        close(fd);
}

int tenon_component(struct tenon *tenon)
{
    static const struct tenon_tool tools[] = {
        {.name = "where", .description = "bench", .is_inline = true, .run = on_where},
        {.name = "tell", .description = "bench", .run = on_tell},
        {.name = "hold", .description = "bench", .run = on_hold},
    };
    map_slots(getenv("TENON_BENCH_SLOTS"));
    for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++)
        tenon_add_tool(tenon, &tools[i]);
    return 0;
}
