/* base/log.h - one line to stderr per event that an operator should know.
 *
 * "theirs" (a client's mistake) is debug; "ours" is logged once, where it is handled; `fatal` is
 * for start-up only. Lower layers return errors and do not log. Nothing secret goes in: session
 * ids are shortened by the caller. Any thread.
 */
#ifndef TENON_BASE_LOG_H
#define TENON_BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

void log_set_level(enum log_level level);         /* default LOG_INFO */
void log_set_name(const char *name);              /* who speaks ("worker 1"); copied */
const char *log_level_name(enum log_level level); /* "debug", "info", "warning", "error" */
/* Control characters become question marks, so that whatever is logged is one line. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
/* Writes "tenon: <text>" and exits with 1. */
_Noreturn void fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
