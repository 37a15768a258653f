#include "app/serve/saved_rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "app/files.h"
#include "ring/edits/edits.h"
#include "supervise/temporary_directory.h"

namespace cleave::app {
namespace {

namespace fs = std::filesystem;

ring::Document made(const std::string& mark) {
  ring::Creation creation{.pool = "main", .mark = mark, .nodes = {}, .mode = {}, .now = {}};
  for (const char* name : {"a", "b"}) {
    ring::Node node;
    node.name = name;
    node.members = {{"127.0.0.1:" + std::to_string(7001 + creation.nodes.size()), ""}};
    creation.nodes.push_back(node);
  }
  return *ring::create(creation);
}

ring::RingSnapshot view_of(const ring::Document& document) {
  return *ring::RingView::build(document);
}

ring::Document joined(const ring::Document& document, const std::string& session) {
  return *ring::join(document, {.session = SessionId{session}});
}

class Saving : public testing::Test {
 protected:
  // What one life of a router writes, each document by itself.
  void live(const std::vector<ring::Document>& documents) {
    for (const ring::Document& document : documents) {
      SavedRings rings({.directory = folder_,
                        .clock = clock_,
                        .trouble = [this](const std::string& line) { trouble_.push_back(line); }});
      rings.see(view_of(document));
    }
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_, none))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  ring::Document newest() const {
    const auto text = read_file(folder_ + "/" + files().back());
    return *parse_saved_ring(*text);
  }

  supervise::TemporaryDirectory directory_;
  std::string folder_ = directory_.path() + "/cleave.db.rings";
  SystemClock clock_;
  std::vector<std::string> trouble_;
};

TEST_F(Saving, IsReadBackAsItWas) {
  const ring::Document document = joined(made("m"), "r1");
  live({document});
  ASSERT_EQ(files().size(), 1);
  EXPECT_TRUE(files()[0].starts_with("main-") && files()[0].ends_with("-0000000000000002.ring"));
  EXPECT_EQ(newest(), document);
  EXPECT_TRUE(trouble_.empty());
}

TEST_F(Saving, WhoRoutesAndLeadsNeedsNoFileOfItsOwn) {
  const ring::Document first = made("m");
  const ring::Document second = joined(first, "r1");
  const ring::Document third = *ring::lead(second, SessionId{"r1"});
  live({first, second, third});
  EXPECT_EQ(files().size(), 1);
  EXPECT_EQ(newest().epoch, third.epoch) << "but the epoch is the newest";
  live({*ring::set_frozen(third, true)});
  EXPECT_EQ(files().size(), 2);
}

TEST_F(Saving, KeepsABoundedNumberAndTheLastOfOtherRings) {
  ring::Document document = made("m");
  for (int ring = 0; ring < 12; ++ring) {
    ring::Document other = made("other" + std::to_string(ring));
    live({other, *ring::set_frozen(other, true),
          *ring::set_mode(*ring::set_frozen(other, true), {})});
  }
  std::vector<ring::Document> changes;
  for (int i = 0; i < 40; ++i) {
    document = *ring::set_frozen(document, i % 2 == 0);
    changes.push_back(document);
  }
  live(changes);
  EXPECT_LE(files().size(), 16U + 2 * 8);
  const std::string own = files().back().substr(0, files().back().rfind('-'));
  std::size_t of_newest = 0;
  for (const std::string& name : files()) {
    const auto text = read_file(folder_ + "/" + name);
    of_newest += parse_saved_ring(*text)->mark == "m" ? 1U : 0U;
  }
  EXPECT_EQ(of_newest, 16);
}

TEST_F(Saving, AFolderThatCannotBeIsToldOnceAndStopsNothing) {
  folder_ = "/proc/no/such/folder";
  SavedRings rings({.directory = folder_,
                    .clock = clock_,
                    .trouble = [this](const std::string& line) { trouble_.push_back(line); }});
  rings.see(view_of(made("m")));
}

TEST(ASavedRing, IsAlsoABareDocument) {
  const ring::Document document = made("m");
  EXPECT_EQ(*parse_saved_ring(ring::to_text(document)), document);
}

TEST(ASavedRing, ThatIsCutOffOrNewerIsRefused) {
  const ring::Document document = made("m");
  const std::string text = saved_ring_text(ring::to_text(document), document, UnixMillis{1});
  EXPECT_EQ(*parse_saved_ring(text), document);
  for (const std::string& broken :
       {text.substr(0, text.size() / 2), std::string(), std::string("[]"),
        std::string("{\"saved_ring\":2}"), std::string("{\"saved_ring\":1}")})
    EXPECT_EQ(parse_saved_ring(broken).error().code, Code::kInvalid) << broken;
}

TEST(SameRing, LooksAtWhatMovesOwnersAndNotAtWhoRoutes) {
  const ring::Document one = made("m");
  EXPECT_TRUE(same_ring(one, joined(one, "r1")));
  EXPECT_FALSE(same_ring(one, *ring::set_mode(one, ring::Mode::kApprove)));
  EXPECT_FALSE(same_ring(one, made("n")));
}

}  // namespace
}  // namespace cleave::app
