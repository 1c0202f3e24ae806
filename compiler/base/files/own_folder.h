// SPDX-License-Identifier: MIT
// A folder that only this user can change, held open, and the files directly in it. Whoever puts a
// socket, a lock, a log or a cache somewhere asks here first, so that nothing that another user has
// prepared is connected to, followed, or written to. What is found is found by the descriptor: a
// folder that somebody renames afterwards stays the one that was looked at.
// See spec/daemon 11.2, 11.6
#pragma once

#include <string>
#include <sys/types.h>

#include "compiler/base/result.h"

namespace kiln {

inline constexpr const char* kNotOwn = "NOT_OWN";  // the reason of what is refused here

class OwnFolder {
 public:
  // The last part of the path is not a link; parts before it may be. Errors: kNotFound with reason
  // FILE if there is none; kPermissionDenied with reason NOT_OWN for a link, for what is no folder,
  // for one of another user and for one that others may write to.
  static Result<OwnFolder> Open(const std::string& path);
  // Makes it and the folders above it (all 0700) where there are none, then opens it.
  static Result<OwnFolder> Make(const std::string& path);
  ~OwnFolder();
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  // of O_PATH
  mode_t mode() const { return mode_; }           // the lowest nine bits
  // Errors: FileError.
  Result<void> SetMode(mode_t mode);

  // Opens the file of that name with close-on-exec, without waiting for anybody, made with mode
  // 0600 if O_CREAT is among the flags; the caller closes. Errors: kPermissionDenied with reason
  // NOT_OWN unless it is a regular file of this user with one name that only this user may write;
  // else FileError.
  Result<int> OpenFile(const std::string& name, int flags) const;

 private:
  OwnFolder(std::string path, int descriptor, mode_t mode)
      : path_(std::move(path)), descriptor_(descriptor), mode_(mode) {}

  std::string path_;
  int descriptor_;
  mode_t mode_;
};

// Makes the folders of a path, each with `mode`, as far as they are missing. Errors: FileError.
Result<void> MakeFolders(const std::string& path, mode_t mode);

}  // namespace kiln
