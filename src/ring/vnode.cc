#include "ring/vnode.h"

#include "base/hash.h"
#include "ring/hash_tag.h"

namespace cleave::ring {

Token vnode_token(std::string_view key) { return Token{xxh3_64(hash_tag(key))}; }

}  // namespace cleave::ring
