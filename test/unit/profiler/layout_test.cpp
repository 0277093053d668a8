// SPDX-License-Identifier: BSD-3-Clause
// Which layout the structures of an Open MPI confirm. The structures are byte arrays, made with one
// layout and examined with all of them.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "profiler/openmpi/proved_layout.h"
#include "rankmap/releases.h"
#include "test/unit/profiler/fake_openmpi.h"

namespace fathom::profiler {
namespace {

using openmpi::Layout;
using openmpi::Version;
using rankmap::Identity;
using test::FakeObject;

constexpr int kRank = 1, kSize = 3;
// Names are followed by as much memory as is looked at.
constexpr char kClasses[][64] = {"ompi_communicator_t", "ompi_group_t", "mca_coll_tuned_module_t",
                                 "mca_pml_ob1_comm_t"};
constexpr char kWorldName[64] = "MPI_COMM_WORLD", kSelfName[64] = "MPI_COMM_SELF";

int function_of_the_pml() { return 0; }
bool is_function_of_the_pml(const void* address) {
  return address == reinterpret_cast<const void*>(function_of_the_pml);
}

// An opal_object_t of a class.
class Object : public FakeObject {
 public:
  explicit Object(const char (&class_name)[64]) {
    class_.set(openmpi::kClassName, &class_name[0]);
    set(openmpi::kObjectClass, class_.address());
  }

 private:
  FakeObject class_;
};

// What MPI_Init leaves behind in a library with one layout.
struct Library {
  explicit Library(const Layout& layout) {
    for (std::uint32_t rank = 0; rank < kSize; ++rank)
      members.push_back(test::fake_process({7, rank}));
    fill_group(world_group, kSize, members.data());
    fill_group(self_group, 1, &members[kRank]);
    for (std::ptrdiff_t at = 0; at < 900; at += 8) modules.set(at, module.address());
    fill(layout, world, kWorldName, 0, kRank, world_group);
    fill(layout, self, kSelfName, 1, 0, self_group);
    world.set(layout.comm_nonblocking_tag, static_cast<int>(layout.tag_nonblocking_base) - 3);
    null.set(layout.comm_my_rank, openmpi::kProcNull);
    for (std::ptrdiff_t at = 0; at < 168; at += 8) pml.set(at, &function_of_the_pml);
    pml.set(openmpi::kPmlMaxTag, std::numeric_limits<int>::max());
  }

  static void fill_group(Object& group, int size, const void* const* processes) {
    group.set(openmpi::kGroupSize, size);
    group.set(openmpi::kGroupFlags, static_cast<std::uint32_t>(openmpi::kGroupFlagDense));
    group.set(openmpi::kGroupProcs, processes);
  }

  void fill(const Layout& layout, Object& comm, const char (&name)[64], std::uint32_t index,
            int rank, const Object& group) {
    if (layout.comm_name_inside > 0) {
      comm.set_text(layout.comm_name, name);
    } else {
      comm.set(layout.comm_name, &name[0]);
    }
    comm.set(layout.comm_index, index);
    comm.set(layout.comm_my_rank, rank);
    comm.set(layout.comm_flags, static_cast<std::uint32_t>(openmpi::kCommFlagNamed));
    comm.set(layout.comm_local_group, group.address());
    comm.set(layout.comm_remote_group, group.address());
    comm.set(layout.comm_nonblocking_tag, static_cast<int>(layout.tag_nonblocking_base));
    comm.set(layout.comm_collectives, modules.address());
    comm.set(layout.comm_pml, pml_data.address());
  }

  KnownFacts facts() const {
    return {.world = {world.address(), kWorldName, 0, kRank, kSize, true},
            .self = {self.address(), kSelfName, 1, 0, 1, true},
            .null = null.address(),
            .pml = pml.address(),
            .world_rank = kRank,
            .has_ob1 = true,
            .is_pml_function = is_function_of_the_pml};
  }

  std::vector<const void*> members;
  Object world{kClasses[0]}, self{kClasses[0]}, null{kClasses[0]};
  Object world_group{kClasses[1]}, self_group{kClasses[1]};
  Object module{kClasses[2]}, pml_data{kClasses[3]};
  FakeObject modules, pml;
};

template <typename Visit>
void for_each_layout(Visit visit) {
  openmpi::Layouts::for_each([&]<const Layout & layout> { visit(layout); });
}

std::string title_of(const Layout& layout) {
  return std::to_string(layout.first.major) + "." + std::to_string(layout.first.minor) + "." +
         std::to_string(layout.first.patch) + " tag at " +
         std::to_string(layout.comm_nonblocking_tag);
}

TEST_CASE("the structures of a release confirm its layout and contradict all others") {
  for_each_layout([](const Layout& made_with) {
    const Library library(made_with);
    for_each_layout([&](const Layout& layout) {
      CAPTURE(title_of(made_with));
      CAPTURE(title_of(layout));
      const std::string wrong = contradiction(layout, library.facts());
      CAPTURE(wrong);
      CHECK(wrong.empty() == (&layout == &made_with));
    });
  });
}

TEST_CASE("a release gets the layout that its structures confirm, whatever its number says") {
  std::string reason;
  for_each_layout([&](const Layout& made_with) {
    const Library library(made_with);
    for (const int patch : {0, 6, 7, 10, 11, 50}) {
      const Version version{made_with.first.major, made_with.first.minor, patch};
      CHECK(prove_layout(version, library.facts(), reason) == &made_with);
    }
  });
}

TEST_CASE("each field that is wrong refuses the layout, with its name") {
  const Layout& layout = openmpi::kOpenMpi_5_0_7;
  const auto refused = [&](auto&& change) {
    Library library(layout);
    change(library);
    std::string reason;
    CHECK(prove_layout({5, 0, 7}, library.facts(), reason) == nullptr);
    return reason;
  };
  const auto has = [](const std::string& reason, const char* part) {
    CAPTURE(reason);
    CHECK(reason.find(part) != std::string::npos);
  };
  has(refused([&](Library& l) { l.world.set(layout.comm_my_rank, 2); }),
      "the rank of MPI_COMM_WORLD");
  has(refused([&](Library& l) { l.self.set(layout.comm_index, 9); }), "the index of MPI_COMM_SELF");
  has(refused([&](Library& l) { l.self.set(layout.comm_name, "other"); }),
      "the name of MPI_COMM_SELF");
  has(refused([&](Library& l) { l.null.set(layout.comm_my_rank, 0); }),
      "the rank of MPI_COMM_NULL");
  has(refused([&](Library& l) { l.null.set(layout.comm_local_comm, l.self.address()); }),
      "the local communicator of MPI_COMM_NULL");
  has(refused([&](Library& l) { l.world_group.set(openmpi::kGroupSize, 4); }), "the group");
  has(refused([&](Library& l) { l.members[kRank] = test::fake_process({7, 2}); }), "the group");
  has(refused([&](Library& l) { l.world.set(layout.comm_remote_group, l.members.data()); }),
      "the remote group");
  has(refused([&](Library& l) { l.world.set(layout.comm_local_comm, l.self.address()); }),
      "the local communicator");
  has(refused([&](Library& l) { l.world.set(layout.comm_peruse_handles, std::uint64_t{12}); }),
      "the PERUSE handles");
  has(refused([&](Library& l) { l.self.set(layout.comm_nonblocking_tag, -34); }),
      "the first tag of non-blocking collectives");
  has(refused([&](Library& l) { l.world.set(layout.comm_collectives, l.pml_data.address()); }),
      "the modules of collectives");
  has(refused([&](Library& l) { l.world.set(layout.comm_pml, l.module.address()); }),
      "the PML's data");
  has(refused([&](Library& l) { l.pml.set(layout.pml_isend, &is_function_of_the_pml); }),
      "the functions in mca_pml");
  has(refused([&](Library& l) { l.world.set(0, std::uint64_t{0xdeafbeeddeafbeed}); }),
      "--enable-debug");
}

TEST_CASE("whatever a communicator holds, examining it reads no foreign memory") {
  for (const std::uint64_t word :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xfff}, ~std::uint64_t{0},
        std::uint64_t{0x7fffffffffff}, std::uint64_t{0xffff800000000000}}) {
    for_each_layout([word](const Layout& layout) {
      // One field after the other, so that the checks before it still pass.
      for (std::ptrdiff_t at = 8; at < 400; at += 8) {
        Library library(layout);
        library.self.set(at, word);
        for_each_layout([&](const Layout& other) { contradiction(other, library.facts()); });
      }
    });
  }
}

TEST_CASE("the name of a communicator is found inside it, or through a pointer") {
  for (const Layout* layout : {&openmpi::kOpenMpi_4_1, &openmpi::kOpenMpi_6_0}) {
    openmpi::use_layout(*layout);
    const test::FakeGroup group(test::fake_world(7, 2));
    test::FakeCommunicator comm(group, 0);
    CHECK(rankmap::given_name(comm.address()).empty());
    CHECK(!rankmap::duplicate_of(comm.address()));
    comm.default_name(layout->comm_name_inside > 0 ? "MPI COMMUNICATOR 4 DUP FROM 3"
                                                   : "MPI COMM 4 DUP FROM 3");
    CHECK(rankmap::duplicate_of(comm.address()) == 3);
    test::FakeCommunicator named(group, 0);
    named.name("halo");
    CHECK(rankmap::given_name(named.address()) == "halo");
  }
  openmpi::use_layout(openmpi::kOpenMpi_4_1);
}

TEST_CASE("the version is read from what the library says") {
  CHECK(openmpi::version_of("Open MPI v4.1.4, package: Debian") == Version{4, 1, 4});
  CHECK(openmpi::version_of("Open MPI v6.0.0rc2") == Version{6, 0, 0});
  CHECK(openmpi::version_of("Open MPI v5.0.10") == Version{5, 0, 10});
  CHECK(openmpi::version_of("Open MPI v5.0") == Version{});
  CHECK(openmpi::version_of("MPICH Version: 4.0.2") == Version{});
  CHECK(openmpi::is_known_series({5, 0, 99}));
  CHECK_FALSE(openmpi::is_known_series({5, 1, 0}));
  CHECK_FALSE(openmpi::is_known_series({}));
  CHECK(openmpi::known_releases() == "4.1, 5.0, 6.0");
}

}  // namespace
}  // namespace fathom::profiler
