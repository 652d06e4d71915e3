// Shared access signatures: terms that a holder of a key has signed, in the query of a URL.
//
// An account signature (ss, srt) is for services and kinds of resources, a table signature for one
// table (tn) and perhaps a range of its keys (spk, srk, epk, erk), by its own terms or by those of
// a stored access policy (si). What is signed, each value decoded, one to a line:
//   account  account sp ss srt st se sip spr sv, from sv 2020-12-06 on ses, and a last line end
//   table    sp st se resource si, from sv 2015-04-05 on sip spr, then sv spk srk epk erk
// resource is "/table/account/name" in lower case, without the "/table" before sv 2015-02-21. A
// version from the future is signed like the newest.
//
// A value that is empty and one that is absent are signed alike, so they mean the same here: no
// bound.
//
// Input from outside. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "account/keys.h"
#include "api/table/auth/authorize.h"
#include "api/table/auth/grant.h"

namespace orrery::table {

struct SharedAccess {                 // decoded; empty when not there
  std::string version = {};           // sv
  std::string services = {};          // ss
  std::string resource_types = {};    // srt
  std::string permissions = {};       // sp
  std::string start = {};             // st
  std::string expiry = {};            // se
  std::string addresses = {};         // sip
  std::string protocols = {};         // spr
  std::string encryption_scope = {};  // ses
  std::string table = {};             // tn
  std::string identifier = {};        // si
  std::string first_partition = {};   // spk
  std::string first_row = {};         // srk
  std::string last_partition = {};    // epk
  std::string last_row = {};          // erk
  std::string signature = {};         // sig

  bool for_account() const { return !services.empty() || !resource_types.empty(); }
};

bool has_shared_access(std::string_view query);
// 403 AuthenticationFailed when a value is not percent-encoded, or there twice.
TableResult<SharedAccess> parse_shared_access(std::string_view query);

std::string account_string_to_sign(const SharedAccess& terms, std::string_view account);
std::string table_string_to_sign(const SharedAccess& terms, std::string_view account,
                                 std::string_view table);

// The grant of a request whose query has a signature.
TableResult<Grant> authorize_shared_access(const RequestFacts& request,
                                           const account::KeyRing& keys, const Accounts& accounts);

// Whether `peer` (an address, perhaps with its port) is one of `allowed`: an address, or two with a
// '-' between.
bool address_allowed(std::string_view allowed, std::string_view peer);

}  // namespace orrery::table
