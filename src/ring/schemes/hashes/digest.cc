#include "ring/schemes/hashes/digest.h"

// The plain functions are deprecated since OpenSSL 3.0 in favour of EVP, which looks up its
// provider and allocates for every digest: a key of 16 bytes took 450 ns to place, with these 270.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>

#include "base/check.h"

namespace cleave::ring {

Md5 md5(std::string_view bytes) {
  MD5_CTX state;
  Md5 digest;
  CHECK(MD5_Init(&state) == 1);
  CHECK(MD5_Update(&state, bytes.data(), bytes.size()) == 1);
  CHECK(MD5_Final(digest.data(), &state) == 1);
  return digest;
}

Sha1 sha1(std::string_view bytes) {
  SHA_CTX state;
  Sha1 digest;
  CHECK(SHA1_Init(&state) == 1);
  CHECK(SHA1_Update(&state, bytes.data(), bytes.size()) == 1);
  CHECK(SHA1_Final(digest.data(), &state) == 1);
  return digest;
}

}  // namespace cleave::ring
