/* base/limits.h - every cap and default time-out, with its unit.
 *
 * Whatever a client can make grow has its limit here and a test that hits it. Those that an
 * operator may change are the defaults of a config key (see config.h).
 */
#ifndef TENON_BASE_LIMITS_H
#define TENON_BASE_LIMITS_H

#define ARENA_FIRST_BLOCK_BYTES (8u << 10)
#define ARENA_LIMIT_BYTES       (16u << 20) /* per call */

#define JSON_DEPTH_MAX     128 /* nested arrays and objects of a message */
#define JSON_PADDING_BYTES 64  /* zero bytes that stand behind a text being parsed */
#define JSON_POINTER_BYTES 128 /* of a fault report */

#define BODY_LIMIT_BYTES     (4u << 20)  /* of one POST, and of one line on stdio */
#define BODY_LIMIT_MAX_BYTES (8u << 20)  /* an operator may set no more: half of an arena */
#define BATCH_MAX            100         /* messages of a 2025-03-26 batch */
#define BATCH_BYTES_MAX      (32u << 20) /* of its answers together */
#define BATCH_TURN_MS        2           /* of a loop turn, for the members of batches */
#define RPC_ID_BYTES         1024        /* raw text of a request id */

#define SESSION_IDLE_S          1800
#define SESSION_UNINITIALIZED_S 60      /* idle time of one that was never initialized */
#define SESSIONS_MAX            100000u /* that stand in the store; initialize is refused beyond */
#define SESSION_ID_BYTES        64      /* text of a session id */
#define CLIENT_INFO_BYTES       (4u << 10) /* clientInfo and capabilities kept per session */

#define LIST_PAGE            200        /* entries of a page of a list method */
#define LIST_BYTES_MAX       (2u << 20) /* of a page of a list method; one entry always fits */
#define CURSOR_PAYLOAD_BYTES 4096       /* of a page cursor: a key or a position */
#define SEARCH_PAGE          100
#define SEARCH_MAX           1000
#define SEARCH_SCAN_ROWS     100000     /* looked at by one search before it asks for an index */
#define ORDER_BY_MAX         8          /* attributes of an order, without the primary key */
#define INLINE_SCAN_ENTRIES  256        /* scanned on the event loop; more goes to a thread */
#define INLINE_ENTRY_NODES   16         /* values or names of a row that count as one more entry */
#define INLINE_ENTRY_BYTES   256        /* of JSON written that count as one more entry */
#define OPENAPI_BYTES_MAX    (8u << 20) /* of tenon://openapi; tables beyond are counted only */
#define SEARCH_BYTES_MAX     (2u << 20) /* of the rows in one page of a search */
#define SCANS_MAX            4          /* searches on handler threads at once; why: core/scans.h */
#define SCANS_WAITING_MAX    1000       /* for that */
#define JOBS_RUNNING_MAX     4          /* of a worker */
#define JOBS_WAITING_MAX     100        /* for that */
#define JOB_PROGRESS_MS      1000       /* between what a running job writes down */
#define SCAN_MS_MAX          10000      /* of a search from its start */

#define CATALOG_BYTES_MAX    (256u << 20) /* of a snapshot, and of those of roles together */
#define CATALOG_ROLES_MAX    16           /* roles of which a worker keeps what they see */
#define DEFINITION_BYTES_MAX (1u << 20)   /* text of the definition of a table */
#define TOOL_NAME_BYTES_MAX  120 /* of what a tool is called after its verb (MCP: 128 in all) */

/* JSON Schema. Faults beyond the first ten are not told. */
#define SCHEMA_FAULTS_MAX        10
#define SCHEMA_SUBSCHEMAS_MAX    10000
#define SCHEMA_DEPTH_MAX         64  /* subschemas within subschemas */
#define SCHEMA_REACH_MAX         64  /* subschemas that one after the other refer to one value */
#define SCHEMA_RECURSION_MAX     400 /* subschemas at work at one time of a check */
#define SCHEMA_STEPS_MAX         5000000 /* of a check: values looked at, each time anew */
#define SCHEMA_CHECK_MS_MAX      250     /* of a check that spends its time in patterns */
#define SCHEMA_PATTERN_BYTES_MAX 4096
#define SCHEMA_PATTERN_STEPS_MAX 100000 /* of PCRE2 in one match */
#define SCHEMA_PATTERN_DEPTH_MAX 100000 /* of its backtracking */
#define SCHEMA_PATTERN_KIB_MAX   4096   /* of memory for it */

/* A component that is a folder: manifest/manifest.h. */
#define MANIFEST_FAULTS_MAX     10
#define MANIFEST_BYTES_MAX      (4u << 20)  /* text of component.json */
#define MANIFEST_FILE_BYTES_MAX (4u << 20)  /* of a file that is read with it */
#define MANIFEST_MEMORY_BYTES   (64u << 20) /* of all that it holds */
#define MANIFEST_ENTRIES_MAX    1000        /* of each of its lists */
#define MANIFEST_ARGUMENTS_MAX  100         /* of a prompt */

#define TEMPLATE_BYTES_MAX 2048 /* text of a URI template */
#define TEMPLATE_PARTS_MAX 64   /* its literals and expressions, and its variables */
#define URI_BYTES_MAX      8192 /* of a URI that is read or matched */

#define FILTER_BYTES_MAX   (8u << 10) /* text of a filter */
#define FILTER_DEPTH_MAX   64         /* nested parentheses and nots */
#define FILTER_NODES_MAX   1000       /* comparisons, and the ands and ors that join them */
#define FILTER_ITEMS_MAX   1000       /* of one `in` */
#define FILTER_LIKE_MAX    64         /* characters between two % of `like` that hold a _ */
#define FILTER_PATH_MAX    16         /* names of a path */
#define FILTER_COLUMNS_MAX 4096       /* attributes of a table, nested ones too */

#define KEY_BYTES_MAX      480          /* of an encoded primary key (LMDB allows 511) */
#define NAME_BYTES_MAX     64           /* of a database, table or attribute */
#define ROW_BYTES_MAX      (1u << 20)   /* of one encoded row */
#define ROW_NODES_MAX      (128u << 10) /* values and member names in one row */
#define RESULT_TAPE_BYTES  (256u << 20) /* of a result that is opened to be checked */
#define ARGUMENT_NODES_MAX (256u << 10) /* of a tool call; they fit an arena beside any body */
#define TXN_ROWS_MAX       1000         /* rows of one write transaction */
#define TXN_MS_MAX         50
#define RECHECK_LOG_MAX    50000 /* of all tables, gone through when one changes under writes */
#define WRITES_WAITING_MAX 10000 /* lists in the queue of a writer; the next is refused */
#define WRITE_WAIT_MS                                                                             \
    12000                       /* for another process's transaction; a worker that stands in one \
                                   is killed before: WORKER_STALL_MS */
#define UPDATE_MS_MAX      2000 /* of an update that others keep overtaking */
#define WRITE_RECHECKS_MAX 10   /* of a row whose table changes before it is written */
#define INDEX_PARTS_MAX    8
#define TABLE_INDEXES_MAX  16
#define INDEX_ENTRY_BYTES  507 /* of an index key and the key of its row (LMDB: 511 with an id) */
#define CHANGE_LOG_KEEP    1000000u
#define JOBS_KEEP          1000  /* beyond, those at rest for JOB_REST_MS are forgotten */
#define JOBS_MAX           10000 /* that stand in the store; a new one is refused beyond */
#define JOB_REST_MS        (10ll * 60 * 1000)   /* one that runs changes more often */
#define JOB_KEEP_MS        (7ll * 86400 * 1000) /* since their last change */
#define JOB_ID_BYTES       64

#define LOG_LINE_BYTES 1024 /* of a line of the log */
#define LOG_RING_LINES 512  /* that read_log can go back */

/* Streams. Frames beyond the first of these two are forgotten, oldest first; the last stays. */
#define STREAM_FRAMES         100
#define STREAM_BYTES          (1u << 20)
#define STREAM_KEEP_MS        (10ll * 60 * 1000) /* after the last change of one that ended */
#define SYS_BYTES_MAX         (2ull << 30) /* then ended streams are kept for less; at twice this, not */
#define STREAM_NUMBERS        1000         /* reserved at a time */
#define STREAM_RELEASE_MS     1000         /* for the old reader to say that it stopped */
#define STREAMS_LISTENING_MAX 4            /* GET streams of a session; the next is refused */
#define STREAMS_SESSION_MAX   100 /* kept of a session, the oldest ended ones are forgotten */
#define STREAM_UNSENT_BYTES   (256u << 10) /* in a connection; then frames wait in the store */
#define STREAM_HEARTBEAT_MS   15000
#define FRAME_BYTES_MAX       (9u << 20) /* of one message */
/* Subscriptions */
#define SUBSCRIPTIONS_SESSION_MAX 10000      /* of a session; the config may say less */
#define SUBSCRIPTIONS_BYTES       (4u << 20) /* of the URIs of a session together */
#define FOLLOW_TURN_CHANGES       256   /* of the log that are looked at in one turn of the loop */
#define COALESCE_MS_MAX           60000 /* that a client may ask for */
#define FOLLOW_BYTES_MAX          (256u << 20) /* of the subscriptions that a worker follows */

#define PUSHES_WAITING_MAX 200         /* of a session without a stream; the oldest go */
#define PUSHES_BYTES       (16u << 20) /* of them together; one always fits */
#define MAIL_KEEP_MS       60000
#define BUS_LOOK_MS        1000       /* between looks for what a lost wake should have told */
#define MAIL_BYTES_MAX     (9u << 20) /* of a letter */
#define ASK_TIMEOUT_MS     30000      /* for a client's answer */
#define ASK_TIMEOUT_MAX_MS (60 * 60 * 1000)
#define PENDING_MAX        100  /* requests to one client that wait for answers */
#define PROGRESS_PER_S     100  /* of a call; the newest is sent */
#define LOG_MESSAGES_PER_S 1000 /* of a call, to its client */
#define LIVE_LOGS          100  /* log messages of a call that wait to be sent */
#define LIVE_LOG_BYTES     (256u << 10)

#define HANDLER_THREADS_MAX          320 /* 256 callbacks of components, and what must go on beside */
#define HANDLER_QUEUE_MAX            1000
#define COMPONENT_CALLS_MAX          256   /* on handler threads at once */
#define COMPONENT_CALLS_WAITING_MAX  1000  /* for that */
#define RESOURCE_CHANGES_WAITING_MAX 10000 /* told by components, not yet in the log */
#define COMPONENT_TOOL_NAME_BYTES    128
#define PROMPT_ARGUMENTS_MAX         100
#define COMPLETIONS_MAX              100 /* values of one answer (MCP, Completion Results) */
#define COMPLETION_TABLES_HERE       256 /* more are looked through on a handler thread */
#define HANDLER_NICE                 10  /* of a handler thread: the loop goes before it */
#define WORKERS_MAX                  64

/* Users, roles, tokens: core/access.h */
#define ACCESS_NAME_BYTES   256
#define ACCESS_RECORD_BYTES (256u << 10) /* of a role: its whole tree */
#define ROLE_ATTRIBUTES_MAX 1000         /* of one table that a role lists */
#define ACCESS_RECORDS_MAX  100000u      /* users, roles and tokens together; ERR_LIMIT beyond */
#define QUOTAS_MAX          100000u /* whose window stands; what has none yet is refused beyond */
#define CREDENTIAL_BYTES    (8u << 10) /* of an Authorization header; more is refused unread */
#define ACCESS_CACHED_MAX   4096  /* whom a worker knows without looking; the longest unseen goes */
#define ACCESS_END_MS       500   /* for the answer of a call whose credential is refused now */
#define ACCESS_VIEWS_MAX    64    /* sets of roles that a worker keeps joined beside those in use */
#define ACCESS_SIGNED_MS    60000 /* then the signature of a token is verified again */
#define ACCESS_WAITING_MAX  1000  /* calls of a worker that wait for keys */
#define ACCESS_ROLES_MAX    32    /* of a user */
#define ACCESS_TOKENS_MAX   900   /* of a user; they go with him in one transaction */
#define ACCESS_LABEL_BYTES  128   /* of a token */
#define ACCESS_RETRIES_MAX  100   /* of a change of records that others keep overtaking */

/* Rates and quotas: core/rate.h, core/admission.h */
#define RATE_BUCKETS       (1u << 20)
#define RATE_PER_S_MIN     0.0001   /* but for 0, which is off */
#define RATE_PER_S_MAX     100000.0 /* that a config may say */
#define RATE_BURST_MAX     100000u
#define CONCURRENCY_COUNTS (1u << 16)
#define CONCURRENCY_MAX    10000u
#define QUOTA_WINDOW_MAX_S (366u * 86400)

/* Signed tokens and the keys of an authorization server: auth/verifier.h */
#define JWKS_BYTES          (256u << 10) /* text of a key set */
#define JWKS_TREE_BYTES     (32u << 20)  /* of it while it is read */
#define JWKS_KEYS_MAX       100
#define JWKS_TRIES_MAX      8     /* keys that one token's signature is tried with */
#define JWKS_FETCH_AGAIN_MS 10000 /* between two fetches from a URL */
#define JWKS_FILE_AGAIN_MS  1000  /* between two looks at a file */
#define JWKS_FETCH_MS       5000  /* of a fetch */
#define JWKS_OUTAGE_FACTOR  6     /* keys of auth.jwksMaxAgeSeconds times this are no longer used */
#define JWKS_WAITING_MAX    16   /* threads that wait for a fetch; the next is told to come again */
#define RSA_BITS_MIN        2048 /* of a key; shorter and longer ones are not used */
#define RSA_BITS_MAX        8192
#define JWT_SECONDS_MAX     253402300799.0 /* of exp, nbf, iat: the end of the year 9999 */

/* Commands of manifests: manifest/exec.h */
#define EXEC_RUNNING_MAX      32 /* of a process at once; the next wait */
#define EXEC_WORDS_MAX        256
#define EXEC_WORD_BYTES_MAX   ((128u << 10) - 1) /* Linux takes no longer one */
#define EXEC_ARGV_BYTES_MAX   (1u << 20)         /* of all words; half of what Linux takes */
#define EXEC_OUTPUT_BYTES     (1u << 20)
#define EXEC_OUTPUT_BYTES_MAX (4u << 20) /* that a manifest may allow */
#define EXEC_STDERR_LINES     100        /* of a call that are logged */
#define EXEC_TIMEOUT_MS       30000
#define EXEC_TIMEOUT_MAX_MS   (60 * 60 * 1000)
#define EXEC_STOP_MS          700 /* from SIGTERM to SIGKILL; within STOP_HURRY_MS, STOP_STUCK_MS */

/* Files of manifests: manifest/files.h */
#define FILE_BYTES         (1u << 20) /* of one that is read */
#define FILE_BYTES_MAX     (4u << 20) /* that a manifest may allow */
#define FILES_LISTED_MAX   10000      /* names of a folder that a completion looks at */
#define FILES_WATCHED_MAX  10000      /* files whose changes are told */
#define FILE_WATCH_MS      1000       /* between two looks at them, or ... */
#define FILE_WATCH_FACTOR  20         /* times what a look takes, if that is longer */
#define FILE_FOLDERS_DEPTH 16         /* below the watched folder */

#define CONNS_MAX           8192 /* open HTTP connections of a worker; the next is turned away by 503 */
#define BYTES_IN_FLIGHT_MAX (256u << 20) /* of bodies and unsent replies of a worker */
#define FDS_RESERVED        256          /* descriptors of a worker that are not for connections */

#define TLS_FILE_BYTES_MAX (1u << 20) /* of a certificate with its chain, a key, a list of CAs */

#define HTTP_HEADER_BYTES     (16u << 10)
#define HTTP_BODY_DEADLINE_MS 30000
#define HTTP_KEEPALIVE_MS     60000
#define HTTP_HEAD_DEADLINE_MS 10000
#define HTTP_SEND_STALL_MS    30000  /* a reader that takes nothing for so long is cut */
#define HTTP_SEND_MAX_MS      300000 /* and one that has not taken all of a reply by then */
#define HTTP_LINGER_MS        5000   /* reading on after a refusal, so that it can be read */
#define HTTP_DISCARD_BYTES    (16u << 20)
/* core/audit.h */
#define AUDIT_LINE_BYTES     8192        /* of a line; arguments are cut to fit */
#define AUDIT_TEXT_BYTES     256         /* shown of one text */
#define AUDIT_DEPTH_MAX      10          /* of arguments; what lies deeper is not shown */
#define AUDIT_RING_BYTES     (1u << 20)  /* of lines that wait to be written; more are lost */
#define AUDIT_FILE_BYTES     (64u << 20) /* then the file is set aside */
#define AUDIT_KEEP_MAX       100         /* of those */
#define AUDIT_REFUSALS_PER_S 10          /* of a worker, that are told one by one */

#define MONITOR_CONNS_MAX  16    /* of the listener for metrics; see net/monitor.h */
#define MONITOR_DEADLINE_S 5     /* of such a connection without a byte */
#define MONITOR_HEAD_BYTES 8192  /* for its request */
#define WORKER_STALL_MS    10000 /* a loop that stands still this long is killed */
#define KEEPER_STALL_MS    30000 /* its syncs may block longer than a loop may */
#define WORKER_START_MS    30000 /* for a worker or the keeper to become ready */
#define STOP_GRACE_MS      10000 /* for replies in flight at an orderly stop */
#define STOP_STUCK_MS      1000  /* after it, for handlers that do not end though cancelled */
#define STOP_HURRY_MS      1000  /* of it, at most half: for calls that are cancelled to answer */

#endif
