// StorageScratch: while one lives, this thread sees a private copy of a storage, and what it writes is
// dropped. A dry pass leaves no trace that way, while other layers are still being built.
#pragma once

#include <nexuml/storage.h>

namespace nexuml {

class StorageScratch {
 public:
  explicit StorageScratch(const SharedStorage& storage);
  ~StorageScratch();
  StorageScratch(const StorageScratch&) = delete;
  StorageScratch& operator=(const StorageScratch&) = delete;
};

}  // namespace nexuml
