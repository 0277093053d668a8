// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/loaded_symbols.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace fathom::profiler {
namespace {

struct Search {
  const char* name;
  void* found = nullptr;
};

// The header of DT_GNU_HASH. After it come the Bloom filter, the buckets, and a chain of hashes for
// the symbols from `first_symbol` on. The lowest bit of a hash marks the end of a bucket's chain.
struct GnuHash {
  std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
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
};

Tables tables_of(const ElfW(Dyn) * dynamic, ElfW(Addr) bias) {
  Tables tables;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    // glibc adds the bias in place, except where the section is read-only (the vDSO).
    const ElfW(Addr) value = dynamic->d_un.d_ptr;
    const void* address = reinterpret_cast<const void*>(value < bias ? value + bias : value);
    if (dynamic->d_tag == DT_GNU_HASH) tables.hash = static_cast<const GnuHash*>(address);
    if (dynamic->d_tag == DT_SYMTAB) tables.symbols = static_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) tables.strings = static_cast<const char*>(address);
  }
  return tables;
}

const ElfW(Sym) * find_symbol(const Tables& tables, const char* name) {
  if (tables.hash == nullptr || tables.symbols == nullptr || tables.strings == nullptr)
    return nullptr;
  if (tables.hash->buckets == 0) return nullptr;
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(tables.hash + 1);
  const auto* buckets = reinterpret_cast<const std::uint32_t*>(bloom + tables.hash->bloom_words);
  const std::uint32_t* chain = buckets + tables.hash->buckets;
  const std::uint32_t wanted = gnu_hash(name);
  std::uint32_t symbol = buckets[wanted % tables.hash->buckets];
  if (symbol < tables.hash->first_symbol) return nullptr;
  for (;; ++symbol) {
    const std::uint32_t hash = chain[symbol - tables.hash->first_symbol];
    const ElfW(Sym)& candidate = tables.symbols[symbol];
    if ((hash | 1) == (wanted | 1) && candidate.st_shndx != SHN_UNDEF &&
        std::strcmp(tables.strings + candidate.st_name, name) == 0) {
      return &candidate;
    }
    if (hash & 1) return nullptr;
  }
}

// How many symbols the table has: the hash table says nothing else of its length.
std::uint32_t count_of(const Tables& tables) {
  const GnuHash& hash = *tables.hash;
  const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(&hash + 1);
  const auto* buckets = reinterpret_cast<const std::uint32_t*>(bloom + hash.bloom_words);
  const std::uint32_t* chain = buckets + hash.buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < hash.buckets; ++i) last = buckets[i] > last ? buckets[i] : last;
  if (last < hash.first_symbol) return hash.first_symbol;
  while (!(chain[last - hash.first_symbol] & 1)) ++last;
  return last + 1;
}

// "MPI_Send" and "PMPI_Send" -> "PMPI_Send", in `buffer`; null for other names.
const char* profiling_name(const char* name, char (&buffer)[128]) {
  const bool is_profiling_name = name[0] == 'P';
  const char* standard = is_profiling_name ? name + 1 : name;
  const bool is_mpi =
      std::strncmp(standard, "MPI_", 4) == 0 || std::strncmp(standard, "MPIX_", 5) == 0;
  if (!is_mpi || std::strlen(standard) + 2 > sizeof buffer) return nullptr;
  buffer[0] = 'P';
  std::strcpy(buffer + 1, standard);
  return buffer;
}

// A table of the library itself, with the protection that its pages were loaded with.
struct OwnTables {
  Tables tables;
  int protection = 0;
};

int look_at_own(dl_phdr_info* object, std::size_t, void* data) {
  OwnTables& own = *static_cast<OwnTables*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + header.p_vaddr);
    if (dynamic != _DYNAMIC) return 0;
    own.tables = tables_of(dynamic, object->dlpi_addr);
  }
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

int look_into(dl_phdr_info* object, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + header.p_vaddr);
    if (dynamic == _DYNAMIC) return 0;  // this library: the linker defines _DYNAMIC in each object
    const ElfW(Sym)* symbol = find_symbol(tables_of(dynamic, object->dlpi_addr), search.name);
    if (symbol != nullptr)
      search.found = reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value);
  }
  return search.found != nullptr;
}

}  // namespace

void* find_in_any_object(const char* name) {
  Search search{name};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

// The loader takes no symbol whose value is 0 (check_match in glibc's elf/dl-lookup.c).
void hide_functions_of_no_mpi() {
  if (find_in_any_object("PMPI_Init") == nullptr) return;
  OwnTables own;
  dl_iterate_phdr(look_at_own, &own);
  if (own.tables.hash == nullptr || own.tables.symbols == nullptr || own.protection == 0) return;
  const std::uint32_t count = count_of(own.tables);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(own.tables.symbols) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(own.tables.symbols + count);
  auto* const first_page = reinterpret_cast<void*>(begin);
  if (mprotect(first_page, end - begin, own.protection | PROT_WRITE) != 0) return;
  for (std::uint32_t i = own.tables.hash->first_symbol; i < count; ++i) {
    auto& symbol = const_cast<ElfW(Sym)&>(own.tables.symbols[i]);
    char buffer[128];
    const char* name = profiling_name(own.tables.strings + symbol.st_name, buffer);
    if (name != nullptr && symbol.st_shndx != SHN_UNDEF && find_in_any_object(name) == nullptr)
      symbol.st_value = 0;
  }
  mprotect(first_page, end - begin, own.protection);
}

}  // namespace fathom::profiler
