// SPDX-License-Identifier: BSD-3-Clause
// What wrappers do before and after the MPI call: one type or function for each role in the table.
//
// They only take notes; the call itself, its arguments, return code and errors stay the program's.
// While counting is off (before MPI_Init, after MPI_Finalize, or because no source works) they do
// nothing.
#pragma once

#include <cstdarg>

#include "profiler/counting/communicators.h"
#include "profiler/counting/partitioned.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/next_function.h"

// Reads five words after `last` from "...", as more1 to more5: some tools give MPI_Pcontrol more
// than a level, and the next tool must receive it. Words that the caller did not pass hold whatever
// is there, and nobody reads them. Floating-point arguments are lost.
#define FATHOM_MORE(last)                                                    \
  va_list more_list;                                                         \
  va_start(more_list, last);                                                 \
  void *more1 = va_arg(more_list, void*), *more2 = va_arg(more_list, void*), \
       *more3 = va_arg(more_list, void*), *more4 = va_arg(more_list, void*), \
       *more5 = va_arg(more_list, void*);                                    \
  va_end(more_list)

namespace fathom::profiler::hooks {

// For an MPI library that Fathom does not know: passes the call on unchanged, without looking at
// its handles. Those of MPICH are integers, those of the standard ABI small numbers.
template <typename F, typename... Arguments>
[[gnu::cold, gnu::noinline]] int pass_on(Next<F>& function, Arguments... arguments) {
  const F next = function.elsewhere();
  return next == nullptr ? MPI_ERR_OTHER : next(arguments...);
}
// The same for the functions that begin MPI, which first print that nothing is profiled.
void say_left_alone();
template <typename F, typename... Arguments>
[[gnu::cold, gnu::noinline]] int pass_on_init(Next<F>& function, Arguments... arguments) {
  say_left_alone();
  return pass_on(function, arguments...);
}

inline constexpr std::ptrdiff_t kNoModule = -1;

// A blocking collective is active on `comm` while this object lives. `module`: position in
// mca_coll_base_comm_coll_t of the module that will serve the call.
class BlockingCall {
 public:
  BlockingCall(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module);
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;

 private:
  Live* live_;
  ClassId outer_class_ = kNoClass;
  Live* outer_live_ = nullptr;
};

// A non-blocking collective is being started: the tags that the library reserves while this object
// lives belong to it.
class NonblockingCall {
 public:
  NonblockingCall(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module);
  ~NonblockingCall();
  NonblockingCall(const NonblockingCall&) = delete;

 protected:
  NonblockingCall(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module, TagRuns Live::*runs);

 private:
  Live* live_;
  TagRuns Live::*runs_;
  ClassId class_;
};

// The same for a persistent collective, which is started later, any number of times.
class PersistentInit : public NonblockingCall {
 public:
  PersistentInit(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module)
      : NonblockingCall(comm, class_id, module, &Live::persistent_tags) {}
};

// A constructor of communicators. Its messages, on the parent, on the new communicator until the
// call returns, and with `tag` on `other`, are the library's. With a tag but without `other`, only
// its messages on the parent with that tag are. (Members that come from a session's groups agree
// with positive tags: ompi_comm_create_from_group in ompi/communicator/comm.c.)
class ConstructorCall {
 public:
  ConstructorCall(const char* function, MPI_Comm parent, MPI_Comm other, int tag);
  ~ConstructorCall();
  ConstructorCall(const ConstructorCall&) = delete;
  void made(MPI_Comm comm);

 protected:
  ConstructorCall(const char* function, MPI_Comm parent, ClassId class_on_parent,
                  ClassId class_of_new, ClassId program_class_of_new);
  MakingCall call_;

 private:
  bool active_ = false;
  Live* claimed_ = nullptr;  // collectives on it are this call's until it returns
  Live* tagged_ = nullptr;   // so are messages on it with tag_
  int tag_ = -1;
};

// Partitioned communication is initialised (profiler/counting/partitioned.h). A sender sets it up
// while this object lives; the message of a receiver may come at any time later.
class PartitionedInit {
 public:
  PartitionedInit(profile::Direction direction, MPI_Comm comm, int peer, int tag,
                  const void* buffer, MPI_Count count, MPI_Datatype datatype);
  ~PartitionedInit();
  PartitionedInit(const PartitionedInit&) = delete;

  void made(MPI_Request request) const;

 private:
  std::size_t operation_ = Partitioned::kNone;
  Live* live_;
  profile::Direction direction_;
  int peer_, tag_;
};

// A constructor of windows. If the window's data travel as messages (osc/pt2pt), all messages on
// its inner communicator are one-sided, including those that synchronize; messages that make and
// free it are the library's. Otherwise the operations count as one-sided (posted), and all those
// messages as the library's, so that posted bytes are never added to bytes that travelled.
class WindowCall : public ConstructorCall {
 public:
  WindowCall(const char* function, MPI_Comm parent)
      : ConstructorCall(function, parent, kLibrary, kNoClass, kOneSided) {}
  void made(MPI_Win window);
};

// A constructor of files: messages on a file's inner communicator belong to the class io.
class FileCall : public ConstructorCall {
 public:
  FileCall(const char* function, MPI_Comm parent)
      : ConstructorCall(function, parent, kIo, kIo, kIo) {}
};

// Active requests that are freed complete differently; see sources/chosen_source.h.
void request_freed(const MPI_Request* request);

void communicator_freed(const MPI_Comm* comm);
void window_freed(const MPI_Win* window);

// One-sided operations, called after they were issued successfully; counted if their data do not
// travel as messages. Bytes are count x size of the datatype.
void put(MPI_Win window, int target, MPI_Count count, MPI_Datatype datatype);
void get(MPI_Win window, int target, MPI_Count count, MPI_Datatype datatype);
// With MPI_NO_OP nothing travels to the target (MPI 4.0, 12.3.4).
void exchange(MPI_Win window, int target, MPI_Count out_count, MPI_Datatype out_type,
              MPI_Count in_count, MPI_Datatype in_type, MPI_Op op);

int init(int (*next)(int*, char***), int* argc, char*** argv);
int init_thread(int (*next)(int*, char***, int, int*), int* argc, char*** argv, int required,
                int* provided);
int finalize(int (*next)());
int session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session*), MPI_Info info,
                 MPI_Errhandler handler, MPI_Session* made);
int session_finalize(int (*next)(MPI_Session*), MPI_Session* ended);
int abort(int (*next)(MPI_Comm, int), MPI_Comm comm, int error_code);
int pcontrol(int (*next)(int, ...), int level, void* more1, void* more2, void* more3, void* more4,
             void* more5);

}  // namespace fathom::profiler::hooks
