#include "sim/model/value.h"

#include <cstring>
#include <limits>

#include "base/hash.h"

namespace cleave::sim {
namespace {

constexpr std::string_view kMagic = "model-1:";

void put_number(std::string& out, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    out.push_back(static_cast<char>((number >> shift) & 0xFFU));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out.append(text);
}

// Reads what put_* wrote; `broken` once anything did not fit.
struct Reader {
  std::string_view left;
  bool broken = false;

  std::uint64_t number() {
    if (left.size() < 8) {
      broken = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(left[i])} << (8 * i);
    left.remove_prefix(8);
    return value;
  }

  std::string text() {
    const std::uint64_t size = number();
    if (broken || size > left.size()) {
      broken = true;
      return {};
    }
    std::string taken(left.substr(0, size));
    left.remove_prefix(size);
    return taken;
  }
};

std::uint64_t bits_of(double score) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &score, sizeof bits);
  return bits;
}

double score_of(std::uint64_t bits) {
  double score = 0;
  std::memcpy(&score, &bits, sizeof score);
  return score;
}

void put_elements(std::string& out, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    put_number(out, 1);
    put_text(out, *text);
  } else if (const auto* list = std::get_if<ListValue>(&value)) {
    put_number(out, list->size());
    for (const std::string& element : *list) put_text(out, element);
  } else if (const auto* hash = std::get_if<HashValue>(&value)) {
    put_number(out, hash->size());
    for (const auto& [field, content] : *hash) {
      put_text(out, field);
      put_text(out, content);
    }
  } else if (const auto* set = std::get_if<SetValue>(&value)) {
    put_number(out, set->size());
    for (const std::string& member : *set) put_text(out, member);
  } else if (const auto* zset = std::get_if<ZsetValue>(&value)) {
    put_number(out, zset->size());
    for (const auto& [member, score] : *zset) {
      put_text(out, member);
      put_number(out, bits_of(score));
    }
  }
}

Value read_value(Reader& reader, std::uint64_t kind) {
  const std::uint64_t count = reader.number();
  Value value;
  if (kind == 1) value = ListValue{};
  if (kind == 2) value = HashValue{};
  if (kind == 3) value = SetValue{};
  if (kind == 4) value = ZsetValue{};
  for (std::uint64_t i = 0; i < count && !reader.broken; ++i) {
    std::string text = reader.text();
    if (kind == 0) value = std::move(text);
    if (kind == 1) std::get<ListValue>(value).push_back(std::move(text));
    if (kind == 2) std::get<HashValue>(value)[std::move(text)] = reader.text();
    if (kind == 3) std::get<SetValue>(value).insert(std::move(text));
    if (kind == 4) std::get<ZsetValue>(value)[std::move(text)] = score_of(reader.number());
  }
  return value;
}

}  // namespace

std::string_view type_name(const Value& value) {
  constexpr std::string_view kNames[] = {"string", "list", "hash", "set", "zset"};
  return kNames[value.index()];
}

bool is_empty(const Value& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) return false;
        return held.empty();
      },
      value);
}

std::uint64_t memory_of(std::string_view key, const Value& value) {
  return key.size() + dump(value).size() + 32;
}

std::string dump(const Value& value) {
  std::string out(kMagic);
  put_number(out, value.index());
  put_elements(out, value);
  put_number(out, xxh3_64(out));
  return out;
}

Result<Value> undump(std::string_view payload) {
  const auto refused = fail(Code::kInvalid, "DUMP payload version or checksum are wrong");
  if (payload.size() < kMagic.size() + 24 || !payload.starts_with(kMagic)) return refused;
  const std::string_view body = payload.substr(0, payload.size() - 8);
  Reader checksum{payload.substr(body.size())};
  if (checksum.number() != xxh3_64(body)) return refused;
  Reader reader{body.substr(kMagic.size())};
  const std::uint64_t kind = reader.number();
  if (kind > 4) return refused;
  Value value = read_value(reader, kind);
  if (reader.broken || !reader.left.empty()) return refused;
  return value;
}

}  // namespace cleave::sim
