#include "stagenets/blas_buffers.hpp"

#ifdef __linux__
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>
#endif

namespace stagenets {

#ifdef __linux__
namespace {

constexpr int kMostThreads = 64;  // OpenBLAS has room for twice as many
constexpr std::size_t kLargeBuffer = std::size_t{1} << 28;

std::mutex mutex;
void* (*take_buffer)(int) = nullptr;
void (*give_buffer_back)(void*) = nullptr;
std::size_t buffer_bytes = kLargeBuffer;
std::vector<void*> known;  // every buffer we have ever been given
std::atomic<int> reserved{0};

std::size_t address_space() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

bool can_map(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

// Holds on to buffers until some have come that were not known, so that these had to be made.
void make_buffers(int count) {
  std::vector<void*> taken;
  taken.reserve(static_cast<std::size_t>(2 * kMostThreads));
  known.reserve(known.size() + static_cast<std::size_t>(count));
  while (count > 0 && taken.size() < taken.capacity()) {
    void* buffer = take_buffer(0);
    if (buffer == nullptr) break;
    taken.push_back(buffer);
    if (std::find(known.begin(), known.end(), buffer) != known.end()) continue;
    known.push_back(buffer);
    --count;
  }
  for (void* buffer : taken) give_buffer_back(buffer);
}

// The size of a buffer is OpenBLAS's secret; how much the process grows by one is not.
void measure_buffer() {
  if (!can_map(2 * kLargeBuffer)) return;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::size_t before = address_space();
    make_buffers(1);
    const std::size_t after = address_space();
    if (after > before + (1u << 20)) {
      buffer_bytes = after - before;
      return;
    }
  }
}

// A child has its parent's buffers, but those in use when it was forked are lost to it.
void hold_still() { mutex.lock(); }
void go_on() { mutex.unlock(); }
void start_afresh() {
  known.clear();
  reserved = 0;
  mutex.unlock();
}
const int registered = pthread_atfork(hold_still, go_on, start_afresh);

}  // namespace

void use_blas_buffers(void* (*take)(int), void (*give_back)(void*)) {
  const std::lock_guard<std::mutex> lock(mutex);
  take_buffer = take;
  give_buffer_back = give_back;
  measure_buffer();
  reserved = static_cast<int>(known.size());
}

int reserve_blas_buffers(int threads) {
  const int wanted = std::min(threads, kMostThreads);
  if (wanted <= reserved) return threads;
  const std::lock_guard<std::mutex> lock(mutex);
  if (take_buffer == nullptr || wanted <= reserved) return threads;
  int more = wanted - reserved;
  while (more > 0 && !can_map(static_cast<std::size_t>(more) * buffer_bytes)) --more;
  if (more > 0) make_buffers(more);
  reserved += more;
  return reserved == wanted ? threads : reserved.load();
}

#else

void use_blas_buffers(void* (*)(int), void (*)(void*)) {}
int reserve_blas_buffers(int threads) { return threads; }

#endif

}  // namespace stagenets
