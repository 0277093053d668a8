// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/wrappers/hooks.h"

#include "message_events.h"
#include "profiler/calls/arguments.h"
#include "profiler/clocks/job_clocks.h"
#include "profiler/counting/partitioned.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/counting/windows.h"
#include "profiler/openmpi/modules.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/session/session.h"
#include "profiler/sources/chosen_source.h"

namespace fathom::profiler::hooks {
namespace {

Live* find(MPI_Comm comm) {
  ProfiledProcess* process = ProfiledProcess::active();
  comm = native(comm);
  if (process == nullptr || comm == nullptr) return nullptr;
  return process->communicators().find(comm);  // null for MPI_COMM_NULL, which is never in there
}

void note_module(Live& live, ClassId class_id, std::ptrdiff_t module) {
  if (module == kNoModule) return;
  std::uint64_t& seen = live.modules_seen[class_id / 64];
  const std::uint64_t bit = std::uint64_t{1} << class_id % 64;
  if (!(seen & bit)) [[unlikely]] {
    seen |= bit;
    live.bypassing_module[class_id] = bypassing_module(live.comm, module);
  }
  const std::uint32_t bypassing = live.bypassing_module[class_id];
  if (bypassing != 0) [[unlikely]] {
    ProfiledProcess::active()->counter().record(profile::Direction::kInvisible, live.kind, class_id,
                                                live.group, bypassing, 0);
  }
}

void posted(profile::Direction direction, MPI_Win window, int target, std::uint64_t bytes) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || target < 0) return;
  const Window known = process->windows().find(window);
  if (known.module == 0) return;  // not known, or its messages are counted
  process->counter().record(direction, known.kind, kPosted, known.group,
                            static_cast<std::uint32_t>(target), bytes);
  process->counter().record(profile::Direction::kInvisible, known.kind, kPosted, known.group,
                            known.module, 0);
}

}  // namespace

void say_left_alone() {
  if (!open_mpi_is_known()) session::leave_alone();  // else the library lacks the function
}

BlockingCall::BlockingCall(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module)
    : live_(find(comm)) {
  if (live_ == nullptr) return;
  note_module(*live_, class_id, module);
  outer_class_ = live_->blocking_class.load(relaxed);
  if (outer_class_ ==
      kNoClass) {  // else this call is inside another MPI call, and the outermost one decides
    live_->blocking_first_tag.store(rankmap::next_nonblocking_tag(live_->comm), relaxed);
    live_->blocking_class.store(class_id, relaxed);
  }
  outer_live_ = Communicators::collective_on();
  Communicators::collective_on() = live_;
}

BlockingCall::~BlockingCall() {
  if (live_ == nullptr) return;
  live_->blocking_class.store(outer_class_, relaxed);
  Communicators::collective_on() = outer_live_;
  if (events::kFindsWaits && live_->is_world && outer_class_ == kNoClass)
    JobClocks::world_collective_ended();
}

NonblockingCall::NonblockingCall(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module)
    : NonblockingCall(comm, class_id, module, &Live::nonblocking_tags) {}

NonblockingCall::NonblockingCall(MPI_Comm comm, ClassId class_id, std::ptrdiff_t module,
                                 TagRuns Live::*runs)
    : live_(find(comm)), runs_(runs), class_(class_id) {
  if (live_ == nullptr) return;
  note_module(*live_, class_id, module);
  live_->nonblocking_first_tag.store(rankmap::next_nonblocking_tag(live_->comm), relaxed);
  live_->nonblocking_class.store(class_id, relaxed);
}

NonblockingCall::~NonblockingCall() {
  if (live_ == nullptr) return;
  std::int32_t first = live_->nonblocking_first_tag.load(relaxed);
  const std::int32_t next = rankmap::next_nonblocking_tag(live_->comm);
  // When they run out, tags start again at the top (ompi_coll_base_nbc_reserve_tags).
  if (next > first) first = static_cast<std::int32_t>(openmpi::layout().tag_nonblocking_base);
  if (next < first) (live_->*runs_).add(first, next + 1, class_);
  live_->nonblocking_class.store(kNoClass, relaxed);
}

ConstructorCall::ConstructorCall(const char* function, MPI_Comm parent, ClassId class_on_parent,
                                 ClassId class_of_new, ClassId program_class_of_new)
    : call_{.function = function,
            .parent = find(parent),
            .class_of_new = class_of_new,
            .program_class_of_new = program_class_of_new} {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr) return;
  active_ = true;
  process->communicators().begun(call_);
  call_.outer = Communicators::making_call();
  if (call_.outer != nullptr) {  // ROMIO duplicates communicators while it opens a file
    call_.class_of_new = call_.outer->class_of_new;
    call_.program_class_of_new = call_.outer->program_class_of_new;
  }
  Communicators::making_call() = &call_;
  if (call_.parent == nullptr || class_on_parent == kNoClass) return;
  if (call_.parent->blocking_class.load(relaxed) != kNoClass) return;
  claimed_ = call_.parent;
  claimed_->blocking_first_tag.store(rankmap::next_nonblocking_tag(claimed_->comm), relaxed);
  claimed_->blocking_class.store(class_on_parent, relaxed);
}

// With a tag and no `other`, the call is not collective on the parent (MPI_Comm_create_group):
// collectives of other threads on the parent keep their class.
ConstructorCall::ConstructorCall(const char* function, MPI_Comm parent, MPI_Comm other, int tag)
    : ConstructorCall(function, parent, tag >= 0 && other == nullptr ? kNoClass : kLibrary,
                      kNoClass, kLibrary) {
  if (tag < 0) return;
  Live* live = other == nullptr ? call_.parent : find(other);
  if (live == nullptr || !live->add_library_tag(tag)) return;
  tagged_ = live;
  tag_ = tag;
}

ConstructorCall::~ConstructorCall() {
  if (!active_) return;
  if (claimed_ != nullptr) claimed_->blocking_class.store(kNoClass, relaxed);
  if (tagged_ != nullptr) tagged_->remove_library_tag(tag_);
  Communicators::making_call() = call_.outer;
  if (ProfiledProcess* process = ProfiledProcess::active()) process->communicators().ended(call_);
}

void ConstructorCall::made(MPI_Comm comm) {
  static const void* const null_comm = find_variable_in_mpi("ompi_mpi_comm_null");
  comm = native(comm);
  if (!active_ || comm == null_comm || comm == nullptr) return;
  ProfiledProcess::active()->communicators().made_visible(comm, call_);
}

PartitionedInit::PartitionedInit(profile::Direction direction, MPI_Comm comm, int peer, int tag,
                                 const void* buffer, MPI_Count count, MPI_Datatype datatype)
    : live_(find(comm)), direction_(direction), peer_(peer), tag_(tag) {
  if (live_ == nullptr || native(datatype) == nullptr || count < 0) return;
  operation_ =
      Partitioned::initialised(direction, *live_, peer, tag, buffer, calls::bytes(count, datatype));
}

void PartitionedInit::made(MPI_Request request) const {
  if (operation_ != Partitioned::kNone) Partitioned::made(operation_, native(request));
}

PartitionedInit::~PartitionedInit() {
  if (live_ != nullptr && direction_ == profile::Direction::kSent)
    live_->setup_is_over(direction_, peer_, tag_);
}

void WindowCall::made(MPI_Win window) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr) return;
  const std::uint32_t module = bypassing_window_module(window);
  Live* inside =
      process->communicators().opened_in_window(call_, module == 0 ? kOneSided : kLibrary);
  const Live* known = inside != nullptr ? inside : call_.parent;
  if (known == nullptr) return;
  process->windows().add(
      {.handle = window,
       .inside = inside,
       .kind = known->kind,
       .group = rankmap::field<const void*>(window, openmpi::layout().window_group),
       .module = module});
}

void request_freed(const MPI_Request* request) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || request == nullptr || native(*request) == nullptr) return;
  profiler::request_freed(*process, native(*request));
}

void communicator_freed(const MPI_Comm* comm) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || comm == nullptr || native(*comm) == nullptr) return;
  process->communicators().freed_by_program(native(*comm));
}

void window_freed(const MPI_Win* window) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || window == nullptr) return;
  const Window known = process->windows().take(*window);
  if (known.inside != nullptr) known.inside->blocking_class.store(kLibrary, relaxed);
}

void put(MPI_Win window, int target, MPI_Count count, MPI_Datatype datatype) {
  if (ProfiledProcess::active() != nullptr) {
    posted(profile::Direction::kSent, window, target, calls::bytes(count, datatype));
  }
}

void get(MPI_Win window, int target, MPI_Count count, MPI_Datatype datatype) {
  if (ProfiledProcess::active() != nullptr) {
    posted(profile::Direction::kReceived, window, target, calls::bytes(count, datatype));
  }
}

void exchange(MPI_Win window, int target, MPI_Count out_count, MPI_Datatype out_type,
              MPI_Count in_count, MPI_Datatype in_type, MPI_Op op) {
  static const void* const no_op = find_variable_in_mpi("ompi_mpi_op_no_op");
  const bool sends = native(op) != no_op;
  if (sends) put(window, target, out_count, out_type);
  get(window, target, in_count, in_type);
}

int init(int (*next)(int*, char***), int* argc, char*** argv) {
  session::before_init();
  const int result = next(argc, argv);
  session::after_init(result == MPI_SUCCESS);
  return result;
}

int init_thread(int (*next)(int*, char***, int, int*), int* argc, char*** argv, int required,
                int* provided) {
  session::before_init();
  const int result = next(argc, argv, required, provided);
  session::after_init(result == MPI_SUCCESS);
  return result;
}

int finalize(int (*next)()) {
  session::before_finalize();
  return next();
}

int session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session*), MPI_Info info,
                 MPI_Errhandler handler, MPI_Session* made) {
  session::before_init();
  const int result = next(info, handler, made);
  session::after_session_init(result == MPI_SUCCESS ? *made : nullptr);
  return result;
}

int session_finalize(int (*next)(MPI_Session*), MPI_Session* ended) {
  const MPI_Session session = ended == nullptr ? nullptr : *ended;
  const bool is_known = session::before_session_finalize(session);
  const int result = next(ended);
  if (is_known && result != MPI_SUCCESS) session::session_stays(session);
  return result;
}

int abort(int (*next)(MPI_Comm, int), MPI_Comm comm, int error_code) {
  session::before_abort(error_code);
  return next(comm, error_code);
}

int pcontrol(int (*next)(int, ...), int level, void* more1, void* more2, void* more3, void* more4,
             void* more5) {
  if (level == 0 || level == 1) session::pause(level == 0);
  return next(level, more1, more2, more3, more4, more5);
}

}  // namespace fathom::profiler::hooks
