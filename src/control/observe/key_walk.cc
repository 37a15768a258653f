#include "control/observe/key_walk.h"

#include <utility>

#include "base/check.h"
#include "base/own_names.h"

namespace cleave::control {
namespace {

bool is_a_clients(std::string_view key) { return !key.starts_with(kOwnKeyPrefix); }

void ask_page(const std::shared_ptr<const KeyWalk>& walk, const std::string& from) {
  if (walk->alive.expired()) return;
  walk->store->list(from, is_a_clients, [walk, before = walk->view()](Result<backend::Page> page) {
    if (walk->alive.expired()) return;
    if (!page) return walk->done(std::unexpected(page.error()));
    if (walk->page(page->keys, before) == WalkOn::kNo) return walk->done(WalkEnd::kStopped);
    if (page->next.empty()) return walk->done(WalkEnd::kAllMet);
    walk->loop.after(walk->pause, [walk, next = page->next] { ask_page(walk, next); });
  });
}

}  // namespace

void walk_keys(KeyWalk walk) {
  CHECK(walk.store != nullptr && walk.view != nullptr);
  CHECK(walk.page != nullptr && walk.done != nullptr);
  ask_page(std::make_shared<const KeyWalk>(std::move(walk)), "");
}

}  // namespace cleave::control
