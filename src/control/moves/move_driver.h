// MoveDriver: does what one Migration (migrate/migration.h) decides.
//
// It owns the machine, carries out its actions on the two servers, the routers and the document,
// and brings the answers back as events. Every compare-and-set holds only while our term leads.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/redis_store.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "control/document/document_writer.h"
#include "control/moves/copier.h"
#include "control/moves/refusal_book.h"
#include "migrate/migration.h"
#include "net/loop.h"
#include "peer/router_peer.h"
#include "ring/view/view.h"

namespace cleave::control {

// What earlier tries of the same order came to.
struct Tried {
  std::uint32_t times = 0;
  std::size_t kept_behind = 0;  // keys that this try goes around
};

class MoveDriver {
 public:
  struct Options {
    net::Loop& loop;
    DocumentWriter& writer;
    peer::Directory& directory;
    std::shared_ptr<backend::RedisStore> source;
    std::shared_ptr<backend::RedisStore> destination;
    Throttle& throttle;
    ring::RingSnapshot view;  // for the scheme's key -> token map, which never changes
    ring::Leader leader;      // whose term this is
    Limits limits;
    Mutations mutations;
    std::shared_ptr<CopyCounts> copies;
    // Runs once, in a turn of its own; the driver may be destroyed in it.
    std::function<void(MoveDriver&)> over;
    // The move was begun (its id is known) or refused before that.
    std::function<void(Result<MoveId>)> begun;
    Tried tried = {};
  };

  MoveDriver(ring::MoveRequest request, Options options);
  // A taking back (rule 26).
  MoveDriver(const ring::Leftover& kept, Options options);

  void start();
  void see(const SharedDocument& document);
  void abort(std::string why);

  const migrate::Migration& migration() const { return migration_; }
  const Tried& tried() const { return options_.tried; }
  // The server that said no, or could not be reached, with its words; nullopt: none did.
  const std::optional<Refused>& refused() const { return refused_; }
  // With what is being copied right now.
  std::uint64_t keys_copied() const;
  std::uint64_t bytes_copied() const;

 private:
  void check_options() const;
  void feed(const migrate::Event& event);
  void act(const migrate::Action& action);
  void act_on(const migrate::Identify& action);
  void act_on(const migrate::Write& action);
  void act_on(const migrate::SweepBoth& action);
  void act_on(const migrate::Check& action);
  void act_on(const migrate::AwaitCopying& action);
  void act_on(const migrate::ScanNext& action);
  void act_on(const migrate::CopyKeys& action);
  void act_on(const migrate::Take& action);
  void act_on(const migrate::AwaitFenced& action);
  void act_on(const migrate::WaitReplicas& action);
  void act_on(const migrate::Over& action);

  void tick();
  void count_copies();
  void ask_again(std::function<void()> ask);
  void ask_take(const SessionId& session, const peer::TakeOrder& order);
  void check_page(const std::string& from, migrate::Checked found);
  // What is of the move's ranges and not our own.
  backend::Store::KeyFilter in_range() const;
  // "the source a (10.0.0.1:6379)".
  std::string name_of(backend::End end) const;
  NodeId node_of(backend::End end) const;
  backend::End end_of(const backend::RedisStore& store) const {
    return &store == options_.source.get() ? backend::End::kSource : backend::End::kDestination;
  }
  std::uint32_t share_ppm() const;
  void look_ahead(const migrate::Identified& seen);
  void refused_by(backend::End end, std::string words);
  void fail_at(backend::End end, const Error& why);

  Options options_;
  migrate::Migration migration_;
  Copier copier_;
  std::shared_ptr<CopyCount> copied_;
  std::string scan_cursor_;
  bool told_begun_ = false;
  std::optional<Refused> refused_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
