// SPDX-License-Identifier: BSD-3-Clause
#include "expect.h"

#include <pthread.h>
#include <stdarg.h>

enum { kLabels = 4096, kText = 512 };

struct label {
  MPI_Comm comm;
  char made_by[64];
  char ranks[kText], remote[kText];  // comma separated tokens
};

int world_rank = 0, world_size = 1;
static char world_name[64] = "main";
static char phase_name[64] = "";
static FILE* log_file;
static MPI_Group world_group;
static struct label labels[kLabels];
static int label_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void require_at(int condition, const char* text, const char* file, int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: rank %d: not so: %s\n", file, line, world_rank, text);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

void fill(void* buffer, size_t size, unsigned key) {
  unsigned char* bytes = buffer;
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(i * 7 + key * 13 + 1);
}

void verify_at(const void* buffer, size_t size, unsigned key, const char* file, int line) {
  const unsigned char* bytes = buffer;
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != (unsigned char)(i * 7 + key * 13 + 1)) require_at(0, "payload", file, line);
}

void report_ok(const char* program) {
  if (world_rank == 0) {
    printf("%s: ok on %d ranks\n", program, world_size);
    fflush(stdout);
  }
}

static void line(const char* format, ...) {
  char text[4096];
  va_list arguments;
  if (!log_file) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&lock);
  fputs(text, log_file);
  fputc('\n', log_file);
  fflush(log_file);  // a program that is killed has said what it sent until then
  pthread_mutex_unlock(&lock);
}

void expect_world(const char* name) { snprintf(world_name, sizeof world_name, "%s", name); }
void expect_phase(const char* name) { snprintf(phase_name, sizeof phase_name, "%s", name); }

void expect_start_with(MPI_Group world) {
  const char* directory = getenv("EXPECT_DIR");
  world_group = world;
  MPI_Group_rank(world, &world_rank);
  MPI_Group_size(world, &world_size);
  if (directory && !log_file) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld.log", directory, (long)getpid());
    log_file = fopen(path, "a");
    require(log_file != NULL);
  }
}

void expect_start(void) {
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  expect_start_with(world);
  expect_label(MPI_COMM_WORLD, "predefined");
  expect_label(MPI_COMM_SELF, "predefined");
}

static void group_text(MPI_Group group, char* text) {
  int size, i;
  size_t used = 0;
  MPI_Group_size(group, &size);
  text[0] = 0;
  for (i = 0; i < size; i++) {
    int in_world;
    MPI_Group_translate_ranks(group, 1, &i, world_group, &in_world);
    require(in_world != MPI_UNDEFINED);
    used += (size_t)snprintf(text + used, kText - used, "%s%d", i ? "," : "", in_world);
  }
}

void expect_label(MPI_Comm comm, const char* made_by) {
  char ranks[kText], remote[kText] = "";
  MPI_Group group;
  int inter;
  MPI_Comm_group(comm, &group);
  group_text(group, ranks);
  MPI_Group_free(&group);
  MPI_Comm_test_inter(comm, &inter);
  if (inter) {
    MPI_Comm_remote_group(comm, &group);
    group_text(group, remote);
    MPI_Group_free(&group);
  }
  expect_label_as(comm, made_by, ranks, remote);
}

void expect_label_as(MPI_Comm comm, const char* made_by, const char* ranks, const char* remote) {
  int i;
  pthread_mutex_lock(&lock);
  for (i = 0; i < label_count && labels[i].comm != comm; i++) {
  }
  if (i == label_count) label_count++;
  pthread_mutex_unlock(&lock);
  require(i < kLabels);
  labels[i].comm = comm;
  snprintf(labels[i].made_by, sizeof labels[i].made_by, "%s", made_by);
  snprintf(labels[i].ranks, kText, "%s", ranks);
  snprintf(labels[i].remote, kText, "%s", remote);
  line("comm\t%s\t%s|%s|%s", world_name, made_by, ranks, remote);
}

static struct label* find(MPI_Comm comm) {
  struct label* found = NULL;
  int i;
  pthread_mutex_lock(&lock);
  for (i = 0; i < label_count && !found; i++)
    if (labels[i].comm == comm) found = &labels[i];
  pthread_mutex_unlock(&lock);
  require(found != NULL);
  return found;
}

static void token(const char* list, int index, char* out) {
  size_t length;
  if (index < 0) {
    strcpy(out, "*");
    return;
  }
  for (; index > 0; index--) {
    list = strchr(list, ',');
    require(list != NULL);
    list++;
  }
  length = strcspn(list, ",");
  memcpy(out, list, length);
  out[length] = 0;
}

static void pair(const char* kind, const char* class_name, MPI_Comm comm, int source,
                 int destination, long long size, long long count) {
  const struct label* l = find(comm);
  char from[80], to[80];
  token(l->ranks, source, from);
  token(l->remote[0] ? l->remote : l->ranks, destination, to);
  line("%s\t%s\t%s\t%s|%s|%s\t%s\t%s\t%s\t%lld\t%lld", kind, world_name, class_name, l->made_by,
       l->ranks, l->remote, phase_name, from, to, size, count);
}

static int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

void expect_message(MPI_Comm comm, int destination, long long size, long long count) {
  pair("exact", "point-to-point", comm, rank_in(comm), destination, size, count);
}
void expect_unreceived(MPI_Comm comm, int destination, long long size, long long count) {
  pair("unreceived", "point-to-point", comm, rank_in(comm), destination, size, count);
}

void expect_uncounted(MPI_Comm comm, int destination, long long size, long long count) {
  pair("uncounted", "point-to-point", comm, rank_in(comm), destination, size, count);
}
void expect_pair(const char* class_name, MPI_Comm comm, int source, int destination, long long size,
                 long long count) {
  pair("exact", class_name, comm, source, destination, size, count);
}
void expect_one_sided(MPI_Comm comm, int source, int destination, long long bytes) {
  pair("exact", "one-sided", comm, source, destination, bytes, 1);
}
void expect_may(const char* class_name) { line("may\t%s\t%s\t*", world_name, class_name); }
void expect_may_on(const char* class_name, MPI_Comm comm) {
  const struct label* l = find(comm);
  line("may\t%s\t%s\t%s|%s|%s", world_name, class_name, l->made_by, l->ranks, l->remote);
}
void expect_no_bytes(const char* class_name, MPI_Comm comm) {
  const struct label* l = find(comm);
  line("nobytes\t%s\t%s\t%s|%s|%s", world_name, class_name, l->made_by, l->ranks, l->remote);
}
void expect_balanced(const char* class_name, MPI_Comm comm) {
  const struct label* l = find(comm);
  line("balanced\t%s\t%s\t%s|%s|%s", world_name, class_name, l->made_by, l->ranks, l->remote);
}
void expect_at_least(const char* class_name, MPI_Comm comm, int source, int destination,
                     long long bytes, long long messages) {
  pair("atleast", class_name, comm, source, destination, bytes, messages);
}
void expect_at_least_anywhere(const char* class_name, long long bytes, long long messages) {
  line("atleast\t%s\t%s\t*\t%s\t*\t*\t%lld\t%lld", world_name, class_name, phase_name, bytes,
       messages);
}
void expect_instances(MPI_Comm comm, long long count) {
  const struct label* l = find(comm);
  line("instances\t%s\t%s|%s|%s\t%lld", world_name, l->made_by, l->ranks, l->remote, count);
}
void expect_name(MPI_Comm comm, const char* name) {
  const struct label* l = find(comm);
  line("name\t%s\t%s|%s|%s\t%s", world_name, l->made_by, l->ranks, l->remote, name);
}

// Bounds that hold for every algorithm: each rank's contribution has to leave it and each result
// has to reach it, except where a rank has both already.
void expect_collective(const char* class_name, MPI_Comm comm, enum collective kind, int root,
                       long long n, int times) {
  int rank, size, last;
  long long out = 0, in = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  last = size - 1;
  expect_may_on(class_name, comm);
  if (size == 1) return;
  switch (kind) {
    case kBarrier: out = in = 0; break;
    case kBcast: in = rank == root ? 0 : n; break;
    case kGather:
      out = rank == root ? 0 : n;
      in = rank == root ? n * last : 0;
      break;
    case kScatter:
      in = rank == root ? 0 : n;
      out = rank == root ? n * last : 0;
      break;
    case kAllgather:
      out = n;
      in = n * last;
      break;
    case kAlltoall: out = in = n * last; break;
    case kReduce:
      out = rank == root ? 0 : n;
      in = rank == root ? n : 0;
      break;
    case kAllreduce: out = in = n; break;
    case kReduceScatter:
      out = n * last;
      in = n;
      break;
    case kScan:
      out = rank == last ? 0 : n;
      in = rank == 0 ? 0 : n;
      break;
  }
  if (kind == kScatter && rank == root) {
    // A tree sends the root's blocks in fewer, larger messages, but all of them leave the root.
    expect_at_least(class_name, comm, rank, -1, out * times, times);
    return;
  }
  if (out > 0 || kind == kBarrier) expect_at_least(class_name, comm, rank, -1, out * times, times);
  if (in > 0 || kind == kBarrier) expect_at_least(class_name, comm, -1, rank, in * times, times);
}
