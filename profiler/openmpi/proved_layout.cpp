// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/proved_layout.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "rankmap/communicator_view.h"
#include "rankmap/releases.h"

namespace fathom::profiler {
namespace {

using openmpi::Layout;
using rankmap::field;

// The memory that may be read without harm: private mappings. Reading a shared one may touch a
// device.
class ReadableMemory {
 public:
  ReadableMemory() {
    std::FILE* maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
      Range range{};
      char reads = 0, shared = 0;
      if (std::sscanf(line, "%lx-%lx %c%*c%*c%c", &range.begin, &range.end, &reads, &shared) == 4 &&
          reads == 'r' && shared == 'p') {
        add(range);
      }
    }
    std::fclose(maps);
  }

  // How many bytes may be read from there on.
  std::size_t from(const void* address) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    for (const Range& range : ranges_) {
      if (begin >= range.begin && begin < range.end) return range.end - begin;
    }
    return 0;
  }

 private:
  struct Range {
    unsigned long begin, end;
  };

  void add(const Range& range) {  // an object may lie in two ranges that follow each other
    if (!ranges_.empty() && ranges_.back().end == range.begin) {
      ranges_.back().end = range.end;
    } else {
      ranges_.push_back(range);
    }
  }

  std::vector<Range> ranges_;
};

// The parts of objects that hold all fields of which Fathom reads any.
constexpr std::size_t kCommunicatorSize = 360;
constexpr std::size_t kGroupObjectSize = openmpi::kGroupParent + sizeof(void*);
constexpr std::size_t kProcessSize = openmpi::kProcRank + sizeof(std::uint32_t);
constexpr std::size_t kModuleTableSize = openmpi::kModule_neighbor_alltoallw + sizeof(void*);
constexpr std::size_t kLongestText = 32;

class Proof {
 public:
  Proof(const Layout& layout, const KnownFacts& facts) : layout_(layout), facts_(facts) {}

  std::string contradiction() const {
    for (const KnownCommunicator* known : {&facts_.world, &facts_.self}) {
      if (const char* wrong = in_communicator(*known))
        return std::string(wrong) + " of " + known->name;
    }
    // A process alone has rank 0 everywhere else.
    if (!reads(facts_.null, kCommunicatorSize) ||
        field<int>(facts_.null, layout_.comm_my_rank) != openmpi::kProcNull)
      return "the rank of MPI_COMM_NULL";
    if (field<const void*>(facts_.null, layout_.comm_local_comm) != nullptr)
      return "the local communicator of MPI_COMM_NULL";
    // Nothing has used MPI_COMM_SELF yet; what MPI_Init does on MPI_COMM_WORLD takes tags there.
    if (next_tag(facts_.self.comm) != layout_.tag_nonblocking_base)
      return "the first tag of non-blocking collectives";
    return has_pml_functions() ? "" : "the functions in mca_pml";
  }

 private:
  bool reads(const void* address, std::size_t size) const { return memory_.from(address) >= size; }

  // Looks no further than to the first difference: another text may be shorter.
  bool is_text(const char* text, const char* expected) const {
    const std::size_t size = std::strlen(expected) + 1;
    return reads(text, size) && std::strncmp(text, expected, size) == 0;
  }

  // The name of an object's class (opal_object_t); empty if there is none.
  std::string_view class_of(const void* object) const {
    if (!reads(object, sizeof(void*))) return {};
    const void* its_class = field<const void*>(object, openmpi::kObjectClass);
    if (!reads(its_class, sizeof(void*))) return {};
    const char* name = field<const char*>(its_class, openmpi::kClassName);
    return {name, strnlen(name, std::min(memory_.from(name), kLongestText))};
  }

  std::int32_t next_tag(const void* comm) const {
    return field<std::int32_t>(comm, layout_.comm_nonblocking_tag);
  }

  const char* in_communicator(const KnownCommunicator& known) const {
    const void* comm = known.comm;
    if (!reads(comm, kCommunicatorSize)) return "the place";
    if (class_of(comm) != "ompi_communicator_t") return "the class";
    if (field<std::uint32_t>(comm, layout_.comm_index) != known.index) return "the index";
    if (field<int>(comm, layout_.comm_my_rank) != known.rank) return "the rank";
    const auto flags = field<std::uint32_t>(comm, layout_.comm_flags);
    if ((flags & openmpi::kCommFlagInter) || !(flags & openmpi::kCommFlagNamed)) return "the flags";
    if (!is_text(name_of(comm), known.name)) return "the name";
    const void* group = field<const void*>(comm, layout_.comm_local_group);
    if (!is_group(group, known.rank, known.size)) return "the group";
    if (field<const void*>(comm, layout_.comm_remote_group) != group) return "the remote group";
    if (known.is_predefined && field<const void*>(comm, layout_.comm_local_comm) != nullptr)
      return "the local communicator";
    const void* peruse = field<const void*>(comm, layout_.comm_peruse_handles);
    if (peruse != nullptr && !reads(peruse, sizeof(void*))) return "the PERUSE handles";
    const std::int32_t tag = next_tag(comm);
    if (tag > layout_.tag_nonblocking_base || tag <= openmpi::kTagNonblockingEnd) return "the tag";
    if (!has_modules(field<const void*>(comm, layout_.comm_collectives)))
      return "the modules of collectives";
    return is_pml_data(field<const void*>(comm, layout_.comm_pml)) ? nullptr : "the PML's data";
  }

  const char* name_of(const void* comm) const {
    return layout_.comm_name_inside > 0 ? static_cast<const char*>(comm) + layout_.comm_name
                                        : field<const char*>(comm, layout_.comm_name);
  }

  bool is_group(const void* group, int own, int size) const {
    if (!reads(group, kGroupObjectSize) || class_of(group) != "ompi_group_t" ||
        field<int>(group, openmpi::kGroupSize) != size) {
      return false;
    }
    if (!(field<std::uint32_t>(group, openmpi::kGroupFlags) & openmpi::kGroupFlagDense))
      return true;
    const auto* members = field<const void* const*>(group, openmpi::kGroupProcs);
    const auto count = static_cast<std::size_t>(size);
    return reads(members, count * sizeof(void*)) && reads(members[own], kProcessSize) &&
           field<std::uint32_t>(members[own], openmpi::kProcRank) ==
               static_cast<std::uint32_t>(facts_.world_rank);
  }

  // mca_coll_tuned_module_t, ompi_coll_libnbc_module_t.
  bool has_modules(const void* table) const {
    if (!reads(table, kModuleTableSize)) return false;
    for (const std::ptrdiff_t offset : {openmpi::kModule_allreduce, openmpi::kModule_barrier,
                                        openmpi::kModule_ibcast, openmpi::kModule_scatterv}) {
      const std::string_view name = class_of(field<const void*>(table, offset));
      if (!name.starts_with("mca_coll_") && !name.starts_with("ompi_coll_")) return false;
    }
    return true;
  }

  // Only pml/ob1's is read (sources/unexpected_queue.h).
  bool is_pml_data(const void* data) const {
    return !facts_.has_ob1 || class_of(data) == "mca_pml_ob1_comm_t";
  }

  bool has_pml_functions() const {
    const std::ptrdiff_t entries[] = {
        openmpi::kPmlAddComm, openmpi::kPmlDelComm,   layout_.pml_irecv_init, layout_.pml_irecv,
        layout_.pml_recv,     layout_.pml_isend_init, layout_.pml_isend,      layout_.pml_send,
        layout_.pml_iprobe,   layout_.pml_start,      layout_.pml_imrecv,     layout_.pml_mrecv};
    return std::ranges::all_of(entries, [this](std::ptrdiff_t at) {
      return reads(static_cast<const char*>(facts_.pml) + at, sizeof(void*)) &&
             facts_.is_pml_function(field<const void*>(facts_.pml, at));
    });
  }

  const Layout& layout_;
  const KnownFacts& facts_;
  ReadableMemory memory_;
};

// opal_object_t begins with this number if configure was given --enable-debug (opal_object.h).
bool is_debug_build(const void* object) {
  return field<std::uint64_t>(object, 0) == 0xdeafbeeddeafbeed;
}

std::string name_of(const Layout& layout) {
  const openmpi::Version& first = layout.first;
  return std::to_string(first.major) + "." + std::to_string(first.minor) + "." +
         std::to_string(first.patch);
}

bool is_made_for(const Layout& layout, const openmpi::Version& version) {
  return layout.first <= version && version <= layout.last;
}

// Those of the series, the ones made for this release first.
std::vector<const Layout*> candidates(const openmpi::Version& version) {
  std::vector<const Layout*> found;
  openmpi::Layouts::for_each([&]<const Layout & layout> {
    if (is_same_series(layout.first, version)) found.push_back(&layout);
  });
  // The form with a range does not compile with clang 14.
  std::stable_partition(found.begin(), found.end(),
                        [&version](const Layout* layout) { return is_made_for(*layout, version); });
  return found;
}

}  // namespace

std::string contradiction(const Layout& layout, const KnownFacts& facts) {
  return Proof(layout, facts).contradiction();
}

const Layout* prove_layout(const openmpi::Version& version, const KnownFacts& facts,
                           std::string& reason) {
  reason.clear();
  for (const Layout* layout : candidates(version)) {
    const std::string wrong = contradiction(*layout, facts);
    if (wrong.empty()) return layout;
    if (reason.empty()) reason = wrong + " is not where " + name_of(*layout) + " has it";
  }
  if (is_debug_build(facts.world.comm)) {
    reason = "built with --enable-debug, whose structures Fathom does not know";
  } else {
    reason = "whose structures are not those of any release that Fathom knows (" + reason + ")";
  }
  return nullptr;
}

}  // namespace fathom::profiler
