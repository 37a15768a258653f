#include "app/serve/decision_follower.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "net/http.h"

namespace cleave::app {
namespace {

constexpr seconds kAskEvery{2};
constexpr milliseconds kPatience{2'000};
constexpr std::size_t kAnswerBytesMax = std::size_t{16} << 20U;
constexpr std::int64_t kRecalledMs = 24LL * 3'600'000;

}  // namespace

void DecisionFollower::start() {
  recall();
  follow();
}

// Of our former lives.
void DecisionFollower::recall() {
  const UnixMillis since{options_.loop.wall_now().value() - kRecalledMs};
  options_.history.decisions(
      since, admin::PastDecisions::kKept,
      guarded(alive_, [this](const Result<std::vector<history::StoredDecision>>& stored) {
        if (stored) past_.learn(admin::render_stored(*stored)["decisions"]);
      }));
}

void DecisionFollower::follow() {
  options_.loop.after(kAskEvery, guarded(alive_, [this] { follow(); }));
  if (asking_) return;
  const control::Status status = options_.order_taker.status();
  if (status.leader || status.view == nullptr) return;
  const ring::Document& document = status.view->document();
  const ring::Router* const leader = ring::find_router(document, document.leader.session);
  if (leader == nullptr || leader->peer.empty()) return;
  const Result<net::Address> address = net::parse_address(leader->peer);
  if (!address) return;
  const std::int64_t since =
      std::max(past_.newest().value(), options_.loop.wall_now().value() - kRecalledMs);
  net::HttpCall call{.address = *address,
                     .target = "/decisions?since=" + std::to_string(since),
                     .timeout = kPatience,
                     .response_bytes_max = kAnswerBytesMax};
  if (!options_.token.empty())
    call.headers.emplace_back("authorization", "Bearer " + options_.token);
  asking_ = true;
  net::http_request(options_.loop, std::move(call),
                    guarded(alive_, [this](const Result<net::HttpReply>& reply) {
                      asking_ = false;
                      if (reply && reply->status == 200) take(reply->body);
                    }));
}

void DecisionFollower::take(const std::string& body) {
  const admin::Json answer = admin::Json::parse(body, nullptr, false);
  if (!answer.is_object() || !answer.contains("decisions")) return;
  for (const admin::Json& each : past_.learn(answer["decisions"])) {
    options_.history.append_decision(UnixMillis{each["at_ms"].get<std::int64_t>()},
                                     admin::to_body(each));
  }
}

}  // namespace cleave::app
