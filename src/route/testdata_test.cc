#include "route/testdata_test.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace cleave::route {

wire::Reply recorded_reply() {
  std::ifstream file(CLEAVE_TESTDATA "/command_redis_7.0.15.resp", std::ios::binary);
  const std::string raw{std::istreambuf_iterator<char>(file), {}};
  const auto reply = wire::parse_reply(raw);
  return reply ? *reply : wire::Reply{};
}

wire::Reply old_reply() {
  wire::Reply reply = recorded_reply();
  for (wire::Reply& entry : reply.elements) {
    const bool container = !entry.elements[9].elements.empty();
    entry.elements.resize(7);
    const std::string& name = entry.elements[0].text;
    const auto flag = [&](std::string text) {
      entry.elements[2].elements.push_back(
          {.type = wire::Reply::Type::kStatus, .text = std::move(text)});
    };
    // What 6.2 says of containers, whose subcommands it does not list.
    if (!container) continue;
    const bool keyed = name == "object" || name == "xgroup" || name == "xinfo";
    for (std::size_t field : {3U, 4U}) entry.elements[field].integer = keyed ? 2 : 0;
    entry.elements[5].integer = keyed ? 1 : 0;
    flag(name == "xgroup" ? "write" : "readonly");
    if (name == "memory") flag("movablekeys");
  }
  return reply;
}

CommandTable table_of(const wire::Reply& reply) {
  std::vector<OwnCommand> own;
  for (std::uint32_t i = 0; i < kOwnNames.size(); ++i) {
    own.push_back({.name = kOwnNames[i], .answer = i});
  }
  auto table = CommandTable::parse(reply, own);
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return std::move(*table);
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return out;
}

}  // namespace cleave::route
