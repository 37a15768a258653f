// Worker: one loop's share of the data path. It owns its clients, its pipes, its dirty sets and its
// heat counters; nothing of it is shared with another worker.
//
//   Client --handle--> route --> place --+--> hold      (rule 9: the range is fenced)
//                                        +--> transmit --> Pipe
//   Pipe --replied--> heat, rules 10 and 11 (Moving) --> deliver --> Client
//
// Files: worker.cc (life, views, clients), worker_requests.cc (from a request to pipes),
// worker_replies.cc (from a pipe to a client).
//
// Threads: its loop's. The Router posts to it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/fifo.h"
#include "backend/health.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "heat/recorder.h"
#include "net/loop.h"
#include "proxy/client.h"
#include "proxy/command_costs.h"
#include "proxy/links.h"
#include "proxy/local_commands.h"
#include "proxy/moving.h"
#include "proxy/process_facts.h"
#include "proxy/request.h"
#include "proxy/server_commands.h"
#include "ring/view/view.h"
#include "route/route.h"
#include "wire/resp.h"

namespace cleave::proxy {

// How many keys clients can read.
using KeysCounted = std::function<void(const Result<std::uint64_t>&)>;

class Worker final : public net::TurnEnd, public CommandOwner {
 public:
  struct Options {
    std::size_t number = 0;  // among the process's workers
    net::Loop& loop;
    std::unique_ptr<backend::Gate> gate;  // answers on `loop`
    std::shared_ptr<ProcessFacts> process;
    backend::Credentials credentials;
    std::string client_password;
    Limits limits;
    Mutations mutations;
    std::uint64_t seed = 0;
    // Asks the pool's leader; answered on `loop`, once, unless the control side has gone.
    std::function<void(KeysCounted)> count_keys;
    // Called on `loop`.
    std::function<void(Epoch)> adopted;
    Moving::Cleared cleared;
  };

  explicit Worker(Options options);
  ~Worker() override;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  net::Loop& loop() const { return options_.loop; }
  std::size_t clients() const { return clients_.size(); }

  // ---- orders of the Router -------------------------------------------------------------------
  // Views only go forward: an older one is passed over.
  void adopt(const ring::RingSnapshot& view);
  void learn(std::shared_ptr<const ServerCommands> commands);
  // As the node's prober sees it. An incarnation that the worker's own connection does not know (a
  // failover left it open) makes it connect anew.
  void set_health(NodeId node, const backend::Health& seen);
  // Requires: a view and the command table.
  void add_client(std::unique_ptr<net::Stream> stream);
  peer::DirtyBatch take_dirty(MoveId move, const std::vector<std::string>& watch) {
    return moving_.take(move, watch);
  }
  // What was counted; from now on requests cost `costs` (nullptr: nothing is known of that yet).
  std::vector<heat::Report> take_heat(std::shared_ptr<const CommandCosts> costs) {
    if (costs != nullptr) costs_ = std::move(costs);
    return recorder_.take(options_.loop.now());
  }
  const Shed& last_shed() const { return last_shed_; }
  std::vector<NodeTraffic> traffic() const;
  // Tells every client why, closes everything; nothing is sent any more.
  void stop(const Error& why);
  // Only for the simulator: see Mutations::leave_fence_alone.
  void break_fence(MoveId move, Epoch phase_epoch);

  // ---- from clients ---------------------------------------------------------------------------
  void handle(Client& client, const wire::Request& said);
  // The client broke the protocol.
  void handle_broken(Client& client, const Error& why);
  void touch(Client& client);
  void release(Request& request);
  // Closes a client that costs too much.
  void shed(Client& client, ShedCause cause, const std::string& why);
  void part_with(Client& client);

  // ---- from commands --------------------------------------------------------------------------
  void replied(Command& command, std::string_view raw) override;
  void failed(Command& command, const Error& why, backend::Outcome outcome) override;
  void finished(Command& command) override;
  void dropped(Command& command) override;

  void on_turn_end() override;

 private:
  enum class Keep : std::uint8_t { kAll, kKeys };

  WorkerCounters& counters() { return options_.process->workers[options_.number]; }

  // ---- worker.cc ------------------------------------------------------------------------------
  void keep_house();
  void give_up_held(Instant now);
  void shed_stalled(Instant now);
  void note_shed(const Client& client, ShedCause cause, const std::string& why);

  // ---- worker_requests.cc ---------------------------------------------------------------------
  void answer_now(Client& client, std::string_view reply);
  void answer_error(Client& client, std::string_view text);
  void answer_locally(Client& client, const wire::Request& said);
  wire::Request clean(const wire::Request& said);
  void forward(Client& client, const wire::Request& said);
  void fan_out(Client& client, const wire::Request& said);
  void gather_parts(Request& request);
  bool is_fenced(ring::RangeIndex index) const;
  void encode_part(const wire::Request& said, Command& part);
  void everywhere(Client& client, const wire::Request& said);
  void count_keys(Client& client);
  bool has_copies() const;
  void keys_counted(std::uint64_t number, const Result<std::uint64_t>& keys);
  void give_up_counting(const std::string& text);
  void count_without_leader(Instant now);
  void count_on_nodes(Request& request);
  void flush_everywhere(Client& client, const wire::Request& said);
  void send_flush(Command& whole, std::string_view raw);
  void send_apart(std::vector<Command*> parts, std::string_view raw);
  std::string title_of(const Command& command);
  // Why no part of a flush is sent; empty: nothing is against it.
  std::string against_flush() const;
  Command& new_command(Request& request);
  void add_key(Command& command, std::string_view raw, const route::KeyPlace& key,
               std::string_view arg);
  // `raw` is the whole command; the keys' places are in it.
  void place(Command& command, std::string_view raw);
  void keep(Command& command, std::string_view raw, Keep what);
  void hold(Command& command, std::string_view raw);
  void release_held();
  void note_elements(Command& command, std::string_view raw);
  void transmit(Command& command, std::string_view raw);

  // ---- worker_replies.cc ----------------------------------------------------------------------
  void settle(Command& command, bool ran);
  void deliver(Command& command, std::string_view raw);
  void deliver_error(Command& command, const std::string& text);
  void complete_fan_out(Request& request);
  void fail_now(Command& command, const Error& why);
  static bool is_overtaken(const Request& request);
  bool retry(Command& command, const Error& why, backend::Outcome outcome);
  std::size_t gathered_bytes_max() const { return 4 * options_.limits.client_unsent_bytes_hard; }
  void note_error(const Command& command, ErrorCause cause);
  void note_gathered(std::size_t before, std::size_t after);
  std::string too_much_gathered();
  std::string describe(const Command& command, const Error& why, backend::Outcome outcome) const;
  void count_heat(const Command& command, std::size_t reply_bytes);
  void mark_later(const Command& command);

  Options options_;
  ring::RingSnapshot view_;
  std::shared_ptr<const ServerCommands> commands_known_;
  std::unique_ptr<route::Router> router_;
  Links links_;
  Moving moving_;
  heat::Recorder recorder_;
  std::shared_ptr<const CommandCosts> costs_;  // nullptr: every command costs the default

  Pool<Request> requests_;
  Pool<Command> commands_;
  CommandList unfinished_;
  backend::Fifo<Command*> held_;  // in the order they came
  std::size_t held_bytes_ = 0;
  struct Counted {
    Request* request = nullptr;
    Instant asked{0};
  };
  std::map<std::uint64_t, Counted> counting_;  // by number: the leader is asked
  std::uint64_t counts_asked_ = 0;
  std::size_t gathered_bytes_ = 0;  // of parts of replies that wait for the other parts

  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> touched_;
  std::vector<Client*> flushing_;
  std::vector<std::unique_ptr<Client>> graveyard_;  // until the end of the turn
  bool turn_asked_ = false;
  std::uint64_t next_client_ = 1;
  Shed last_shed_;
  net::TimerId house_;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  // Scratch of one request.
  route::Decision decision_;
  std::string scratch_;
  std::string reencoded_;
  wire::RequestParser reparser_;
  std::vector<Command*> parts_;
};

}  // namespace cleave::proxy
