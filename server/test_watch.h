// SPDX-License-Identifier: MIT
// Hot reload seen from outside: a daemon in this process, clients of its socket that read event by
// event. See spec/daemon 8
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/test_server.h"

namespace kiln::server {

using Open = v1::WatchRequest::Open;

inline constexpr std::string_view kVertex = R"(
color_output_container target { f4 color; };
void mist_vertex (void) { vertex_stage_output_position (f4 {0.0}); }
)";

// `body` is what the fragment stage does; `cheap` is an option of it.
inline std::string SourceOf(const std::string& body, const std::string& unused = "f4 {0.5}") {
  return "instance cheap: flag false;\n" + std::string(kVertex) + "f4 _unused (void) { return " +
         unused + "; }\n" + "void mist_fragment (void)\n{\n    f4 color = f4 {1.0};\n" +
         "    conditional (cheap) { color = f4 {0.0}; }\n    target.color = " + body + ";\n}\n";
}
inline const std::string kGood = SourceOf("color");
inline const std::string kOther = SourceOf("color * 0.5");
inline const std::string kBroken = SourceOf("color * 1u");

inline void SetSource(v1::SourceRef& ref, const std::string& text) {
  const Digest digest = DigestOf(std::string_view(text));
  ref.set_path("mist.rpl");
  ref.mutable_digest()->set_id(Id(digest.id));
  ref.mutable_digest()->set_size(digest.size);
  ref.set_inline_(text);
}

class Watch : public ServerTest {
 protected:
  // One connection, read event by event.
  class Client {
   public:
    Client(const std::shared_ptr<grpc::Channel>& channel, const Open& open)
        : stub(v1::WatchService::NewStub(channel)) {
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(100));
      stream = stub->Watch(&context);
      v1::WatchRequest request;
      *request.mutable_open() = open;
      stream->Write(request);
    }
    ~Client() { context.TryCancel(); }

    void Push(const std::string& text) {
      v1::WatchRequest request;
      SetSource(*request.mutable_push()->add_changed(), text);
      stream->Write(request);
    }

    // Nothing: the stream has ended.
    std::optional<v1::WatchEvent> Next() {
      v1::WatchEvent event;
      if (!stream->Read(&event)) {
        return std::nullopt;
      }
      EXPECT_TRUE(last_seq == 0 || event.conflated() || event.seq() == last_seq + 1 ||
                  (event.has_opened() && event.opened().resumed()))
          << last_seq << " then " << event.ShortDebugString();
      last_seq = event.seq();
      return event;
    }

    // Up to and including the first event of this kind.
    std::vector<v1::WatchEvent> Until(v1::WatchEvent::EventCase kind) {
      std::vector<v1::WatchEvent> events;
      while (std::optional<v1::WatchEvent> event = Next()) {
        events.push_back(*std::move(event));
        if (events.back().event_case() == kind) {
          return events;
        }
      }
      ADD_FAILURE() << "the stream ended: " << stream->Finish().error_message();
      return events;
    }
    std::vector<v1::WatchEvent> UntilSettled() { return Until(v1::WatchEvent::kSettled); }

    grpc::ClientContext context;
    std::unique_ptr<v1::WatchService::Stub> stub;
    std::unique_ptr<grpc::ClientReaderWriter<v1::WatchRequest, v1::WatchEvent>> stream;
    uint64_t last_seq = 0;
  };

  static v1::ProgramSpace SpaceOf(const std::string& text, const std::string& name = "mist") {
    v1::ProgramSpace space;
    *space.mutable_program() = ProgramOf(text, true);
    space.mutable_program()->set_name(name);
    v1::Axis& axis = *space.add_axes();
    axis.set_name("cheap");
    axis.set_all(true);
    return space;
  }

  static Open OpenBoth(const std::string& text, const std::string& session = "artist") {
    Open open;
    open.set_project("test");
    open.set_workspace("here");
    open.set_session_id(session);
    open.set_role(Open::BOTH);
    open.set_inline_data(true);
    *open.add_spaces() = SpaceOf(text);
    return open;
  }
  static Open OpenSubscriber(const std::string& session) {
    Open open;
    open.set_project("test");
    open.set_workspace("here");
    open.set_session_id(session);
    open.set_role(Open::SUBSCRIBER);
    return open;
  }

  std::unique_ptr<Client> Connect(const Open& open) {
    return std::make_unique<Client>(channel, open);
  }

  // One connection has 100 streams at most. `window`: bytes that it takes in before they are read,
  // which else grow to megabytes.
  std::shared_ptr<grpc::Channel> OwnConnection(int window = 0) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (window != 0) {
      arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
      arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, window);
    }
    return grpc::CreateCustomChannel("unix:" + daemon->socket(), grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  grpc::Status StatusOf(const Open& open) {
    Client client(channel, open);
    while (client.Next().has_value()) {
    }
    return client.stream->Finish();
  }
};

inline size_t Count(const std::vector<v1::WatchEvent>& events, v1::WatchEvent::EventCase kind) {
  return static_cast<size_t>(std::ranges::count(events, kind, &v1::WatchEvent::event_case));
}

inline const v1::WatchEvent* First(const std::vector<v1::WatchEvent>& events,
                                   v1::WatchEvent::EventCase kind) {
  const auto found = std::ranges::find(events, kind, &v1::WatchEvent::event_case);
  return found == events.end() ? nullptr : &*found;
}

}  // namespace kiln::server
