// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/chosen_source.h"

#include <cstdint>
#include <vector>

#include "profiler/openmpi/overlay.h"
#include "profiler/openmpi/pml.h"
#include "profiler/sources/monitoring.h"
#include "profiler/sources/receive_requests.h"
#include "profiler/sources/self_check.h"
#include "profiler/sources/source_peruse.h"
#include "profiler/sources/source_pml.h"

namespace fathom::profiler {
namespace {

// False, with `reason`, if it cannot count; what it has started does not disturb the next source.
bool prepare_peruse(ProfiledProcess& process, const std::string& chosen_pml, std::string& reason) {
  const char* missing = "";
  if (!open_peruse(missing)) {
    reason = missing;
    if (overlay_was_offered())
      reason += "; none of the job's overlays (FATHOM_OVERLAY) fits this libmpi";
    return false;
  }
  // pml/monitoring wraps another PML; the start-up check shows whether that is ob1.
  const std::string pml = selected_pml();
  if (pml != "ob1" && pml != "monitoring") {
    reason =
        "the job uses pml/" + pml + ", and only pml/ob1 fires PERUSE events" +
        (chosen_pml.empty() ? "" : " (the PML was chosen with OMPI_MCA_pml=" + chosen_pml + ")");
    return false;
  }
  process.communicators().set_observers(subscribe, unsubscribe);
  watch_freed_requests(true);
  return true;
}

void watch_requests(ProfiledProcess& process, bool counts) {
  receive_requests::open(process.counter().shared_by_threads(), counts);
  hook_receives();
}

void prepare_pml(ProfiledProcess& process) {
  process.communicators().set_observers(nullptr, nullptr);
  watch_requests(process, true);
}

void describe_witnesses(ProfiledProcess& process, SourceName source, const SelfCheck& check) {
  process.run_text().add("witness-sent", "pml");
  if (source == SourceName::kPeruse) {
    process.run_text().add("witness-received", "peruse");
  } else if (check.received) {
    process.run_text().add("witness-received", "receive requests");
  } else {
    process.text().add("note",
                       "receives could not be counted as a second witness: " + check.detail);
  }
}

bool try_source(ProfiledProcess& process, SourceName source, MPI_Comm self,
                const std::string& chosen_pml, bool finds_waits, bool has_world,
                std::string& reason) {
  if (source == SourceName::kMpiT && !has_world) {
    reason = "MPI_T counts for MPI_COMM_WORLD, which does not exist without MPI_Init";
    return false;
  }
  if (source == SourceName::kMpiT) return open_monitoring(process, reason);
  const bool with_peruse = source == SourceName::kPeruse;
  if (with_peruse) {
    if (!prepare_peruse(process, chosen_pml, reason)) return false;
    if (finds_waits) watch_requests(process, false);
  } else {
    prepare_pml(process);
  }
  const SelfCheck check = check_counting(process, self);
  if (with_peruse) watch_freed_requests(false);
  if (!check.sent || (with_peruse && !check.received)) {
    reason = "it failed its check at start-up: " + check.detail;
    return false;
  }
  process.set_sees_waiting_messages(check.waiting);
  process.counter().set_size_witness(check.received ? profile::Direction::kReceived
                                                    : profile::Direction::kSent);
  describe_witnesses(process, source, check);
  return true;
}

}  // namespace

bool choose_source(ProfiledProcess& process, MPI_Comm self, const std::string& chosen_pml,
                   bool finds_waits, bool has_world) {
  const Settings& settings = process.settings();
  if (!settings.bad_source.empty()) {
    process.text().add("note", "FATHOM_SOURCE=" + settings.bad_source +
                                   " is not a source (auto, peruse, pml, mpi_t); auto was used");
  }
  std::vector<SourceName> candidates{settings.source};
  if (settings.source == SourceName::kPeruse) candidates.push_back(SourceName::kPml);
  for (const SourceName candidate : candidates) {
    std::string reason;
    if (try_source(process, candidate, self, chosen_pml, finds_waits, has_world, reason)) {
      process.set_source(candidate);
      break;
    }
    process.text().add("step-down", std::string(name_of(candidate)) + " " + reason);
  }
  process.run_text().add("source", name_of(process.source()));
  return process.source() != SourceName::kNone;
}

void request_freed(ProfiledProcess& process, const MPI_Request& request) {
  if (receive_requests::given_up(request) || process.source() != SourceName::kPeruse) return;
  // Inactive persistent requests are complete too.
  if (!rankmap::is_complete(request)) watch_freed_requests(true);
}

}  // namespace fathom::profiler
