// Generator::Impl: the phases, and what each client is given to do in them.
//
// Threads: see loadgen/generator.h.
#pragma once

#include <memory>
#include <vector>

#include "loadgen/client.h"
#include "loadgen/generator.h"
#include "loadgen/measure.h"
#include "loadgen/verifier.h"
#include "loadgen/visits.h"

namespace cleave::loadgen {

class Generator::Impl final : public Source {
 public:
  Impl(net::Loop& loop, Options options);
  ~Impl() override;

  void start(std::function<void(const Report&)> done);
  void stop();
  void move_to(const std::vector<net::Address>& addresses);
  bool has_moved() const;

  Phase phase() const { return phase_; }
  Progress progress() const { return {.done = visits_.done_count(), .of = visits_.keys()}; }
  Report report() const;
  Histogram take_latency() { return measure_.take_latency(); }
  const Keys& keys() const { return keys_; }
  std::vector<std::uint64_t> shares() const { return keys_.shares(shifts(loop_.now())); }

  bool next(std::uint32_t client, Ticket& ticket, std::string& request) override;
  void finished(std::uint32_t client, const Ticket& ticket, const Seen& seen) override;
  void connection_lost(const Error& why) override { measure_.connection_lost(why.message); }

 private:
  void enter(Phase phase);
  void tick();
  void move_on(Instant now);
  void finish_visit(const Ticket& ticket, bool answered);

  bool next_to_fill(std::uint32_t client, Ticket& ticket);
  bool next_to_run(std::uint32_t client, Ticket& ticket);
  bool next_to_sweep(Ticket& ticket);
  Ticket read_of(std::uint32_t key, Instant now) const;
  Ticket write_of(std::uint32_t key, std::uint32_t client, Instant now);
  void append_request(const Ticket& ticket, std::string& out);

  void give_credit(Instant now);
  std::uint64_t shifts(Instant now) const;
  nanoseconds elapsed(Instant now) const;

  net::Loop& loop_;
  Options options_;
  Keys keys_;
  Verifier verifier_;
  Measure measure_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Rng> rngs_;  // one a client: what it draws does not depend on the others' timing
  std::function<void(const Report&)> done_;

  Phase phase_ = Phase::kIdle;
  Visits visits_;  // of filling or sweeping
  std::uint64_t under_way_ = 0;
  std::uint64_t filled_ = 0;
  std::uint64_t swept_ = 0;
  std::uint64_t unchecked_ = 0;
  Instant phase_began_{};
  Instant run_began_{};
  Instant run_ended_{};  // zero: not yet
  Instant second_ends_{};
  Instant next_check_{};  // of the clients' time-outs
  net::TimerId timer_{};

  // With a limited rate: how many requests may have been sent by now, and how many were.
  std::uint64_t allowed_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<std::uint32_t> hungry_;  // clients that were told to wait, in order
  std::vector<bool> is_hungry_;

  std::string name_;
  std::string value_;
};

}  // namespace cleave::loadgen
