/* An allocator that refuses, to be loaded before all others (LD_PRELOAD). It counts the requests that come from
   watched pieces of code, and refuses those whose number lies in a range; everyone else gets what they ask for.
   So do small requests by holders of the GIL: among them are pybind11's notes on its objects, and a failure there ends
   the process whatever the module does. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern int PyGILState_Check(void) __attribute__((weak));

static struct {
  uintptr_t begin, end;
} watched[16];
static int pieces;
static atomic_long seen, first, last = -1;

void watch_code(uintptr_t begin, uintptr_t end) {
  watched[pieces].begin = begin;
  watched[pieces++].end = end;
}

void refuse_requests(long from, long to) {
  first = from;
  last = to;
  seen = 0;
}

long requests_seen(void) { return seen; }

enum { SMALL = 128 };

static int refused(void* caller, size_t size) {
  for (int i = 0; i < pieces; ++i) {
    if ((uintptr_t)caller >= watched[i].begin && (uintptr_t)caller < watched[i].end) {
      if (size < SMALL && PyGILState_Check && PyGILState_Check()) return 0;
      const long number = seen++;
      return number >= first && number <= last;
    }
  }
  return 0;
}

#define REFUSED(size) refused(__builtin_return_address(0), size)

void* malloc(size_t size) { return REFUSED(size) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return REFUSED(count * size) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  return REFUSED(size) ? NULL : __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return REFUSED(size) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = REFUSED(size) ? NULL : __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
