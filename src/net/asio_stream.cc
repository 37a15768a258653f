// Streams over TCP sockets.
//
// A Stream is a handle; the Connection behind it is also held by its outstanding reads and waits,
// so that it can be closed and its handle destroyed in the middle of its own callback. `closed_`
// says that nobody is to be called any more.
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <utility>

#include "base/check.h"
#include "net/asio_core.h"

namespace cleave::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
// The concrete executor: with the default one, any_io_executor, Asio goes through type erasure.
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

// A read buffer starts small, for thousands of idle connections; doubles when a read fills it; and
// is halved after some reads in a row that used less than a quarter of it.
constexpr std::size_t kReadBytesMin = 2'048;
constexpr std::size_t kReadBytesMax = 65'536;
constexpr std::uint32_t kSmallReadsMax = 16;

// Kept output of more than this is given back once written.
constexpr std::size_t kOutputKept = 65'536;

class Connection final
    : public boost::intrusive_ref_counter<Connection, boost::thread_unsafe_counter> {
 public:
  explicit Connection(LoopCore& loop) : socket_(loop.context().get_executor()) {}

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

  void read();
  void on_read(const error_code& failed, std::size_t count);
  void deliver(std::size_t count);
  void fit_buffer(std::size_t count);
  std::size_t write_now(std::string_view bytes);
  void await_writable();
  void on_writable(const error_code& failed);
  void give_output_back();
  void fail_later(const error_code& failed);
  void fail(const error_code& failed);

  Socket socket_;
  StreamEvents* events_ = nullptr;

  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_bytes_ = 0;
  std::size_t held_ = 0;  // bytes in the buffer that came in while paused
  std::uint32_t small_reads_ = 0;

  std::string output_;
  std::size_t output_begin_ = 0;  // what lies before is written; erased lazily
  std::uint64_t sent_total_ = 0;
  std::string peer_;

  bool closed_ = false;
  std::optional<error_code> broken_;  // why a write failed; on_closed is on its way
  bool paused_ = false;
  bool reading_ = false;  // a read is outstanding or its bytes are being delivered
  bool writing_ = false;  // waiting for the socket to take more
};

std::unexpected<Error> cannot_open(const error_code& failed) {
  return fail(Code::kUnavailable, "new connection: " + failed.message());
}

Error describe(const std::string& peer, const error_code& failed) {
  if (failed == asio::error::eof) return Error{Code::kUnavailable, peer + ": closed by the peer"};
  return Error{Code::kUnavailable, peer + ": connection lost: " + failed.message()};
}

Result<void> Connection::open(UniqueFd fd) {
  error_code failed;
  // IPv4 or 6: Asio does not look at it again for a connected socket.
  socket_.assign(asio::ip::tcp::v4(), fd.get(), failed);
  if (failed) return cannot_open(failed);
  std::ignore = fd.release();
  const auto endpoint = socket_.remote_endpoint(failed);
  if (!failed) socket_.non_blocking(true, failed);
  if (!failed) socket_.set_option(asio::ip::tcp::no_delay(true), failed);
  if (failed) return cannot_open(failed);
  peer_ = to_string(Address{.host = endpoint.address().to_string(), .port = endpoint.port()});
  return {};
}

void Connection::start(StreamEvents& events) {
  CHECK(events_ == nullptr);
  events_ = &events;
  if (closed_) return;
  if (broken_) return fail_later(*broken_);
  buffer_bytes_ = kReadBytesMin;
  buffer_ = std::make_unique_for_overwrite<char[]>(buffer_bytes_);
  if (!paused_) read();
}

void Connection::read() {
  reading_ = true;
  socket_.async_read_some(asio::buffer(buffer_.get(), buffer_bytes_),
                          [self = Self(this)](const error_code& failed, std::size_t count) {
                            self->on_read(failed, count);
                          });
}

void Connection::on_read(const error_code& failed, std::size_t count) {
  if (closed_) return;
  if (failed) return fail(failed);
  if (paused_) {
    held_ = count;
    reading_ = false;
    return;
  }
  deliver(count);
}

void Connection::deliver(std::size_t count) {
  events_->on_bytes(std::string_view(buffer_.get(), count));
  if (closed_) return;
  fit_buffer(count);
  if (paused_) {
    reading_ = false;
  } else {
    read();
  }
}

void Connection::fit_buffer(std::size_t count) {
  std::size_t wanted = buffer_bytes_;
  small_reads_ = count < buffer_bytes_ / 4 ? small_reads_ + 1 : 0;
  if (count == buffer_bytes_ && buffer_bytes_ < kReadBytesMax) wanted = buffer_bytes_ * 2;
  if (small_reads_ >= kSmallReadsMax && buffer_bytes_ > kReadBytesMin) wanted = buffer_bytes_ / 2;
  if (wanted == buffer_bytes_) return;
  small_reads_ = 0;
  buffer_bytes_ = wanted;
  buffer_ = std::make_unique_for_overwrite<char[]>(buffer_bytes_);
}

void Connection::resume_reading() {
  paused_ = false;
  if (events_ == nullptr || closed_ || broken_ || reading_) return;
  if (held_ == 0) return read();
  // Not within this call: the owner is in the middle of something.
  reading_ = true;
  asio::post(socket_.get_executor(), [self = Self(this)] {
    self->on_read({}, std::exchange(self->held_, 0));
  });
}

void Connection::send(std::string_view bytes) {
  if (closed_ || broken_ || bytes.empty()) return;
  if (output_.empty()) bytes.remove_prefix(write_now(bytes));
  if (bytes.empty() || broken_) return;
  if (output_begin_ > output_.size() / 2) {
    output_.erase(0, output_begin_);
    output_begin_ = 0;
  }
  output_.append(bytes);
  await_writable();
}

// How many of the bytes the kernel took. A failure is told later, from the loop.
std::size_t Connection::write_now(std::string_view bytes) {
  error_code failed;
  const std::size_t count = socket_.write_some(asio::buffer(bytes), failed);
  sent_total_ += count;
  if (failed && failed != asio::error::would_block && failed != asio::error::interrupted)
    fail_later(failed);
  return count;
}

void Connection::await_writable() {
  if (std::exchange(writing_, true)) return;
  socket_.async_wait(Socket::wait_write, [self = Self(this)](const error_code& failed) {
    self->on_writable(failed);
  });
}

void Connection::on_writable(const error_code& failed) {
  writing_ = false;
  if (closed_ || broken_) return;
  if (failed) return fail_later(failed);
  output_begin_ += write_now(std::string_view(output_).substr(output_begin_));
  if (broken_) return;
  if (unsent() > 0) return await_writable();
  give_output_back();
  if (events_ != nullptr) events_->on_drained();
}

void Connection::give_output_back() {
  output_.clear();
  output_begin_ = 0;
  if (output_.capacity() > kOutputKept) output_.shrink_to_fit();
}

void Connection::fail_later(const error_code& failed) {
  broken_ = failed;
  give_output_back();
  asio::post(socket_.get_executor(), [self = Self(this), failed] { self->fail(failed); });
}

void Connection::fail(const error_code& failed) {
  if (closed_ || events_ == nullptr) return;  // `start` will tell it again
  close();
  events_->on_closed(describe(peer_, failed));
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  give_output_back();
  error_code ignored;
  socket_.close(ignored);
}

class AsioStream final : public Stream {
 public:
  explicit AsioStream(boost::intrusive_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  AsioStream(const AsioStream&) = delete;
  AsioStream& operator=(const AsioStream&) = delete;
  ~AsioStream() override { connection_->close(); }

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
  return std::make_unique<AsioStream>(std::move(connection));
}

}  // namespace cleave::net
