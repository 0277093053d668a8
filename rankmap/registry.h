// Which kinds of communicator this process has met, and who their members are.
//
// A *kind* is what the profile calls a communicator: the call that made it, its parent, its groups, and
// an ordinal that tells apart those of one kind that live at the same time. A communicator that is freed
// gives its ordinal back, so 2,000 made and freed one after the other are one kind with 2,000 instances:
// rows never alias a communicator that happens to reuse a handle, and memory does not grow.
//
// The key of a kind is the same on all its members, for it is made of facts that they share: the name of
// the constructor, the parent's key, the members in order, and the order of the (collective)
// constructor calls.
//
// Threading: callers serialise; all functions are cold (once per communicator). They may throw bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/reserved_array.h"
#include "profile/rows.h"
#include "rankmap/communicator_view.h"

namespace fathom::rankmap {

inline constexpr std::uint32_t kNoKind = ~0u;

class Registry {
 public:
  // `self` is this process. False if no address space is left.
  bool open(Identity self);

  // The kind of a communicator that has just come to life. `parent` may be kNoKind.
  // kNoKind when there are too many kinds (2^20): its traffic is then counted as lost.
  std::uint32_t add(const void* comm, std::string_view made_by, std::uint32_t parent,
                    std::uint32_t flags);

  // The program called MPI_Comm_free, or the library destroyed it: the next one alike may take its place.
  // Once for each instance.
  void retire(std::uint32_t kind);

  // Keeps the name that MPI_Comm_set_name gave, before the communicator is gone.
  void keep_name(std::uint32_t kind, const void* comm);

  // What the profile says of it, where that differs from what add() was told.
  void describe(std::uint32_t kind, std::string_view made_by, std::string_view name);

  // Seen by the program, not only inside the MPI library.
  void mark_visible(std::uint32_t kind) { rows_[kind].flags &= ~profile::kInternal; }

  const base::ReservedArray<profile::CommunicatorRow>& rows() const { return rows_; }
  const base::ReservedArray<profile::ForeignMemberRow>& foreign_members() const { return foreign_; }

  // Forgets every kind (after the start-up check).
  void clear();

 private:
  void add_foreign_members(std::uint32_t kind, const void* group, bool remote);

  Identity self_;
  base::ReservedArray<profile::CommunicatorRow> rows_;
  base::ReservedArray<profile::ForeignMemberRow> foreign_;
  std::vector<bool> live_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> kinds_by_key_;  // by ordinal
};

}  // namespace fathom::rankmap
