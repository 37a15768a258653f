#include "net/http_parser.h"

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "base/ascii.h"
#include "base/check.h"

namespace cleave::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

std::string to_text(boost::beast::string_view view) { return {view.data(), view.size()}; }

template <class Message>
HttpHeaders headers_of(const Message& message) {
  HttpHeaders headers;
  for (const auto& field : message) {
    headers.emplace_back(lowered(to_text(field.name_string())), to_text(field.value()));
  }
  return headers;
}

}  // namespace

std::string reason_phrase(int status) {
  return to_text(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))));
}

class HttpParser::Impl {
 public:
  Impl(Kind kind, const Limits& limits) : body_bytes_max_of_(limits.body_bytes_max_of) {
    if (kind == Kind::kRequest) {
      prepare(request_.emplace(), limits);
      if (!body_bytes_max_of_) return;
      request_->eager(false);  // the header alone, then its bound of the body
      request_->body_limit(boost::none);
    } else {
      prepare(response_.emplace(), limits);
      response_->skip(kind == Kind::kResponseToHead);  // a length, but no body
    }
  }

  State feed(std::string& input) {
    return request_ ? feed_to(*request_, input) : feed_to(*response_, input);
  }

  State end() {
    error_code failed = http::make_error_code(http::error::end_of_stream);
    if (request_ && request_->got_some()) request_->put_eof(failed);
    if (response_ && response_->got_some()) response_->put_eof(failed);
    if (!failed && is_done()) return State::kDone;
    return give_up(failed ? failed : http::make_error_code(http::error::partial_message));
  }

  bool is_done() const { return request_ ? request_->is_done() : response_->is_done(); }

  State give_up(const error_code& failed) {
    error_ = failed.message();
    status_ = 400;
    if (failed == http::error::body_limit) status_ = 413;
    if (failed == http::error::header_limit) status_ = 431;
    return State::kFailed;
  }

  std::optional<http::request_parser<http::string_body>> request_;
  std::optional<http::response_parser<http::string_body>> response_;
  bool continue_asked_ = false;
  int status_ = 400;
  std::string error_;

 private:
  bool bound_body();

  template <class Parser>
  static void prepare(Parser& parser, const Limits& limits) {
    parser.eager(true);  // the body in the same call as the header
    parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
    parser.body_limit(limits.body_bytes_max);
  }

  template <class Parser>
  State feed_to(Parser& parser, std::string& input) {
    while (!parser.is_done() && !input.empty()) {
      error_code failed;
      const std::size_t eaten =
          parser.put(boost::asio::const_buffer(input.data(), input.size()), failed);
      input.erase(0, eaten);
      if (failed == http::error::need_more) return State::kNeedMore;
      if (failed) return give_up(failed);
      if (body_bytes_max_of_ && parser.is_header_done() && !bound_body())
        return give_up(http::make_error_code(http::error::body_limit));
    }
    return parser.is_done() ? State::kDone : State::kNeedMore;
  }

  std::function<std::size_t(const HttpRequest&)> body_bytes_max_of_;
};

// False: the header says that the body is longer.
bool HttpParser::Impl::bound_body() {
  const auto& message = request_->get();
  HttpRequest head;
  head.method = to_text(message.method_string());
  head.target = to_text(message.target());
  head.headers = headers_of(message);
  if (Result<HttpTarget> target = parse_target(head.target)) {
    head.path = std::move(target->path);
    head.query = std::move(target->query);
  }
  const std::size_t most = std::exchange(body_bytes_max_of_, nullptr)(head);
  request_->body_limit(most);
  request_->eager(true);
  return request_->content_length().value_or(0) <= most;
}

HttpParser::HttpParser(Kind kind, Limits limits) : impl_(std::make_unique<Impl>(kind, limits)) {}
HttpParser::~HttpParser() = default;

HttpParser::State HttpParser::feed(std::string& input) { return impl_->feed(input); }
HttpParser::State HttpParser::end() { return impl_->end(); }
int HttpParser::error_status() const { return impl_->status_; }
const std::string& HttpParser::error() const { return impl_->error_; }

bool HttpParser::wants_continue() {
  if (!impl_->request_ || !impl_->request_->is_header_done() || impl_->is_done()) return false;
  if (std::exchange(impl_->continue_asked_, true)) return false;
  return boost::beast::iequals(impl_->request_->get()[http::field::expect], "100-continue");
}

bool HttpParser::keep_alive() const {
  return impl_->request_ ? impl_->request_->keep_alive() : impl_->response_->keep_alive();
}

int HttpParser::status() const {
  if (!impl_->response_ || !impl_->response_->is_header_done()) return 0;
  return static_cast<int>(impl_->response_->get().result_int());
}

// Beast's string_body appends each decoded piece; to take them away in between is harmless.
std::string HttpParser::take_body() {
  CHECK(impl_->response_.has_value());
  return std::exchange(impl_->response_->get().body(), {});
}

HttpRequest HttpParser::take_request() {
  CHECK(impl_->request_ && impl_->request_->is_done());
  auto message = impl_->request_->release();
  HttpRequest request;
  request.method = to_text(message.method_string());
  request.target = to_text(message.target());
  request.headers = headers_of(message);
  request.body = std::move(message.body());
  return request;
}

HttpReply HttpParser::take_reply() {
  CHECK(impl_->response_ && impl_->response_->is_done());
  auto message = impl_->response_->release();
  HttpReply reply;
  reply.status = static_cast<int>(message.result_int());
  reply.headers = headers_of(message);
  reply.body = std::move(message.body());
  return reply;
}

std::string_view find_header(const HttpHeaders& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &HttpHeaders::value_type::first);
  return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

}  // namespace cleave::net
