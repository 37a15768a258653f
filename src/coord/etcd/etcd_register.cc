#include "coord/etcd/etcd_register.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "coord/etcd/client.h"
#include "coord/etcd/endpoints.h"
#include "coord/etcd/messages.h"
#include "coord/etcd/watch.h"
#include "coord/parts.h"

namespace cleave::coord {
namespace {

using etcd::Client;
using etcd::LeaseId;
using etcd::Revision;

constexpr const char* kRange = "/v3/kv/range";
constexpr const char* kTxn = "/v3/kv/txn";

// A read whose document is replaced while its parts are fetched begins again.
constexpr int kReadAttempts = 4;

// What a caller of the register may see: of no effect, or unknown.
template <class T>
Result<T> away(const Error& error) {
  const Code code = error.code == Code::kTimeout ? Code::kTimeout : Code::kUnavailable;
  return std::unexpected(Error{code, error.message});
}

template <class T>
Result<T> unavailable(const Error& error) {
  return std::unexpected(Error{Code::kUnavailable, error.message});
}

class EtcdRegister final : public Register {
 public:
  EtcdRegister(net::Loop& loop, EtcdOptions options)
      : loop_(loop),
        options_(std::move(options)),
        endpoints_(loop_, options_),
        client_(loop_, options_, endpoints_) {}

  Result<void> open() { return endpoints_.open(); }

  void read(Done<Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void begin(Epoch first, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  // The document and the store's revision that was read.
  struct Seen {
    Stored stored;
    Revision revision;
  };
  // A compare-and-set under way.
  struct Write {
    Epoch expected;
    Epoch next;
    std::string text;
    Split split;
    std::size_t parts_written = 0;
    Done<Epoch> done;
  };
  struct Lease {
    LeaseId id;
    std::int64_t ttl_seconds = 0;
    Instant written = {};
  };

  std::string key(const std::string& name) const { return options_.prefix + "/" + name; }
  std::string session_key(const SessionId& session) const {
    return key("sessions/") + session.value();
  }

  void fetch(int attempts, std::function<void(Result<Seen>)> done);
  void fetch_parts(Head head, Revision at, int attempts, std::function<void(Result<Seen>)> done);
  void replace(Epoch expected, Epoch next, std::string text, Done<Epoch> done);
  void put_parts(const std::shared_ptr<Write>& write);
  void put_head(const std::shared_ptr<Write>& write);
  etcd::Txn if_still(Epoch expected) const;
  void grant(const SessionId& session, std::int64_t ttl_seconds, Done<void> done);
  void attach(const SessionId& session, Lease lease, Done<void> done);
  void on_epoch(const std::string& value);
  void tell(const Stored& stored);

  net::Loop& loop_;
  const EtcdOptions options_;
  etcd::Endpoints endpoints_;
  Client client_;
  std::function<void(const Stored&)> changed_;
  Epoch told_;
  std::map<SessionId, Lease> leases_;
  std::unique_ptr<etcd::Watch> watch_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

// ---- the document ----------------------------------------------------------------------------

void EtcdRegister::read(Done<Stored> done) {
  fetch(kReadAttempts, [done = std::move(done)](Result<Seen> seen) {
    if (!seen) return done(away<Stored>(seen.error()));
    done(std::move(seen->stored));
  });
}

void EtcdRegister::fetch(int attempts, std::function<void(Result<Seen>)> done) {
  const auto fetched = [this, attempts, done = std::move(done)](const Result<std::string>& body) {
    if (!body) return done(std::unexpected(body.error()));
    Result<etcd::RangeReply> reply = etcd::parse_range(*body);
    if (!reply) return done(std::unexpected(reply.error()));
    if (reply->pairs.empty()) return done(Seen{.stored = {}, .revision = reply->revision});
    Result<Head> head = parse_head(reply->pairs.front().value);
    if (!head) return done(fail("etcd key " + key("document"), head.error()));
    if (head->parts > 0) return fetch_parts(std::move(*head), reply->revision, attempts, done);
    Result<std::string> text = join(*head, {});
    if (!text) return done(std::unexpected(text.error()));
    done(Seen{.stored = {.epoch = head->epoch, .text = std::move(*text)},
              .revision = reply->revision});
  };
  client_.call(kRange, range_body({.first = key("document")}, etcd::Values::kWanted),
               Client::Repeat::kAllowed, fetched);
}

// At the revision of the head, so that what is removed meanwhile is still there.
void EtcdRegister::fetch_parts(Head head, Revision at, int attempts,
                               std::function<void(Result<Seen>)> done) {
  const std::vector<std::string> names = part_names(head);
  const std::string body = range_body(
      {.first = key("parts/") + names.front(), .last = key("parts/") + names.back() + "~"},
      etcd::Values::kWanted, at);
  const auto fetched = [this, head = std::move(head), at, attempts,
                        done = std::move(done)](const Result<std::string>& answer) {
    // Compacted already: the document has changed since.
    if (!answer && answer.error().code == Code::kConflict && attempts > 1)
      return fetch(attempts - 1, done);
    if (!answer) return done(std::unexpected(answer.error()));
    Result<etcd::RangeReply> reply = etcd::parse_range(*answer);
    if (!reply) return done(std::unexpected(reply.error()));
    std::vector<std::string> parts;
    for (etcd::Pair& pair : reply->pairs) parts.push_back(std::move(pair.value));
    Result<std::string> text = join(head, parts);
    if (!text) return done(std::unexpected(text.error()));
    done(Seen{.stored = {.epoch = head.epoch, .text = std::move(*text)}, .revision = at});
  };
  client_.call(kRange, body, Client::Repeat::kAllowed, fetched);
}

void EtcdRegister::compare_and_set(Epoch expected, std::string text, Done<Epoch> done) {
  replace(expected, Epoch{expected.value() + 1}, std::move(text), std::move(done));
}

void EtcdRegister::begin(Epoch first, std::string text, Done<Epoch> done) {
  replace(Epoch{}, first, std::move(text), std::move(done));
}

void EtcdRegister::replace(Epoch expected, Epoch next, std::string text, Done<Epoch> done) {
  const auto write = std::make_shared<Write>();
  write->expected = expected;
  write->next = next;
  write->text = std::move(text);
  write->split = split(next, write->text);
  write->done = std::move(done);
  put_parts(write);
}

etcd::Txn EtcdRegister::if_still(Epoch expected) const {
  etcd::Txn txn{.key = key("epoch")};
  if (expected != Epoch{}) txn.value = std::to_string(expected.value());
  return txn;
}

// One after the other, each only while the epoch is still the expected one: a lost race is known at
// the first part. Until the head is written nothing has happened, whatever became of a part.
void EtcdRegister::put_parts(const std::shared_ptr<Write>& write) {
  if (write->parts_written == write->split.parts.size()) return put_head(write);
  Part& part = write->split.parts[write->parts_written++];
  etcd::Txn txn = if_still(write->expected);
  txn.puts.push_back({.key = key("parts/") + part.name, .value = std::exchange(part.bytes, {})});
  client_.call(kTxn, txn_body(txn), Client::Repeat::kAllowed,
               [this, write](const Result<std::string>& body) {
                 if (!body) return write->done(unavailable<Epoch>(body.error()));
                 const Result<bool> held = etcd::parse_txn(*body);
                 if (!held) return write->done(unavailable<Epoch>(held.error()));
                 if (!*held) return write->done(fail(Code::kConflict, "the epoch has changed"));
                 put_parts(write);
               });
}

void EtcdRegister::put_head(const std::shared_ptr<Write>& write) {
  const Epoch next = write->next;
  etcd::Txn txn = if_still(write->expected);
  txn.puts.push_back({.key = key("epoch"), .value = std::to_string(next.value())});
  txn.puts.push_back({.key = key("document"), .value = write->split.head});
  txn.deletions.push_back({.first = key("parts/"), .last = key("parts/") + oldest_part_name(next)});
  client_.call(kTxn, txn_body(txn), Client::Repeat::kNever,
               [this, write, next](const Result<std::string>& body) {
                 if (!body) return write->done(away<Epoch>(body.error()));
                 const Result<bool> held = etcd::parse_txn(*body);
                 if (!held) return write->done(fail(Code::kTimeout, held.error().message));
                 if (!*held) return write->done(fail(Code::kConflict, "the epoch has changed"));
                 loop_.post(guarded(
                     alive_, [this, write, next] { tell({.epoch = next, .text = write->text}); }));
                 write->done(next);
               });
}

// ---- the watch -------------------------------------------------------------------------------

void EtcdRegister::watch(std::function<void(const Stored&)> changed) {
  CHECK(!changed_);  // one watcher a Register
  changed_ = std::move(changed);
  const auto read_fresh = [this](std::function<void(Result<Revision>)> done) {
    fetch(kReadAttempts, [this, done = std::move(done)](const Result<Seen>& seen) {
      if (!seen) return done(std::unexpected(seen.error()));
      const std::weak_ptr<void> alive = alive_;
      tell(seen->stored);
      if (!alive.expired()) done(seen->revision);
    });
  };
  watch_ = std::make_unique<etcd::Watch>(
      loop_, options_, client_, endpoints_, key("epoch"),
      etcd::Watch::Owner{.read_fresh = read_fresh,
                         .changed = [this](const std::string& value) { on_epoch(value); }});
  endpoints_.on_bad = [this](std::size_t which) { watch_->on_bad_endpoint(which); };
  watch_->start();
}

// Several changes may give one read: it sees the newest.
void EtcdRegister::on_epoch(const std::string& value) {
  std::uint64_t epoch = 0;
  std::from_chars(value.data(), value.data() + value.size(), epoch);
  if (Epoch{epoch} <= told_) return;
  fetch(kReadAttempts, [this](const Result<Seen>& seen) {
    if (seen) tell(seen->stored);  // else the next change or reconnect tells
  });
}

void EtcdRegister::tell(const Stored& stored) {
  if (!changed_ || stored.epoch <= told_) return;
  told_ = stored.epoch;
  const auto keep = changed_;  // the register may be destroyed within
  keep(stored);
}

// ---- leases ----------------------------------------------------------------------------------

void EtcdRegister::keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) {
  const std::int64_t ttl_seconds = std::max<std::int64_t>(1, (ttl.count() + 999) / 1'000);
  const auto known = leases_.find(session);
  if (known == leases_.end() || known->second.ttl_seconds != ttl_seconds)
    return grant(session, ttl_seconds, std::move(done));
  client_.call(
      "/v3/lease/keepalive", etcd::lease_body(known->second.id), Client::Repeat::kAllowed,
      [this, session, ttl_seconds, done = std::move(done)](const Result<std::string>& body) {
        if (!body) return done(unavailable<void>(body.error()));
        const Result<bool> kept = etcd::parse_keepalive(*body);
        if (!kept) return done(unavailable<void>(kept.error()));
        if (!*kept) return grant(session, ttl_seconds, done);  // it ran out meanwhile
        // Without room etcd renews leases and takes no writes: only a write tells.
        const auto lease = leases_.find(session);
        if (lease == leases_.end() ||
            loop_.now() - lease->second.written < options_.lease_write_every)
          return done({});
        attach(session, lease->second, done);
      });
}

void EtcdRegister::grant(const SessionId& session, std::int64_t ttl_seconds, Done<void> done) {
  client_.call(
      "/v3/lease/grant", etcd::grant_body(ttl_seconds), Client::Repeat::kAllowed,
      [this, session, ttl_seconds, done = std::move(done)](const Result<std::string>& body) {
        if (!body) return done(unavailable<void>(body.error()));
        const Result<LeaseId> id = etcd::parse_grant(*body);
        if (!id) return done(unavailable<void>(id.error()));
        attach(session, {.id = *id, .ttl_seconds = ttl_seconds}, done);
      });
}

void EtcdRegister::attach(const SessionId& session, Lease lease, Done<void> done) {
  const etcd::Txn txn{.unconditional = true,
                      .puts = {{.key = session_key(session), .value = "", .lease = lease.id}}};
  client_.call(kTxn, txn_body(txn), Client::Repeat::kAllowed,
               [this, session, lease, done = std::move(done)](const Result<std::string>& body) {
                 if (!body) return done(unavailable<void>(body.error()));
                 leases_[session] = lease;
                 leases_[session].written = loop_.now();
                 done({});
               });
}

void EtcdRegister::end_lease(const SessionId& session, Done<void> done) {
  const auto known = leases_.find(session);
  const LeaseId id = known == leases_.end() ? LeaseId{} : known->second.id;
  leases_.erase(session);
  const etcd::Txn txn{.unconditional = true, .deletions = {{.first = session_key(session)}}};
  client_.call(kTxn, txn_body(txn), Client::Repeat::kAllowed,
               [done = std::move(done)](const Result<std::string>& body) {
                 if (!body) return done(unavailable<void>(body.error()));
                 done({});
               });
  // Only tidiness: it would run out by itself.
  if (id != LeaseId{})
    client_.call("/v3/lease/revoke", etcd::lease_body(id), Client::Repeat::kAllowed,
                 [](const Result<std::string>&) {});
}

void EtcdRegister::alive(Done<std::vector<SessionId>> done) {
  const std::string prefix = key("sessions/");
  client_.call(kRange, range_body(etcd::prefix_range(prefix), etcd::Values::kKeysOnly),
               Client::Repeat::kAllowed,
               [prefix, done = std::move(done)](const Result<std::string>& body) {
                 if (!body) return done(away<std::vector<SessionId>>(body.error()));
                 const Result<etcd::RangeReply> reply = etcd::parse_range(*body);
                 if (!reply) return done(away<std::vector<SessionId>>(reply.error()));
                 std::vector<SessionId> sessions;
                 for (const etcd::Pair& pair : reply->pairs)
                   sessions.emplace_back(pair.key.substr(prefix.size()));
                 std::ranges::sort(sessions);
                 done(std::move(sessions));
               });
}

}  // namespace

Result<std::unique_ptr<Register>> make_etcd(net::Loop& loop, EtcdOptions options) {
  if (!options.prefix.starts_with('/') || options.prefix.ends_with('/'))
    return fail(Code::kInvalid, "etcd prefix '" + options.prefix +
                                    "': want a path that begins and does not end with '/'");
  auto made = std::make_unique<EtcdRegister>(loop, std::move(options));
  if (Result<void> opened = made->open(); !opened) return std::unexpected(opened.error());
  return made;
}

}  // namespace cleave::coord
