// Names of settings as they come from outside: each is understood, and others are refused by name.
#include <doctest/doctest.h>

#include <stdexcept>

#include "stagenets/settings.hpp"
#include "stagenets/weight_draws.hpp"

using namespace stagenets;

namespace {

// All names give settings that differ; the message about an unknown one names it, the setting and what there is.
template <class FromName>
void check_names(const FromName& from_name, const std::string& setting,
                 const std::vector<std::string>& names) {
  for (const std::string& one : names) {
    for (const std::string& other : names) {
      CHECK((from_name(one) == from_name(other)) == (one == other));
    }
  }
  std::string message;
  try {
    from_name("Unheard-of");
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CHECK(message.rfind(setting + " must be ", 0) == 0);
  CHECK(message.find("got 'Unheard-of'") != std::string::npos);
  for (const std::string& name : names) {
    CHECK_MESSAGE(message.find("'" + name + "'") != std::string::npos, message, name);
  }
}

}  // namespace

TEST_CASE("settings are known by their names, and unknown names are refused") {
  check_names(solver_from_name, "solver", {"auto", "primal", "dual"});
  check_names(loss_from_name, "loss", {"squared", "log", "huber", "bounded"});
  check_names(store_from_name, "store", {"memory", "recompute"});
  check_names(selection_from_name, "selection", {"random", "residual", "joint"});
  check_names(scaling_from_name, "scaling", {"none", "deviation", "robust", "common"});
  check_names(stop_by_from_name, "stop_by", {"nothing", "loo", "validation"});
  check_names(weight_family_from_name, "weight_init",
              {"uniform", "normal", "sparse", "threshold", "leaf", "mixed"});
}
