#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "openblas.hpp"

int main(int argc, char** argv) {
  use_openblas();
  doctest::Context context(argc, argv);
  return context.run();
}
