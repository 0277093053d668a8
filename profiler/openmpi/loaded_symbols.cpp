// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/loaded_symbols.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fathom::profiler {
namespace {

// The header of DT_GNU_HASH. After it come the Bloom filter, the buckets, and a chain of hashes for
// the symbols from `first_symbol` on. The lowest bit of a hash marks the end of a bucket's chain.
struct GnuHash {
  std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;

  const ElfW(Addr) * bloom() const { return reinterpret_cast<const ElfW(Addr)*>(this + 1); }
  const std::uint32_t* first_bucket() const {
    return reinterpret_cast<const std::uint32_t*>(bloom() + bloom_words);
  }
  const std::uint32_t* chain() const { return first_bucket() + buckets; }
  bool may_hold(std::uint32_t hash) const {
    constexpr std::uint32_t kBits = 8 * sizeof(ElfW(Addr));
    const ElfW(Addr) word = bloom()[hash / kBits % bloom_words];
    return (word >> hash % kBits & word >> (hash >> bloom_shift) % kBits & 1) != 0;
  }
};

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

struct Tables {
  const GnuHash* hash = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;

  bool are_complete() const {
    return hash != nullptr && symbols != nullptr && strings != nullptr && hash->buckets != 0 &&
           hash->bloom_words != 0;
  }
};

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
  }
  return nullptr;
}

// The linker defines _DYNAMIC in each object.
bool is_this_library(const dl_phdr_info& object) { return dynamic_section(object) == _DYNAMIC; }

Tables tables_of(const dl_phdr_info& object) {
  Tables tables;
  const ElfW(Dyn)* dynamic = dynamic_section(object);
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // glibc adds the bias in place, except where the section is read-only (the vDSO).
    const ElfW(Addr) value = dynamic->d_un.d_ptr, bias = object.dlpi_addr;
    const void* address = reinterpret_cast<const void*>(value < bias ? value + bias : value);
    if (dynamic->d_tag == DT_GNU_HASH) tables.hash = static_cast<const GnuHash*>(address);
    if (dynamic->d_tag == DT_SYMTAB) tables.symbols = static_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) tables.strings = static_cast<const char*>(address);
  }
  return tables;
}

struct Name {
  explicit Name(const char* name) : text(name), hash(gnu_hash(name)) {}

  const char* text;
  std::uint32_t hash;
};

// The tables have to be complete.
const ElfW(Sym) * find_symbol(const Tables& tables, const Name& name) {
  const GnuHash& all = *tables.hash;
  if (!all.may_hold(name.hash)) return nullptr;
  std::uint32_t symbol = all.first_bucket()[name.hash % all.buckets];
  if (symbol < all.first_symbol) return nullptr;
  for (;; ++symbol) {
    const std::uint32_t hash = all.chain()[symbol - all.first_symbol];
    const ElfW(Sym)& candidate = tables.symbols[symbol];
    if ((hash | 1) == (name.hash | 1) && candidate.st_shndx != SHN_UNDEF &&
        std::strcmp(tables.strings + candidate.st_name, name.text) == 0) {
      return &candidate;
    }
    if (hash & 1) return nullptr;
  }
}

// How many symbols the table has: the hash table says nothing else of its length.
std::uint32_t count_of(const GnuHash& hash) {
  const std::uint32_t* buckets = hash.first_bucket();
  std::uint32_t last = *std::max_element(buckets, buckets + hash.buckets);
  if (last < hash.first_symbol) return hash.first_symbol;
  while (!(hash.chain()[last - hash.first_symbol] & 1)) ++last;
  return last + 1;
}

struct SymbolSearch {
  Name name;
  void* found = nullptr;
};

int look_into(dl_phdr_info* object, std::size_t, void* data) {
  SymbolSearch& search = *static_cast<SymbolSearch*>(data);
  const Tables tables = tables_of(*object);
  if (is_this_library(*object) || !tables.are_complete()) return 0;
  const ElfW(Sym)* symbol = find_symbol(tables, search.name);
  if (symbol != nullptr)
    search.found = reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value);
  return search.found != nullptr;
}

// Of this library, with the protection that its symbols were loaded with.
struct OwnTables {
  Tables tables;
  int protection = 0;
};

int look_at_own(dl_phdr_info* object, std::size_t, void* data) {
  if (!is_this_library(*object)) return 0;
  OwnTables& own = *static_cast<OwnTables*>(data);
  own.tables = tables_of(*object);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    const auto at = reinterpret_cast<ElfW(Addr)>(own.tables.symbols) - object->dlpi_addr;
    if (header.p_type != PT_LOAD || at < header.p_vaddr || at >= header.p_vaddr + header.p_memsz)
      continue;
    own.protection = (header.p_flags & PF_R ? PROT_READ : 0) |
                     (header.p_flags & PF_W ? PROT_WRITE : 0) |
                     (header.p_flags & PF_X ? PROT_EXEC : 0);
  }
  return 1;
}

// An MPI function of this library.
struct OwnFunction {
  Name name;  // PMPI_X, with the symbols of PMPI_X and MPI_X
  const ElfW(Sym) * profiling, *standard;
  bool others_have_it = false;
};

std::vector<OwnFunction> own_functions(const Tables& own) {
  std::vector<OwnFunction> functions;
  const std::uint32_t count = count_of(*own.hash);
  for (std::uint32_t i = own.hash->first_symbol; i < count; ++i) {
    const Name name(own.strings + own.symbols[i].st_name);
    const bool is_mpi =
        std::strncmp(name.text, "PMPI_", 5) == 0 || std::strncmp(name.text, "PMPIX_", 6) == 0;
    if (is_mpi && own.symbols[i].st_shndx != SHN_UNDEF)
      functions.push_back({name, &own.symbols[i], find_symbol(own, Name(name.text + 1))});
  }
  return functions;
}

int look_for_all(dl_phdr_info* object, std::size_t, void* data) {
  const Tables tables = tables_of(*object);
  if (is_this_library(*object) || !tables.are_complete()) return 0;
  for (OwnFunction& function : *static_cast<std::vector<OwnFunction>*>(data)) {
    if (!function.others_have_it)
      function.others_have_it = find_symbol(tables, function.name) != nullptr;
  }
  return 0;
}

}  // namespace

void* find_in_any_object(const char* name) {
  SymbolSearch search{Name(name)};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

// The loader takes no symbol whose value is 0 (check_match in glibc's elf/dl-lookup.c).
void hide_functions_of_no_mpi() noexcept try {
  static bool is_done = false;
  if (is_done || find_in_any_object("PMPI_Init") == nullptr) return;
  is_done = true;
  OwnTables own;
  dl_iterate_phdr(look_at_own, &own);
  if (!own.tables.are_complete() || own.protection == 0) return;
  std::vector<OwnFunction> functions = own_functions(own.tables);
  dl_iterate_phdr(look_for_all, &functions);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(own.tables.symbols) / page * page;
  const auto end =
      reinterpret_cast<std::uintptr_t>(own.tables.symbols + count_of(*own.tables.hash));
  auto* const first_page = reinterpret_cast<void*>(begin);
  if (mprotect(first_page, end - begin, own.protection | PROT_WRITE) != 0) return;
  for (const OwnFunction& function : functions) {
    if (function.others_have_it) continue;
    for (const ElfW(Sym) * symbol : {function.profiling, function.standard})
      if (symbol != nullptr) const_cast<ElfW(Sym)*>(symbol)->st_value = 0;
  }
  mprotect(first_page, end - begin, own.protection);
} catch (...) {
}

}  // namespace fathom::profiler
