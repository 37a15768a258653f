#include "coord/zookeeper/zookeeper_register.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "coord/parts.h"
#include "coord/zookeeper/session.h"

namespace cleave::coord {
namespace {

using zookeeper::Answer;
using zookeeper::Operation;
using zookeeper::Session;
using Kind = Operation::Kind;
using Outcome = Answer::Outcome;
using Repeat = Session::Repeat;

// A read whose document is replaced while its parts are fetched, or whose session is, begins again.
constexpr int kReadAttempts = 4;
// A lease's node that comes and goes while we look at it.
constexpr int kLeaseAttempts = 3;
// When a watch cannot be set: again after so long.
constexpr milliseconds kWatchRetry{500};

std::unexpected<Error> unavailable(const Error& error) {
  return std::unexpected(Error{Code::kUnavailable, error.message});
}

std::unexpected<Error> unexpected_answer(const std::string& path) {
  return fail(Code::kUnavailable, "ZooKeeper " + path + ": somebody else changes this node");
}

class ZookeeperRegister final : public Register {
 public:
  ZookeeperRegister(net::Loop& loop, ZookeeperOptions options)
      : loop_(loop), options_(std::move(options)), session_(loop_, options_) {
    session_.on_changed = [this](const std::string& path) {
      if (changed_ && path == node("document")) look();
    };
    session_.on_new_generation = [this] {
      if (changed_) look();
    };
  }
  ~ZookeeperRegister() override;
  ZookeeperRegister(const ZookeeperRegister&) = delete;
  ZookeeperRegister& operator=(const ZookeeperRegister&) = delete;

  void read(Done<Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void begin(Epoch first, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  // The document and the version of its node; nullopt: there is no node.
  struct Seen {
    Stored stored;
    std::optional<std::int32_t> version;
  };
  using SeenDone = std::function<void(Result<Seen>)>;
  // A read under way.
  struct Reading {
    int attempts_left = kReadAttempts;
    Head head;
    std::int32_t version = 0;
    std::vector<std::string> names;
    std::vector<std::string> parts;
    std::uint64_t generation = 0;
    Instant until = Instant::max();  // of the write that it is for
    SeenDone done;
  };
  using SharedReading = std::shared_ptr<Reading>;
  // A compare-and-set under way.
  struct Write {
    Epoch expected;
    Epoch next;
    std::int32_t version = 0;
    std::string text;
    Split split;
    std::size_t parts_written = 0;
    Instant until{0};
    Done<Epoch> done;
  };
  using SharedWrite = std::shared_ptr<Write>;

  std::string node(const std::string& name) const { return options_.prefix + "/" + name; }
  std::string session_node(const SessionId& session) const {
    return node("sessions/") + session.value();
  }

  void make(const std::string& path, Done<void> done);
  void create(Operation operation, Repeat repeat, Session::Done done,
              Instant until = Instant::max());

  void fetch(const SharedReading& reading);
  void fetch_head(const SharedReading& reading);
  void fetch_parts(const SharedReading& reading);
  void fetch_again(const SharedReading& reading, const Error& why);
  void on_head(const SharedReading& reading, const Answer& answer);

  void replace(Epoch expected, Epoch next, std::string text, Done<Epoch> done);
  void put_parts(const SharedWrite& write);
  void put_head(const SharedWrite& write);
  void on_head_put(const SharedWrite& write, const Result<Answer>& answer);
  void remove_parts_before(Epoch epoch);

  void look();
  void look_for_the_first();
  void look_later();
  void tell(const Stored& stored);

  void ensure(const SessionId& session, int attempts, Done<void> done);
  void expect_beats(const SessionId& session, milliseconds ttl);

  net::Loop& loop_;
  const ZookeeperOptions options_;
  // Which version of the node holds which epoch; both only grow, so it is right or a lost race.
  Epoch known_epoch_;
  std::int32_t known_version_ = 0;
  std::function<void(const Stored&)> changed_;
  Epoch told_;
  net::TimerId watch_pause_;
  std::map<SessionId, net::TimerId> leases_;  // what ends each if it is not kept
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  Session session_;  // last, so first to go: its callbacks need the others
};

ZookeeperRegister::~ZookeeperRegister() {
  loop_.cancel(watch_pause_);
  for (const auto& [session, timer] : leases_) loop_.cancel(timer);
}

// ---- nodes -----------------------------------------------------------------------------------

// The persistent node and its parents, if they are not there.
void ZookeeperRegister::make(const std::string& path, Done<void> done) {
  session_.call({.kind = Kind::kCreate, .path = path}, Repeat::kAllowed,
                [this, path, done = std::move(done)](const Result<Answer>& answer) {
                  if (!answer) return done(unavailable(answer.error()));
                  if (answer->outcome != Outcome::kNoNode) return done({});
                  const std::string parent = path.substr(0, path.rfind('/'));
                  // Without a parent: a chroot or a root that is not there.
                  if (parent.empty()) return done(unexpected_answer(path));
                  make(parent, [this, path, done](const Result<void>& made) {
                    if (!made) return done(made);
                    make(path, done);
                  });
                });
}

// Makes the parents first if they are missing; kNoNode is not answered then.
void ZookeeperRegister::create(Operation operation, Repeat repeat, Session::Done done,
                               Instant until) {
  session_.call(
      operation, repeat,
      [this, operation, repeat, until, done = std::move(done)](Result<Answer> answer) {
        if (!answer || answer->outcome != Outcome::kNoNode) return done(answer);
        const std::string& path = operation.path;
        make(path.substr(0, path.rfind('/')),
             [this, operation, repeat, until, done](const Result<void>& made) {
               if (!made) return done(unavailable(made.error()));
               session_.call(operation, repeat, done, until);
             });
      },
      until);
}

// ---- reading ---------------------------------------------------------------------------------

void ZookeeperRegister::read(Done<Stored> done) {
  const auto reading = std::make_shared<Reading>();
  reading->done = [done = std::move(done)](Result<Seen> seen) {
    if (!seen) return done(std::unexpected(seen.error()));
    done(std::move(seen->stored));
  };
  fetch(reading);
}

// Behind a write of our own, in the same session: see the header.
void ZookeeperRegister::fetch(const SharedReading& reading) {
  session_.call(
      {.kind = Kind::kSet, .path = node("barrier")}, Repeat::kAllowed,
      [this, reading](const Result<Answer>& answer) {
        if (!answer) return reading->done(std::unexpected(answer.error()));
        if (answer->outcome == Outcome::kDone) {
          reading->generation = answer->generation;
          return fetch_head(reading);
        }
        make(node("barrier"), [this, reading](const Result<void>& made) {
          if (!made) return reading->done(unavailable(made.error()));
          fetch_again(reading,
                      {Code::kUnavailable, "ZooKeeper " + node("barrier") + " disappears"});
        });
      },
      reading->until);
}

void ZookeeperRegister::fetch_head(const SharedReading& reading) {
  session_.call(
      {.kind = Kind::kGet, .path = node("document"), .generation = reading->generation},
      Repeat::kAllowed,
      [this, reading](const Result<Answer>& answer) {
        if (!answer && answer.error().code == Code::kTimeout)
          return reading->done(std::unexpected(answer.error()));
        if (!answer) return fetch_again(reading, answer.error());
        on_head(reading, *answer);
      },
      reading->until);
}

void ZookeeperRegister::on_head(const SharedReading& reading, const Answer& answer) {
  if (answer.outcome == Outcome::kNoNode)
    return reading->done(Seen{.stored = {}, .version = std::nullopt});
  Result<Head> head = parse_head(answer.value);
  if (!head)
    return reading->done(unavailable(fail("ZooKeeper " + node("document"), head.error()).error()));
  reading->head = std::move(*head);
  reading->version = answer.version;
  reading->names = part_names(reading->head);
  reading->parts.clear();
  fetch_parts(reading);
}

void ZookeeperRegister::fetch_parts(const SharedReading& reading) {
  if (reading->parts.size() == reading->names.size()) {
    Result<std::string> text = join(reading->head, reading->parts);
    if (!text) return reading->done(unavailable(text.error()));
    known_epoch_ = reading->head.epoch;
    known_version_ = reading->version;
    return reading->done(Seen{.stored = {.epoch = reading->head.epoch, .text = std::move(*text)},
                              .version = reading->version});
  }
  const std::string path = node("parts/") + reading->names[reading->parts.size()];
  session_.call(
      {.kind = Kind::kGet, .path = path, .generation = reading->generation}, Repeat::kAllowed,
      [this, reading, path](const Result<Answer>& answer) {
        if (!answer) return fetch_again(reading, answer.error());
        // The document has changed since: its old parts are removed.
        if (answer->outcome != Outcome::kDone)
          return fetch_again(reading, {Code::kUnavailable, "ZooKeeper " + path + " is missing"});
        reading->parts.push_back(answer->value);
        fetch_parts(reading);
      },
      reading->until);
}

void ZookeeperRegister::fetch_again(const SharedReading& reading, const Error& why) {
  if (--reading->attempts_left == 0) return reading->done(std::unexpected(why));
  fetch(reading);
}

// ---- writing ---------------------------------------------------------------------------------

void ZookeeperRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  replace(expected, Epoch{expected.value() + 1}, std::move(text), std::move(done));
}

void ZookeeperRegister::begin(Epoch first, std::string text, Done<Epoch> done) {
  replace(Epoch{}, first, std::move(text), std::move(done));
}

void ZookeeperRegister::replace(Epoch expected, Epoch next, std::string text, Done<Epoch> done) {
  const auto write = std::make_shared<Write>();
  write->expected = expected;
  write->next = next;
  write->text = std::move(text);
  write->split = split(next, write->text);
  write->until = loop_.now() + options_.write_timeout;
  write->done = std::move(done);
  if (expected == Epoch{} || expected == known_epoch_) {
    write->version = known_version_;
    return put_parts(write);
  }
  const auto reading = std::make_shared<Reading>();
  reading->until = write->until;
  reading->done = [this, write](const Result<Seen>& seen) {
    if (!seen) return write->done(unavailable(seen.error()));
    if (seen->stored.epoch != write->expected)
      return write->done(
          fail(Code::kConflict, "the epoch is " + std::to_string(seen->stored.epoch.value())));
    write->version = *seen->version;
    put_parts(write);
  };
  fetch(reading);
}

// Until the head is written nothing has happened, whatever became of a part. One that is there
// already is the same: its name has the hash of all. All of it has the time of one write: whoever
// waits is told then, and a head that was not sent by then never is.
void ZookeeperRegister::put_parts(const SharedWrite& write) {
  if (write->parts_written == write->split.parts.size()) return put_head(write);
  Part& part = write->split.parts[write->parts_written++];
  create(
      {.kind = Kind::kCreate,
       .path = node("parts/") + part.name,
       .value = std::exchange(part.bytes, {})},
      Repeat::kAllowed,
      [this, write](const Result<Answer>& answer) {
        if (!answer) return write->done(unavailable(answer.error()));
        if (answer->outcome == Outcome::kNoNode)
          return write->done(unexpected_answer(node("parts")));
        put_parts(write);
      },
      write->until);
}

void ZookeeperRegister::put_head(const SharedWrite& write) {
  const auto put = [this, write](const Result<Answer>& answer) { on_head_put(write, answer); };
  if (write->expected == Epoch{}) {
    create({.kind = Kind::kCreate, .path = node("document"), .value = write->split.head},
           Repeat::kNever, put, write->until);
  } else {
    session_.call({.kind = Kind::kSet,
                   .path = node("document"),
                   .value = write->split.head,
                   .version = write->version},
                  Repeat::kNever, put, write->until);
  }
}

void ZookeeperRegister::on_head_put(const SharedWrite& write, const Result<Answer>& answer) {
  if (!answer) return write->done(std::unexpected(answer.error()));
  if (answer->outcome == Outcome::kNoNode) return write->done(unexpected_answer(node("document")));
  if (answer->outcome != Outcome::kDone)
    return write->done(fail(Code::kConflict, "the epoch has changed"));
  const Epoch next = write->next;
  known_epoch_ = next;
  known_version_ = write->expected == Epoch{} ? 0 : answer->version;
  remove_parts_before(next);
  loop_.post(guarded(
      alive_, [this, write, next] { tell({.epoch = next, .text = std::move(write->text)}); }));
  write->done(next);
}

// Nobody can name them any more (coord/parts.h). What fails is removed by a later write.
void ZookeeperRegister::remove_parts_before(Epoch epoch) {
  session_.call({.kind = Kind::kList, .path = node("parts")}, Repeat::kAllowed,
                [this, boundary = oldest_part_name(epoch)](const Result<Answer>& answer) {
                  if (!answer) return;
                  for (const std::string& name : answer->children) {
                    if (name < boundary)
                      session_.call({.kind = Kind::kDelete, .path = node("parts/") + name},
                                    Repeat::kAllowed, [](const Result<Answer>&) {});
                  }
                });
}

// ---- the watch -------------------------------------------------------------------------------

void ZookeeperRegister::watch(std::function<void(const Stored&)> changed) {
  CHECK(!changed_);  // one watcher a Register
  changed_ = std::move(changed);
  look();
}

// Reads and sets the watch in one. The client sets it again when it reconnects, and tells what
// changed meanwhile.
void ZookeeperRegister::look() {
  session_.call({.kind = Kind::kGet, .path = node("document"), .watch = true}, Repeat::kAllowed,
                [this](const Result<Answer>& answer) {
                  if (!answer) return look_later();
                  if (answer->outcome == Outcome::kNoNode) return look_for_the_first();
                  const auto reading = std::make_shared<Reading>();
                  reading->generation = answer->generation;
                  reading->done = [this](const Result<Seen>& seen) {
                    if (!seen) return look_later();
                    tell(seen->stored);
                  };
                  on_head(reading, *answer);
                });
}

// A watch on what does not exist yet is set by another question.
void ZookeeperRegister::look_for_the_first() {
  session_.call({.kind = Kind::kExists, .path = node("document"), .watch = true}, Repeat::kAllowed,
                [this](const Result<Answer>& answer) {
                  if (!answer) return look_later();
                  if (answer->outcome == Outcome::kDone) look();
                });
}

void ZookeeperRegister::look_later() {
  loop_.cancel(watch_pause_);
  watch_pause_ = loop_.after(kWatchRetry, [this] { look(); });
}

void ZookeeperRegister::tell(const Stored& stored) {
  if (!changed_ || stored.epoch <= told_) return;
  told_ = stored.epoch;
  const auto keep = changed_;  // the register may be destroyed within
  keep(stored);
}

// ---- leases ----------------------------------------------------------------------------------

void ZookeeperRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  expect_beats(session, ttl);
  ensure(session, kLeaseAttempts, std::move(done));
}

// Looks first: in all calls but the first that is all.
void ZookeeperRegister::ensure(const SessionId& session, int attempts, Done<void> done) {
  const std::string path = session_node(session);
  const auto again = [this, session, attempts, path](const Done<void>& told) {
    if (attempts == 1) return told(unexpected_answer(path));
    ensure(session, attempts - 1, told);
  };
  session_.call({.kind = Kind::kExists, .path = path}, Repeat::kAllowed,
                [this, path, again, done = std::move(done)](const Result<Answer>& answer) {
                  if (!answer) return done(unavailable(answer.error()));
                  if (answer->outcome == Outcome::kDone && answer->ours) return done({});
                  if (answer->outcome == Outcome::kDone) {
                    // Of a ZooKeeper session that we had before: it would vanish with that.
                    session_.call({.kind = Kind::kDelete, .path = path}, Repeat::kAllowed,
                                  [again, done](const Result<Answer>& deleted) {
                                    if (!deleted) return done(unavailable(deleted.error()));
                                    again(done);
                                  });
                    return;
                  }
                  create({.kind = Kind::kCreateEphemeral, .path = path}, Repeat::kAllowed,
                         [again, done](const Result<Answer>& created) {
                           if (!created) return done(unavailable(created.error()));
                           if (created->outcome == Outcome::kDone) return done({});
                           again(done);
                         });
                });
}

// The client's threads keep the ZooKeeper session whether or not anybody calls keep_alive.
void ZookeeperRegister::expect_beats(const SessionId& session, milliseconds ttl) {
  net::TimerId& timer = leases_[session];
  loop_.cancel(timer);
  timer = loop_.after(ttl, [this, session] {
    leases_.erase(session);
    session_.call({.kind = Kind::kDelete, .path = session_node(session)}, Repeat::kAllowed,
                  [](const Result<Answer>&) {});
  });
}

void ZookeeperRegister::end_lease(const SessionId& session, Done<void> done) {
  const auto known = leases_.find(session);
  if (known != leases_.end()) {
    loop_.cancel(known->second);
    leases_.erase(known);
  }
  session_.call({.kind = Kind::kDelete, .path = session_node(session)}, Repeat::kAllowed,
                [done = std::move(done)](const Result<Answer>& answer) {
                  if (!answer) return done(unavailable(answer.error()));
                  done({});
                });
}

void ZookeeperRegister::alive(Done<std::vector<SessionId>> done) {
  session_.call({.kind = Kind::kList, .path = node("sessions")}, Repeat::kAllowed,
                [done = std::move(done)](const Result<Answer>& answer) {
                  if (!answer) return done(std::unexpected(answer.error()));
                  std::vector<SessionId> sessions;
                  for (const std::string& name : answer->children) sessions.emplace_back(name);
                  std::ranges::sort(sessions);
                  done(std::move(sessions));
                });
}

}  // namespace

Result<std::unique_ptr<Register>> make_zookeeper(net::Loop& loop, ZookeeperOptions options) {
  if (!options.prefix.starts_with('/') || options.prefix.ends_with('/'))
    return fail(Code::kInvalid, "ZooKeeper prefix '" + options.prefix +
                                    "': want a path that begins and does not end with '/'");
  if (options.servers.empty()) return fail(Code::kInvalid, "ZooKeeper: no server is given");
  for (const std::string& server : options.servers) {
    if (const auto address = net::parse_address(server); !address)
      return fail("ZooKeeper server", address.error());
  }
  return std::make_unique<ZookeeperRegister>(loop, std::move(options));
}

}  // namespace cleave::coord
