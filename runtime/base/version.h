/* base/version.h - what `tenon --version` and serverInfo say. */
#ifndef TENON_BASE_VERSION_H
#define TENON_BASE_VERSION_H

#define TENON_VERSION "0.1.0"

#endif
