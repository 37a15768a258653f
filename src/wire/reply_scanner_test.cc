#include "wire/reply_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "wire/reply.h"
#include "wire/writer.h"

namespace cleave::wire {
namespace {

// What a scanner made of a stream: the length of each reply, then the code of the error, if any.
struct Scanned {
  std::vector<std::size_t> replies;
  std::optional<Code> error;

  friend bool operator==(const Scanned&, const Scanned&) = default;
};

Scanned scan_in_pieces(const Limits& limits, std::string_view bytes, Rng& rng,
                       std::size_t piece_max) {
  ReplyScanner scanner(limits);
  Scanned scanned;
  std::string unread;
  while (!scanned.error) {
    const auto taken = scanner.scan(std::string(unread));  // every time somewhere else in memory
    if (!taken) {
      scanned.error = taken.error().code;
    } else if (*taken > 0) {
      scanned.replies.push_back(*taken);
      unread.erase(0, *taken);
    } else {
      if (bytes.empty()) break;
      const std::size_t piece = std::min<std::size_t>(1 + rng.below(piece_max), bytes.size());
      unread.append(bytes.substr(0, piece));
      bytes.remove_prefix(piece);
    }
  }
  return scanned;
}

Scanned scan_whole(const Limits& limits, std::string_view bytes) {
  Rng rng(1);
  return scan_in_pieces(limits, bytes, rng, 1'000'000'000);
}

std::string nested(std::size_t depth) {
  std::string bytes;
  for (std::size_t i = 0; i < depth; ++i) append_array_header(bytes, 1);
  append_integer(bytes, 1);
  return bytes;
}

TEST(ReplyScanner, FindsTheEndOfEveryKindOfReply) {
  for (const std::string_view reply : std::vector<std::string_view>{
           "+OK\r\n", "+\r\n", "-ERR no\r\n", "-10001\r\n", "-a\rb\nc\r\n", "-a\r\r\n", ":0\r\n",
           ":-5\r\n", ":+5\r\n", ":9223372036854775807\r\n", ":-9223372036854775808\r\n", "$-1\r\n",
           "$0\r\n\r\n", "$5\r\na\r\nb\n\r\n", "*-1\r\n", "*0\r\n", "*2\r\n$1\r\na\r\n$-1\r\n",
           "*3\r\n*0\r\n*-1\r\n*2\r\n:1\r\n*1\r\n+a\r\n"}) {
    const Scanned want{.replies = {reply.size()}, .error = std::nullopt};
    EXPECT_EQ(scan_whole(Limits{}, reply), want) << reply;
    Rng rng(1);
    EXPECT_EQ(scan_in_pieces(Limits{}, reply, rng, 1), want) << reply << " byte by byte";
    EXPECT_TRUE(parse_reply(reply).has_value()) << reply;
  }
}

TEST(ReplyScanner, RefusesWhatIsNotResp2) {
  for (const std::string_view bytes :
       std::vector<std::string_view>{"HTTP/1.1 400\r\n",
                                     "\r\n",
                                     "_\r\n",
                                     ",1.5\r\n",
                                     "#t\r\n",
                                     "%1\r\n+a\r\n+b\r\n",
                                     ":\r\n",
                                     ":1x\r\n",
                                     ": 1\r\n",
                                     ":9223372036854775808\r\n",
                                     ":+-5\r\n",
                                     "$\r\n",
                                     "$-2\r\n",
                                     "$01\r\na\r\n",
                                     "$1\r\nab\r\n",
                                     "$1\r\na\rb",
                                     "*-2\r\n",
                                     "*x\r\n",
                                     "*1\r\n?\r\n",
                                     "$+1\r\na\r\n",
                                     ":111111111111111111111111111111"}) {
    EXPECT_EQ(scan_whole(Limits{}, bytes).error, Code::kInvalid) << bytes;
    Rng rng(1);
    EXPECT_EQ(scan_in_pieces(Limits{}, bytes, rng, 1).error, Code::kInvalid) << bytes;
    EXPECT_EQ(parse_reply(bytes).error().code, Code::kInvalid) << bytes;
  }
}

TEST(ReplyScanner, BoundsTheNesting) {
  EXPECT_EQ(scan_whole(Limits{}, nested(kReplyDepthMax)).error, std::nullopt);
  EXPECT_EQ(scan_whole(Limits{}, nested(kReplyDepthMax + 1)).error, Code::kInvalid);
}

TEST(ReplyScanner, BoundsTheSize) {
  Limits limits;
  limits.reply_bytes_max = 12;
  EXPECT_EQ(scan_whole(limits, "$6\r\n123456\r\n").error, std::nullopt);
  EXPECT_EQ(scan_whole(limits, "$7\r\n1234567\r\n").error, Code::kExhausted);
  EXPECT_EQ(scan_whole(limits, "$13\r\n").error, Code::kExhausted) << "not only when it is there";
  EXPECT_EQ(scan_whole(limits, "$9223372036854775807\r\n").error, Code::kExhausted);
  EXPECT_EQ(scan_whole(limits, "+0123456789abcdef").error, Code::kExhausted);
  EXPECT_EQ(scan_whole(limits, "*1000\r\n:1\r\n:1\r\n:1\r\n").error, Code::kExhausted);
}

TEST(ParseReply, WantsExactlyOneReply) {
  EXPECT_EQ(parse_reply("").error().message, "a reply is cut off");
  EXPECT_EQ(parse_reply("+OK\r").error().message, "a reply is cut off");
  EXPECT_EQ(parse_reply("+OK\r\n+").error().message, "bytes follow a reply");
}

std::string random_text(Rng& rng, bool any_byte) {
  std::string text(rng.below(rng.chance(1, 10) ? 200 : 9), '\0');
  for (char& byte : text) {
    byte = static_cast<char>(any_byte ? rng.next() : ' ' + rng.below(95));
  }
  return text;
}

Reply random_reply(Rng& rng, std::size_t depth) {
  Reply reply;
  reply.type = static_cast<Reply::Type>(rng.below(depth > 0 ? 6 : 5));
  switch (reply.type) {
    case Reply::Type::kStatus:
    case Reply::Type::kError: reply.text = random_text(rng, false); break;
    case Reply::Type::kBulk: reply.text = random_text(rng, true); break;
    case Reply::Type::kInteger:
      reply.integer = static_cast<std::int64_t>(rng.next() >> rng.below(64));
      if (rng.chance(1, 2)) reply.integer = ~reply.integer;
      break;
    case Reply::Type::kNull: break;
    case Reply::Type::kArray:
      for (std::uint64_t left = rng.below(5); left > 0; --left) {
        reply.elements.push_back(random_reply(rng, depth - 1));
      }
  }
  return reply;
}

void append_reply(std::string& out, const Reply& reply) {
  switch (reply.type) {
    case Reply::Type::kStatus: append_status(out, reply.text); break;
    case Reply::Type::kError: append_error(out, reply.text); break;
    case Reply::Type::kInteger: append_integer(out, reply.integer); break;
    case Reply::Type::kBulk: append_bulk(out, reply.text); break;
    case Reply::Type::kNull: append_null(out); break;
    case Reply::Type::kArray:
      append_array_header(out, reply.elements.size());
      for (const Reply& element : reply.elements) append_reply(out, element);
  }
}

TEST(ReplyScannerProperty, FindsRepliesHoweverTheyAreCutAndTheTreeIsTheSame) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    Rng rng(seed);
    std::string stream;
    Scanned want;
    for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
      const Reply reply = random_reply(rng, 4);
      std::string raw;
      append_reply(raw, reply);
      EXPECT_EQ(parse_reply(raw), Result<Reply>(reply)) << "seed " << seed;
      want.replies.push_back(raw.size());
      stream += raw;
    }
    EXPECT_EQ(scan_whole(Limits{}, stream), want) << "seed " << seed;
    EXPECT_EQ(scan_in_pieces(Limits{}, stream, rng, 1), want) << "seed " << seed;
    EXPECT_EQ(scan_in_pieces(Limits{}, stream, rng, 30), want) << "seed " << seed;
    if (HasFailure()) return;
  }
}

TEST(ReplyScannerProperty, TheVerdictOnGarbageDoesNotDependOnPieces) {
  constexpr std::string_view kAlphabet("+-:$*\r\n\r\n\r\n0123-a\0", 18);
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    std::string stream;
    append_reply(stream, random_reply(rng, 3));
    std::string bytes(rng.below(20), '\0');
    for (char& byte : bytes) byte = kAlphabet[rng.below(kAlphabet.size())];
    stream.insert(rng.below(stream.size() + 1), bytes);
    const Scanned whole = scan_whole(Limits{}, stream);
    refused += whole.error ? 1U : 0U;
    EXPECT_EQ(scan_in_pieces(Limits{}, stream, rng, 1), whole) << "seed " << seed;
    EXPECT_EQ(scan_in_pieces(Limits{}, stream, rng, 7), whole) << "seed " << seed;
    // Whatever the scanner approves of, the tree builder must be able to take.
    if (!whole.replies.empty()) {
      EXPECT_TRUE(parse_reply(stream.substr(0, whole.replies[0])).has_value()) << "seed " << seed;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 5'000U);
  EXPECT_LT(refused, 19'000U);
}

}  // namespace
}  // namespace cleave::wire
