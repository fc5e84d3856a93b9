// The activations phi of hidden units: sigmoid 1/(1+e^-z), tanh, relu max(0,z), sine, selu, tribas max(0,1-|z|),
// radbas e^(-z^2) and identity. Only their names live here; the arithmetic is in the kernels.
#pragma once

#include <stdexcept>
#include <string>

namespace stagenets {

enum class Activation { identity, sigmoid, tanh, relu, sine, selu, tribas, radbas };

struct NamedActivation {
  const char* name;
  Activation activation;
};
constexpr NamedActivation kActivations[] = {
    {"identity", Activation::identity}, {"sigmoid", Activation::sigmoid},
    {"tanh", Activation::tanh},         {"relu", Activation::relu},
    {"sine", Activation::sine},         {"selu", Activation::selu},
    {"tribas", Activation::tribas},     {"radbas", Activation::radbas}};

// The activation called `name`. Throws std::invalid_argument for any other name.
inline Activation activation_from_name(const std::string& name) {
  std::string accepted;
  for (const NamedActivation& known : kActivations) {
    if (name == known.name) return known.activation;
    accepted += accepted.empty() ? "'" : ", '";
    accepted += known.name;
    accepted += "'";
  }
  throw std::invalid_argument("activation must be one of " + accepted + "; got '" + name + "'");
}

inline std::string name_of(Activation activation) {
  for (const NamedActivation& known : kActivations) {
    if (activation == known.activation) return known.name;
  }
  return "";
}

}  // namespace stagenets
