// See copy_command.h.
#include "cli/copy_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "transfer/copier.h"
#include "transfer/stop_signals.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

constexpr size_t kCopyConnections = 16;

// By a signal, or by a line on standard input. The end of that says nothing: a service has none.
bool cut_over_is_asked() {
  if (transfer::cut_over_was_asked()) return true;
  static bool is_open = true;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (!is_open || ::poll(&input, 1, 0) != 1) return false;
  char c = 0;
  is_open = ::read(STDIN_FILENO, &c, 1) == 1;
  return is_open && c == '\n';
}

// The target is filled by this copy alone, or a person knows better.
Status check_target(const CopyOptions& options, client::Client& client, const Place& target) {
  std::error_code error;
  const bool goes_on = !options.common.checkpoint.empty() &&
                       std::filesystem::exists(options.common.checkpoint, error);
  if (options.into_filled || goes_on) return {};
  auto reader = client::FeedReader::open(client, {.name = target.name,
                                                  .kind = client::FeedKind::items,
                                                  .query = {},
                                                  .parameters_json = {},
                                                  .items_max = 1});
  if (!reader) return pass(reader.error());
  while (true) {
    auto page = reader->next();
    if (!page) return pass(page.error());
    if (!*page) return {};
    if ((*page)->count() > 0) {
      return fail(Code::invalid,
                  fmt::format("{} has items already, and what is not in the source is removed from "
                              "a copy: name an empty container, go on from a --checkpoint, or keep "
                              "them with --into-filled",
                              target.text()));
    }
  }
}

Status copy_between(const CopyOptions& options, transfer::Progress& progress, Summary& summary) {
  auto source = find_place(options.source, options.common.server, options.from);
  if (!source) return pass(source.error());
  auto target = find_place(options.target, options.common.server, options.to);
  if (!target) return pass(target.error());
  if (source->text() == target->text()) {
    return fail(Code::invalid, fmt::format("{} cannot be copied into itself", source->text()));
  }
  auto from = connect(*source, kCopyConnections);
  if (!from) return pass(from.error());
  auto info = client::read_container(**from, source->name);
  if (!info) return pass(info.error());
  auto to = connect(*target, options.common.in_flight + kCopyConnections);
  if (!to) return pass(to.error());
  auto container = target_container(**to, target->name, options.create);
  if (!container) return pass(container.error());
  if (Status fits = check_target(options, **to, *target); !fits) return fits;

  transfer::CopySettings settings;
  settings.what = fmt::format("copy {} to {}", source->text(), target->text());
  settings.checkpoint_path = options.common.checkpoint;
  settings.rejects_path = rejects_path(options.common, target->name);
  settings.requests_max = options.common.in_flight;
  settings.follow = options.follow;
  settings.check = !options.no_check;
  settings.remove_extra = !options.into_filled;
  settings.stopped = transfer::stop_was_asked;
  settings.cut_over = cut_over_is_asked;
  transfer::CopyResult result;
  Status done =
      copy_container(**from, source->name, **to, std::move(*container), settings, progress, result);
  summary.counts = result.counts;
  summary.charge = (*from)->counts().charge + (*to)->counts().charge;
  summary.throttled = result.throttled;
  summary.rejects = result.rejects_path;
  if (!done) return done;
  if (result.ending == transfer::Ending::stopped) {
    summary.exit = Exit::stopped;
    return {};
  }
  summary.checkpoint.clear();
  summary.text = fmt::format("{} changes of {} to {}", transfer::with_commas(result.counts.read),
                             source->text(), target->text());
  summary.exit = result.counts.rejected > 0 ? Exit::rejected : Exit::complete;
  if (!result.is_checked) return {};
  summary.more_json =
      fmt::format(",\"equal\":{},\"sourceItems\":{},\"targetItems\":{},\"differences\":{}",
                  result.is_equal, result.source_items, result.target_items, result.differences);
  if (result.is_equal) {
    summary.text += fmt::format("; checked: both sides have the same {} items",
                                transfer::with_commas(result.source_items));
    return {};
  }
  if (summary.exit == Exit::complete) summary.exit = Exit::different;
  std::string examples;
  for (const std::string& one : result.examples) examples += "\n  " + one;
  summary.more_json += ",\"examples\":[";
  for (size_t i = 0; i < result.examples.size(); ++i) {
    summary.more_json += (i > 0 ? "," : "") + value::quoted(result.examples[i]);
  }
  summary.more_json += "]";
  summary.error = fmt::format("the two sides are not equal: {} items in {}, {} in {}, {} differ{}",
                              transfer::with_commas(result.source_items), source->text(),
                              transfer::with_commas(result.target_items), target->text(),
                              transfer::with_commas(result.differences),
                              result.differences > 0 ? "" : " (somebody still writes?)");
  if (!examples.empty()) summary.details = examples.substr(1);
  return {};
}

}  // namespace

void add_copy_options(CLI::App& command, CopyOptions& options) {
  constexpr const char* kPlace = "DB/CONTAINER, or https://HOST[:PORT]/DB/CONTAINER";
  command.add_option("from", options.source, fmt::format("What is copied: {}", kPlace))->required();
  command.add_option("to", options.target, fmt::format("Where to: {}", kPlace))->required();
  command.add_flag("--follow", options.follow,
                   "Follow the changes until the cut-over: SIGUSR1, or a line on standard input "
                   "[until there are no more]");
  command.add_flag("--no-check", options.no_check,
                   "Do not check at the end that both sides are equal; then what was deleted "
                   "meanwhile stays in the copy");
  command.add_flag("--into-filled", options.into_filled,
                   "The target has items of its own, which stay: nothing is removed from it");
  add_create_options(command, options.create);
  add_other_account(command, options.from, "--from-");
  add_other_account(command, options.to, "--to-");
  add_transfer_options(command, options.common, true);
  command.footer(
      "Examples:\n"
      "  orrery copy shop/orders shop/orders-by-city --create --partition-key /city\n"
      "  orrery copy shop/orders shop/orders2 --create --partition-key /id --follow \\\n"
      "      --checkpoint orders.checkpoint\n"
      "  ORRERY_FROM_KEY=… orrery copy https://old.example.com/shop/orders shop/orders --follow\n"
      "\n"
      "Ends with 0: complete, and both sides are equal; 1: failed; 2: complete, but items were\n"
      "rejected; 3: stopped by a signal, and the same command goes on from the checkpoint; 4: the\n"
      "sides are not equal.");
}

int copy_live(const CopyOptions& options) {
  Summary summary;
  summary.command = "copy";
  return run_transfer(summary, options.common, [&](transfer::Progress& progress, Summary& told) {
    return copy_between(options, progress, told);
  });
}

}  // namespace orrery::cli
