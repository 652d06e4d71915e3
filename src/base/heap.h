// The C library's heap: what is free in it and still takes memory of the machine is given back.
//
// Freed blocks stay with the process, in one heap for each few threads, for whoever asks next.
// After a heavy query that is most of what it took, and for good where something small was left
// behind it.
#pragma once

#include <cstdint>

namespace orrery {

// At the start of the program, before there are threads. Blocks of some megabytes are the kernel's,
// and go back when they are freed; what is below stays in the heap, so that it need not be faulted
// in again for every request.
void set_up_heap();

// For one thread, which looks now and then: not one that others wait for, since the heaps are
// locked one after the other meanwhile.
class UnusedMemory {
 public:
  // Gives back what is free, if that is much. True when it did.
  bool give_back();

 private:
  // What was resident besides blocks in use after the last time: code, stacks, files, and what lies
  // between blocks that are in use.
  int64_t rest_ = 0;
};

}  // namespace orrery
