#include "stagenets/settings.hpp"

#include <stdexcept>

namespace stagenets {

Solver solver_from_name(const std::string& name) {
  if (name == "auto") return Solver::automatic;
  if (name == "primal") return Solver::primal;
  if (name == "dual") return Solver::dual;
  throw std::invalid_argument("solver must be 'auto', 'primal' or 'dual'; got '" + name + "'");
}

Loss loss_from_name(const std::string& name) {
  if (name == "squared") return Loss::squared;
  if (name == "log") return Loss::log;
  if (name == "huber") return Loss::huber;
  if (name == "bounded") return Loss::bounded;
  throw std::invalid_argument("loss must be 'squared', 'log', 'huber' or 'bounded'; got '" + name +
                              "'");
}

Store store_from_name(const std::string& name) {
  if (name == "memory") return Store::memory;
  if (name == "recompute") return Store::recompute;
  throw std::invalid_argument("store must be 'memory' or 'recompute'; got '" + name + "'");
}

Selection selection_from_name(const std::string& name) {
  if (name == "random") return Selection::random;
  if (name == "residual") return Selection::residual;
  if (name == "joint") return Selection::joint;
  throw std::invalid_argument("selection must be 'residual', 'joint' or 'random'; got '" + name +
                              "'");
}

Scaling scaling_from_name(const std::string& name) {
  if (name == "none") return Scaling::none;
  if (name == "deviation") return Scaling::deviation;
  if (name == "robust") return Scaling::robust;
  if (name == "common") return Scaling::common;
  throw std::invalid_argument("scaling must be 'none', 'deviation', 'robust' or 'common'; got '" +
                              name + "'");
}

StopBy stop_by_from_name(const std::string& name) {
  if (name == "nothing") return StopBy::nothing;
  if (name == "loo") return StopBy::leave_one_out;
  if (name == "validation") return StopBy::validation;
  throw std::invalid_argument("stop_by must be 'nothing', 'loo' or 'validation'; got '" + name +
                              "'");
}

}  // namespace stagenets
