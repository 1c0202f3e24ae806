// SPDX-License-Identifier: MIT
// What tests of a daemon's cache ask its operator's calls, and how they damage its file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "server/test_server.h"

namespace kiln::server {

class ServerCache : public ServerTest {
 protected:
  using Reader = std::unique_ptr<grpc::ClientReader<v1::CacheMaintenance>>;
  struct Followed {
    grpc::Status status;
    v1::CacheMaintenance::Done done;
    std::vector<std::string> findings;
    std::vector<v1::Progress> progress;
    bool ended = false;  // with done
  };
  static Followed Follow(Reader reader) {
    Followed followed;
    v1::CacheMaintenance message;
    while (reader->Read(&message)) {
      EXPECT_FALSE(followed.ended);
      if (message.event_case() == v1::CacheMaintenance::kFinding) {
        followed.findings.push_back(message.finding());
      }
      if (message.has_progress()) {
        followed.progress.push_back(message.progress());
      }
      followed.ended = message.has_done();
      followed.done = followed.ended ? message.done() : followed.done;
    }
    followed.status = reader->Finish();
    return followed;
  }
  Followed Verify() {
    grpc::ClientContext context;
    return Follow(admin->VerifyCache(&context, {}));
  }
  Followed Repair() {
    grpc::ClientContext context;
    return Follow(admin->RepairCache(&context, {}));
  }
  Followed Gc(const v1::GcCacheRequest& request) {
    grpc::ClientContext context;
    return Follow(admin->GcCache(&context, request));
  }
  v1::CacheStats Stats() {
    grpc::ClientContext context;
    v1::CacheStats stats;
    const grpc::Status status = admin->GetCacheStats(&context, {}, &stats);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return stats;
  }
  static v1::CacheStats::Level LevelOf(const v1::CacheStats& stats, const std::string& name) {
    for (const v1::CacheStats::Level& level : stats.levels()) {
      if (level.name() == name) {
        return level;
      }
    }
    ADD_FAILURE() << name;
    return {};
  }
  v1::CompileRequest Durable(const std::string& text) {
    v1::CompileRequest request = RequestOf(text);
    request.set_durability(v1::DURABILITY_LOCAL);
    return request;
  }
  // As if nothing had been used for a day: what is young is not collected.
  void Age() { Sql("UPDATE entry SET used_q=used_q-144"); }
  // Changes the database behind the back of the daemon.
  void Sql(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder.path() + "/cache/cache.db").c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 2000);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
};

}  // namespace kiln::server
