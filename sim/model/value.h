// What a key of the model server holds, with its DUMP form.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace cleave::sim {

using ListValue = std::deque<std::string>;
using HashValue = std::map<std::string, std::string>;
using SetValue = std::set<std::string>;
using ZsetValue = std::map<std::string, double>;
using Value = std::variant<std::string, ListValue, HashValue, SetValue, ZsetValue>;

// TYPE's answer.
std::string_view type_name(const Value& value);
// True for a collection without elements, which Redis never keeps.
bool is_empty(const Value& value);
// An estimate in bytes, for MEMORY USAGE.
std::uint64_t memory_of(std::string_view key, const Value& value);

// The model's own DUMP form with a checksum. Not the real server's, but refused by the same rules.
std::string dump(const Value& value);
// Errors: kInvalid for anything that `dump` did not make.
Result<Value> undump(std::string_view payload);

}  // namespace cleave::sim
