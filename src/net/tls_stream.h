// TLS as a Stream decorator: OpenSSL on memory BIOs over any Stream, so it runs in the simulator
// too and needs nothing from Asio.
//
//   user <-- plain --> SSL <-- BIO bytes --> the stream beneath <-- TCP
//
// TLS 1.2 and newer. A client checks the chain and the name or address it asked for.
//
// Threads: one loop a stream; a TlsContext is immutable and may be shared by loops.
#pragma once

#include <memory>
#include <string>

#include "net/loop.h"

namespace cleave::net {

// Paths of PEM files; empty: none.
struct TlsFiles {
  std::string ca = {};           // whom to trust; none: the system's authorities
  std::string certificate = {};  // our own chain; a server needs it
  std::string key = {};
};

// What many connections share: SSL_CTX behind a curtain.
class TlsContext {
 public:
  // Reads the files within the call. Errors: kInvalid, names the file and OpenSSL's reason.
  static Result<std::shared_ptr<const TlsContext>> client(const TlsFiles& files);
  static Result<std::shared_ptr<const TlsContext>> server(const TlsFiles& files);

  class Impl;
  explicit TlsContext(std::unique_ptr<Impl> impl);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Connects and shakes hands, both within `timeout`. `loop` must outlive the attempt. Errors: those
// of Loop::connect; kUnavailable also when the handshake fails, with the reason ("certificate has
// expired", "IP address mismatch").
void connect_tls(Loop& loop, const Address& address, std::shared_ptr<const TlsContext> context,
                 milliseconds timeout, Loop::Connected done);

// The server's side of an accepted stream. Usable at once: what is sent before the handshake is
// done waits for it; a failed one is told by on_closed. Nothing bounds its time.
std::unique_ptr<Stream> accept_tls(Loop& loop, std::unique_ptr<Stream> stream,
                                   std::shared_ptr<const TlsContext> context);

}  // namespace cleave::net
