// Sizes before anything of that size is made. A request may be any 64-bit number, so products of sizes are formed here:
// as counts that stop at the largest one, and as bytes in floating point, which no product overflows. What cannot even
// be addressed is refused before any work; below that limit every product of sizes in a fit is a valid Index, and
// whether there is room is for the allocator to say.
#pragma once

#include <new>
#include <string>

#include "stagenets/index.hpp"
#include "stagenets/settings.hpp"

namespace stagenets {

// a · b and a + b of sizes that are not negative, or the largest Index where that is less.
Index limited_product(Index a, Index b);
Index limited_sum(Index a, Index b);

// A std::bad_alloc that says what was asked for, and how much memory that takes; Python's MemoryError.
class TooLarge : public std::bad_alloc {
 public:
  TooLarge(const std::string& what, double bytes);
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// The sizes that a fit's memory depends on.
struct FitShape {
  Index rows, inputs, outputs;
  Index fixed;  // columns of the design before the first unit
  Index units;  // that the fit may keep
  std::size_t scalar_bytes;
  bool sparse_links = false;  // whether the fixed columns are the links of sparse inputs
};

// Whether a fit begins with the row space of its fixed columns instead of these: there are fewer rows, and its loss has
// no dual form.
bool starts_in_row_space(Loss loss, Index fixed, Index rows);

// Whether a fit by stages begins with the wide form: links of sparse inputs, which would be filled in otherwise, and at
// least as many as rows.
bool starts_wide(bool sparse_links, Index fixed, Index rows, const StagewiseSettings& stages);

// Bytes that the ridge problem of a fit takes at least: Q and L, a Gram matrix or a kernel matrix.
double ridge_bytes(const FitShape& shape, const StagewiseSettings& stages);

// Bytes of the weights and biases of some candidates.
double pool_bytes(Index candidates, Index inputs);

// Throws TooLarge if so many bytes cannot be addressed.
void check_addressable(const std::string& what, double bytes);

// Does work that needs so many bytes at least; if they cannot be had, says how many they were.
template <class Work>
void with_memory(const std::string& what, double bytes, Work&& work) {
  check_addressable(what, bytes);
  try {
    work();
  } catch (const TooLarge&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw TooLarge(what, bytes);
  }
}

}  // namespace stagenets
