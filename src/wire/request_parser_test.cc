#include "wire/request_parser.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "wire/writer.h"

namespace cleave::wire {
namespace {

// What a parser made of a stream of bytes, in a form that can be compared.
struct Transcript {
  std::vector<std::vector<std::string>> requests;
  std::vector<std::string> raws;
  std::vector<bool> clean;
  std::string error;

  friend bool operator==(const Transcript&, const Transcript&) = default;
};

// Plays a client's stream to a parser. The unconsumed bytes lie elsewhere at every call and the old
// ones are overwritten, as a caller's buffer that moves would do it.
class Player {
 public:
  explicit Player(const Limits& limits) : parser_(limits) {}

  void feed(std::string_view bytes) {
    unread_.append(bytes);
    while (transcript_.error.empty()) {
      auto moved = std::make_unique<std::string>(unread_);
      Request request;
      const auto taken = parser_.parse(*moved, request);
      if (!taken) {
        transcript_.error = taken.error().message;
        EXPECT_EQ(taken.error().code, Code::kInvalid);
      } else if (*taken > 0) {
        note(request);
        unread_.erase(0, *taken);
      }
      std::fill(moved->begin(), moved->end(), 'Z');
      if (!taken || *taken == 0) return;
    }
  }

  const Transcript& transcript() const { return transcript_; }

 private:
  void note(const Request& request) {
    transcript_.requests.emplace_back(request.args.begin(), request.args.end());
    transcript_.raws.emplace_back(request.raw);
    transcript_.clean.push_back(request.multibulk);
  }

  RequestParser parser_;
  std::string unread_;
  Transcript transcript_;
};

Transcript play(const Limits& limits, std::string_view bytes, Rng* pieces = nullptr,
                std::size_t piece_max = 1) {
  Player player(limits);
  if (pieces == nullptr) player.feed(bytes);
  while (pieces != nullptr && !bytes.empty()) {
    const std::size_t piece = 1 + pieces->below(piece_max);
    player.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return player.transcript();
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    const char code = text[++i];
    if (code == 'r') out.push_back('\r');
    if (code == 'n') out.push_back('\n');
    if (code == '\\') out.push_back('\\');
    if (code != 'x') continue;
    out.push_back(static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)));
    i += 2;
    if (i + 1 < text.size() && text[i + 1] == '{') {  // a run: \x41{70000}
      const std::size_t end = text.find('}', i);
      out.append(std::stoul(std::string(text.substr(i + 2, end - i - 2))) - 1, out.back());
      i = end;
    }
  }
  return out;
}

// What a server would answer: every well formed request of the golden file is an ECHO.
std::string answers(const Transcript& transcript) {
  std::string out;
  for (const auto& args : transcript.requests) {
    if (args.size() == 2) append_bulk(out, args[1]);
  }
  if (!transcript.error.empty()) append_error(out, "ERR " + transcript.error);
  return out;
}

TEST(RequestParser, AnswersAsARealServerDid) {
  std::ifstream file(CLEAVE_TESTDATA "/requests.golden");
  std::string title;
  std::string sent;
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    if (line.starts_with("# ")) title = rest;
    if (line.starts_with("> ")) sent = unescape(rest);
    if (!line.starts_with("<")) continue;
    ++cases;
    const Transcript whole = play(Limits{}, sent);
    EXPECT_EQ(answers(whole), unescape(rest)) << title;
    if (sent.size() > 1000) continue;
    Rng pieces(cases);
    EXPECT_EQ(play(Limits{}, sent, &pieces), whole) << title << ", byte by byte";
  }
  EXPECT_GE(cases, 45U);
}

TEST(RequestParser, OffersOnlyCleanFramesForForwarding) {
  struct Case {
    std::string_view bytes;
    bool clean;
  };
  for (const Case& test : std::vector<Case>{
           {"*1\r\n$4\r\nPING\r\n", true},
           {"PING\r\n", false},
           {"*1\rX$4\r\nPING\r\n", false},
           {"*1\r\n$4\rXPING\r\n", false},
           {"*1\r\n$4\r\nPINGXX", false},
       }) {
    const Transcript seen = play(Limits{}, test.bytes);
    ASSERT_EQ(seen.requests, (std::vector<std::vector<std::string>>{{"PING"}})) << test.bytes;
    EXPECT_EQ(seen.clean[0], test.clean) << test.bytes;
    EXPECT_EQ(seen.raws[0], test.bytes);
  }
}

TEST(RequestParser, ForgetsAnUncleanFrameAfterIt) {
  const Transcript seen = play(Limits{}, "*1\rX$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(seen.clean, (std::vector<bool>{false, true}));
}

TEST(RequestParser, KeepsItsLimits) {
  Limits limits;
  limits.request_args_max = 3;
  limits.request_bytes_max = 10;
  limits.inline_bytes_max = 8;
  struct Case {
    std::string_view bytes;
    std::string_view error;
  };
  for (const Case& test : std::vector<Case>{
           {"*3\r\n$1\r\na\r\n$1\r\nb\r\n$8\r\n12345678\r\n", ""},
           {"*4\r\n", "Protocol error: invalid multibulk length"},
           {"*1\r\n$11\r\n", "Protocol error: invalid bulk length"},
           {"*3\r\n$1\r\na\r\n$1\r\nb\r\n$9\r\n", "Protocol error: invalid bulk length"},
           {"12345678\n", ""},
           {"123456789", "Protocol error: too big inline request"},
           {"123456789\n", "Protocol error: too big inline request"},
           {"*        \r\n", "Protocol error: too big mbulk count string"},
           {"*1\r\n$        \r\n", "Protocol error: too big bulk count string"},
       }) {
    EXPECT_EQ(play(limits, test.bytes).error, test.error) << test.bytes;
    Rng pieces(1);
    EXPECT_EQ(play(limits, test.bytes, &pieces).error, test.error) << test.bytes;
  }
}

TEST(RequestParser, HoldsStrangersToSmallLimits) {
  const auto error_of = [](std::string_view bytes, bool trusted) -> std::string {
    RequestParser parser{Limits{}};
    parser.trust(trusted);
    Request request;
    const auto size = parser.parse(bytes, request);
    return size ? "" : size.error().message;
  };
  for (const bool trusted : {false, true}) {
    EXPECT_EQ(error_of("*10\r\n", trusted), "");
    EXPECT_EQ(error_of("*1\r\n$16384\r\n", trusted), "");
    EXPECT_EQ(error_of("AUTH " + std::string(20'000, 'x') + "\r\n", trusted), "");
  }
  EXPECT_EQ(error_of("*11\r\n", true), "");
  EXPECT_EQ(error_of("*11\r\n", false), "Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(error_of("*1\r\n$16385\r\n", false), "Protocol error: unauthenticated bulk length");
  std::string whole = "*11\r\n";
  for (int i = 0; i < 11; ++i) whole += "$1\r\nx\r\n";
  EXPECT_EQ(error_of(whole, false), "Protocol error: unauthenticated multibulk length");
}

TEST(RequestParser, ReadsOnAfterAHugeRequest) {
  const std::vector<std::string_view> many(100'000, "x");
  std::string bytes;
  append_command(bytes, many);
  bytes += command({"PING"});
  const Transcript seen = play(Limits{}, bytes);
  ASSERT_EQ(seen.requests.size(), 2U);
  EXPECT_EQ(seen.requests[0].size(), many.size());
  EXPECT_EQ(seen.requests[1], (std::vector<std::string>{"PING"}));
}

std::string random_bytes(Rng& rng, std::size_t bytes_max) {
  std::string bytes(rng.below(bytes_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.next());
  return bytes;
}

std::string garbage(Rng& rng) {
  constexpr std::string_view kAlphabet("*$*$\r\n\r\n\n0123-+:'\"\\x \0a", 24);
  std::string bytes(rng.below(40), '\0');
  for (char& byte : bytes) byte = kAlphabet[rng.below(kAlphabet.size())];
  return bytes;
}

TEST(RequestParserProperty, ReadsBackWhatWasWrittenHoweverItIsCut) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Rng rng(seed);
    std::string stream;
    Transcript want;
    for (std::uint64_t left = rng.below(6); left > 0; --left) {
      std::vector<std::string> args(1 + rng.below(5));
      for (std::string& arg : args) arg = random_bytes(rng, rng.chance(1, 20) ? 2'000 : 12);
      want.raws.emplace_back();
      append_command(want.raws.back(), std::vector<std::string_view>(args.begin(), args.end()));
      stream += want.raws.back();
      want.requests.push_back(std::move(args));
      want.clean.push_back(true);
    }
    EXPECT_EQ(play(Limits{}, stream), want) << "seed " << seed;
    EXPECT_EQ(play(Limits{}, stream, &rng, 1), want) << "seed " << seed << ", byte by byte";
    EXPECT_EQ(play(Limits{}, stream, &rng, 40), want) << "seed " << seed << ", in pieces";
    if (HasFailure()) return;
  }
}

TEST(RequestParserProperty, TheVerdictOnGarbageDoesNotDependOnPieces) {
  Limits limits;
  limits.inline_bytes_max = 20;
  limits.request_args_max = 12;
  limits.request_bytes_max = 30;
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    std::string stream = rng.chance(1, 2) ? command({"SET", random_bytes(rng, 6), "v"}) : "";
    stream += garbage(rng) + command({"GET", "k"});
    if (rng.chance(1, 2)) stream[rng.below(stream.size())] = static_cast<char>(rng.next());
    const Transcript whole = play(limits, stream);
    refused += whole.error.empty() ? 0U : 1U;
    EXPECT_EQ(play(limits, stream, &rng, 1), whole) << "seed " << seed << ", byte by byte";
    EXPECT_EQ(play(limits, stream, &rng, 9), whole) << "seed " << seed << ", in pieces";
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 5'000U);  // and not all of it: the garbage is of both sorts
  EXPECT_LT(refused, 19'000U);
}

}  // namespace
}  // namespace cleave::wire
