#include "simulate/policy.h"

#include "simulate/policies.h"

namespace cleave::simulate {

std::unique_ptr<Policy> make_policy(std::string_view name, std::uint64_t /*seed*/) {
  if (name == "cleave") return std::make_unique<CleavePolicy>();
  if (name == "static") return std::make_unique<StaticPolicy>();
  return nullptr;
}

}  // namespace cleave::simulate
