/* tests/bench/measured.c - measured COMMAND...: runs it, and prints what it took.
 *
 * "seconds S cpu C rss R anon A": wall and processor time, the most resident memory (KiB), and the
 * most of it that is the program's own. Pages of a mapped database file are resident as well, and
 * the kernel takes them back when it likes, so what tells whether memory grows with the data is
 * `anon`, looked at every 2 ms. The exit status is the command's.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static long anon_kib(pid_t pid)
{
    char line[256];
    long kib = 0;
    snprintf(line, sizeof line, "/proc/%d/status", (int)pid);
    FILE *f = fopen(line, "r");
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %ld", &kib) == 1)
            break;
    fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    long anon = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: measured COMMAND...\n");
        return 2;
    }
    double start = now_s();
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with us */
        dup2(2, 1);                       /* what the command says is not what we say */
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    while (pid > 0 && wait4(pid, &status, WNOHANG, &usage) == 0) {
        long kib = anon_kib(pid);
        anon = kib > anon ? kib : anon;
        poll(NULL, 0, 2);
    }
    if (pid < 0)
        return 1;
    printf("seconds %.3f cpu %.3f rss %ld anon %ld\n", now_s() - start,
           seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss, anon);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
