#include "proxy/servers/links.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cleave::proxy {

void Links::adopt(const ring::RingView& view) {
  std::vector<std::unique_ptr<NodeLink>> links;
  for (const ring::Node& node : view.document().nodes) {
    const Result<net::Address> address = net::parse_address(node.members.front().address);
    CHECK(address.has_value());  // checked with the document
    const auto known = std::ranges::find_if(links_, [&](const std::unique_ptr<NodeLink>& link) {
      return link != nullptr && link->node == node.id && link->address == *address;
    });
    links.push_back(known == links_.end() ? open(node, *address) : std::move(*known));
  }
  for (std::unique_ptr<NodeLink>& link : links_) {
    if (link != nullptr) retired_.push_back(std::move(link));
  }
  links_ = std::move(links);
  owners_.clear();
  owners_.reserve(view.entries().size());
  for (const ring::Entry& entry : view.entries()) {
    NodeLink* const link = find(entry.node);
    CHECK(link != nullptr);
    owners_.push_back(link);
  }
}

std::unique_ptr<NodeLink> Links::open(const ring::Node& node, const net::Address& address) {
  auto link = std::make_unique<NodeLink>();
  link->node = node.id;
  link->address = address;
  link->title = "node " + node.name + " (" + net::to_string(address) + ")";
  link->pipe = open_pipe(address);
  link->lanes = std::make_unique<Lanes>(
      Lanes::Options{.loop = options_.loop, .limits = options_.limits, .open = [this, address] {
                       return open_pipe(address);
                     }});
  return link;
}

std::unique_ptr<backend::Pipe> Links::open_pipe(const net::Address& address) {
  return std::make_unique<backend::Pipe>(options_.loop, options_.gate, Rng(rng_.next()),
                                         backend::Pipe::Options{
                                             .address = address,
                                             .credentials = options_.credentials,
                                             .limits = options_.limits,
                                             .on_state = nullptr,
                                             .mutations = options_.mutations,
                                         });
}

NodeLink* Links::find(NodeId node) {
  const auto found = std::ranges::find(links_, node, [](const auto& link) { return link->node; });
  return found == links_.end() ? nullptr : found->get();
}

void Links::sweep() {
  for (const auto& link : links_) link->lanes->sweep();
  std::erase_if(retired_, [](const auto& link) {
    return link->pipe->unfinished() == 0 && link->lanes->idle();
  });
}

void Links::clear() {
  owners_.clear();
  links_.clear();
  retired_.clear();
}

}  // namespace cleave::proxy
