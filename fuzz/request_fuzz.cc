// Requests: the verdict does not depend on how the bytes are cut, and a frame that may be forwarded
// as it is, is byte for byte what our own writer would send.
#include "fuzz/pieces.h"
#include "wire/resp.h"

namespace {

using namespace cleave;

struct Seen {
  std::vector<std::vector<std::string>> requests;
  std::string error;

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen parse(const fuzz::Input& input, const Limits& limits) {
  Seen seen;
  wire::RequestParser parser(limits);
  fuzz::feed_in_pieces(input, [&](std::string_view pending) {
    wire::Request request;
    const auto taken = parser.parse(pending, request);
    if (!taken) {
      seen.error = taken.error().message;
      return std::string_view::npos;
    }
    fuzz::require(*taken <= pending.size());
    if (*taken == 0) return *taken;
    fuzz::require(request.raw == pending.substr(0, *taken));
    seen.requests.emplace_back(request.args.begin(), request.args.end());
    if (request.multibulk && !request.args.empty()) {
      std::string again;
      wire::append_command(again, request.args);
      fuzz::require(again == request.raw);
    }
    return *taken;
  });
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input pieces = fuzz::read_input(data, size);
  const fuzz::Input whole{.bytes = pieces.bytes, .sizes = {pieces.bytes.size() + 1}};
  Limits tight;
  tight.inline_bytes_max = 24;
  tight.request_args_max = 6;
  tight.request_bytes_max = 40;
  for (const Limits& limits : {Limits{}, tight}) {
    fuzz::require(parse(pieces, limits) == parse(whole, limits));
  }
  return 0;
}
