/* core/stream.h - a stream of messages as a log, and who reads it.
 *
 * MCP 2025-06-18, Transports: Sending Messages, Listening, Resumability. A stream is an append-only
 * log of frames, named by its session and 64 random bits, kept in the store (core/store.h) for a
 * while; a connection is a reader of that log at a position. The id of an event is `stream.n` or
 * `stream.n.seq` (event_id.h; the latter of notifications of subscriptions: follow.h). One worker
 * writes a stream:
 *
 *   a POST stream   the worker that runs the call; it stays the writer, whoever reads
 *   a GET stream    the worker that holds the connection; a resume elsewhere takes the writing over
 *
 * Frames go to the writer's own connection at once and to the store in the same turn, all frames of
 * a worker in one commit. Any other reader reads them from the store: a worker that follows a
 * stream is woken after each commit. So also a connection that fell behind or that resumed on the
 * writer's own worker: there is one way to catch up. A claim (reader's worker and a random token)
 * in the stream's record says who reads; a new claim tells the old holder, who stops and says so
 * (MAIL_RELEASE, MAIL_RELEASED); the new one begins after that, when the old one is dead, or after
 * STREAM_RELEASE_MS. Numbers are reserved in blocks, so that none is used twice after a crash.
 *
 * Loop only.
 */
#ifndef TENON_CORE_STREAM_H
#define TENON_CORE_STREAM_H

#include "core/call.h"
#include "core/mail.h"
#include "core/sink.h"
#include "core/store.h"

struct streams; /* those of a worker */
struct stream;  /* one that this worker writes */

int streams_new(struct core *core, struct streams **ret);
void streams_free(struct streams *streams); /* NULL is fine */
/* What has to happen after a wake, and once a second. */
void streams_wake(struct streams *streams);
void streams_tick(struct streams *streams);
/* The server stops: connections that listen or only follow end in good order, those of calls that
 * run here end with the calls. What clients did not get stays in the store. */
void streams_stop(struct streams *streams);
/* Its streams end; what the store has of them goes with the session. */
void streams_end_session(struct streams *streams, struct str session_id);

/* A new stream for the call, on this connection. 0, ERR_NO_MEMORY. */
int stream_open(struct call *call, struct sink *sink, struct stream **ret);
/* Appends a message. Nothing fails here: without memory the connection ends, and the client sees
 * the gap when it resumes. */
void stream_send(struct stream *stream, struct str message);
/* Appends the last one (STR_NONE: none) and ends the stream. It is gone for the caller; what is
 * still to be written or read goes on by itself. */
void stream_end(struct stream *stream, struct str last);

/* GET: opens a stream to listen to, or goes on with the one of Last-Event-ID. Answers the call:
 * by its sink, or by an error: ERR_NOT_ACCEPTABLE, ERR_EVENT_ID (unknown, foreign, expired: never
 * another stream's data), ERR_STREAMS. */
int streams_listen(struct streams *streams, struct call *call);

/* MAIL_RELEASE {"session", "stream", "token" (of the old reader), "next" (token of the new one)};
 * MAIL_RELEASED {"next"}. */
void stream_take_release(struct core *core, struct worker_id from, const struct tape_node *letter);
void stream_take_released(struct core *core, struct worker_id from, const struct tape_node *letter);

#endif
