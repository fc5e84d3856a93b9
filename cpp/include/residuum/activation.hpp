// The activations phi a hidden unit can have: sigmoid 1/(1+e^-z), tanh, relu max(0,z), sine, selu, tribas max(0,1-|z|),
// radbas e^(-z^2) and identity. Only their names live here; the arithmetic is in the kernels.
#pragma once

#include <stdexcept>
#include <string>

namespace residuum {

enum class Activation { identity, sigmoid, tanh, relu, sine, selu, tribas, radbas };

// The activation called `name`. Throws std::invalid_argument for any other name.
inline Activation activation_from_name(const std::string& name) {
  static const struct {
    const char* name;
    Activation activation;
  } kNames[] = {{"identity", Activation::identity}, {"sigmoid", Activation::sigmoid},
                {"tanh", Activation::tanh},         {"relu", Activation::relu},
                {"sine", Activation::sine},         {"selu", Activation::selu},
                {"tribas", Activation::tribas},     {"radbas", Activation::radbas}};
  std::string accepted;
  for (const auto& entry : kNames) {
    if (name == entry.name) return entry.activation;
    accepted += accepted.empty() ? "'" : ", '";
    accepted += entry.name;
    accepted += "'";
  }
  throw std::invalid_argument("activation must be one of " + accepted + "; got '" + name + "'");
}

}  // namespace residuum
