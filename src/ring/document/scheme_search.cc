#include "ring/document/scheme_search.h"

#include <initializer_list>
#include <string_view>
#include <utility>

namespace cleave::ring {
namespace {

using Values = std::vector<std::string>;

// One option of a scheme and what is tried for it; an empty value leaves it out.
struct Tried {
  std::string_view option;
  Values values;
};

std::vector<SchemeSpec> crossed(const std::string& scheme, std::initializer_list<Tried> options) {
  std::vector<SchemeSpec> all{{.name = scheme}};
  for (const Tried& tried : options) {
    std::vector<SchemeSpec> next;
    for (const SchemeSpec& spec : all) {
      for (const std::string& value : tried.values) {
        next.push_back(spec);
        if (!value.empty()) next.back().options.emplace(tried.option, value);
      }
    }
    all = std::move(next);
  }
  return all;
}

Values twemproxy_hashes() {
  return {"fnv1a_64", "murmur",  "md5",      "crc32a", "crc32",   "crc16",
          "fnv1_64",  "fnv1_32", "fnv1a_32", "hsieh",  "jenkins", "one_at_a_time"};
}

Values libmemcached_hashes() {
  return {"default", "md5",      "crc",    "fnv1_64", "fnv1a_64",
          "fnv1_32", "fnv1a_32", "murmur", "jenkins", "murmur3"};
}

void append(std::vector<SchemeSpec>& all, const std::string& scheme,
            std::initializer_list<Tried> options = {}) {
  for (SchemeSpec& each : crossed(scheme, options)) all.push_back(std::move(each));
}

void append_memcached(std::vector<SchemeSpec>& all) {
  for (const char* const scheme : {"twemproxy-ketama", "twemproxy-modula"})
    append(all, scheme, {{"hash", twemproxy_hashes()}, {"hash_tag", {"", "{}"}}});
  for (const char* const scheme : {"libmemcached-ketama", "libmemcached-ketama-weighted",
                                   "libmemcached-spy", "libmemcached-modula"})
    append(all, scheme, {{"hash", libmemcached_hashes()}});
  append(all, "spymemcached",
         {{"hash",
           {"", "NATIVE_HASH", "CRC_HASH", "FNV1_64_HASH", "FNV1A_64_HASH", "FNV1_32_HASH",
            "FNV1A_32_HASH"}},
          {"format", {"", "LIBMEMCACHED"}},
          {"method", {"", "plain"}}});
  append(all, "uhashring", {{"hash", {"", "ketama", "sha1_hexint"}}});
  append(all, "npm-hashring", {{"hash", {"", "sha1"}}, {"format", {"", "hash_ring"}}});
  append(all, "pymemcache", {{"format", {"", "bytes"}}});
}

void append_others(std::vector<SchemeSpec>& all) {
  append(all, "jedis",
         {{"hash", {"", "md5"}}, {"named", {"", "true"}}, {"key_tag", {"", "default"}}});
  append(all, "go-redis");
  append(all, "nginx", {{"method", {"", "consistent"}}});
  append(all, "haproxy",
         {{"method", {"", "consistent"}}, {"hash", {"", "sdbm", "djb2", "wt6", "crc32"}}});
  append(all, "envoy-redis",
         {{"method", {"", "maglev"}}, {"hash_tag", {"", "{}"}}, {"hash", {"", "MURMUR_HASH_2"}}});
  append(all, "envoy-ring", {{"hash", {"", "MURMUR_HASH_2"}}});
  append(all, "envoy-maglev");
  append(all, "redis-cluster");
  append(all, "codis");
  append(all, "cassandra");
  append(all, "jump", {{"hash", {"", "xxh64", "xxh3"}}});
  append(all, "guava", {{"hash", {"", "xxh64", "xxh3"}}});
}

bool owned_by(const std::optional<std::size_t>& owner, std::size_t node) {
  return owner && *owner == node;
}

}  // namespace

std::vector<SchemeSpec> searched_schemes() {
  std::vector<SchemeSpec> all;
  append(all, "vnode");
  append(all, "modulo",
         {{"hash", {"crc32", "java", "fnv1a_64", "md5", "murmur64a", "xxh64", "xxh3"}}});
  append_memcached(all);
  append_others(all);
  append(all, "murmur64a-vnode");
  append(all, "java-vnode");
  return all;
}

SchemeSearch::SchemeSearch(std::vector<NamedNodes> names,
                           std::vector<std::vector<std::string>> seen)
    : names_(std::move(names)), seen_(std::move(seen)), schemes_(searched_schemes()) {}

bool SchemeSearch::step() {
  if (next_ == schemes_.size() * names_.size()) return false;
  consider(schemes_[next_ / names_.size()], names_[next_ % names_.size()]);
  ++next_;
  return true;
}

void SchemeSearch::consider(const SchemeSpec& scheme, const NamedNodes& names) {
  const auto placement = place(scheme, names.nodes);
  if (!placement) return;  // such names or weights it does not take
  SchemeFit fit{.scheme = scheme, .hashed = names.what};
  for (std::size_t node = 0; node < seen_.size(); ++node) {
    for (const std::string& key : seen_[node]) {
      ++fit.keys;
      if (!owned_by((*placement)->owner(key), node)) ++fit.elsewhere;
    }
    if (best_ && fit.elsewhere >= best_->elsewhere) return;
  }
  if (fit.keys > 0) best_ = std::move(fit);
}

std::string describe(const SchemeFit& fit) {
  std::string text = fit.scheme.name;
  bool first = true;
  for (const auto& [name, value] : fit.scheme.options) {
    text += std::exchange(first, false) ? " with " : ", ";
    text.append(name).append(" ").append(value);
  }
  return text + ", of " + fit.hashed;
}

}  // namespace cleave::ring
