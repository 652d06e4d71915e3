// `orrery doctor`: whether the data are as they should be, and what to do if they are not.
//
// Of a data folder whose server does not run, everything: see doctor_folder.cc. Of a running
// server, what it can tell without reading all of its data: see doctor_server.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "cli/admin_client.h"
#include "cli/volumes.h"

namespace orrery::cli {

struct DoctorOptions {
  VolumeOptions volume;
  bool json = false;
};

// Something that is not as it should be.
struct Finding {
  std::string where;        // shop/orders range 3
  std::string what;         // what is wrong, with the values
  std::string advice;       // what to do about it
  bool is_warning = false;  // all is well so far
};

struct Diagnosis {
  uint64_t containers = 0;
  uint64_t partitions = 0;
  uint64_t items = 0;
  uint64_t bytes = 0;
  uint64_t terms = 0;                // of the index
  std::vector<std::string> checked;  // what was looked at
  std::vector<Finding> findings;
};

// Of a volume that nobody serves.
Result<Diagnosis> examine_volume(volume::Volume& volume, const Limits& limits, bool progress);
Result<Diagnosis> examine_folder(const std::string& folder, const VolumeOptions& volume,
                                 bool progress);
Result<Diagnosis> examine_server(const ServerAddress& server);

// Returns the process's exit code: 0 all is well, 1 it could not be checked, 3 something is wrong.
int doctor(const ServerAddress& server, const DoctorOptions& options);

}  // namespace orrery::cli
