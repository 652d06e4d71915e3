// SHA-256 of bytes that come in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace orrery {

class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  void add(std::string_view piece);
  // In hexadecimal, upper case. Once, at the end.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace orrery
