// Clients: the connections of one worker's clients.
//
//   Stream --> Client (requests cut out, windows, budgets) --> Handler --> Request --> Client
//
// It flushes them at the end of a turn, and closes those that cost too much or have gone.
//
// Threads: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "net/loop.h"
#include "proxy/clients/client.h"
#include "proxy/clients/request.h"
#include "proxy/commands/pool.h"
#include "proxy/facts/counters.h"
#include "wire/resp.h"

namespace cleave::proxy {

class Clients final : private net::TurnEnd {
 public:
  // What is done with requests: each is answered exactly once, by `answer_now` or its Request.
  class Handler {
   public:
    virtual void handle(Client& client, const wire::Request& said) = 0;

   protected:
    ~Handler() = default;
  };

  struct Options {
    net::Loop& loop;
    Limits limits;
    Handler& handler;
    WorkerCounters& counters;
    // A request of more bytes travels alone (see Client).
    std::size_t shared_bytes_max = 0;
    // Ids of clients are unique in the process: this worker's number, of so many.
    std::size_t worker = 0;
    std::size_t workers = 1;
    bool trusted = true;  // they need no password
  };

  explicit Clients(Options options);
  ~Clients() override;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  void add(std::unique_ptr<net::Stream> stream);
  std::size_t size() const { return clients_.size(); }
  // The last one that was closed by us.
  const Shed& last_shed() const { return last_shed_; }
  // To be called now and then: sheds those that have not read their replies for too long.
  void tick();
  // Tells every client the error, closes everything. Requests that are still open go on without.
  void stop(const std::string& text);

  // ---- answers --------------------------------------------------------------------------------
  // A new last place in the client's order. `writes`: a read before it must not be sent again.
  Request& open(Client& client, bool writes);
  // What needs no server.
  void answer_now(Client& client, std::string_view reply);
  void answer_error(Client& client, std::string_view text);  // without '-'
  // Closes a client that costs too much.
  void shed(Client& client, ShedCause cause, const std::string& why);

  // ---- from a Client and its requests ---------------------------------------------------------
  const Options& options() const { return options_; }
  // The client broke the protocol.
  void handle_broken(Client& client, const Error& why);
  void touch(Client& client);
  void part_with(Client& client);
  void release(Request& request) { requests_.put(&request); }

 private:
  void on_turn_end() override;
  void note_shed(const Client& client, ShedCause cause, const std::string& why);

  Options options_;
  Pool<Request> requests_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> touched_;
  std::vector<Client*> flushing_;
  std::vector<std::unique_ptr<Client>> graveyard_;  // until the end of the turn
  bool turn_asked_ = false;
  std::uint64_t next_client_ = 1;
  Shed last_shed_;
  std::string scratch_;
};

}  // namespace cleave::proxy
