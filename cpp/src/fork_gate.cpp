#include "stagenets/fork_gate.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace stagenets {

#if defined(__unix__) || defined(__APPLE__)
namespace {

pthread_rwlock_t gate;

// Forks go first: threads that compute are inside most of the time, and would let none happen.
void open() {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
#ifdef __GLIBC__
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
  pthread_rwlock_init(&gate, &attributes);
  pthread_rwlockattr_destroy(&attributes);
}

void close() { pthread_rwlock_wrlock(&gate); }
void open_again() { pthread_rwlock_unlock(&gate); }

const int gate_registered = (open(), pthread_atfork(close, open_again, open));

}  // namespace

InsideBlas::InsideBlas() { pthread_rwlock_rdlock(&gate); }
InsideBlas::~InsideBlas() { pthread_rwlock_unlock(&gate); }
#else
InsideBlas::InsideBlas() = default;
InsideBlas::~InsideBlas() = default;
#endif

}  // namespace stagenets
