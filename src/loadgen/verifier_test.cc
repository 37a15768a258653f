#include "loadgen/verifier.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>

namespace cleave::loadgen {
namespace {

constexpr Instant kStart{std::chrono::seconds(100)};

// One server that does everything in the order it is told to, and can be told to misbehave.
struct Server {
  struct Item {
    std::string value;
    Instant gone{Instant::max()};
  };
  std::map<std::uint32_t, Item> items;

  // The reply's text lives in `text`.
  Seen run(const Ticket& ticket, const std::string& value, Instant now, std::string& text) {
    const auto found = items.find(ticket.key);
    if (found != items.end() && found->second.gone <= now) items.erase(found);
    Item* const item = items.contains(ticket.key) ? &items[ticket.key] : nullptr;
    switch (ticket.operation) {
      case Operation::kGet:
        if (item == nullptr) return {.what = Seen::What::kAbsent};
        text = item->value;
        return {.what = Seen::What::kValue, .text = text};
      case Operation::kSet: items[ticket.key] = {value}; break;
      case Operation::kSetZero: items[ticket.key] = {"0"}; break;
      case Operation::kSetExpiring:
        items[ticket.key] = {value, now + std::chrono::seconds(2)};
        break;
      case Operation::kDelete:
        items.erase(ticket.key);
        return {.what = Seen::What::kInteger, .integer = item == nullptr ? 0 : 1};
      case Operation::kIncrement: {
        const std::int64_t next = (item == nullptr ? 0 : std::stoll(item->value)) + 1;
        items[ticket.key].value = std::to_string(next);
        return {.what = Seen::What::kInteger, .integer = next};
      }
    }
    return {.what = Seen::What::kOk};
  }
};

// One client that waits for every reply: what is asked of the verifier one by one.
class Session {
 public:
  explicit Session(Verifier::Options options) : verifier_(options) {}

  Server server;
  Instant now = kStart;
  std::uint32_t key = 0;

  void write(bool acknowledged = true) {
    const Ticket ticket = verifier_.begin_write(key, 1, dice_, now);
    finish(ticket, acknowledged);
  }
  void write_until(Operation wanted) {
    for (int i = 0; i < 200; ++i) {
      const Ticket ticket = verifier_.begin_write(key, 1, dice_, now);
      finish(ticket, true);
      if (ticket.operation == wanted) return;
    }
    FAIL() << "the dice never chose it";
  }
  void read() { finish(verifier_.begin_read(key, now), true); }
  void wait(milliseconds time) { now += time; }

  Findings findings() const { return verifier_.findings(); }
  Verifier& verifier() { return verifier_; }

 private:
  void finish(const Ticket& ticket, bool acknowledged) {
    std::string value;
    if (ticket.operation == Operation::kSet || ticket.operation == Operation::kSetExpiring) {
      verifier_.append_value(ticket, value);
    }
    std::string text;
    const Seen seen = server.run(ticket, value, now, text);
    verifier_.finish(ticket, acknowledged ? seen : Seen{}, now);
  }

  Verifier verifier_;
  Rng dice_{5};
};

Verifier::Options only(Kind kind) {
  Verifier::Options options{.keys = 4};
  if (kind == Kind::kCounter) options.counters = 1'000;
  if (kind == Kind::kErasable) options.erasable = 1'000;
  if (kind == Kind::kExpiring) options.expiring = 1'000;
  return options;
}

void expect_counts(const Session& session, std::uint64_t wrong, std::uint64_t lost) {
  EXPECT_EQ(session.findings().reads_wrong, wrong);
  EXPECT_EQ(session.findings().writes_lost, lost);
  EXPECT_EQ(session.findings().examples.size(), wrong);
}

TEST(Verifier, AcceptsAServerThatKeepsItsPromises) {
  for (const Kind kind : {Kind::kRegister, Kind::kCounter, Kind::kErasable, Kind::kExpiring}) {
    Session session(only(kind));
    for (int i = 0; i < 50; ++i) {
      session.write();
      session.read();
      session.wait(milliseconds(100 * (i % 40)));
      session.read();
    }
    EXPECT_EQ(session.findings().reads, 100U);
    EXPECT_EQ(session.findings().writes_acked, 50U);
    expect_counts(session, 0, 0);
  }
}

TEST(Verifier, CatchesALostWrite) {
  Session session(only(Kind::kRegister));
  session.write();
  const auto before = session.server.items;
  session.write();
  session.server.items = before;
  session.read();
  expect_counts(session, 1, 1);
  session.read();  // the same fault is not counted again
  expect_counts(session, 1, 1);
  session.write();
  session.read();
  expect_counts(session, 1, 1);
}

TEST(Verifier, CatchesAKeyThatVanished) {
  Session session(only(Kind::kRegister));
  session.write();
  session.server.items.clear();
  session.read();
  session.read();
  expect_counts(session, 1, 1);
}

TEST(Verifier, TakesAStaleReadForWrongButNotForLost) {
  Session session(only(Kind::kRegister));
  session.write();
  const auto before = session.server.items;
  session.write();
  const auto after = session.server.items;
  session.server.items = before;
  session.read();
  session.server.items = after;
  session.read();
  expect_counts(session, 1, 0);
}

TEST(Verifier, CatchesAnotherKeysOrAnotherRunsValue) {
  Session session(only(Kind::kRegister));
  session.write();
  session.key = 1;
  session.write();
  session.server.items[0] = session.server.items[1];
  session.key = 0;
  session.read();
  expect_counts(session, 1, 1);
  Verifier::Options other = only(Kind::kRegister);
  other.run = 9;
  Session later(other);
  later.write();
  later.server = session.server;
  later.key = 0;
  later.read();
  expect_counts(later, 1, 1);
}

TEST(Verifier, CatchesADeletedKeyThatCameBack) {
  Session session(only(Kind::kErasable));
  session.write_until(Operation::kSet);
  const auto before = session.server.items;
  session.write_until(Operation::kDelete);
  session.server.items = before;
  session.read();
  expect_counts(session, 1, 1);
}

TEST(Verifier, CatchesByTheAnswerOfADelete) {
  Session session(only(Kind::kErasable));
  for (int i = 0; i < 40; ++i) {
    session.write_until(Operation::kSet);
    session.server.items.clear();
    session.write();
  }
  EXPECT_GT(session.findings().writes_lost, 3U);
  EXPECT_EQ(session.findings().reads_wrong, session.findings().writes_lost);
}

TEST(Verifier, CatchesLostIncrements) {
  Session session(only(Kind::kCounter));
  for (int i = 0; i < 11; ++i) session.write();  // the first sets it to zero
  session.server.items[0].value = "7";
  session.read();
  expect_counts(session, 1, 3);
  session.write();
  session.read();
  expect_counts(session, 1, 3);
  session.server.items[0].value = "5";
  session.write();
  expect_counts(session, 2, 6);
}

TEST(Verifier, CatchesAnIncrementThatCountedTwice) {
  Session session(only(Kind::kCounter));
  for (int i = 0; i < 6; ++i) session.write();
  session.server.items[0].value = "6";
  session.read();
  expect_counts(session, 1, 0);
  session.write();
  expect_counts(session, 1, 0);
}

TEST(Verifier, CatchesAnEarlyAndALateExpiry) {
  Session session(only(Kind::kExpiring));
  session.write();
  session.wait(milliseconds(1'700));
  session.server.items.clear();
  session.read();
  expect_counts(session, 1, 1);
  session.write();
  session.server.items[0].gone = Instant::max();
  session.wait(milliseconds(2'150));
  session.read();  // within the tolerance
  expect_counts(session, 1, 1);
  session.wait(milliseconds(100));
  session.read();
  expect_counts(session, 2, 1);
}

TEST(Verifier, TakesEitherValueAfterAnUnknownWrite) {
  for (const bool done : {false, true}) {
    Session session(only(Kind::kRegister));
    session.write();
    const auto before = session.server.items;
    session.write(false);
    const auto after = session.server.items;
    EXPECT_FALSE(session.verifier().may_write(0, 1)) << "first a read must tell";
    session.server.items = done ? after : before;
    session.read();
    EXPECT_TRUE(session.verifier().may_write(0, 1));
    expect_counts(session, 0, 0);
    session.server.items = before;
    session.read();
    expect_counts(session, done ? 1 : 0, done ? 1 : 0);
  }
}

TEST(Verifier, CountsAnUnknownWriteThatComesLateAndOnlyThat) {
  Session session(only(Kind::kRegister));
  session.write();
  session.write(false);
  const auto late = session.server.items;
  session.read();
  session.write(false);
  const auto later = session.server.items;
  session.server.items = late;
  session.read();
  session.write();
  const auto newest = session.server.items;
  session.server.items = later;
  session.read();
  EXPECT_EQ(session.findings().late_writes, 1U);
  expect_counts(session, 0, 0);
  session.server.items = newest;
  session.write();
  session.server.items = later;  // it was seen once, so it cannot come again
  session.read();
  expect_counts(session, 1, 1);
}

TEST(Verifier, LetsOneClientAtATimeWrite) {
  Session session(only(Kind::kRegister));
  Rng dice(1);
  const Ticket first = session.verifier().begin_write(0, 1, dice, kStart);
  EXPECT_TRUE(session.verifier().may_write(0, 1));
  EXPECT_FALSE(session.verifier().may_write(0, 2));
  session.verifier().finish(first, {.what = Seen::What::kOk}, kStart);
  EXPECT_TRUE(session.verifier().may_write(0, 2));
}

TEST(Verifier, LeavesACounterAloneWhoseBeginningIsUnknown) {
  Session session(only(Kind::kCounter));
  session.write(false);
  session.read();
  EXPECT_FALSE(session.verifier().may_write(0, 1));
  session.server.items[0].value = "77";
  session.read();
  expect_counts(session, 0, 0);
}

// ---- a clients of several clients, pipelines, lost connections and late writes ----------------

struct Request {
  Ticket ticket;
  std::string value{};
  std::optional<Seen> seen{};
  std::string text{};
};

enum class Fault { kNone, kLostWrite, kStaleRead };

class ManyClients {
 public:
  ManyClients(std::uint64_t seed, Fault fault)
      : rng_(seed),
        fault_(fault),
        verifier_({.keys = 12, .counters = 250, .erasable = 250, .expiring = 250, .run = seed}) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      now_ += milliseconds(rng_.below(30));
      const auto client = static_cast<std::uint32_t>(rng_.below(clients_.size()));
      const std::uint64_t dice = rng_.below(100);
      if (dice < 40 && clients_[client].size() < depth_) send(client);
      if (dice >= 40 && dice < 70) execute(client);
      if (dice >= 70 && dice < 99) answer(client);
      if (dice >= 99) lose(client);
      if (!zombies_.empty() && rng_.chance(1, 20)) revive();
    }
    for (std::uint32_t client = 0; client < clients_.size(); ++client) {
      while (!clients_[client].empty()) execute(client), answer(client);
    }
    for (std::uint32_t key = 0; key < 12; ++key) {
      clients_[0].push_back({.ticket = verifier_.begin_read(key, now_)});
      execute(0), answer(0);
    }
  }

  const Findings& findings() const { return verifier_.findings(); }
  int faults() const { return faults_; }

 private:
  void send(std::uint32_t client) {
    const auto key = static_cast<std::uint32_t>(rng_.below(12));
    Request request;
    if (rng_.chance(1, 2) && verifier_.may_write(key, client)) {
      request.ticket = verifier_.begin_write(key, client, rng_, now_);
      const Operation what = request.ticket.operation;
      if (what == Operation::kSet || what == Operation::kSetExpiring) {
        verifier_.append_value(request.ticket, request.value);
      }
    } else {
      request.ticket = verifier_.begin_read(key, now_);
    }
    clients_[client].push_back(std::move(request));
  }

  void execute(std::uint32_t client) {
    for (Request& request : clients_[client]) {
      if (request.seen) continue;
      const std::uint32_t key = request.ticket.key;
      const auto found = server_.items.find(key);
      const auto before =
          found == server_.items.end() ? std::nullopt : std::optional(found->second);
      const bool faulty = rng_.chance(1, 10);
      const bool stale = !request.ticket.writes() && fault_ == Fault::kStaleRead && faulty;
      if (stale) server_.items[key] = older_[key];
      request.seen = server_.run(request.ticket, request.value, now_, request.text);
      const bool forgets = request.ticket.writes() && fault_ == Fault::kLostWrite && faulty;
      if (stale || forgets) {
        ++faults_;
        before ? void(server_.items[key] = *before) : void(server_.items.erase(key));
      } else if (request.ticket.writes() && before) {
        older_[key] = *before;
      }
      return;
    }
  }

  void answer(std::uint32_t client) {
    auto& requests = clients_[client];
    if (requests.empty() || !requests.front().seen) return;
    Request& request = requests.front();
    if (request.seen->what == Seen::What::kValue) request.seen->text = request.text;
    const bool error = rng_.chance(1, 50);
    verifier_.finish(request.ticket, error ? Seen{} : *request.seen, now_);
    requests.pop_front();
  }

  // What was sent may still be done, at any later time or never. A late SET 0 of a counter cannot
  // be told from a fault, so there the key is out of the game (see `retired`).
  void lose(std::uint32_t client) {
    for (Request& request : clients_[client]) {
      verifier_.finish(request.ticket, Seen{}, now_);
      if (!request.seen && request.ticket.writes()) zombies_.push_back(request);
    }
    clients_[client].clear();
  }

  void revive() {
    const std::size_t which = rng_.below(zombies_.size());
    Request request = zombies_[which];
    zombies_.erase(zombies_.begin() + static_cast<std::ptrdiff_t>(which));
    if (rng_.chance(1, 2)) server_.run(request.ticket, request.value, now_, request.text);
  }

  Rng rng_;
  Fault fault_;
  Verifier verifier_;
  Server server_;
  std::map<std::uint32_t, Server::Item> older_;
  std::array<std::deque<Request>, 4> clients_;
  std::vector<Request> zombies_;
  Instant now_ = kStart;
  std::size_t depth_ = 1 + rng_.below(12);  // of the clients' pipelines
  int faults_ = 0;
};

TEST(VerifierProperty, NeverBlamesACorrectServer) {
  std::uint64_t reads = 0;
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    ManyClients clients(seed, Fault::kNone);
    clients.run(1'500);
    ASSERT_EQ(clients.findings().reads_wrong, 0U)
        << "seed " << seed << ": " << clients.findings().examples[0];
    ASSERT_EQ(clients.findings().writes_lost, 0U) << "seed " << seed;
    reads += clients.findings().reads;
    late += clients.findings().late_writes;
  }
  EXPECT_GT(reads, 100'000U);
  EXPECT_GT(late, 20U) << "the clients is too tame";
}

TEST(VerifierProperty, SeesThroughAFaultyServer) {
  for (const Fault fault : {Fault::kLostWrite, Fault::kStaleRead}) {
    std::size_t seen = 0;
    std::size_t worlds = 0;
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
      ManyClients clients(seed, fault);
      clients.run(1'500);
      if (clients.faults() < 5) continue;
      ++worlds;
      seen += clients.findings().reads_wrong > 0 ? 1U : 0U;
    }
    EXPECT_GT(worlds, 900U);
    EXPECT_GE(seen * 100, worlds * 95) << "of " << worlds << " faulty worlds";
  }
}

}  // namespace
}  // namespace cleave::loadgen
