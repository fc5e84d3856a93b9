#include <doctest/doctest.h>

#include "stagenets/ranked_pool.hpp"

using namespace stagenets;

namespace {

VectorD vector_of(const std::vector<double>& values) {
  return Eigen::Map<const VectorD>(values.data(), static_cast<Index>(values.size()));
}

}  // namespace

TEST_CASE("candidates are ranked by their scores, equals in the order in which they were drawn") {
  const RankedPool pool = rank_pool(vector_of({0.5, 2, 0, 2, 1, 0.5}));
  CHECK(pool.candidates == std::vector<Index>{1, 3, 4, 0, 5, 2});
  CHECK_FALSE(pool.rank_all);
}

TEST_CASE("quantiles are minimum, quartiles and maximum") {
  // Of the numbers 0 … 100 in some order, and of 0 … 4.
  VectorD scores(101);
  for (Index i = 0; i < 101; ++i) scores[i] = static_cast<double>((i * 37) % 101);
  CHECK(rank_pool(scores).quantiles == PoolQuantiles{0, 25, 50, 75, 100});
  CHECK(rank_pool(vector_of({3, 0, 4, 1, 2})).quantiles == PoolQuantiles{0, 1, 2, 3, 4});
  CHECK(rank_pool(vector_of({7})).quantiles == PoolQuantiles{7, 7, 7, 7, 7});
  // Between two scores, quartiles are one of them, and in order.
  const PoolQuantiles two = rank_pool(vector_of({1, 5})).quantiles;
  CHECK(two.front() == 1);
  CHECK(two.back() == 5);
  for (std::size_t i = 1; i < two.size(); ++i) CHECK(two[i - 1] <= two[i]);
  CHECK(rank_pool(VectorD()).candidates.empty());
  CHECK(rank_pool(VectorD()).quantiles == PoolQuantiles{});
}

TEST_CASE("a ranking is carried on when a stage looks beyond its head, and only then") {
  int asked = 0;
  RankedPool pool{{4, 2}, {}, [&] {
                    ++asked;
                    return std::vector<Index>{4, 2, 0, 1, 3};
                  }};
  CHECK(pool.reaches(0));
  CHECK(pool.reaches(1));
  CHECK(asked == 0);
  CHECK(pool.reaches(2));
  CHECK(asked == 1);
  CHECK(pool.candidates == std::vector<Index>{4, 2, 0, 1, 3});
  CHECK(pool.reaches(4));
  CHECK_FALSE(pool.reaches(5));
  CHECK(asked == 1);
}

TEST_CASE("the head of a ranking has the quantiles of the whole pool") {
  const RankedPool pool = rank_pool(vector_of({3, 0, 4, 1, 2}));
  const RankedPool head = pool.first(2);
  CHECK(head.candidates == std::vector<Index>{2, 0});
  CHECK(head.quantiles == pool.quantiles);
  CHECK(pool.first(0).candidates.empty());
  CHECK(pool.first(5).candidates == pool.candidates);
  CHECK(pool.first(9).candidates == pool.candidates);
}

TEST_CASE("a stage is known if it was to keep as many units") {
  KnownStages known;
  known.stages.resize(2);
  known.stages[0].keep = 3;
  known.stages[1].keep = 1;
  CHECK(known.find(0, 3) == &known.stages[0]);
  CHECK(known.find(1, 1) == &known.stages[1]);
  CHECK(known.find(0, 2) == nullptr);
  CHECK(known.find(1, 3) == nullptr);
  CHECK(known.find(2, 1) == nullptr);
}
