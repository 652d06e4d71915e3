// The MongoDB face: drivers, shells and tools of MongoDB, over the engine.
//
// A connection is a session (session.h) that gives each message to receive(), on an event loop's
// thread. It finds the command (commands/), checks who is asking, and runs it there, or on a thread
// of the lanes when it may wait:
//   wire/         messages and their compression
//   auth/         SCRAM
//   commands/     one function for each command
//   collections/  what a collection is in the catalog
//   documents/    where documents are; scans, writes, updates, pipelines
//   transactions/ those of sessions: what is open, and how others ended; snapshots
//   changes/      change streams
//   forward/      sends commands to the node that has what they concern
//   cursors/      the open cursors, and calls that wait for news
// The language (filters, updates, expressions, pipelines) knows nothing of the engine, and is in
// libraries of its own: bson/, match/, update/, expression/, pipeline/.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/mongo/call.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/session.h"
#include "face/face.h"
#include "face/request_metrics.h"

namespace orrery::mongo {

class Service final : public face::Face, public CommandReceiver {
 public:
  Service(const face::Context& lent, ServiceOptions options);

  std::string_view name() const override { return kFaceName; }
  net::ListenerSpec listener(std::string_view port) override;
  void add_metrics(face::MetricFamilies& all) const override { metrics_.collect(all); }
  void stop() override {
    context_.parking.stop();
    context_.transactions.stop();
    context_.snapshots.stop();
    context_.cursors.clear();
  }

  void handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                        net::Responder responder) override;

  void receive(Message message, Connection& connection, std::shared_ptr<ReplySink> sink) override;
  Connection connect(const net::Stream& stream) override;
  void disconnected(const Connection& connection) noexcept override;

 private:
  // `hop`: of one that another node sent.
  void begin(Message message, Connection& connection, std::shared_ptr<ReplySink> sink,
             std::unique_ptr<Hop> hop);
  // One that its caller may run.
  void run_checked(CallPtr call, const Command& command);
  void run_here(CallPtr call, const Command& command);
  // Null: it was answered.
  CallPtr remembered(CallPtr call) const;

  const HandlerContext context_;
  const std::vector<std::string_view> operations_;  // names of commands, then "other"
  face::RequestMetrics metrics_;
};

}  // namespace orrery::mongo
