// Streams over TCP sockets.
//
// A Stream is a handle; the Connection behind it holds itself while it runs a callback, so that it
// can be closed and its handle destroyed in the middle of it. `closed_` says that nobody is to be
// called any more.
//
// All connections of a loop read into one buffer: an idle one costs no memory, and the buffer stays
// in the cache.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "net/asio_core.h"
#include "net/poller.h"
#include "net/socket_name.h"

namespace cleave::net {
namespace {

// Kept output of more than this is given back once written.
constexpr std::size_t kOutputKept = 65'536;

// Reads of one connection in one turn; then the others have theirs.
constexpr int kReadsMax = 4;

class Connection final
    : public Pollable,
      public boost::intrusive_ref_counter<Connection, boost::thread_unsafe_counter> {
 public:
  explicit Connection(LoopCore& loop) : loop_(loop) {}

  Result<void> open(UniqueFd fd);

  void start(StreamEvents& events);
  void send(std::string_view bytes);
  void pause_reading() { paused_ = true; }
  void resume_reading();
  void close();

  std::size_t unsent() const { return output_.size() - output_begin_; }
  std::uint64_t sent_total() const { return sent_total_; }
  const std::string& peer() const { return peer_; }

 private:
  using Self = boost::intrusive_ptr<Connection>;

  void on_ready(std::uint32_t events) override;
  void read();
  bool may_read() const;
  bool read_once();
  void flush();
  std::size_t write_now(std::string_view bytes);
  void give_output_back();
  void visit_again();
  void fail_after_reading();
  void fail(const std::string& why);

  LoopCore& loop_;
  UniqueFd fd_;
  StreamEvents* events_ = nullptr;  // nullptr: not started

  std::string output_;
  std::size_t output_begin_ = 0;  // what lies before is written; erased lazily
  std::uint64_t sent_total_ = 0;
  std::string peer_;
  std::optional<int> broken_;  // errno of a failed write; on_closed is on its way

  bool closed_ = false;
  bool ended_ = false;  // the peer sends no more, and the owner knows
  bool paused_ = false;
  bool readable_ = false;  // there may be bytes that no event will tell of again
  bool hung_up_ = false;   // the peer will send no more: read to the end
  bool revisited_ = false;
};

Result<void> Connection::open(UniqueFd fd) {
  const int yes = 1;
  const Result<Address> peer = peer_name(fd.get());
  if (!peer) return std::unexpected(peer.error());
  peer_ = to_string(*peer);
  if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0 ||
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) != 0)
    return cleave::fail(Code::kUnavailable, peer_ + ": " + std::generic_category().message(errno));
  if (Result<void> added = loop_.poller().add(fd.get(), *this); !added) return added;
  fd_ = std::move(fd);
  return {};
}

void Connection::start(StreamEvents& events) {
  CHECK(events_ == nullptr);
  events_ = &events;
  if (readable_ || broken_) visit_again();
}

void Connection::on_ready(std::uint32_t events) {
  const Self alive(this);
  if (events == 0) revisited_ = false;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = readable_ = true;
  if ((events & EPOLLIN) != 0) readable_ = true;
  if ((events & EPOLLOUT) != 0) flush();
  if (broken_ && events == 0) return fail_after_reading();
  if (ended_ && (events & (EPOLLHUP | EPOLLERR)) != 0) return fail("");
  read();
}

bool Connection::may_read() const {
  return readable_ && !paused_ && !closed_ && !ended_ && !broken_ && events_ != nullptr;
}

void Connection::read() {
  for (int reads = 0; may_read(); ++reads) {
    if (reads == kReadsMax) return visit_again();
    if (!read_once()) return;
  }
}

// False: the connection is at its end.
bool Connection::read_once() {
  const std::span<char> buffer = loop_.read_buffer();
  const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (count > 0) {
    // A short read has emptied the socket; what comes now is a new event.
    readable_ = hung_up_ || static_cast<std::size_t>(count) == buffer.size();
    events_->on_bytes(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    return true;
  }
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN) {
    readable_ = false;
    return true;
  }
  if (count == 0) {
    ended_ = true;
    if (!events_->on_end()) fail("");
    return false;
  }
  fail(std::generic_category().message(errno));
  return false;
}

// A write that failed: what the peer said before it closed is still to be read, and may be why.
void Connection::fail_after_reading() {
  for (int reads = 0; reads < kReadsMax && !paused_ && !closed_ && !ended_; ++reads) {
    if (events_ == nullptr || !read_once() || !readable_) break;
  }
  fail(std::generic_category().message(*broken_));
}

void Connection::resume_reading() {
  paused_ = false;
  // Not within this call: the owner is in the middle of something.
  if (may_read()) visit_again();
}

void Connection::visit_again() {
  if (std::exchange(revisited_, true)) return;
  loop_.visit_again(*this);
}

void Connection::send(std::string_view bytes) {
  if (closed_ || broken_ || bytes.empty()) return;
  if (output_.empty()) bytes.remove_prefix(write_now(bytes));
  if (bytes.empty() || broken_) return;
  if (output_begin_ > output_.size() / 2) {
    output_.erase(0, output_begin_);
    output_begin_ = 0;
  }
  output_.append(bytes);  // the next EPOLLOUT continues
}

// How many of the bytes the kernel took: all, or until it was full, so that an event will come.
std::size_t Connection::write_now(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      broken_ = errno;
      readable_ = true;
      give_output_back();
      visit_again();  // told later, from the loop
      break;
    }
  }
  sent_total_ += done;
  return done;
}

void Connection::flush() {
  if (output_.empty() || closed_ || broken_) return;
  output_begin_ += write_now(std::string_view(output_).substr(output_begin_));
  if (broken_ || unsent() > 0) return;
  give_output_back();
  if (events_ != nullptr) events_->on_drained();
}

void Connection::give_output_back() {
  output_.clear();
  output_begin_ = 0;
  if (output_.capacity() > kOutputKept) output_.shrink_to_fit();
}

void Connection::fail(const std::string& why) {
  if (closed_ || events_ == nullptr) return;  // `start` will bring it here again
  close();
  const std::string what = why.empty() ? ": closed by the peer" : ": connection lost: " + why;
  events_->on_closed(Error{Code::kUnavailable, peer_ + what});
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  give_output_back();
  loop_.poller().forget(*this);
  fd_.reset();
}

class TcpStream final : public Stream {
 public:
  explicit TcpStream(boost::intrusive_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;
  ~TcpStream() override { connection_->close(); }

  void start(StreamEvents& events) override { connection_->start(events); }
  void send(std::string_view bytes) override { connection_->send(bytes); }
  std::size_t unsent() const override { return connection_->unsent(); }
  std::uint64_t sent_total() const override { return connection_->sent_total(); }
  void pause_reading() override { connection_->pause_reading(); }
  void resume_reading() override { connection_->resume_reading(); }
  void close() override { connection_->close(); }
  std::string peer() const override { return connection_->peer(); }

 private:
  boost::intrusive_ptr<Connection> connection_;
};

}  // namespace

Result<std::unique_ptr<Stream>> make_stream(LoopCore& loop, UniqueFd fd) {
  boost::intrusive_ptr<Connection> connection(new Connection(loop));
  if (Result<void> opened = connection->open(std::move(fd)); !opened)
    return std::unexpected(opened.error());
  return std::make_unique<TcpStream>(std::move(connection));
}

}  // namespace cleave::net
