// Bytes of a file at an offset: whole, to the end of the file, and on errors.
#include "base/file_bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/file_descriptor.h"

namespace orrery {
namespace {

TEST(FileBytes, AreWrittenAndReadWholeAtAnOffset) {
  char pattern[] = "/tmp/orrery-XXXXXX";
  const FileDescriptor file(::mkstemp(pattern));
  ASSERT_TRUE(file);
  ::unlink(pattern);
  const std::string bytes(1'000'000, 'x');
  ASSERT_TRUE(write_at(file.get(), 10, bytes));
  std::string read(bytes.size(), '\0');
  EXPECT_EQ(read_at(file.get(), 10, read), bytes.size());
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(read_at(file.get(), bytes.size(), read), 10U) << "to the end of the file";
  EXPECT_EQ(read_at(file.get(), bytes.size() + 10, read), 0U);
}

TEST(FileBytes, ErrorsAreTold) {
  const FileDescriptor only_read(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(write_at(only_read.get(), 0, "x"));
  const FileDescriptor only_write(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::string read(1, '\0');
  EXPECT_EQ(read_at(only_write.get(), 0, read), std::nullopt);
}

}  // namespace
}  // namespace orrery
