// What a dataset holds, as a short text: prepared data is good as long as it stays the same.
#pragma once

#include <nexuml/data.h>
#include <nexuml/value.h>

#include <stop_token>
#include <string>

namespace nexuml {

struct DataFingerprint {
  std::string digest;
  Value files =
      Value::list();  // {path, size, modified, sha256} of each file, to be given as `known` next time
};

// The content of the files that the dataset names, else of every row. A file whose size and time of change
// are those in `known` is not read again. Throws Error E838 for a file that cannot be read.
DataFingerprint fingerprint_of(const Dataset& dataset, const Value& known, std::stop_token stop = {});

}  // namespace nexuml
