// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/loaded_symbols.h"

#include <elf.h>
#include <link.h>

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

}  // namespace fathom::profiler
