// A function from keys to tokens, whatever a scheme makes of them.
//
// Threads: any, when the function is callable from any. Cost: one call a key through a pointer, or
// one a batch (`ManyKeys`). A std::function that returns std::optional costs 10 ns more than the
// hash of a short key: gcc 12 returns the optional through memory, as a byte that is then read as
// part of a word, which stalls.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/ids.h"

namespace cleave::ring {

// A function that does many keys at less than one at a time: `tokens[i]` becomes what it gives for
// `keys[i]`.
template <class Function>
concept ManyKeys = requires(const Function& function, std::span<const std::string_view> keys,
                            std::span<std::optional<Token>> tokens) { function(keys, tokens); };

class KeyToToken {
 public:
  // Not to be called; only to be assigned to.
  KeyToToken() = default;

  // nullopt: the key has no place. Requires: callable from any thread.
  template <class Function>
    requires std::is_invocable_r_v<std::optional<Token>, const Function&, std::string_view> &&
                 (!std::same_as<Function, KeyToToken>)
  KeyToToken(Function function)  // NOLINT(google-explicit-constructor): as std::function
      : function_(std::make_shared<const Function>(std::move(function))), call_(call<Function>) {
    if constexpr (ManyKeys<Function>) call_many_ = call_many<Function>;
  }

  std::optional<Token> operator()(std::string_view key) const {
    const Found found = call_(function_.get(), key);
    if (found.count == 0) return std::nullopt;
    return Token{found.token};
  }

  // Requires: as many tokens as keys.
  void operator()(std::span<const std::string_view> keys,
                  std::span<std::optional<Token>> tokens) const {
    CHECK(keys.size() == tokens.size());
    if (call_many_ != nullptr) return call_many_(function_.get(), keys, tokens);
    // Through the pointer: inlined in this loop, gcc 12 reads the optional as words after all.
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Found found = call_(function_.get(), keys[i]);
      tokens[i].reset();
      if (found.count != 0) tokens[i].emplace(found.token);
    }
  }

 private:
  // Two whole words, which are returned in registers.
  struct Found {
    std::uint64_t token;
    std::uint64_t count;
  };

  template <class Function>
  static Found call(const void* function, std::string_view key) {
    const std::optional<Token> token = (*static_cast<const Function*>(function))(key);
    return token ? Found{token->value(), 1} : Found{0, 0};
  }

  template <class Function>
  static void call_many(const void* function, std::span<const std::string_view> keys,
                        std::span<std::optional<Token>> tokens) {
    (*static_cast<const Function*>(function))(keys, tokens);
  }

  std::shared_ptr<const void> function_;
  Found (*call_)(const void* function, std::string_view key) = nullptr;
  void (*call_many_)(const void* function, std::span<const std::string_view> keys,
                     std::span<std::optional<Token>> tokens) = nullptr;
};

}  // namespace cleave::ring
