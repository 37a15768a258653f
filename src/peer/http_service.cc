#include "peer/http_service.h"

#include <utility>

namespace cleave::peer {
namespace {

net::HttpResponse response(int status, std::string body) {
  return {.status = status, .content_type = "application/msgpack", .body = std::move(body)};
}

net::HttpResponse refusal(const Error& error) {
  constexpr int kBadRequest = 400;
  constexpr int kNotFound = 404;
  constexpr int kConflict = 409;
  constexpr int kUnavailable = 503;
  switch (error.code) {
    case Code::kInvalid: return response(kBadRequest, write_error(error));
    case Code::kNotFound: return response(kNotFound, write_error(error));
    case Code::kConflict: return response(kConflict, write_error(error));
    default: return response(kUnavailable, write_error(error));
  }
}

template <class T>
RouterPeer::Done<T> answering(const net::HttpServer::Reply& reply, std::string (*write)(const T&)) {
  return [reply, write](const Result<T>& result) {
    reply(result ? response(200, write(*result)) : refusal(result.error()));
  };
}

}  // namespace

bool HttpService::takes(const net::HttpRequest& request) {
  return request.path.starts_with("/peer/");
}

void HttpService::handle(const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
  if (request.method != "POST" || !request.path.starts_with(kPathStart))
    return reply(refusal({Code::kNotFound, "this router answers POST " + std::string(kPathStart) +
                                               "..., not " + request.method + " " + request.path}));
  const Result<Question> question = read_question(request.body);
  if (!question) return reply(refusal(question.error()));
  if (question->to != session_)
    return reply(refusal({Code::kConflict, "this is session " + session_.value() + ", not " +
                                               question->to.value()}));
  last_asked_ = clock_.now();
  const std::string_view name = std::string_view(request.path).substr(kPathStart.size());
  const MoveId move = question->move;
  const Epoch epoch = question->phase_epoch;
  if (name == kAwaitCopying) {
    router_.await_copying(move, epoch, [reply](const Result<void>& done) {
      reply(done ? response(200, write_done()) : refusal(done.error()));
    });
  } else if (name == kTake) {
    router_.take(move, epoch, {question->number, question->watch}, answering(reply, write_batch));
  } else if (name == kAwaitFenced) {
    router_.await_fenced(move, epoch, answering(reply, write_fenced));
  } else if (name == kTakeHeat) {
    router_.take_heat(question->prices, answering(reply, write_reports));
  } else if (name == kCountKeys) {
    router_.count_keys(answering(reply, write_count));
  } else {
    reply(refusal({Code::kNotFound, "no question is named '" + std::string(name) + "'"}));
  }
}

}  // namespace cleave::peer
