#include "rehearse/policies/policy.h"

#include "rehearse/policies/baselines.h"
#include "rehearse/policies/policies.h"

namespace cleave::rehearse {

std::unique_ptr<Policy> make_policy(std::string_view name, std::uint64_t seed) {
  if (name == "cleave") return std::make_unique<CleavePolicy>();
  if (name == "static") return std::make_unique<StaticPolicy>();
  if (name == "halve") return make_halve_policy(seed);
  if (name == "cockroach") return make_cockroach_policy(seed);
  if (name == "pd") return make_pd_policy(seed);
  if (name == "dicer") return make_dicer_policy(seed);
  return nullptr;
}

}  // namespace cleave::rehearse
