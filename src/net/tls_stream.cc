#include "net/tls_stream.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "base/check.h"

namespace cleave::net {
namespace {

// The newest reason of this thread's queue, which is emptied: the next call must not see it.
std::string openssl_reason() {
  std::string reason = "unknown";
  while (const unsigned long error = ERR_get_error()) {
    const char* text = ERR_reason_error_string(error);
    reason = text != nullptr ? text : "error " + std::to_string(error);
  }
  return reason;
}

bool is_numeric(const std::string& host) {
  unsigned char address[16];
  return ::inet_pton(AF_INET, host.c_str(), address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address) == 1;
}

}  // namespace

// What OpenSSL frees.
struct TlsFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

class TlsContext::Impl {
 public:
  explicit Impl(const SSL_METHOD* method) : context_(SSL_CTX_new(method)) {
    CHECK(context_ != nullptr);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    // A renegotiation would make SSL_write wait for the peer; a lost close_notify is no news, for
    // every protocol above frames its messages itself.
    SSL_CTX_set_options(context_.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  }

  Result<void> load(const TlsFiles& files) {
    if (!files.ca.empty() &&
        SSL_CTX_load_verify_locations(context_.get(), files.ca.c_str(), nullptr) != 1)
      return fail(Code::kInvalid, "CA file " + files.ca + ": " + openssl_reason());
    if (files.ca.empty()) SSL_CTX_set_default_verify_paths(context_.get());
    if (files.certificate.empty()) return {};
    if (SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) != 1)
      return fail(Code::kInvalid, "certificate " + files.certificate + ": " + openssl_reason());
    if (SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1)
      return fail(Code::kInvalid, "key file " + files.key + ": " + openssl_reason());
    return {};
  }

  SSL_CTX* get() const { return context_.get(); }

 private:
  std::unique_ptr<SSL_CTX, TlsFree> context_;
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::client(const TlsFiles& files) {
  auto impl = std::make_unique<Impl>(TLS_client_method());
  if (Result<void> loaded = impl->load(files); !loaded) return std::unexpected(loaded.error());
  SSL_CTX_set_verify(impl->get(), SSL_VERIFY_PEER, nullptr);
  return std::make_shared<const TlsContext>(std::move(impl));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::server(const TlsFiles& files) {
  if (files.certificate.empty()) return fail(Code::kInvalid, "a TLS server needs a certificate");
  auto impl = std::make_unique<Impl>(TLS_server_method());
  if (Result<void> loaded = impl->load(files); !loaded) return std::unexpected(loaded.error());
  return std::make_shared<const TlsContext>(std::move(impl));
}

namespace {

// Shared by its handle and by its own running functions, for an event may destroy the handle.
class Session final : public StreamEvents, public std::enable_shared_from_this<Session> {
 public:
  using Shaken = std::function<void(Result<void>)>;

  Session(Loop& loop, std::unique_ptr<Stream> under, std::shared_ptr<const TlsContext> context)
      : loop_(loop), under_(std::move(under)), context_(std::move(context)) {
    ssl_.reset(SSL_new(context_->impl().get()));
    incoming_ = BIO_new(BIO_s_mem());
    outgoing_ = BIO_new(BIO_s_mem());
    CHECK(ssl_ != nullptr && incoming_ != nullptr && outgoing_ != nullptr);
    SSL_set_bio(ssl_.get(), incoming_, outgoing_);  // owns them from here on
  }

  void connect(const std::string& host, Shaken shaken);
  void accept();

  void start(StreamEvents& events);
  void send(std::string_view bytes);
  std::size_t unsent() const { return waiting_.size() + under_->unsent(); }
  std::uint64_t sent_total() const { return wrote_ ? under_->sent_total() : 0; }
  void pause_reading();
  void resume_reading();
  void close();
  std::string peer() const { return under_->peer(); }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_drained() override;
  void on_closed(const Error& why) override;

  void shake_hands();
  void encrypt(std::string_view bytes);
  void flush();
  void pump_later();
  void pump();
  bool read_one();
  void end(const Error& why);

  Loop& loop_;
  std::unique_ptr<Stream> under_;
  std::shared_ptr<const TlsContext> context_;
  std::unique_ptr<SSL, TlsFree> ssl_;
  BIO* incoming_ = nullptr;  // from the peer to OpenSSL
  BIO* outgoing_ = nullptr;
  StreamEvents* events_ = nullptr;
  Shaken shaken_;
  std::string waiting_;  // sent before the handshake was done
  bool shook_hands_ = false;
  bool wrote_ = false;
  bool paused_ = false;
  bool closed_ = false;  // nobody is to be told any more
  std::optional<Error> ended_;
};

void Session::connect(const std::string& host, Shaken shaken) {
  if (is_numeric(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host.c_str());
  } else {
    SSL_set1_host(ssl_.get(), host.c_str());
    // The macro SSL_set_tlsext_host_name casts in the old style.
    SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(host.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  shaken_ = std::move(shaken);
  SSL_set_connect_state(ssl_.get());
  under_->start(*this);
  shake_hands();
}

void Session::accept() {
  SSL_set_accept_state(ssl_.get());
  under_->start(*this);
}

void Session::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();
  BIO_write(incoming_, bytes.data(), static_cast<int>(bytes.size()));
  if (!shook_hands_) shake_hands();
  if (shook_hands_) pump();
}

void Session::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  const int error = SSL_get_error(ssl_.get(), result);
  flush();  // also the alert that tells the peer why not
  if (result == 1) {
    shook_hands_ = true;
    if (!waiting_.empty()) encrypt(std::exchange(waiting_, {}));
    if (const Shaken shaken = std::exchange(shaken_, nullptr)) shaken({});
  } else if (error != SSL_ERROR_WANT_READ) {
    const long verified = SSL_get_verify_result(ssl_.get());
    const std::string why =
        verified == X509_V_OK ? openssl_reason() : X509_verify_cert_error_string(verified);
    end(Error{Code::kUnavailable, peer() + ": TLS handshake failed: " + why});
  }
}

void Session::start(StreamEvents& events) {
  events_ = &events;
  pump_later();
}

void Session::send(std::string_view bytes) {
  if (closed_ || ended_ || bytes.empty()) return;
  if (shook_hands_) {
    encrypt(bytes);
  } else {
    waiting_ += bytes;
  }
}

void Session::encrypt(std::string_view bytes) {
  constexpr std::size_t kRecords = std::size_t{1} << 20U;  // bounds the copy in the BIO
  wrote_ = true;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kRecords);
    bytes.remove_prefix(piece.size());
    // A memory BIO takes everything, so it never waits; it fails only once the session is broken,
    // and then the end is told from below.
    if (SSL_write(ssl_.get(), piece.data(), static_cast<int>(piece.size())) <= 0) return;
    flush();
  }
}

void Session::flush() {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(outgoing_, &bytes);
  if (size <= 0) return;
  under_->send(std::string_view(bytes, static_cast<std::size_t>(size)));
  (void)BIO_reset(outgoing_);
}

void Session::pump_later() {
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->shook_hands_) self->pump();
    // An end from before `start`.
    else if (self && self->ended_)
      self->end(*self->ended_);
  });
}

void Session::pump() {
  const auto self = shared_from_this();
  while (events_ != nullptr && !closed_ && !paused_ && read_one()) {
  }
  flush();  // a key update asks for an answer
  if (ended_ && !paused_) end(*ended_);
}

// False: there is nothing more now.
bool Session::read_one() {
  char buffer[16'384];  // the largest record
  ERR_clear_error();
  const int size = SSL_read(ssl_.get(), buffer, sizeof buffer);
  if (size > 0) {
    events_->on_bytes(std::string_view(buffer, static_cast<std::size_t>(size)));
    return true;
  }
  const int error = SSL_get_error(ssl_.get(), size);
  if (error == SSL_ERROR_WANT_READ || ended_) return false;
  ended_ = Error{Code::kUnavailable,
                 peer() + (error == SSL_ERROR_ZERO_RETURN ? std::string(": closed by the peer")
                                                          : ": TLS: " + openssl_reason())};
  return false;
}

void Session::pause_reading() {
  paused_ = true;
  under_->pause_reading();
}

void Session::resume_reading() {
  paused_ = false;
  under_->resume_reading();
  pump_later();
}

void Session::on_drained() {
  if (shook_hands_ && events_ != nullptr && !closed_) events_->on_drained();
}

void Session::on_closed(const Error& why) {
  const auto self = shared_from_this();
  if (!ended_) ended_ = why;
  if (!shook_hands_) return end(*ended_);
  pump();  // what came before the end
}

void Session::end(const Error& why) {
  ended_ = why;
  const auto self = shared_from_this();
  if (const Shaken shaken = std::exchange(shaken_, nullptr)) {
    close();
    return shaken(std::unexpected(why));
  }
  if (events_ == nullptr || closed_) return;
  close();
  events_->on_closed(*self->ended_);
}

void Session::close() {
  if (std::exchange(closed_, true)) return;
  if (shook_hands_ && !ended_) {
    SSL_shutdown(ssl_.get());
    flush();
  }
  under_->close();
}

// The handle.
class TlsStream final : public Stream {
 public:
  explicit TlsStream(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream() override { session_->close(); }

  void start(StreamEvents& events) override { session_->start(events); }
  void send(std::string_view bytes) override { session_->send(bytes); }
  std::size_t unsent() const override { return session_->unsent(); }
  std::uint64_t sent_total() const override { return session_->sent_total(); }
  void pause_reading() override { session_->pause_reading(); }
  void resume_reading() override { session_->resume_reading(); }
  void close() override { session_->close(); }
  std::string peer() const override { return session_->peer(); }

 private:
  std::shared_ptr<Session> session_;
};

// One attempt; owned by its timer, so that what ends the timer ends it.
struct TlsAttempt {
  std::shared_ptr<Session> session;
  Loop::Connected done;  // nullptr: told
  TimerId timer;
};

void conclude(Loop& loop, const std::shared_ptr<TlsAttempt>& attempt, Result<void> shaken) {
  const Loop::Connected done = std::exchange(attempt->done, nullptr);
  if (!done) return;
  loop.cancel(attempt->timer);
  auto session = std::exchange(attempt->session, nullptr);
  if (shaken) return done(std::make_unique<TlsStream>(std::move(session)));
  if (session) session->close();
  done(std::unexpected(shaken.error()));
}

}  // namespace

void connect_tls(Loop& loop, const Address& address, std::shared_ptr<const TlsContext> context,
                 milliseconds timeout, Loop::Connected done) {
  const auto attempt = std::make_shared<TlsAttempt>();
  attempt->done = std::move(done);
  attempt->timer = loop.after(timeout, [&loop, attempt, address, timeout] {
    conclude(loop, attempt,
             fail(Code::kTimeout, "connect to " + to_string(address) + ": no TLS within " +
                                      std::to_string(timeout.count()) + " ms"));
  });
  loop.connect(
      address, timeout, [&loop, attempt, address, context](Result<std::unique_ptr<Stream>> stream) {
        if (!stream) return conclude(loop, attempt, std::unexpected(stream.error()));
        if (!attempt->done) return;
        const auto session = std::make_shared<Session>(loop, std::move(*stream), context);
        attempt->session = session;
        session->connect(address.host, [&loop, weak = std::weak_ptr(attempt)](Result<void> shaken) {
          if (const auto kept = weak.lock()) conclude(loop, kept, std::move(shaken));
        });
      });
}

std::unique_ptr<Stream> accept_tls(Loop& loop, std::unique_ptr<Stream> stream,
                                   std::shared_ptr<const TlsContext> context) {
  auto session = std::make_shared<Session>(loop, std::move(stream), std::move(context));
  session->accept();
  return std::make_unique<TlsStream>(std::move(session));
}

}  // namespace cleave::net
