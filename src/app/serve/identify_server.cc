#include "app/serve/identify_server.h"

#include <utility>

#include "backend/health.h"
#include "base/guarded.h"
#include "base/rng.h"

namespace cleave::app {
namespace {

constexpr milliseconds kIdentifyPatience{1'000};

}  // namespace

struct ServerLooks::Look {
  std::unique_ptr<backend::Prober> prober;
  std::function<void(Result<std::string>)> done;
};

ServerLooks::ServerLooks(net::Loop& loop, backend::Credentials credentials, SessionId session)
    : loop_(loop), credentials_(std::move(credentials)), session_(std::move(session)) {}
ServerLooks::~ServerLooks() = default;

void ServerLooks::run_id(const net::Address& address,
                         std::function<void(Result<std::string>)> done) {
  const auto look = std::make_shared<Look>();
  const std::weak_ptr<Look> weak = look;
  look->done = std::move(done);
  looks_.push_back(look);
  look->prober = std::make_unique<backend::Prober>(
      loop_, Rng(1),
      backend::Prober::Options{
          .address = address,
          .credentials = credentials_,
          .session = session_,
          .limits = Limits{},
          .on_change = [this, weak](const backend::Health& health) {
            end(weak, health.up ? Result<std::string>(health.identity.incarnation.run_id)
                                : fail(Code::kUnavailable, health.error));
          }});
  loop_.after(kIdentifyPatience, guarded(alive_, [this, weak] {
                end(weak, fail(Code::kTimeout, "it did not answer within 1 s"));
              }));
}

// The prober is telling: it goes a turn later.
void ServerLooks::end(const std::weak_ptr<Look>& look, Result<std::string> result) {
  const auto held = look.lock();
  if (held == nullptr || held->done == nullptr) return;
  const auto done = std::exchange(held->done, nullptr);
  loop_.post(guarded(alive_, [this, look] { looks_.remove(look.lock()); }));
  done(std::move(result));
}

}  // namespace cleave::app
