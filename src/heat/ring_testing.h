// A small ring for the tests of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"

namespace cleave::heat {

// Nodes n1, n2, ... of weight 1, evened.
inline ring::Document test_document(std::uint32_t nodes) {
  ring::Creation creation{.pool = "test", .mark = "mark", .nodes = {}, .now = UnixMillis{1}};
  for (std::uint32_t number = 1; number <= nodes; ++number) {
    const std::string name = "n" + std::to_string(number);
    creation.nodes.push_back({.id = NodeId{number}, .name = name, .members = {{name + ":1", ""}}});
  }
  const Result<ring::Document> document = ring::create(creation);
  CHECK(document.has_value());
  return *document;
}

inline ring::RingSnapshot test_view(ring::Document document) {
  const Result<ring::RingSnapshot> view = ring::RingView::build(std::move(document));
  CHECK(view.has_value());
  return *view;
}

}  // namespace cleave::heat
