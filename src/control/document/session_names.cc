#include "control/document/session_names.h"

#include "base/own_names.h"

namespace cleave::control {
namespace {

// The value of " name=value" in one line of CLIENT LIST.
std::string_view field(std::string_view line, std::string_view name) {
  std::size_t at = 0;
  while (at < line.size()) {
    std::size_t end = line.find(' ', at);
    if (end == std::string_view::npos) end = line.size();
    const std::string_view word = line.substr(at, end - at);
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=')
      return word.substr(name.size() + 1);
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string connection_name(const SessionId& session) {
  return std::string(kConnectionPrefix) + session.value();
}

SessionId driver_session(const SessionId& router, Term term) {
  return SessionId{router.value() + ".t" + std::to_string(term.value())};
}

std::set<std::string, std::less<>> shown_names(const ring::Document& document) {
  std::set<std::string, std::less<>> names;
  for (const ring::Router& router : document.routers) names.insert(connection_name(router.session));
  const ring::Leader& leader = document.leader;
  names.insert(connection_name(driver_session(leader.session, leader.term)));
  return names;
}

std::vector<std::string> strangers(std::string_view client_list,
                                   const std::set<std::string, std::less<>>& shown) {
  std::vector<std::string> ids;
  while (!client_list.empty()) {
    const std::size_t end = client_list.find('\n');
    const std::string_view line = client_list.substr(0, end);
    client_list.remove_prefix(end == std::string_view::npos ? client_list.size() : end + 1);
    const std::string_view name = field(line, "name");
    if (name.starts_with(kConnectionPrefix) && !shown.contains(name))
      ids.emplace_back(field(line, "id"));
  }
  return ids;
}

}  // namespace cleave::control
