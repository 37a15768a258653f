// The row of one scheme in the table of schemes. For the files of this folder.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "ring/schemes/option_reader.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// What a scheme makes of its options and the nodes; the parts of a Placement.
struct Layout {
  Placement::KeyToToken token_of;
  std::vector<Arc> arcs;
  Tokens tokens = Tokens::kFixed;
};

struct SchemeRow {
  SchemeText text;
  // Reads its options from the reader and reports there what it refuses; then the layout does not
  // matter. Requires: at least one node, weights in 1..kPlacedWeightMax, names unique.
  Layout (*build)(OptionReader& options, std::span<const PlacedNode> nodes);
};

// One function a file of kin.
std::vector<SchemeRow> native_schemes();         // vnode, murmur64a-vnode, java-vnode, modulo
std::vector<SchemeRow> twemproxy_schemes();      // -ketama, -modula
std::vector<SchemeRow> libmemcached_schemes();   // -ketama, -ketama-weighted, -spy, -modula
std::vector<SchemeRow> ketama_client_schemes();  // spymemcached, uhashring, npm-hashring
std::vector<SchemeRow> jedis_schemes();
std::vector<SchemeRow> nginx_schemes();
std::vector<SchemeRow> haproxy_schemes();
std::vector<SchemeRow> envoy_schemes();   // -ring, -maglev, -redis
std::vector<SchemeRow> slot_schemes();    // redis-cluster, codis, cassandra
std::vector<SchemeRow> direct_schemes();  // jump, guava, go-redis, pymemcache

}  // namespace cleave::ring
