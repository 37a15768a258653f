// Replies: the verdict does not depend on how the bytes are cut; what the scanner approves of, the
// tree builder takes; and what is a COMMAND reply by chance makes a table that does no harm.
#include "fuzz/pieces.h"
#include "route/command_table.h"
#include "wire/resp.h"

namespace {

using namespace cleave;

struct Seen {
  std::vector<std::size_t> replies;
  bool broken = false;

  friend bool operator==(const Seen&, const Seen&) = default;
};

void try_table(const wire::Reply& reply) {
  const auto table = route::CommandTable::parse(reply);
  if (!table) return;
  const std::vector<std::string_view> args{"x", "2", "a", "b", "STORE", "c", "STREAMS", "d", "0"};
  for (const route::CommandSpec& spec : table->commands()) {
    std::vector<std::uint32_t> positions;
    if (!route::find_keys(spec, args, positions)) continue;
    for (const std::uint32_t position : positions) fuzz::require(position < args.size());
  }
}

Seen scan(const fuzz::Input& input) {
  Seen seen;
  wire::ReplyScanner scanner{Limits{}};
  fuzz::feed_in_pieces(input, [&](std::string_view pending) {
    const auto bytes = scanner.scan(pending);
    if (!bytes) {
      seen.broken = true;
      return std::string_view::npos;
    }
    fuzz::require(*bytes <= pending.size());
    if (*bytes == 0) return *bytes;
    seen.replies.push_back(*bytes);
    const auto reply = wire::parse_reply(pending.substr(0, *bytes));
    fuzz::require(reply.has_value());
    try_table(*reply);
    return *bytes;
  });
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input pieces = fuzz::read_input(data, size);
  const fuzz::Input whole{.bytes = pieces.bytes, .sizes = {pieces.bytes.size() + 1}};
  fuzz::require(scan(pieces) == scan(whole));
  return 0;
}
