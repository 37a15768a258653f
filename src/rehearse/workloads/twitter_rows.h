// Statistics of 54 production cache clusters at Twitter, March 2020: what `twitter:N` is made of.
//
// Source: J. Yang, Y. Yue, K. V. Rashmi, "A large scale analysis of hundreds of in-memory cache
// clusters at Twitter", OSDI 2020; the table published with the traces
// (github.com/twitter/cache-trace), licensed CC BY 4.0. Kept: cluster, sizes, Zipf exponent, share
// of writes; in units without fractions. 0 where the table gives none. Left out: category, rate,
// the other operations.
#pragma once

#include <cstdint>

namespace cleave::rehearse {

// One production cache cluster.
struct TwitterRow {
  std::uint32_t cluster;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
  std::uint32_t exponent_e4;  // ten thousandths
  std::uint32_t write_ppm;
};

inline constexpr TwitterRow kTwitterRows[] = {
    // clang-format off
    {1, 80, 267, 26774, 0},
    {2, 21, 68, 14908, 0},
    {3, 19, 120, 16414, 0},
    {4, 67, 2439, 11004, 70000},
    {5, 0, 0, 0, 0},
    {6, 44, 252, 18820, 20000},
    {7, 17, 1936, 10666, 180000},
    {8, 23, 9497, 17366, 500000},
    {9, 32, 39, 16796, 0},
    {10, 22, 2333, 0, 500000},
    {11, 24, 170, 14891, 30000},
    {12, 44, 1030, 3048, 800000},
    {13, 44, 4266, 4565, 620000},
    {14, 96, 414, 12959, 350000},
    {15, 18, 102, 242, 1000000},
    {16, 18, 115, 17862, 50000},
    {17, 19, 212, 21106, 0},
    {18, 18, 37, 20994, 20000},
    {19, 42, 101, 7350, 250000},
    {20, 26, 55, 13699, 30000},
    {21, 25, 1, 521, 1000000},
    {22, 54, 4, 7624, 280000},
    {23, 35, 224, 2740, 630000},
    {24, 32, 699, 13726, 0},
    {25, 49, 28, 9929, 40000},
    {26, 122, 1745, 6299, 290000},
    {27, 66, 8, 10650, 150000},
    {28, 45, 85, 15030, 60000},
    {29, 36, 799, 12323, 130000},
    {30, 22, 689, 14259, 0},
    {31, 41, 15, 0, 940000},
    {32, 41, 138, 0, 980000},
    {33, 24, 1118, 13540, 10000},
    {34, 33, 322, 11401, 60000},
    {35, 19, 1796, 0, 40000},
    {36, 23, 78, 12169, 50000},
    {37, 72, 20134, 4251, 370000},
    {38, 41, 185, 0, 940000},
    {39, 41, 80, 0, 940000},
    {40, 44, 155, 8551, 500000},
    {41, 44, 171, 8542, 500000},
    {42, 40, 4703, 15974, 40000},
    {43, 44, 304, 0, 500000},
    {44, 25, 22, 14084, 10000},
    {45, 10, 120, 6372, 150000},
    {46, 44, 928, 0, 320000},
    {47, 44, 267, 20637, 0},
    {48, 44, 70, 8191, 350000},
    {49, 44, 10658, 15095, 430000},
    {50, 18, 67485, 12816, 480000},
    {51, 44, 221, 19745, 100000},
    {52, 20, 273, 12117, 60000},
    {53, 36, 9213, 12061, 120000},
    {54, 19, 246, 16110, 30000},
    // clang-format on
};

}  // namespace cleave::rehearse
