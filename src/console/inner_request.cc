// See inner_request.h.
#include "console/inner_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "net/http_date.h"
#include "ops/admin_signature.h"

namespace orrery::console {
namespace {

constexpr std::string_view kAdminPrefix = "/admin/";
constexpr size_t kSegmentsMax = 16;  // the face itself takes fewer

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// What the page may say by itself. Who asks and when is said here.
bool is_passed_on(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "accept",        "content-type",      "host", "if-match",
      "if-none-match", "if-modified-since", "a-im", "x-orrery-whole-query"};
  const std::string small = lower(name);
  if (small == "x-ms-date" || small == "x-ms-version") return false;
  return small.starts_with("x-ms-") || std::ranges::find(kNames, small) != kNames.end();
}

}  // namespace

Result<SignedParts> signed_parts(std::string_view path) {
  std::vector<std::string> segments;
  path = path.substr(0, path.find('?'));
  while (!path.empty()) {
    const std::string_view one = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), one.size() + 1));
    if (one.empty()) continue;
    auto decoded = percent_decode(one);
    if (!decoded) return pass(decoded.error());
    segments.push_back(std::move(*decoded));
    if (segments.size() > kSegmentsMax) return fail(Code::invalid, "the path is too long");
  }
  const bool is_feed = segments.size() % 2 == 1;
  SignedParts parts;
  if (segments.empty()) return parts;
  parts.type = is_feed ? segments.back() : segments[segments.size() - 2];
  if (parts.type == "offers") {
    parts.link = is_feed ? "" : lower(segments.back());
    return parts;
  }
  if (is_feed) segments.pop_back();
  parts.link = fmt::format("{}", fmt::join(segments, "/"));
  return parts;
}

void InnerRequest::add(std::string_view name, std::string value) {
  texts_.push_back(std::make_unique<const std::string>(std::move(value)));
  request_.headers.push_back({.name = name, .value = *texts_.back()});
}

Result<InnerRequest> InnerRequest::sign(const net::Request& outer, std::string_view target,
                                        const account::KeyRing& keys, account::Access access,
                                        int64_t now_s) {
  InnerRequest made;
  net::Request& request = made.request_;
  request.method = outer.method;
  request.target = target;
  request.body = outer.body;
  request.tls = outer.tls;
  request.peer = outer.peer;
  for (const net::Header& header : outer.headers) {
    if (is_passed_on(header.name)) request.headers.push_back(header);
  }
  if (target.starts_with(kAdminPrefix)) {
    auto headers = ops::sign_admin(keys, outer.method, target, outer.body, now_s, access);
    if (!headers) return pass(headers.error());
    made.add("authorization", std::move(headers->authorization));
    made.add("x-orrery-date", std::move(headers->date));
    made.add("x-orrery-nonce", std::move(headers->nonce));
    made.add("x-orrery-content-sha256", std::move(headers->content_sha256));
    return made;
  }
  auto parts = signed_parts(target);
  if (!parts) return pass(parts.error());
  std::string date = net::http_date(now_s);
  const std::string signature =
      keys.signature_of(fmt::format("{}\n{}\n{}\n{}\n\n", lower(outer.method), lower(parts->type),
                                    parts->link, lower(date)),
                        access);
  made.add("authorization", percent_encode(fmt::format("type=master&ver=1.0&sig={}", signature)));
  made.add("x-ms-date", std::move(date));
  made.add("x-ms-version", "2020-07-15");
  return made;
}

}  // namespace orrery::console
