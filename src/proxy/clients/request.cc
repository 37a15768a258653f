#include "proxy/clients/request.h"

#include "proxy/clients/client.h"
#include "proxy/clients/clients.h"
#include "wire/resp.h"

namespace cleave::proxy {

std::string* Request::begin_reply() {
  if (client != nullptr) return &client->reply_buffer(*this);
  clients_.release(*this);
  return nullptr;
}

void Request::end_reply(std::size_t bytes) { client->answered(*this, bytes); }

void Request::answer(std::string_view text) {
  if (client == nullptr) return clients_.release(*this);
  client->answer(*this, text);
}

void Request::answer_error(std::string_view text) {
  answer_by([text](std::string& out) { wire::append_error(out, text); });
}

bool Request::may_repeat() const {
  if (client == nullptr) return false;
  for (const Request* later = next; later != nullptr; later = later->next) {
    if (later->writes) return false;
  }
  return true;
}

void Request::reset() {
  constexpr std::size_t kReplyKeptBytes = 4'096;
  client = nullptr;
  next = nullptr;
  reply.clear();
  if (reply.capacity() > kReplyKeptBytes) reply.shrink_to_fit();
  done = false;
  writes = false;
}

}  // namespace cleave::proxy
