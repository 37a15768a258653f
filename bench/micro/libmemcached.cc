// libmemcached by its own C interface: ketama as it is when every weight is one (100 points a
// node), and weighted (160). It ends the process for more than 100 servers (hosts.cc,
// update_continuum: MEMCACHED_CONTINUUM_SIZE is 10,000 points): there is nothing to measure beyond.
#include <libmemcached/memcached.h>

#include "base/check.h"
#include "ring/schemes/placement.h"
#include "ring_bench.h"

namespace cleave::bench {
namespace {

constexpr std::uint32_t kServersMax = 100;

struct Freed {
  void operator()(memcached_st* client) const { memcached_free(client); }
};

// A client and the list of its servers; no connection is ever made.
struct Ketama {
  std::unique_ptr<memcached_st, Freed> client;

  std::size_t owner(std::string_view key) const {
    return memcached_generate_hash(client.get(), key.data(), key.size());
  }
};

enum class Points : std::uint8_t { kPlain, kWeighted };

struct Setting {
  memcached_hash_t hash;
  Points points;
};

Ketama ketama(const Setting& setting, std::uint32_t nodes) {
  Ketama made{std::unique_ptr<memcached_st, Freed>(memcached_create(nullptr))};
  memcached_st* const client = made.client.get();
  const auto set = [&](memcached_behavior_t behavior, std::uint64_t value) {
    CHECK(memcached_behavior_set(client, behavior, value) == MEMCACHED_SUCCESS);
  };
  if (setting.points == Points::kWeighted) {
    set(MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
  } else {
    set(MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT);
    set(MEMCACHED_BEHAVIOR_KETAMA_HASH, setting.hash);
  }
  set(MEMCACHED_BEHAVIOR_HASH, setting.hash);
  // One list at once: a server added alone has the whole circle sorted again.
  std::string servers;
  for (std::uint32_t i = 0; i < nodes; ++i) servers += (i == 0 ? "" : ",") + node_name(i);
  memcached_server_st* const list = memcached_servers_parse(servers.c_str());
  CHECK(list != nullptr);
  CHECK(memcached_server_push(client, list) == MEMCACHED_SUCCESS);
  memcached_server_list_free(list);
  return made;
}

// The comparison is one of equals: every key must have the same owner in both.
void check_agreement(const Ketama& theirs, const ring::SchemeSpec& spec, std::uint32_t nodes) {
  std::vector<ring::PlacedNode> list;
  for (std::uint32_t i = 0; i < nodes; ++i) list.push_back({node_name(i)});
  const auto ours = place(spec, list);
  CHECK(ours);
  for (std::size_t i = 0; i < 10'000; ++i) {
    CHECK((*ours)->owner(text(keys()[i])) == theirs.owner(text(keys()[i])));
  }
}

void add_server(benchmark::State& state, const Size& size) {
  const Setting setting{MEMCACHED_HASH_FNV1A_64, Points::kPlain};
  for (auto _ : state) {
    state.PauseTiming();
    const Ketama made = ketama(setting, size.nodes - 1);
    state.ResumeTiming();
    CHECK(memcached_server_add(made.client.get(), "joiner", 11211) == MEMCACHED_SUCCESS);
  }
}

void register_weighted(const std::string& hash, memcached_hash_t id) {
  constexpr Size kUsual{100, 160};
  const auto make = [id](const Size& size) {
    return ketama({.hash = id, .points = Points::kWeighted}, size.nodes);
  };
  check_agreement(make(kUsual), {"libmemcached-ketama-weighted", {{"hash", hash}}}, kUsual.nodes);
  register_lookups("libmemcached weighted, " + hash, make, kUsual);
}

}  // namespace

void register_libmemcached() {
  register_weighted("fnv1a_64", MEMCACHED_HASH_FNV1A_64);
  register_weighted("murmur", MEMCACHED_HASH_MURMUR);
  register_weighted("md5", MEMCACHED_HASH_MD5);
  const auto make = [](const Size& size) {
    return ketama({.hash = MEMCACHED_HASH_FNV1A_64, .points = Points::kPlain}, size.nodes);
  };
  const std::string name = "libmemcached, fnv1a_64";
  const Size most{kServersMax, 100};
  check_agreement(make(most), {"libmemcached-ketama", {{"hash", "fnv1a_64"}}}, most.nodes);
  register_lookups(name, make, {10, 100});
  register_lookups(name, make, most);
  register_build(name, make, most);
  register_add(name, add_server, most);
}

}  // namespace cleave::bench
