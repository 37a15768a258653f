#include "proxy/fan_out/everywhere.h"

#include <algorithm>
#include <vector>

#include "base/own_names.h"
#include "route/command_table.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using route::same_word;

constexpr std::string_view kFlushScript = R"(local kept = {}
for place, key in ipairs(KEYS) do
  if redis.call('TYPE', key).ok == 'string' then kept[place] = redis.call('GET', key) end
end
redis.call('FLUSHDB', unpack(ARGV))
for place, key in ipairs(KEYS) do
  if kept[place] then redis.call('SET', key, kept[place]) end
end
return redis.status_reply('OK'))";

}  // namespace

std::string flush_refusal(std::span<const std::string_view> args) {
  if (args.size() == 1) return {};
  const bool known = same_word(args[1], "ASYNC") || same_word(args[1], "SYNC");
  return known && args.size() == 2 ? "" : "ERR syntax error";
}

std::string flush_command(std::span<const std::string_view> how) {
  const std::string keys = std::to_string(kLastingKeys.size());
  std::vector<std::string_view> args{"EVAL", kFlushScript, keys};
  args.insert(args.end(), kLastingKeys.begin(), kLastingKeys.end());
  args.insert(args.end(), how.begin(), how.end());
  std::string bytes;
  wire::append_command(bytes, args);
  return bytes;
}

std::string count_lasting_command() {
  std::vector<std::string_view> args{"EXISTS"};
  args.insert(args.end(), kLastingKeys.begin(), kLastingKeys.end());
  std::string bytes;
  wire::append_command(bytes, args);
  return bytes;
}

}  // namespace cleave::proxy
