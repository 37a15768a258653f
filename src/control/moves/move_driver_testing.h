// One move over scripted servers and routers, for the tests of its driver.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/moves/move_driver.h"
#include "control/observe/node_links.h"
#include "control/world_testing.h"

namespace cleave::control {

using backend::End;
using migrate::Step;

// All that a owns goes to b: twenty keys. r1 leads in term 1.
class MoveDriverTest : public testing::Test, protected ScriptedWorld {
 protected:
  MoveDriverTest() {
    write(first_document());
    keys_ = put_keys(kA, 20, kA);
    ranges_ = owned_by(kA);
    links_.follow(std::make_shared<const ring::Document>(document()));
    EXPECT_TRUE(loop.run_until([this] { return connected(kA) && connected(kB); }));
  }

  bool connected(NodeId node) { return links_.store(node)->usable(); }

  MoveDriver::Options options() {
    return {.loop = loop,
            .writer = writer_,
            .directory = directory,
            .source = links_.store(kA),
            .destination = links_.store(kB),
            .throttle = throttle_,
            .view = *ring::RingView::build(document()),
            .leader = {.session = kOurs, .term = Term{1}},
            .limits = {},
            .mutations = {},
            .copies = copies_,
            .over =
                [this](MoveDriver& driver) {
                  ++overs_;
                  outcome_ = driver.migration().outcome();
                  refused_ = driver.refused();
                },
            .begun =
                [this](Result<MoveId> begun) {
                  ++told_;
                  begun_ = std::move(begun);
                }};
  }

  MoveDriver& start() {
    driver_ = std::make_unique<MoveDriver>(ring::MoveRequest{.ranges = ranges_,
                                                             .source = kA,
                                                             .destination = kB,
                                                             .reason = "test",
                                                             .now = loop.wall_now()},
                                           options());
    driver_->start();
    return *driver_;
  }

  // How it ended; it is told once, and so is whether it began.
  migrate::Outcome finish() {
    EXPECT_TRUE(loop.run_until([this] { return overs_ > 0; }))
        << "it hangs in " << to_string(driver_->migration().at());
    loop.run_for(seconds{1});
    EXPECT_EQ(overs_, 1);
    EXPECT_EQ(told_, 1);
    EXPECT_TRUE(document().moves.empty());
    return outcome_.value_or(migrate::Outcome{});
  }
  migrate::Outcome run() {
    start();
    return finish();
  }
  void expect_committed() {
    const migrate::Outcome outcome = finish();
    EXPECT_TRUE(outcome.committed) << outcome.why;
    EXPECT_EQ(owned_by(kA), ring::RangeSet{});
    for (const std::string& key : keys_) EXPECT_EQ(b.values[key], "value of " + key);
  }
  // Nothing was begun: the document is as it was.
  void expect_refused(const std::string& words) {
    const migrate::Outcome outcome = finish();
    EXPECT_FALSE(outcome.committed);
    EXPECT_NE(outcome.why.find(words), std::string::npos) << outcome.why;
    ASSERT_TRUE(begun_.has_value() && !*begun_);
    EXPECT_EQ(begun_->error().code, Code::kConflict);
    EXPECT_EQ(begun_->error().message, outcome.why);
    EXPECT_TRUE(document().leftovers.empty());
  }
  // It had begun: the source owns all as before.
  migrate::Outcome expect_aborted(const std::string& words) {
    migrate::Outcome outcome = finish();
    EXPECT_FALSE(outcome.committed);
    EXPECT_NE(outcome.why.find(words), std::string::npos) << outcome.why;
    EXPECT_TRUE(begun_.has_value() && begun_->has_value());
    EXPECT_EQ(owned_by(kA), ranges_);
    for (const std::string& key : keys_) EXPECT_TRUE(a.values.contains(key));
    return outcome;
  }
  void expect_blamed(End end) {
    ASSERT_TRUE(refused_.has_value());
    EXPECT_EQ(refused_->end, end);
    EXPECT_EQ(refused_->node, end == End::kSource ? kA : kB);
    EXPECT_EQ(refused_->words, outcome_->why);
  }

  // Runs once, when the router is asked that.
  static void when(ScriptedPeer& router, const std::string& question, std::function<void()> then) {
    router.before = [question, then = std::move(then)](const std::string& asked) mutable {
      if (asked == question && then) std::exchange(then, nullptr)();
    };
  }
  // The server refuses these commands from the moment on at which routers have been asked.
  void refuse_when_copying(backend::VirtualRedis& server, const std::string& command,
                           const std::string& words) {
    when(r2, "copying", [&server, command, words] { server.errors[command] = words; });
  }

  std::vector<std::string> keys_;
  ring::RangeSet ranges_;
  Throttle throttle_{0};
  std::shared_ptr<CopyCounts> copies_ = std::make_shared<CopyCounts>();
  std::optional<Result<MoveId>> begun_;
  std::optional<migrate::Outcome> outcome_;
  std::optional<Refused> refused_;
  int told_ = 0;
  int overs_ = 0;
  std::unique_ptr<MoveDriver> driver_;
  DocumentWriter writer_{loop,
                         access,
                         [this](const SharedDocument& seen) {
                           if (driver_ != nullptr) driver_->see(seen);
                         },
                         {}};
  NodeLinks links_{{.loop = loop,
                    .writer = writer_,
                    .leader = {.session = kOurs, .term = Term{1}},
                    .servers = {},
                    .limits = {},
                    .mutations = {},
                    .seed = 7,
                    .log = [](const std::string&) {},
                    .copies = copies_}};
};

}  // namespace cleave::control
