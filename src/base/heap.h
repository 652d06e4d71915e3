// Returns free memory of the C library's heap to the operating system.
//
// malloc keeps freed blocks for reuse, in one arena for every few threads. After a heavy query most
// of its memory stays with the process that way. A small block that is still in use can keep the
// free memory below it there for good.
#pragma once

#include <cstdint>

namespace orrery {

// Call at the start of the program, before there are threads. Blocks of several megabytes are
// mapped by themselves and go back to the kernel when they are freed. Smaller ones stay in the
// heap, so that not every request pays for page faults.
void set_up_heap();

// For one background thread that calls it periodically. It locks the arenas one after the other, so
// the caller must not be a thread that others wait for.
class UnusedMemory {
 public:
  // Gives back what is free, if that is much. True when it did.
  bool give_back();

 private:
  // Resident bytes outside of blocks in use, as measured after the last trim: code, stacks, files,
  // and fragmentation.
  int64_t rest_ = 0;
};

}  // namespace orrery
