/* net/lock.h - one server per data directory.
 *
 * A flock on DIR/serve.lock that the forked workers inherit: it is held until the last of them is
 * gone, so a new server never runs beside orphans of a killed one.
 */
#ifndef TENON_NET_LOCK_H
#define TENON_NET_LOCK_H

/* Makes the directory (0700) if it is missing. 0 and the descriptor that holds the lock; or
 * ERR_STORE_LOCKED (a living server has it), ERR_IO; one line on stderr has then said why. */
int lock_take(const char *data_dir, int *ret_fd);

#endif
