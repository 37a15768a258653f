// How connections come into being: connect, and listen with accept.
#include <fcntl.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <utility>

#include "net/asio_core.h"
#include "net/descriptors.h"

namespace cleave::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Resolver = asio::ip::basic_resolver<tcp, Executor>;
using BasicAcceptor = asio::basic_socket_acceptor<tcp, Executor>;

// ---- connect ---------------------------------------------------------------------------------

// One attempt: ends exactly once, by the socket, the resolver or the timer.
class Attempt final : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(LoopCore& loop, Address address, Loop::Connected done)
      : loop_(loop),
        address_(std::move(address)),
        done_(std::move(done)),
        resolver_(loop.context().get_executor()),
        socket_(loop.context().get_executor()) {}

  void begin(milliseconds timeout);

 private:
  void resolve();
  void connect_to(const Resolver::results_type& endpoints);
  void on_connected(const error_code& failed);
  void finish(Result<std::unique_ptr<Stream>> result);
  std::unexpected<Error> refuse(const std::string& why) const {
    return fail(Code::kUnavailable, "connect to " + to_string(address_) + ": " + why);
  }

  LoopCore& loop_;
  Address address_;
  Loop::Connected done_;  // nullptr: told
  Resolver resolver_;
  Socket socket_;
  TimerId timer_;
};

void Attempt::begin(milliseconds timeout) {
  timer_ = loop_.after(timeout, [self = shared_from_this(), timeout] {
    self->finish(fail(Code::kTimeout, "connect to " + to_string(self->address_) +
                                          ": no answer within " + std::to_string(timeout.count()) +
                                          " ms"));
  });
  error_code not_numeric;
  const asio::ip::address host = asio::ip::make_address(address_.host, not_numeric);
  if (not_numeric) return resolve();
  // Straight to the socket: the resolver would start a thread.
  socket_.async_connect(
      tcp::endpoint(host, address_.port),
      [self = shared_from_this()](const error_code& failed) { self->on_connected(failed); });
}

void Attempt::resolve() {
  resolver_.async_resolve(
      address_.host, std::to_string(address_.port), Resolver::numeric_service,
      [self = shared_from_this()](const error_code& failed, const Resolver::results_type& found) {
        if (failed) return self->finish(self->refuse("unknown host: " + failed.message()));
        if (self->done_) self->connect_to(found);
      });
}

void Attempt::connect_to(const Resolver::results_type& endpoints) {
  asio::async_connect(socket_, endpoints,
                      [self = shared_from_this()](const error_code& failed, const tcp::endpoint&) {
                        self->on_connected(failed);
                      });
}

void Attempt::on_connected(const error_code& failed) {
  if (!done_) return;
  if (failed) return finish(refuse(failed.message()));
  // Linux lets a socket connect to itself when the port asked for is one that it may choose as its
  // own and nobody listens there: a dead server on such a port would look alive at some retry.
  error_code ignored;
  if (socket_.local_endpoint(ignored) == socket_.remote_endpoint(ignored))
    return finish(refuse("nobody listens there"));
  error_code kept;
  UniqueFd fd(socket_.release(kept));
  if (kept) return finish(refuse(kept.message()));
  finish(make_stream(loop_, std::move(fd)));
}

void Attempt::finish(Result<std::unique_ptr<Stream>> result) {
  if (!done_) return;
  const Loop::Connected done = std::exchange(done_, nullptr);
  loop_.cancel(std::exchange(timer_, TimerId{}));
  error_code ignored;
  socket_.close(ignored);
  resolver_.cancel();
  done(std::move(result));
}

// ---- listen ----------------------------------------------------------------------------------

// How long accepting rests when the process or the machine is out of descriptors or memory.
constexpr milliseconds kAcceptPause{100};

// In one turn; then the connections that there are have theirs.
constexpr int kAcceptsMax = 64;

bool out_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// What a connection takes along to another loop. No Asio object: this may outlive the first loop.
struct Receiver {
  Loop::Acceptor user;
  std::atomic<bool> stopped = false;
};

void arrive(Receiver& receiver, LoopCore& loop, UniqueFd fd) {
  if (receiver.stopped) return;
  Result<std::unique_ptr<Stream>> stream = make_stream(loop, std::move(fd));
  if (stream) receiver.user.accepted(loop, std::move(*stream));  // else the peer left already
}

// Shared by the listener and the accept that is outstanding.
class Accepting final : public std::enable_shared_from_this<Accepting> {
 public:
  Accepting(LoopCore& loop, Loop::Acceptor acceptor)
      : loop_(loop),
        receiver_(std::make_shared<Receiver>(std::move(acceptor))),
        socket_(loop.context().get_executor()) {}

  Result<Address> open(const Address& address);
  void accept();
  void stop();

 private:
  void on_ready();
  void hand_over(UniqueFd fd);
  void rest();
  void tell_paused(bool paused);

  LoopCore& loop_;
  std::shared_ptr<Receiver> receiver_;
  BasicAcceptor socket_;
  TimerId pause_;
  bool paused_ = false;
};

// The kernel gives the lowest number that is free: so close to the limit, so few are left.
bool few_descriptors_left(int any_open, std::size_t kept) {
  if (kept == 0) return false;
  const UniqueFd next(::fcntl(any_open, F_DUPFD_CLOEXEC, 0));
  return !next || static_cast<std::size_t>(next.get()) + kept >= descriptors_max();
}

// Resolves and binds within the call: listening is start-up.
Result<Address> Accepting::open(const Address& address) {
  const std::string where = "listen on " + to_string(address);
  error_code failed;
  Resolver resolver(loop_.context().get_executor());
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      Resolver::numeric_service | Resolver::passive, failed);
  if (failed) return fail(Code::kUnavailable, where + ": unknown host: " + failed.message());
  const tcp::endpoint endpoint = found.begin()->endpoint();
  socket_.open(endpoint.protocol(), failed);
  if (!failed) socket_.set_option(BasicAcceptor::reuse_address(true), failed);
  if (!failed) socket_.non_blocking(true, failed);
  if (!failed) socket_.bind(endpoint, failed);
  if (!failed) socket_.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) return fail(Code::kUnavailable, where + ": " + failed.message());
  const tcp::endpoint bound = socket_.local_endpoint(failed);
  if (failed) return fail(Code::kUnavailable, where + ": " + failed.message());
  return Address{.host = bound.address().to_string(), .port = bound.port()};
}

void Accepting::accept() {
  socket_.async_wait(BasicAcceptor::wait_read,
                     [self = shared_from_this()](const error_code& failed) {
                       if (!failed) self->on_ready();
                     });
}

void Accepting::on_ready() {
  for (int accepted = 0; accepted < kAcceptsMax && !receiver_->stopped; ++accepted) {
    const int own = socket_.native_handle();
    if (few_descriptors_left(own, receiver_->user.descriptors_kept)) return rest();
    UniqueFd fd(::accept4(own, nullptr, nullptr, SOCK_CLOEXEC));
    if (fd) {
      hand_over(std::move(fd));
    } else if (out_of_resources(errno)) {
      return rest();
    } else if (errno == EAGAIN) {
      break;
    }
    // Anything else concerns that one connection (it was reset while it waited, say).
  }
  if (receiver_->stopped) return;
  tell_paused(false);
  accept();
}

void Accepting::rest() {
  pause_ = loop_.after(kAcceptPause, [self = shared_from_this()] {
    self->on_ready();  // also when nobody waits any more: then the pause is over
  });
  tell_paused(true);
}

void Accepting::tell_paused(bool paused) {
  if (std::exchange(paused_, paused) == paused || !receiver_->user.paused) return;
  receiver_->user.paused(paused);
}

void Accepting::hand_over(UniqueFd fd) {
  auto& chosen = static_cast<LoopCore&>(receiver_->user.choose());
  const std::shared_ptr<Receiver> receiver = receiver_;
  if (&chosen == &loop_) return arrive(*receiver, chosen, std::move(fd));
  auto shared = std::make_shared<UniqueFd>(std::move(fd));  // std::function wants to be copyable
  chosen.post([receiver, &chosen, shared] { arrive(*receiver, chosen, std::move(*shared)); });
}

void Accepting::stop() {
  receiver_->stopped = true;
  loop_.cancel(pause_);
  error_code ignored;
  socket_.close(ignored);
}

class AsioListener final : public Listener {
 public:
  AsioListener(std::shared_ptr<Accepting> accepting, Address address)
      : accepting_(std::move(accepting)), address_(std::move(address)) {}
  AsioListener(const AsioListener&) = delete;
  AsioListener& operator=(const AsioListener&) = delete;
  ~AsioListener() override { accepting_->stop(); }

  Address address() const override { return address_; }

 private:
  std::shared_ptr<Accepting> accepting_;
  Address address_;
};

}  // namespace

void LoopCore::connect(const Address& address, milliseconds timeout, Connected done) {
  std::make_shared<Attempt>(*this, address, std::move(done))->begin(timeout);
}

Result<std::unique_ptr<Listener>> LoopCore::listen(const Address& address, Acceptor acceptor) {
  auto accepting = std::make_shared<Accepting>(*this, std::move(acceptor));
  Result<Address> bound = accepting->open(address);
  if (!bound) return std::unexpected(bound.error());
  accepting->accept();
  return std::make_unique<AsioListener>(std::move(accepting), std::move(*bound));
}

}  // namespace cleave::net
