// Owners of libcurl's objects, and its one-time set-up. Only for this folder.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace orrery::client {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Curl = std::unique_ptr<CURL, Freer<curl_easy_cleanup>>;
using Url = std::unique_ptr<CURLU, Freer<curl_url_cleanup>>;
using Lines = std::unique_ptr<curl_slist, Freer<curl_slist_free_all>>;

// curl_free is a macro in some versions.
struct CurlTextFreer {
  void operator()(char* text) const { curl_free(text); }
};
using CurlText = std::unique_ptr<char, CurlTextFreer>;

inline std::unexpected<Error> no_curl() {
  return fail(Code::internal, "libcurl could not be set up");
}

// Whether libcurl can be used. The first call sets it up.
inline bool curl_is_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

inline bool append(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)lines.release();
  lines.reset(longer);
  return true;
}

}  // namespace orrery::client
