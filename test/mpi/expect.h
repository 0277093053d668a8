// SPDX-License-Identifier: BSD-3-Clause
// What a test program sent, stated by the program itself while it runs, independently of any
// profiler.
//
// Every process appends lines to EXPECT_DIR/<pid>.log (nothing is written when EXPECT_DIR is
// unset):
//
//   exact      WORLD CLASS COMM PHASE SOURCE DESTINATION SIZE COUNT   COUNT messages of SIZE bytes, neither more nor less
//   atleast    WORLD CLASS COMM PHASE SOURCE DESTINATION BYTES COUNT  lower bounds; SOURCE or DESTINATION may be *
//   unreceived WORLD CLASS COMM PHASE SOURCE DESTINATION SIZE COUNT   sent, never received
//   uncounted  WORLD CLASS COMM PHASE SOURCE DESTINATION SIZE COUNT   sent, received uncounted
//   may        WORLD CLASS COMM                                       the class may appear on COMM
//   nobytes    WORLD CLASS COMM                                       its messages carry no payload
//   balanced   WORLD CLASS COMM                                       on each: a to b as back
//   comm       WORLD COMM                                             a communicator was labelled
//   instances  WORLD COMM COUNT                                       that many lived one after the other
//   name       WORLD COMM NAME
//
// Fields are separated by tabs. COMM is MADE_BY|RANKS|REMOTE_RANKS (comma separated), or * for any.
// A rank is a rank in MPI_COMM_WORLD of the line's WORLD, or "world.rank" for another world's
// process. run.py adds the lines up and compares them with the profile.
//
// Threading: expect_message and the like may be called from several threads; labelling too.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int world_rank, world_size;

// After MPI_Init: fills world_rank and world_size, labels MPI_COMM_WORLD and MPI_COMM_SELF.
void expect_start(void);
// The same in a session, where these are not to be had: `world` has all processes of the job, and
// stays until the next call of either.
void expect_start_with(MPI_Group world);
// The name of this process's MPI_COMM_WORLD in the log ("main" until called). Call before
// expect_start.
void expect_world(const char* name);
// The phase that later lines belong to; "" for none.
void expect_phase(const char* name);

// Says which call made `comm`; a later label of the same handle replaces the earlier one.
void expect_label(MPI_Comm comm, const char* made_by);
// The same for a communicator with processes of other worlds, whose names the program gives.
void expect_label_as(MPI_Comm comm, const char* made_by, const char* ranks,
                     const char* remote_ranks);

// This process sent `count` point-to-point messages of `size` bytes to rank `destination` of
// `comm`.
void expect_message(MPI_Comm comm, int destination, long long size, long long count);
void expect_unreceived(MPI_Comm comm, int destination, long long size, long long count);
void expect_uncounted(MPI_Comm comm, int destination, long long size, long long count);
// Messages of class `class_name` between two ranks of `comm` (source is local, destination remote
// on an intercommunicator).
void expect_pair(const char* class_name, MPI_Comm comm, int source, int destination, long long size,
                 long long count);
// One-sided transfer: `bytes` from rank `source` to rank `destination` of `comm`'s group.
void expect_one_sided(MPI_Comm comm, int source, int destination, long long bytes);
void expect_may(const char* class_name);
void expect_may_on(const char* class_name, MPI_Comm comm);
void expect_no_bytes(const char* class_name, MPI_Comm comm);
// The other expectations add up all communicators with one label; this one holds for each that the
// profile lists.
void expect_balanced(const char* class_name, MPI_Comm comm);
void expect_at_least(const char* class_name, MPI_Comm comm, int source, int destination,
                     long long bytes, long long messages);  // source or destination -1: any
void expect_at_least_anywhere(const char* class_name, long long bytes, long long messages);
void expect_instances(MPI_Comm comm, long long count);
void expect_name(MPI_Comm comm, const char* name);

// What a collective must at least move, whatever its algorithm; called by every rank of `comm`.
enum collective {
  kBarrier,
  kBcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kScan
};
void expect_collective(const char* class_name, MPI_Comm comm, enum collective kind, int root,
                       long long block_bytes, int times);

// Ends the job with a message when a received value is wrong.
void require_at(int condition, const char* text, const char* file, int line);
#define require(condition) require_at((condition) != 0, #condition, __FILE__, __LINE__)

// Test patterns: byte i of message `key`.
void fill(void* buffer, size_t size, unsigned key);
void verify_at(const void* buffer, size_t size, unsigned key, const char* file, int line);
#define verify(buffer, size, key) verify_at(buffer, size, key, __FILE__, __LINE__)

// "ok" from rank 0, the only output of most programs.
void report_ok(const char* program);

#ifdef __cplusplus
}
#endif
