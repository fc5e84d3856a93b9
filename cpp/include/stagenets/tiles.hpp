// Work on a symmetric matrix tile by tile of its lower triangle, each tile by one thread.
#pragma once

#include "stagenets/team.hpp"

namespace stagenets {

// Calls body(i, j) for all tiles 0 <= j <= i < tiles.
template <class Body>
void for_each_lower_tile(Team& team, Index tiles, Body&& body) {
  team.for_each(tiles * (tiles + 1) / 2, [&](Index pair, int worker) {
    team.poll(worker);
    Index i = 0;
    while (pair > i) pair -= ++i;
    body(i, pair);
  });
}

}  // namespace stagenets
