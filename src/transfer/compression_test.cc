// gzip and zstd as streams.
#include "transfer/compression.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::transfer {
namespace {

Result<std::string> expanded(Compression compression, std::string_view bytes, size_t piece) {
  auto decompressor = make_decompressor(compression);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view input = bytes.substr(at, piece);
    // A little room, so that it must be asked again.
    for (int step = 0; !input.empty() || step == 0; ++step) {
      if (step > 1'000'000) return fail(Code::internal, "it does not end");
      if (Status done = (*decompressor)->expand(input, out, 100); !done) return pass(done.error());
    }
  }
  // What is kept back.
  for (size_t before = out.size() + 1; before != out.size();) {
    before = out.size();
    std::string_view nothing;
    if (Status done = (*decompressor)->expand(nothing, out, 1 << 20); !done) {
      return pass(done.error());
    }
  }
  if (!(*decompressor)->is_whole()) return fail(Code::corrupt, "cut off");
  return out;
}

TEST(CompressionTest, PartsOneAfterTheOtherAreOneStream) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919) + "\n";
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    auto compressor = make_compressor(compression);
    ASSERT_TRUE(compressor);
    std::string packed;
    const std::string_view view = text;
    ASSERT_TRUE((*compressor)->compress(view.substr(0, 1'000), packed));
    ASSERT_TRUE((*compressor)->end_part(packed));
    ASSERT_TRUE((*compressor)->end_part(packed));  // an empty one is none
    const size_t first = packed.size();
    ASSERT_TRUE((*compressor)->compress(view.substr(1'000), packed));
    ASSERT_TRUE((*compressor)->end_part(packed));
    EXPECT_EQ(compression_of_bytes(packed), compression);
    for (const size_t piece : {size_t{1'000'000}, size_t{1'000}, size_t{17}}) {
      const auto back = expanded(compression, packed, piece);
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(*back, text);
    }
    EXPECT_EQ(*expanded(compression, std::string_view(packed).substr(0, first), 64),
              text.substr(0, 1'000));
    if (compression == Compression::none) continue;
    EXPECT_FALSE(expanded(compression, std::string_view(packed).substr(0, packed.size() - 5), 64));
    std::string damaged = packed;
    damaged[0] = 'x';
    EXPECT_FALSE(expanded(compression, damaged, 64));
  }
}

}  // namespace
}  // namespace orrery::transfer
