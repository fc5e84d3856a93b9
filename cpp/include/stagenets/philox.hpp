// Philox4x64-10, the counter-based generator of Salmon et al. (2011), word for word as
// numpy.random.Philox: a fresh NumPy generator with this key and counter (0, c1, c2, c3) yields
// word(0), word(1), … Any word can be computed without the ones before it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace stagenets {

class Philox {
 public:
  using Block = std::array<std::uint64_t, 4>;

  Philox(std::uint64_t seed, std::uint64_t c1, std::uint64_t c2, std::uint64_t c3)
      : seed_(seed), c1_(c1), c2_(c2), c3_(c3) {}

  // Words 4 i … 4 i + 3 of the stream (NumPy increments the counter before it computes, so i + 1 is used).
  Block block(std::uint64_t i) const {
    Block x{i + 1, c1_, c2_, c3_};
    std::uint64_t k0 = seed_, k1 = 0;
    for (int round = 0; round < 10; ++round) {
      std::uint64_t high0, high2;
      const std::uint64_t low0 = multiply(0xD2E7470EE14C6C93u, x[0], high0);
      const std::uint64_t low2 = multiply(0xCA5A826395121157u, x[2], high2);
      x = {high2 ^ x[1] ^ k0, low2, high0 ^ x[3] ^ k1, low0};
      k0 += 0x9E3779B97F4A7C15u;
      k1 += 0xBB67AE8584CAA73Bu;
    }
    return x;
  }

 private:
  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& high) {
#ifdef _MSC_VER
    return _umul128(a, b, &high);
#else
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    high = static_cast<std::uint64_t>(product >> 64);
    return static_cast<std::uint64_t>(product);
#endif
  }

  std::uint64_t seed_, c1_, c2_, c3_;
};

// Reads a Philox stream front to back.
class PhiloxStream {
 public:
  explicit PhiloxStream(const Philox& generator) : generator_(generator) {}

  // On [0, 1), as numpy.random.Generator.random.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // On (0, 1), symmetric: safe to push through an inverse distribution function (the last value would
  // round to 1).
  double open_uniform() {
    return std::min((static_cast<double>(next() >> 11) + 0.5) * 0x1p-53, 1.0 - 0x1p-53);
  }

  // The next `count` values of uniform(), computed in whole blocks, which processors can overlap.
  void uniforms(double* values, std::ptrdiff_t count) {
    std::ptrdiff_t i = 0;
    while (i < count && used_ % 4 != 0) values[i++] = uniform();
    for (; i + 4 <= count; i += 4, used_ += 4) {
      const Philox::Block words = generator_.block(used_ / 4);
      for (int w = 0; w < 4; ++w) values[i + w] = static_cast<double>(words[w] >> 11) * 0x1p-53;
    }
    while (i < count) values[i++] = uniform();
  }

 private:
  std::uint64_t next() {
    if (used_ % 4 == 0) words_ = generator_.block(used_ / 4);
    return words_[used_++ % 4];
  }

  Philox generator_;
  Philox::Block words_{};
  std::uint64_t used_ = 0;
};

}  // namespace stagenets
