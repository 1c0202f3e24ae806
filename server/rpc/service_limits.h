// SPDX-License-Identifier: MIT
// Limits of the service that the configuration may change: `limits.<name>`. See spec/daemon 10
#pragma once

#include <chrono>
#include <cstdint>

#include "compiler/base/clock.h"

namespace kiln::rpc {

struct ServiceLimits {
  uint32_t request_message = 4u << 20;  // bytes
  uint32_t streams = 100;               // of one connection
  uint32_t header_list = 16 << 10;      // bytes of the metadata of one call
  Duration handshake = std::chrono::seconds(10);
  Duration first_call = std::chrono::seconds(30);   // with a token, of a connection by TCP
  Duration idle = std::chrono::minutes(10);         // of a connection
  Duration upload_time = std::chrono::minutes(15);  // of one PutSources or PutBlobs
  Duration upload_idle = std::chrono::seconds(60);  // without a message, of a stream of requests
  uint64_t rejected_blobs = 1000;  // of one upload; the configuration does not change it
  uint32_t watch_sessions = 64;
  uint32_t watch_subscribers = 64;  // of one session
};

}  // namespace kiln::rpc
