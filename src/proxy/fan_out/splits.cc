#include "proxy/fan_out/splits.h"

namespace cleave::proxy {

void Splits::split(Request& request, const route::Decision& decision, const wire::Request& said) {
  Gathering* const whole = gatherings_.open(request, decision.merge, decision.keys.size());
  if (whole == nullptr) return;
  gather_parts(*whole, decision);
  for (Command* part : parts_) {
    encode(said, decision, *part);
    dispatch_.place(*part, bytes_);
  }
}

// Keys of one owner become one part, in O(keys). A key of a fenced range is a part of its own: when
// it is released, its owner may be another one than its neighbours'.
void Splits::gather_parts(Gathering& whole, const route::Decision& decision) {
  parts_.clear();
  for (std::uint32_t i = 0; i < decision.keys.size(); ++i) {
    const ring::RangeIndex index = dispatch_.view().find(decision.keys[i].token);
    NodeLink& owner = dispatch_.owner(index);
    const bool fenced = dispatch_.is_fenced(index);
    if (fenced || owner.part == 0) {
      parts_.push_back(&whole.add_part(decision));
      parts_.back()->index = index;
      if (!fenced) owner.part = static_cast<std::uint32_t>(parts_.size());
    }
    Command& part = *parts_[fenced ? parts_.size() - 1 : owner.part - 1];
    part.places.push_back(i);
  }
  for (const auto& link : dispatch_.nodes()) link->part = 0;
}

// Into bytes_, with the keys' places in it.
void Splits::encode(const wire::Request& said, const route::Decision& decision, Command& part) {
  const std::uint32_t each = decision.args_per_key;
  bytes_.clear();
  wire::append_array_header(bytes_, 1 + part.places.size() * each);
  wire::append_bulk(bytes_, said.args[0]);
  for (const std::uint32_t place : part.places) {
    const route::KeyPlace& key = decision.keys[place];
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::string_view arg = said.args[key.position + i];
      wire::append_bulk(bytes_, arg);
      if (i > 0) continue;
      part.keys.push_back({.token = key.token,
                           .offset = static_cast<std::uint32_t>(bytes_.size() - 2 - arg.size()),
                           .size = static_cast<std::uint32_t>(arg.size())});
    }
  }
}

}  // namespace cleave::proxy
