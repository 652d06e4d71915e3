// gzip and zstd as streams, in both directions. Files of several parts, one after the other (as
// `cat a.gz b.gz` makes), are one stream.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "transfer/format.h"

namespace orrery::transfer {

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Takes bytes off the front of `input` and appends what they expand to, at most about `room`
  // bytes. Code::corrupt when they are not of this compression, or damaged.
  virtual Status expand(std::string_view& input, std::string& out, size_t room) = 0;
  // Whether the input may end here.
  virtual bool is_whole() const = 0;
};

class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual Status compress(std::string_view input, std::string& out) = 0;
  // Ends a part: what was compressed so far can be read by itself. More may follow.
  virtual Status end_part(std::string& out) = 0;
};

Result<std::unique_ptr<Decompressor>> make_decompressor(Compression compression);
Result<std::unique_ptr<Compressor>> make_compressor(Compression compression);

}  // namespace orrery::transfer
