// Keeps a fork from happening while a thread is inside the BLAS. OpenBLAS takes locks that it does not release in the
// child of a fork, where whoever held them does not exist: the child's next call would wait for ever.
#pragma once

namespace stagenets {

// Exists while its thread is inside the BLAS. A fork waits for all of them, and new ones wait for the fork.
class InsideBlas {
 public:
  InsideBlas();
  ~InsideBlas();
  InsideBlas(const InsideBlas&) = delete;
  InsideBlas& operator=(const InsideBlas&) = delete;
};

}  // namespace stagenets
