// Verifier: what may be read, given what was written and what became of it.
//
// Pure bookkeeping: the generator tells it of every request before it is sent and of every reply.
//
//   one writer   At any time at most one client has writes of a key under way, and its requests
//                are answered in order: so the writes of a key form one sequence.
//   reads        come from anybody. A read must see what was acknowledged (or seen by another
//                read) before it was sent, or something sent since; never anything older.
//   unknown      A write without an answer (error, timeout, lost connection) may have happened,
//                may not, or may still happen later, which is legal but counted (`late_writes`).
//                The key is then only read until a read has succeeded.
//
//     writes of a key   1  2  3  4  5          a read sent when 2 was acknowledged and
//                          ^        ^          answered when 5 had been sent: 2..5 are legal
//                        floor    newest
//
// This is the register condition of linearizability (Herlihy, Wing 1990) for a single writer, with
// writes that carry their own number. Four kinds of keys: registers (SET), counters (INCR: nothing
// acknowledged may be missing, nothing may count twice), erasable (SET and DEL: what is deleted
// stays deleted), expiring (SET PX: gone after its time, not before).
//
// Threads: one owner. Cost: about 28 bytes a key, 50 ns a request.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"

namespace cleave::loadgen {

enum class Kind : std::uint8_t { kRegister, kCounter, kErasable, kExpiring };

// What a request asks of the server.
enum class Operation : std::uint8_t {
  kGet,
  kSet,
  kSetExpiring,
  kDelete,
  kSetZero,  // the first write of a counter
  kIncrement,
};

// One request under way; what has to be remembered to judge its reply.
struct Ticket {
  std::uint32_t key = 0;
  Operation operation = Operation::kGet;
  std::uint32_t version = 0;  // of a write: its place in the sequence of the key
                              // of a read: 0 = not to be judged
  std::uint32_t floor = 0;    // newest version that must have happened before it was sent
  Instant sent{};

  bool writes() const { return operation != Operation::kGet; }
};

// One reply, as far as it matters here.
struct Seen {
  enum class What : std::uint8_t { kUnknown, kOk, kAbsent, kValue, kInteger };
  What what = What::kUnknown;
  std::string_view text = {};  // kValue: the value; kUnknown: why
  std::int64_t integer = 0;
};

// Counts of everything that was judged.
struct Findings {
  std::uint64_t reads = 0;        // that were answered
  std::uint64_t reads_wrong = 0;  // saw what no order of the requests explains
  std::uint64_t writes_acked = 0;
  std::uint64_t writes_lost = 0;      // acknowledged, and known to be missing
  std::uint64_t writes_unknown = 0;   // sent, not answered
  std::uint64_t late_writes = 0;      // unknown ones that took effect after a later one
  std::vector<std::string> examples;  // the first few wrong reads, for a person
};

class Verifier {
 public:
  struct Options {
    std::uint32_t keys = 0;
    // Share of the keys that are of each kind, in thousandths; the rest are registers.
    std::uint32_t counters = 0;
    std::uint32_t erasable = 0;
    std::uint32_t expiring = 0;
    std::size_t value_bytes = 32;  // at least what the header of a value needs
    std::function<std::size_t(std::uint32_t key)> value_bytes_of = {};  // instead, key by key
    milliseconds ttl{2'000};                                            // of expiring keys
    milliseconds tolerance{200};  // around an expiry: clock skew between servers, scheduling
    std::uint64_t run = 0;        // part of every value, so that another run's are told apart
  };

  explicit Verifier(const Options& options);

  Kind kind(std::uint32_t key) const;

  // Whether this client may write the key now; if not, it should read it instead.
  bool may_write(std::uint32_t key, std::uint32_t client) const;

  // What is sent next. `dice` chooses between SET and DEL of erasable keys.
  Ticket begin_read(std::uint32_t key, Instant now) const;
  Ticket begin_write(std::uint32_t key, std::uint32_t client, Rng& dice, Instant now);

  // The value that this write sets. Requires: kSet or kSetExpiring.
  void append_value(const Ticket& write, std::string& out) const;

  // What became of it. Once for each ticket, in the order of sending for writes of one key.
  void finish(const Ticket& ticket, const Seen& seen, Instant now);

  // True if anything was ever sent to change the key: then a final read has something to check.
  bool written(std::uint32_t key) const { return states_[key].newest > 0 || states_[key].started; }

  const Findings& findings() const { return findings_; }

 private:
  struct State {
    std::uint32_t floor = 0;        // newest version acknowledged or seen; a counter's least value
    std::uint32_t newest = 0;       // newest version sent; increments sent, for a counter
    std::uint32_t last_delete = 0;  // newest version that is a delete
    std::uint32_t counted = 0;      // counter: what its newest acknowledged increment came to
    std::uint32_t writer = 0;       // whose writes are under way
    std::uint16_t under_way = 0;    // writes not answered yet
    bool started = false;           // counter: its SET 0 was acknowledged
    bool in_doubt = false;          // a write is unknown and no read has succeeded since
    bool retired = false;           // counter: its SET 0 is unknown and might come late
  };
  // When a version of an expiring key may be gone, and when it must be.
  struct Lifetime {
    std::uint32_t version = 0;
    Instant gone_from{};
    Instant gone_by{};
  };
  // An unknown write that did take effect, and the newest version sent when that was seen.
  struct Late {
    std::uint32_t version = 0;
    std::uint32_t until = 0;
  };

  void finish_write(const Ticket& ticket, const Seen& seen, Instant now);
  void acknowledge(const Ticket& ticket, const Seen& seen, Instant now);
  void judge_increment(const Ticket& ticket, std::int64_t value);
  void judge_delete(const Ticket& ticket, std::int64_t removed);
  void judge_counter(const Ticket& ticket, const Seen& seen);
  void judge_register(const Ticket& ticket, const Seen& seen, Instant now);
  void judge_absence(const Ticket& ticket, Instant now);
  void judge_version(const Ticket& ticket, std::uint32_t version);
  std::uint32_t sure(const Ticket& ticket) const;
  bool others_in_question(std::uint32_t key, std::uint32_t version) const;
  bool may_be_absent(const Ticket& ticket, Instant now) const;
  bool may_still_be_there(const Ticket& ticket, std::uint32_t version) const;
  bool came_late(const Ticket& ticket, std::optional<std::uint32_t> version);
  bool note_unknown(std::uint32_t key, const std::function<bool(std::uint32_t)>& is_it);
  void lost(const Ticket& ticket);
  void wrong(const Ticket& ticket, std::string_view saw);
  std::uint32_t version_of(std::uint32_t key, std::string_view value) const;  // 0: not one of ours
  std::string value_of(std::uint32_t key, std::uint32_t version) const;

  Options options_;
  std::vector<State> states_;
  std::map<std::uint32_t, std::vector<std::uint32_t>>
      unknown_;  // key -> versions without an answer
  std::map<std::uint32_t, std::vector<Late>> late_;
  std::map<std::uint32_t, std::vector<Lifetime>> lifetimes_;  // of expiring keys, the last few
  std::map<std::uint32_t, std::uint32_t> lost_;  // key -> acknowledged version that is missing
  Findings findings_;
};

}  // namespace cleave::loadgen
