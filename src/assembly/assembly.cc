#include "assembly/assembly.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "admin/api.h"
#include "net/http.h"
#include "peer/http_directory.h"
#include "peer/http_service.h"

namespace cleave::assembly {
namespace {

// A document of this epoch was made by this process: created, then joined.
constexpr Epoch kJustCreated{2};
constexpr milliseconds kMarkLook{10};
constexpr milliseconds kMarkPatience{3'000};

// People and the other routers use one door, and cannot keep out each other: nor whoever asks
// whether we are ready.
int kind_of(const net::HttpRequest& request) {
  if (peer::HttpService::takes(request)) return 1;
  return request.path == "/ready" || request.path == "/metrics" ? 2 : 0;
}

}  // namespace

class Assembly::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  Result<void> make();
  void start() { controller_->start(); }
  void stop(std::function<void()> stopped);
  net::Address admin_address() const { return http_->address(); }
  control::Controller& controller() { return *controller_; }
  proxy::DataPath& data_path() { return *data_path_; }

 private:
  Result<void> listen();
  void make_controller();
  void make_data_path();
  void make_api();
  void answer(const net::HttpRequest& request, const net::HttpServer::Reply& reply);
  std::function<Instant()> last_asked() const;
  void publish(ring::RingSnapshot view);
  void route_when_marked(Instant until);
  bool all_marked() const;
  void removed(const Error& why);

  Options options_;
  ring::RingSnapshot view_;  // the newest
  bool routing_ = false;     // the router has its first view
  // In the order of their making; destroyed in the other.
  std::unique_ptr<peer::HttpDirectory> directory_;
  std::unique_ptr<control::Controller> controller_;
  std::unique_ptr<proxy::DataPath> data_path_;
  std::unique_ptr<peer::HttpService> peer_service_;
  std::unique_ptr<admin::Api> api_;
  std::unique_ptr<net::HttpServer> http_;
};

// Nothing is answered before the loops run; but the address must be known to be told.
Result<void> Assembly::Impl::make() {
  if (const Result<void> listening = listen(); !listening) return listening;
  directory_ = std::make_unique<peer::HttpDirectory>(peer::HttpDirectory::Options{
      .loop = options_.control, .session = options_.session, .token = options_.door.token});
  make_controller();
  make_data_path();
  directory_->set_own(*data_path_);
  peer_service_ =
      std::make_unique<peer::HttpService>(options_.control, options_.session, *data_path_);
  make_api();
  return {};
}

Result<void> Assembly::Impl::listen() {
  Result<std::unique_ptr<net::HttpServer>> http = net::HttpServer::listen(
      options_.control, options_.door.address,
      [this](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
        answer(request, reply);
      },
      {.body_bytes_max_of =
           [this](const net::HttpRequest& head) { return api_->body_bytes_max(head); },
       .answer_timeout_of = admin::Api::answer_timeout},
      kind_of);
  if (!http) return std::unexpected(http.error());
  http_ = std::move(*http);
  return {};
}

void Assembly::Impl::answer(const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
  if (!peer::HttpService::takes(request)) return api_->handle(request, reply);
  if (std::optional<net::HttpResponse> refused = api_->refusal(request))
    return reply(std::move(*refused));
  // Before the first view there is nothing that could be asked of the router.
  if (!routing_) return reply({.status = 503});
  peer_service_->handle(request, reply);
}

std::function<Instant()> Assembly::Impl::last_asked() const {
  if (!options_.spares_coordinator) return {};
  return [this] { return peer_service_ == nullptr ? Instant{0} : peer_service_->last_asked(); };
}

void Assembly::Impl::make_controller() {
  const Door& door = options_.door;
  controller_ = std::make_unique<control::Controller>(control::Controller::Options{
      .loop = options_.control,
      .store = options_.store,
      .directory = *directory_,
      .document = {.session = options_.session,
                   .peer_address =
                       door.advertise.empty() ? net::to_string(http_->address()) : door.advertise,
                   .lease = options_.lease,
                   .last_asked = last_asked(),
                   .publish = [this](ring::RingSnapshot view) { publish(std::move(view)); },
                   .removed = [this](const Error& why) { removed(why); }},
      .begin = options_.begin,
      .servers = options_.servers,
      .plan = options_.plan,
      .tell = options_.tell,
      .limits = options_.limits,
      .seed = options_.seed,
      .mutations = options_.mutations});
}

void Assembly::Impl::make_data_path() {
  data_path_ = std::make_unique<proxy::DataPath>(
      proxy::DataPath::Options{.control = options_.control,
                               .workers = options_.workers,
                               .listen = options_.listen,
                               .gate = controller_->gate(),
                               .fence_keeper = controller_->fence_keeper(),
                               .key_counter = controller_->key_counter(),
                               .credentials = options_.servers.credentials,
                               .client_password = options_.client_password,
                               .limits = options_.limits,
                               .seed = options_.seed,
                               .mutations = options_.mutations});
}

void Assembly::Impl::make_api() {
  net::Loop& loop = options_.control;
  api_ = std::make_unique<admin::Api>(admin::Api::Options{
      .order_taker = controller_->orders(),
      .router = options_.facts,
      .door = {.token = options_.door.token,
               .advertise = options_.door.advertise,
               .hosts = options_.door.hosts},
      .wall_now = [&loop] { return loop.wall_now(); },
      .history = options_.history,
      .recovery = &controller_->recovery(),
      .orders = options_.orders,
      .ask = [&loop](net::HttpCall call,
                     auto done) { net::http_request(loop, std::move(call), std::move(done)); },
      .after = [&loop](milliseconds delay,
                       std::function<void()> then) { loop.after(delay, std::move(then)); }});
}

// The first view starts the data path; later ones replace it. New servers are marked as ours while
// they are empty: the first client waits for that, or its keys would make them look foreign.
void Assembly::Impl::publish(ring::RingSnapshot view) {
  const bool first = view_ == nullptr;
  view_ = std::move(view);
  directory_->follow(view_->document());
  options_.adopted(view_);
  if (routing_) return data_path_->set_view(view_);
  if (!first) return;
  const bool wait = options_.servers.mark_new_servers && view_->epoch() <= kJustCreated;
  route_when_marked(options_.control.now() + (wait ? kMarkPatience : milliseconds{0}));
}

void Assembly::Impl::route_when_marked(Instant until) {
  if (options_.control.now() < until && !all_marked()) {
    options_.control.after(kMarkLook, [this, until] { route_when_marked(until); });
    return;
  }
  routing_ = true;
  data_path_->start(view_, options_.ready);
}

bool Assembly::Impl::all_marked() const {
  const control::Status status = controller_->orders().status();
  return status.nodes.size() == view_->document().nodes.size() &&
         std::ranges::all_of(status.nodes, &control::NodeFacts::marked);
}

void Assembly::Impl::removed(const Error& why) {
  if (routing_) data_path_->stop(why);
  options_.removed(why);
}

void Assembly::Impl::stop(std::function<void()> stopped) {
  controller_->stop([this, stopped = std::move(stopped)] {
    if (routing_) data_path_->stop({Code::kUnavailable, "the router is stopping"});
    stopped();
  });
}

Result<std::unique_ptr<Assembly>> Assembly::make(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (const Result<void> made = impl->make(); !made) return std::unexpected(made.error());
  return std::unique_ptr<Assembly>(new Assembly(std::move(impl)));
}

Assembly::Assembly(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Assembly::~Assembly() = default;

void Assembly::start() { impl_->start(); }
void Assembly::stop(std::function<void()> stopped) { impl_->stop(std::move(stopped)); }
net::Address Assembly::admin_address() const { return impl_->admin_address(); }
control::Controller& Assembly::controller() { return impl_->controller(); }
proxy::DataPath& Assembly::data_path() { return impl_->data_path(); }

}  // namespace cleave::assembly
