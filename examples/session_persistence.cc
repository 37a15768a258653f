// A load balancer that keeps a user's sessions on one server as long as that has room: consistent
// hashing with bounded loads. A few users open very many sessions here, as some always do.
#include <algorithm>
#include <cleave/ring_loads.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using cleave::Ring;
using cleave::RingLoads;

namespace {

// 12,000 sessions: half of them of 8 users, the others of one user each.
std::vector<std::string> users() {
  std::vector<std::string> users;
  for (int i = 0; i < 12'000; ++i) {
    users.push_back("user:" + std::to_string(i % 2 == 0 ? i / 2 % 8 : i));
  }
  return users;
}

// The largest load beside the mean.
double peak(const std::vector<std::uint64_t>& loads) {
  std::uint64_t sum = 0;
  for (const std::uint64_t load : loads) sum += load;
  const double mean = static_cast<double>(sum) / static_cast<double>(loads.size());
  return static_cast<double>(*std::max_element(loads.begin(), loads.end())) / mean;
}

std::vector<std::uint64_t> loads_of(const RingLoads& loads) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < loads.ring().nodes().size(); ++i) result.push_back(loads.load(i));
  return result;
}

}  // namespace

int main() {
  const Ring ring("vnode", {{"web1"}, {"web2"}, {"web3"}, {"web4"}, {"web5"}});
  const std::vector<std::string> sessions = users();

  std::vector<std::uint64_t> plain(ring.nodes().size());
  for (const std::string& user : sessions) ++plain[*ring.locate(user)];
  std::printf("plain hashing: the busiest has %.2f times the mean\n", peak(plain));

  RingLoads bounded = RingLoads::bounded(ring, 1'100);  // at most 10 % above the mean
  std::size_t at_home = 0;
  for (const std::string& user : sessions) at_home += bounded.acquire(user) == ring.locate(user);
  std::printf("bounded loads: %.2f times; %.0f %% of the sessions where plain hashing puts them\n",
              peak(loads_of(bounded)),
              100.0 * static_cast<double>(at_home) / static_cast<double>(sessions.size()));

  RingLoads choices = RingLoads::two_choices(ring);
  for (const std::string& user : sessions) choices.acquire(user);
  std::printf("two choices: %.2f times\n", peak(loads_of(choices)));

  // web3 is taken out: the others keep their sessions, and its own come anew.
  const std::uint64_t gone = bounded.load(*ring.find("web3"));
  bounded.change_ring(ring.without_node("web3"));
  for (std::uint64_t i = 0; i < gone; ++i) bounded.acquire("user:" + std::to_string(i));
  std::printf("without web3: %.2f times the mean\n", peak(loads_of(bounded)));

  // A session ends.
  const std::size_t server = *bounded.acquire("user:17");
  bounded.release(server);
  std::printf("%llu sessions\n", static_cast<unsigned long long>(bounded.total()));
}
