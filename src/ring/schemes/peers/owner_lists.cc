#include "ring/schemes/peers/owner_lists.h"

#include <set>

namespace cleave::ring {

void read_owner_lists(
    OptionReader& options, const OwnerLists& lists,
    const std::function<void(std::string_view item, std::string_view node)>& take) {
  std::string_view text = options.given(lists.option).value_or("");
  std::set<std::string_view> seen;
  while (!text.empty() && !options.error()) {
    const std::string_view part = cut_before(text, ';');
    const std::size_t equals = part.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      return options.refuse_value(lists.option, part, "want " + std::string(lists.form));
    const std::string_view node = part.substr(0, equals);
    if (!seen.insert(node).second)
      return options.refuse_value(lists.option, node, "this node is there twice");
    std::string_view items = part.substr(equals + 1);
    while (!items.empty() && !options.error()) take(cut_before(items, ','), node);
  }
}

std::string_view cut_before(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return before;
}

std::string given_twice(std::string_view what, std::string_view first, std::string_view second) {
  return std::string(what) + " is given to '" + shown(first) + "' and to '" + shown(second) + "'";
}

}  // namespace cleave::ring
