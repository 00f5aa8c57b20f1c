/* transfer_jobs.h - the port of core/file_transfer.h over transfer.h and a data directory. */
#ifndef TENON_TRANSFER_JOBS_H
#define TENON_TRANSFER_JOBS_H

#include "core/file_transfer.h"

/* `dir` (the data directory) must outlive the port. */
struct core_transfer transfer_jobs(const char *dir);

#endif
