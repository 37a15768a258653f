#include "migrate/dirty.h"

#include "base/check.h"

namespace cleave::migrate {

void Dirty::add(const std::string& key) {
  const auto [mark, is_new] = marks_.try_emplace(key);
  if (is_new) return;
  forget(mark->second);
  mark->second.clear();
}

void Dirty::add(const Touched& touched) {
  if (touched.elements.empty()) return add(touched.key);
  const auto [mark, is_new] = marks_.try_emplace(touched.key);
  if (!is_new && mark->second.empty()) return;  // the whole key already
  if (is_new) ++partly_;
  for (const std::string& element : touched.elements)
    elements_ += mark->second.insert(element).second ? 1U : 0U;
  CHECK(partly_ <= marks_.size());
  CHECK(elements_ >= partly_);  // no key is partly dirty without an element
}

void Dirty::clear() {
  marks_.clear();
  partly_ = 0;
  elements_ = 0;
}

void Dirty::forget(const std::set<std::string>& elements) {
  if (elements.empty()) return;
  CHECK(partly_ > 0 && elements_ >= elements.size());
  --partly_;
  elements_ -= elements.size();
}

}  // namespace cleave::migrate
