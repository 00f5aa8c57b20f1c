/* tests/bench/bench_lmdb.c - bench_lmdb DIR N: the rows of rows.h in bare LMDB, as the ceiling.
 *
 * Nothing is checked, indexed, logged or sent: N puts in transactions of a thousand, gets by random
 * keys, and puts in a transaction each that is on the disk when it returns. What the server adds to
 * these numbers is what it does.
 */
#include "tests/bench/rows.h"

#include <arpa/inet.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define IN_TRANSACTION 1000
#define SECONDS        1.0

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "bench_lmdb: %s\n", mdb_strerror(err));
    exit(1);
}

static void put(MDB_txn *txn, MDB_dbi dbi, uint64_t i, uint64_t n, struct buf *row)
{
    uint32_t big_endian = htonl((uint32_t)i);
    MDB_val key = {sizeof big_endian, &big_endian};
    buf_clear(row);
    rows_write_json(i, n, row);
    MDB_val value = {row->n, row->p};
    must(mdb_put(txn, dbi, &key, &value, 0));
}

static void fill(MDB_env *env, MDB_dbi dbi, uint64_t n, struct buf *row)
{
    MDB_txn *txn = NULL;
    double start = now_s();
    for (uint64_t i = 1; i <= n; i++) {
        if (!txn)
            must(mdb_txn_begin(env, NULL, 0, &txn));
        put(txn, dbi, i, n, row);
        if (i % IN_TRANSACTION == 0 || i == n) {
            must(mdb_txn_commit(txn));
            txn = NULL;
        }
    }
    printf("bare LMDB: put %.0f rows/s in transactions of %d", (double)n / (now_s() - start),
           IN_TRANSACTION);
}

static void get_all(MDB_env *env, MDB_dbi dbi, uint64_t n)
{
    MDB_txn *txn;
    uint64_t calls = 0;
    double start = now_s();
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    for (; now_s() < start + SECONDS; calls++) {
        uint32_t big_endian = htonl((uint32_t)(1 + rows_mix(calls) % n));
        MDB_val key = {sizeof big_endian, &big_endian}, value;
        mdb_txn_reset(txn);
        must(mdb_txn_renew(txn));
        must(mdb_get(txn, dbi, &key, &value));
    }
    mdb_txn_abort(txn);
    printf(", get %.0f rows/s", (double)calls / SECONDS);
}

static void put_one_by_one(MDB_env *env, MDB_dbi dbi, uint64_t n, struct buf *row)
{
    MDB_txn *txn;
    uint64_t calls = 0;
    double start = now_s();
    for (; now_s() < start + SECONDS; calls++) {
        must(mdb_txn_begin(env, NULL, 0, &txn));
        put(txn, dbi, n + calls + 1, n, row);
        must(mdb_txn_commit(txn));
    }
    printf(", put one by one %.0f rows/s\n", (double)calls / SECONDS);
}

int main(int argc, char **argv)
{
    uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    struct buf row = {0};
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    if (n == 0) {
        fprintf(stderr, "usage: bench_lmdb DIR N\n");
        return 2;
    }
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, (size_t)16 << 30));
    must(mdb_env_open(env, argv[1], 0, 0600));
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_dbi_open(txn, NULL, 0, &dbi));
    must(mdb_txn_commit(txn));
    fill(env, dbi, n, &row);
    get_all(env, dbi, n);
    put_one_by_one(env, dbi, n, &row);
    mdb_env_close(env);
    buf_done(&row);
    return 0;
}
