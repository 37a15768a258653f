// Values of the hash functions alone, as the peers gave them, and published check values.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "ring/hash_tag.h"
#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/hashes/jump.h"
#include "ring/schemes/hashes/md5_lanes.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/hashes/utf16.h"
#include "ring/schemes/hashes/xxh64.h"
#include "ring/schemes/vectors_testing.h"

namespace cleave::ring {
namespace {

using testing::read_vector_keys;
using testing::read_vectors;
using testing::VectorJson;

// The binary input of the recordings: byte i is 0xF0 + 37 i.
std::string binary(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>((0xF0 + 37 * i) & 0xFFU);
  return bytes;
}

// The recorded list whose name begins so.
VectorJson raw(const VectorJson& file, const std::string& start) {
  for (const auto& [name, list] : file["raw"].items()) {
    if (name.starts_with(start)) return list;
  }
  ADD_FAILURE() << "nothing recorded is named " << start;
  return {};
}

// Signed 64-bit numbers as they are written in the recordings.
std::string signed_pair(const Hash128& hash) {
  return std::to_string(static_cast<std::int64_t>(hash.first)) + ":" +
         std::to_string(static_cast<std::int64_t>(hash.second));
}

TEST(HashVectors, Libmemcached) {
  const std::map<std::string, KeyHash32> hashes = {
      {"default", one_at_a_time}, {"md5", md5_32},        {"crc", crc32_upper_15},
      {"fnv1_64", fnv1_64},       {"fnv1a_64", fnv1a_64}, {"fnv1_32", fnv1_32},
      {"fnv1a_32", fnv1a_32},     {"murmur", murmur},     {"jenkins", jenkins},
      {"murmur3", murmur3}};
  const VectorJson file = read_vectors("libmemcached.json");
  const auto keys = read_vector_keys();
  ASSERT_EQ(file["raw"].size(), hashes.size());
  for (const auto& [name, hash] : hashes) {
    const VectorJson recorded = raw(file, name + ",");
    ASSERT_EQ(recorded.size(), 115U);
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      EXPECT_EQ(hash(keys[i]), recorded[i].get<std::uint32_t>()) << name << " of key " << i;
    }
  }
}

TEST(HashVectors, Murmur64a) {
  constexpr std::uint64_t kSeed = 0x1234ABCD;
  const VectorJson file = read_vectors("jedis_sharded.json");
  const auto keys = read_vector_keys();
  const VectorJson of_keys = raw(file, "murmur64a_seed_0x1234ABCD_signed");
  ASSERT_EQ(of_keys.size(), 115U);
  for (std::size_t i = 0; i < of_keys.size(); ++i) {
    EXPECT_EQ(static_cast<std::int64_t>(murmur64a(keys[i], kSeed)), of_keys[i].get<std::int64_t>());
  }
  const VectorJson of_binary = raw(file, "murmur64a_binary");
  ASSERT_EQ(of_binary.size(), 41U);
  for (std::size_t i = 0; i < of_binary.size(); ++i) {
    EXPECT_EQ(static_cast<std::int64_t>(murmur64a(binary(i), kSeed)),
              of_binary[i].get<std::int64_t>());
  }
  const VectorJson of_ring = read_vectors("mission_murmur64a_ring.json")["hashes"];
  ASSERT_EQ(of_ring.size(), 7U);
  for (const VectorJson& each : of_ring) {
    EXPECT_EQ(static_cast<std::int64_t>(murmur64a(each["key"].get<std::string>(), kSeed)),
              each["hash"].get<std::int64_t>());
  }
}

TEST(HashVectors, CassandraMurmur3) {
  const VectorJson file = read_vectors("cassandra_murmur3.json");
  const auto keys = read_vector_keys();
  const VectorJson of_keys = raw(file, "h128 keys");
  ASSERT_EQ(of_keys.size(), 115U);
  for (std::size_t i = 0; i < of_keys.size(); ++i) {
    EXPECT_EQ(signed_pair(cassandra_murmur3(keys[i])), of_keys[i].get<std::string>());
  }
  const VectorJson of_binary = raw(file, "h128_binary");
  ASSERT_EQ(of_binary.size(), 101U);
  for (std::size_t i = 0; i < of_binary.size(); ++i) {
    EXPECT_EQ(signed_pair(cassandra_murmur3(binary(i))), of_binary[i].get<std::string>()) << i;
  }
}

TEST(HashVectors, JavaStringHash) {
  const VectorJson recorded = read_vectors("java_string_hashcode.json")["hash"];
  const auto keys = read_vector_keys();
  ASSERT_EQ(recorded.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(java_string_hash(keys[i]), recorded[i].get<std::int32_t>()) << i;
  }
}

// Any bytes have a meaning.
TEST(HashVectors, IllFormedBytesAreReplacementCharacters) {
  using Units = std::vector<std::uint16_t>;
  const auto units_of = [](std::string_view text) {
    Units units;
    for_each_utf16_unit(text, [&](std::uint16_t unit) { units.push_back(unit); });
    return units;
  };
  EXPECT_EQ(units_of("a\xFFz"), (Units{'a', 0xFFFD, 'z'}));
  EXPECT_EQ(units_of("\xE2\x82"), (Units{0xFFFD, 0xFFFD}));
  EXPECT_EQ(units_of("\xF0\x9F\x98\x80"), (Units{0xD83D, 0xDE00}));
  EXPECT_EQ(units_of("\xC3\xA9\x80"), (Units{0xE9, 0xFFFD}));
}

TEST(HashVectors, RedisSlots) {
  const VectorJson values = read_vectors("redis_cluster_keyslot.json")["raw_hash"]["values"];
  ASSERT_EQ(values.size(), 5U);
  for (const VectorJson& each : values) {
    std::string bytes;
    const auto hex = each[0].get<std::string>();
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      bytes += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
    }
    EXPECT_EQ(crc16(hash_tag(bytes)) % 16'384, each[1].get<int>()) << hex;
  }
}

// All sizes, also those of more buckets than a ring may have nodes.
void compare_buckets(const std::string& name, const std::string& inputs) {
  const VectorJson file = read_vectors(name);
  std::size_t compared = 0;
  for (const auto& [buckets, recorded] : file["vectors"].items()) {
    for (std::size_t i = 0; i < recorded.size(); ++i, ++compared) {
      const auto input = file[inputs][i].is_number_unsigned()
                             ? file[inputs][i].get<std::uint64_t>()
                             : static_cast<std::uint64_t>(file[inputs][i].get<std::int64_t>());
      EXPECT_EQ(jump_bucket(input, std::stoull(buckets)), recorded[i].get<std::uint64_t>());
    }
  }
  EXPECT_EQ(compared, 650U);
}

TEST(HashVectors, JumpAndGuava) {
  compare_buckets("jump_hash.json", "inputs_unsigned64");
  compare_buckets("guava_consistent_hash.json", "inputs_signed64");
}

// Every length around the ends of blocks and words, in batches of every size, long texts among
// short ones.
TEST(HashVectors, Md5InLanesIsMd5) {
  Rng rng(17);
  for (std::size_t size = 0; size <= 3 * kMd5Lanes + 1; ++size) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size; ++i) {
      std::string text(rng.below(i % 7 == 0 ? 200 : 57), '\0');
      for (char& byte : text) byte = static_cast<char>(rng.next());
      texts.push_back(std::move(text));
    }
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::vector<Md5> digests(size);
    md5_many(views, digests);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(digests[i], md5(texts[i])) << size << " texts, " << texts[i].size() << " bytes";
    }
  }
}

TEST(HashVectors, Md5InLanesOfEveryLength) {
  for (std::size_t bytes = 0; bytes <= 130; ++bytes) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < kMd5Lanes; ++i) texts.emplace_back(bytes, static_cast<char>(i));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::vector<Md5> digests(kMd5Lanes);
    md5_many(views, digests);
    for (std::size_t i = 0; i < kMd5Lanes; ++i) EXPECT_EQ(digests[i], md5(texts[i])) << bytes;
  }
}

TEST(HashVectors, PublishedCheckValues) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926U);
  EXPECT_EQ(crc16("123456789"), 0x31C3U);
  EXPECT_EQ(upper_64(md5("abc")), 0x900150983CD24FB0U);   // RFC 1321
  EXPECT_EQ(upper_64(sha1("abc")), 0xA9993E364706816AU);  // RFC 3174
  EXPECT_EQ(xxh64(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(murmur3_32("", 1), 0x514E28B7U);
}

}  // namespace
}  // namespace cleave::ring
