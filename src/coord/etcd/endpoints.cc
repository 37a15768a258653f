#include "coord/etcd/endpoints.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "net/url.h"

namespace cleave::coord::etcd {

Result<Endpoints::One> Endpoints::parse(const std::string& url) {
  Result<net::Url> parsed = net::parse_url(url, net::Port::kRequired);
  const std::string want =
      "etcd endpoint '" + url + "': want http://host:port or https://host:port";
  if (!parsed) return fail(Code::kInvalid, want + "; " + parsed.error().message);
  if (parsed->target != "/") return fail(Code::kInvalid, want + ", without a path");
  return One{
      .name = url, .address = std::move(parsed->address), .tls = parsed->tls, .bad_until = {}};
}

Result<void> Endpoints::open() {
  if (options_.endpoints.empty()) return fail(Code::kInvalid, "etcd: no endpoint is given");
  for (const std::string& url : options_.endpoints) {
    Result<One> one = parse(url);
    if (!one) return std::unexpected(one.error());
    all_.push_back(std::move(*one));
  }
  if (std::ranges::none_of(all_, &One::tls)) return {};
  auto tls = net::TlsContext::client(
      {.ca = options_.ca_file, .certificate = options_.certificate_file, .key = options_.key_file});
  if (!tls) return fail("etcd", tls.error());
  tls_ = std::move(*tls);
  return {};
}

std::size_t Endpoints::choose() {
  const Instant now = loop_.now();
  // The latest first: whoever answered keeps being asked.
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::size_t which = (latest_ + i) % all_.size();
    if (all_[which].bad_until <= now) return which;
  }
  return (latest_ + 1) % all_.size();
}

void Endpoints::connect(Done done) {
  const std::size_t which = latest_ = choose();
  const One& one = all_[which];
  auto connected = guarded(
      alive_, [this, which, done = std::move(done)](Result<std::unique_ptr<net::Stream>> stream) {
        if (!stream) {
          const std::weak_ptr<void> alive = alive_;
          mark_bad(which);
          if (!alive.expired()) done(fail("etcd " + all_[which].name, stream.error()));
          return;
        }
        done(Linked{.link = std::make_unique<net::HttpLink>(std::move(*stream),
                                                            net::to_string(all_[which].address)),
                    .which = which});
      });
  if (one.tls) {
    net::connect_tls(loop_, one.address, tls_, options_.connect_timeout, std::move(connected));
  } else {
    loop_.connect(one.address, options_.connect_timeout, std::move(connected));
  }
}

void Endpoints::mark_good(std::size_t which) { all_[which].bad_until = Instant{}; }

void Endpoints::mark_bad(std::size_t which) {
  all_[which].bad_until = loop_.now() + options_.endpoint_bad_for;
  on_bad(which);
}

bool Endpoints::any_good() const {
  return std::ranges::any_of(all_,
                             [now = loop_.now()](const One& one) { return one.bad_until <= now; });
}

}  // namespace cleave::coord::etcd
