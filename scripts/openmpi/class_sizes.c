// SPDX-License-Identifier: BSD-3-Clause
// Prints the sizes of objects of Open MPI's classes, as a library has them.
//
//   class_sizes [NEEDED]... LIBRARY < names of its symbols ending in _class
//
// NEEDED: libraries to load first, for a component, which does not name the libmpi that it needs.
//
// Each class is described by an exported variable (opal/class/opal_object.h), in which the library
// keeps the size of an object. Two libraries that are to take each other's place must agree on it.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct opal_class_t {
  const char* name;
  void* parent;
  void *construct, *destruct;
  int initialized, depth;
  void *construct_array, *destruct_array;
  size_t size;
};

int main(int count, char** arguments) {
  void* library = NULL;
  for (int i = 1; i < count; ++i) {
    library = dlopen(arguments[i], RTLD_LAZY | RTLD_GLOBAL);
    if (library == NULL) {
      fprintf(stderr, "class_sizes: %s\n", dlerror());
      return 1;
    }
  }
  if (library == NULL) {
    fprintf(stderr, "class_sizes: name a library\n");
    return 1;
  }
  for (char name[256]; fgets(name, sizeof name, stdin) != NULL;) {
    name[strcspn(name, "\n")] = '\0';
    const struct opal_class_t* found = dlsym(library, name);
    if (found != NULL) printf("%s %zu\n", name, found->size);
  }
  return 0;
}
