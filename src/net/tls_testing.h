// A throw-away certificate for tests of TLS: self-signed, so it is its own authority.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <string>

#include "net/tls_stream.h"

namespace cleave::net {

// Writes `<stem>.crt` and `<stem>.key`, valid for an hour for `names` ("IP:127.0.0.1,DNS:x").
inline TlsFiles make_certificate(const std::string& stem, const std::string& names) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  EXPECT_TRUE(key != nullptr && certificate != nullptr);
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3'600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  const unsigned char* common = reinterpret_cast<const unsigned char*>("cleave test");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common, -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  for (const auto& [id, value] : {std::pair{NID_subject_alt_name, names},
                                  std::pair{NID_basic_constraints, std::string("CA:TRUE")}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  EXPECT_GT(X509_sign(certificate, key, EVP_sha256()), 0);

  const TlsFiles files{.ca = {}, .certificate = stem + ".crt", .key = stem + ".key"};
  std::FILE* out = std::fopen(files.certificate.c_str(), "w");
  EXPECT_EQ(PEM_write_X509(out, certificate), 1);
  std::fclose(out);
  out = std::fopen(files.key.c_str(), "w");
  EXPECT_EQ(PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  std::fclose(out);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

}  // namespace cleave::net
