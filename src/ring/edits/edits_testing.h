// What the tests of the edits share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ring/edits/edits.h"
#include "ring/edits/ring_testing.h"

namespace cleave::ring::testing {

inline constexpr TokenRange kAll{kFirstToken, kLastToken};

inline void expect_conflict(const Result<Document>& result, const std::string& says) {
  ASSERT_FALSE(result) << "should have failed: " << says;
  EXPECT_EQ(result.error().code, Code::kConflict);
  EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
}

inline void expect_invalid(const Result<Document>& result, const std::string& says) {
  ASSERT_FALSE(result) << "should have failed: " << says;
  EXPECT_EQ(result.error().code, Code::kInvalid);
  EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
}

// The value of an edit that must succeed.
inline Document must(const Result<Document>& result) {
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : Document{};
}

// Nodes a and b, routers r1 and r2, and the ends of a move that is possible.
class Edits : public ::testing::Test {
 protected:
  Edits() {
    document_ = must(join(must(join(make_document({1, 1}), {.session = SessionId{"r1"}})),
                          {.session = SessionId{"r2"}}));
    const auto view = view_of(document_);
    for (const Entry& entry : view->entries()) {
      if (entry.node == NodeId{1} && entry.cut == kNone) range_ = entry.range;
    }
  }

  MoveRequest request() const {
    return {.ranges = {range_},
            .source = NodeId{1},
            .destination = NodeId{2},
            .reason = "hot",
            .now = UnixMillis{5'000}};
  }

  // Begun, with its copies entered.
  Document copying() const { return entered(must(begin_move(document_, request()))); }

  static Document entered(const Document& document) {
    const Move& move = document.moves.back();
    return must(enter_copies(document, move.id, move.phase_epoch, UnixMillis{5'500}));
  }

  static Document fenced(const Document& document) {
    const Move& move = document.moves.back();
    return must(fence_move(document, move.id, move.phase_epoch));
  }

  static Document committed(const Document& document) {
    const Move& move = document.moves.back();
    return must(commit_move(document, move.id, move.phase_epoch, holder(), UnixMillis{6'000}));
  }

  static Holder holder() {
    return {.incarnation = {.run_id = "run", .replication_id = "repl"}, .offset = 77};
  }

  // Committed, and what it left behind is cleaned.
  static Document cleaned(const Document& document) {
    const auto last = [](const Document& at) { return at.leftovers.back(); };
    const Document begun = must(begin_cleaning(document, last(document)));
    return must(drop_leftover(begun, last(begun)));
  }

  Document document_;
  TokenRange range_;
};

}  // namespace cleave::ring::testing
