// SPDX-License-Identifier: BSD-3-Clause
// Gives the ranks of a job an Open MPI with PERUSE without replacing the Open MPI that is installed.
//
// PERUSE changes two files of Open MPI 4.1: libmpi.so.40 and mca_pml_ob1.so. An overlay
// (scripts/openmpi.sh) is a folder with these two, built from the same release with the same
// configuration, and with copies of the files that they replace:
//
//   OVERLAY/lib/NAME        the file with PERUSE
//   OVERLAY/replaces/NAME   the installed file for which it was built
//
// This library is preloaded into the ranks (LD_PRELOAD), beside libfathom.so. Its constructor runs
// before any other (-z initfirst). If the libmpi.so.40 with which the process was started is, byte
// for byte, one that an overlay in FATHOM_OVERLAY (a list with ':') replaces, the process starts
// itself again, with that overlay's lib/ in front of LD_LIBRARY_PATH. The second time, the
// constructor gives the variable back its value, so neither the program nor its children see a
// difference. profiler/openmpi/overlay.h adds the component before MPI_Init.
//
// In any other case it does nothing: on a host without the overlay, in a program of another MPI,
// after an upgrade of Open MPI, in a program that is not linked to libmpi (Python loads it later), or
// whose DT_RPATH decides. Those processes count without PERUSE.
//
// Why this way: LD_LIBRARY_PATH set by the launcher would replace the one of a remote host and win
// over a RUNPATH that names another MPI. Preloading libmpi would load it into every child, and
// before tools that a program is linked to. The loader's audit interface decides at the right
// moment, but makes the loader lay out thread-local storage before it knows the program, and
// programs that need much of it (with ThreadSanitizer, for instance) do not start any more.
//
// Safety: nothing but system calls and reads of the loader's own list. Neither libc nor a
// sanitizer's runtime, which replaces many functions, is initialized yet.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char kLibrary[] = "/libmpi.so.40";
static const char kRestarted[] = "FATHOM_OVERLAY_RESTARTED=";
static const char kLibraryPath[] = "LD_LIBRARY_PATH=";
static const char kOverlays[] = "FATHOM_OVERLAY=";
static const char kPreload[] = "LD_PRELOAD=";

static size_t length_of(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

static bool starts_with(const char* text, const char* beginning) {
  while (*beginning != '\0' && *text == *beginning) {
    ++text;
    ++beginning;
  }
  return *beginning == '\0';
}

static bool ends_with(const char* text, const char* end) {
  const size_t length = length_of(text), wanted = length_of(end);
  return length >= wanted && starts_with(text + length - wanted, end);
}

static bool contains(const char* text, const char* part) {
  for (; *text != '\0'; ++text) {
    if (starts_with(text, part)) return true;
  }
  return false;
}

// The entry "NAME=..." of the environment; null if there is none.
static char** find(char** environment, const char* name) {
  for (; *environment != NULL; ++environment) {
    if (starts_with(*environment, name)) return environment;
  }
  return NULL;
}

static void remove_entry(char** entry) {
  do entry[0] = entry[1];
  while (*entry++ != NULL);
}

// Appends `text` to what is in `out`. False if that is longer than a path may be.
static bool append(char out[PATH_MAX], const char* text, size_t size) {
  const size_t begin = length_of(out);
  if (begin + size >= PATH_MAX) return false;
  for (size_t i = 0; i < size; ++i) out[begin + i] = text[i];
  out[begin + size] = '\0';
  return true;
}

struct File {
  const unsigned char* bytes;  // null if it cannot be read, or is empty
  size_t size;
};

static struct File map_file(const char* path) {
  struct File file = {NULL, 0};
  struct stat facts;
  const int number = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (number < 0) return file;
  if (syscall(SYS_newfstatat, number, "", &facts, AT_EMPTY_PATH) == 0 && S_ISREG(facts.st_mode) &&
      facts.st_size > 0) {
    const long mapped =
        syscall(SYS_mmap, NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, number, 0L);
    if (mapped != -1) {
      file.bytes = (const unsigned char*)mapped;
      file.size = (size_t)facts.st_size;
    }
  }
  syscall(SYS_close, number);
  return file;
}

static void unmap(struct File file) {
  if (file.bytes != NULL) syscall(SYS_munmap, file.bytes, file.size);
}

static bool same_bytes(const char* a_path, const char* b_path) {
  const struct File a = map_file(a_path), b = map_file(b_path);
  bool same = a.bytes != NULL && b.bytes != NULL && a.size == b.size;
  for (size_t i = 0; same && i < a.size; ++i) same = a.bytes[i] == b.bytes[i];
  unmap(a);
  unmap(b);
  return same;
}

// The libmpi that the loader has mapped; null if the program is not linked to one.
static const char* mapped_library(void) {
  for (const struct link_map* object = _r_debug.r_map; object != NULL; object = object->l_next) {
    if (object->l_name != NULL && ends_with(object->l_name, kLibrary)) return object->l_name;
  }
  return NULL;
}

// "OVERLAY/lib" of the overlay that replaces this libmpi.
static bool choose(char out[PATH_MAX], const char* list, const char* library) {
  while (*list != '\0') {
    size_t size = 0;
    while (list[size] != '\0' && list[size] != ':') ++size;
    char replaced[PATH_MAX] = "";
    out[0] = '\0';
    if (size > 0 && append(replaced, list, size) && append(replaced, "/replaces", 9) &&
        append(replaced, kLibrary, sizeof kLibrary - 1) && append(out, list, size) &&
        append(out, "/lib", 4) && same_bytes(library, replaced)) {
      return true;
    }
    list += list[size] == ':' ? size + 1 : size;
  }
  return false;
}

// Returns only if it fails. The mark says whether LD_LIBRARY_PATH was set before.
static void start_again(char** arguments, char** environment, const char* folder) {
  char program[PATH_MAX];
  const long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, PATH_MAX - 1);
  if (length <= 0) return;
  program[length] = '\0';
  // The loader as a command: the program is an argument, which it has taken away.
  if (contains(program, "/ld-linux") || contains(program, "/ld.so")) return;
  char** const before = find(environment, kLibraryPath);
  const char* const path = before == NULL ? "" : *before + sizeof kLibraryPath - 1;
  size_t count = 0;
  while (environment[count] != NULL) ++count;
  const size_t longest = sizeof kLibraryPath + length_of(folder) + 1 + length_of(path);
  const size_t pointers = (count + 3) * sizeof(char*);
  const long memory = syscall(SYS_mmap, NULL, pointers + longest, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
  if (memory == -1) return;
  char** const next = (char**)memory;
  char* text = (char*)memory + pointers;
  char* const variable = text;
  for (const char* c = kLibraryPath; *c != '\0'; ++c) *text++ = *c;
  for (const char* c = folder; *c != '\0'; ++c) *text++ = *c;
  if (*path != '\0') *text++ = ':';
  for (const char* c = path; *c != '\0'; ++c) *text++ = *c;
  static char set[] = "FATHOM_OVERLAY_RESTARTED=set", unset[] = "FATHOM_OVERLAY_RESTARTED=unset";
  for (size_t i = 0; i < count; ++i) next[i] = environment[i];
  if (before != NULL) {
    next[before - environment] = variable;
  } else {
    next[count++] = variable;
  }
  next[count] = before != NULL ? set : unset;
  syscall(SYS_execve, program, arguments, next);
  syscall(SYS_munmap, memory, pointers + longest);
}

// The second time: the loader has read LD_LIBRARY_PATH, and nobody else shall.
static void restore(char** environment, char** mark) {
  const bool was_set = ends_with(*mark, "=set");
  remove_entry(mark);
  char** const entry = find(environment, kLibraryPath);
  if (entry == NULL) return;
  if (!was_set) {
    remove_entry(entry);
    return;
  }
  char* const value = *entry + sizeof kLibraryPath - 1;
  size_t rest = 0;
  while (value[rest] != '\0' && value[rest] != ':') ++rest;
  if (value[rest] == ':') ++rest;
  for (size_t i = 0;; ++i) {
    value[i] = value[rest + i];
    if (value[i] == '\0') break;
  }
}

__attribute__((constructor)) static void use_overlay(int count, char** arguments,
                                                     char** environment) {
  (void)count;
  char** const mark = find(environment, kRestarted);
  if (mark != NULL) {
    restore(environment, mark);
    return;
  }
  char** const overlays = find(environment, kOverlays);
  char** const preload = find(environment, kPreload);
  // Valgrind would not follow; without LD_PRELOAD, the next start would not come back here.
  if (overlays == NULL || preload == NULL || contains(*preload, "vgpreload")) return;
  const char* const library = mapped_library();
  char folder[PATH_MAX];
  if (library != NULL && choose(folder, *overlays + sizeof kOverlays - 1, library))
    start_again(arguments, environment, folder);
}
