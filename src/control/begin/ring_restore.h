// RingRestore: gives a coordinator that has lost its ring a saved one, after a look at the servers
// that tells whether the ring fits what lies there.
//
//   look at every server of the ring -> look at their keys -> raise the epoch -> write -> notes
//
// The saved ring may be older than what was lost. So: every server has to carry its marker; keys
// have to lie where it looks for them, or where one of it could read them; and its epoch is raised
// so far above every one that a server has heard of that no number is given a second time.
//
// Of most servers a sample of the keys is enough. Where copies of moves may lie, by the saved ring,
// all keys are looked at: such a move may have been committed afterwards, and then one that its
// owner does not have is no copy but all that is left.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/document/document_writer.h"
#include "control/observe/server_look.h"
#include "ring/edits/restored.h"
#include "ring/view/view.h"

namespace cleave::control {

// A person's order.
struct RestoreOrder {
  ring::Document saved;
  bool rename = false;   // the pool has another name now
  bool force = false;    // although the look speaks against it
  bool dry_run = false;  // look, and write nothing
};

// What a look at one server's keys found.
struct KeysFound {
  std::uint64_t looked = 0;
  std::uint64_t elsewhere = 0;             // the ring looks for them at another node
  std::uint64_t lost = 0;                  // of those: that node has no key of the name either
  std::vector<std::string> examples = {};  // of `lost`, a few
};

// What was restored, or would be. Of the keys in the ranges of an entry that is kept, those that do
// not lie at their owner are `elsewhere`, and `lost` where it does not have them.
struct RestoreReport {
  Epoch saved;
  Epoch epoch;  // from now on
  Epoch told;   // the highest that a server had heard of
  std::vector<FoundServer> servers = {};
  std::vector<KeysFound> keys = {};       // of each server
  std::vector<ring::Leftover> kept = {};  // where copies may lie, for a person to decide
  std::vector<KeysFound> under = {};      // of each of `kept`
  std::vector<std::string> doubts = {};   // what speaks against it; with any it needs `force`
  bool written = false;
};

class RingRestore {
 public:
  // The longest look at keys. What it has not met by then is a doubt.
  static constexpr milliseconds kLookMax{600'000};

  using Done = std::function<void(Result<RestoreReport>)>;

  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    backend::Credentials credentials;
    Limits limits;
    SessionId session;
    std::string pool;  // as the configuration names it
    std::uint64_t seed = 0;
  };

  RingRestore(Options options, RestoreOrder order, Done done);

  // Once. `done` runs when it is over. Errors: kInvalid (no ring to be restored here), kConflict
  // (doubts, a router at work, or the coordinator has a ring), the coordinator's.
  void start();

 private:
  void looked();
  void sample(std::size_t index, const std::string& cursor);
  void take_page(std::size_t index, std::vector<std::string> keys, const std::string& next);
  void ask_owners(std::size_t index, std::map<std::size_t, std::vector<std::string>> by_owner,
                  std::function<void()> then);
  void count_lost(std::size_t index, std::size_t owner, const std::vector<std::string>& keys,
                  const Result<backend::Replies>& replies);
  // What is found of the keys that lie there under an entry; nullptr where none has that token.
  KeysFound* under(std::size_t index, Token token);
  bool has_entry(std::size_t index) const;
  void sampled();
  void doubt_servers();
  void doubt_keys();
  void doubt_copies();
  void write();
  void write_notes();
  void noted();
  void finish();

  Options options_;
  RestoreOrder order_;
  Done done_;
  ring::RingSnapshot view_;
  std::unique_ptr<ServerLook> look_;
  RestoreReport report_;
  ring::Document document_;  // to be written
  std::size_t open_ = 0;
  Instant look_until_{0};
  std::set<std::string> silent_;  // who did not tell what keys it has
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
