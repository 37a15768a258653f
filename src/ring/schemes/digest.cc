#include "ring/schemes/digest.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace cleave::ring {
namespace {

template <class Digest>
Digest digest_of(std::string_view bytes, const EVP_MD* kind) {
  Digest digest;
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, kind, nullptr) == 1);
  CHECK(size == digest.size());
  return digest;
}

}  // namespace

Md5 md5(std::string_view bytes) { return digest_of<Md5>(bytes, EVP_md5()); }

Sha1 sha1(std::string_view bytes) { return digest_of<Sha1>(bytes, EVP_sha1()); }

}  // namespace cleave::ring
