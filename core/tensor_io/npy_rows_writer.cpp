#include "tensor_io/npy_rows_writer.h"

#include <fmt/format.h>

#include "tensor_io/dtypes.h"
#include "tensor_io/layout.h"
#include "tensor_io/npy_header.h"

namespace nexuml::tensor_io {

NpyRowsWriter::NpyRowsWriter(std::string path, at::ScalarType dtype, std::vector<std::int64_t> shape)
    : path_(std::move(path)), dtype_(dtype), shape_(std::move(shape)), file_(path_) {
  file_.write(format_npy_header(dtype_, shape_, path_));
}

void NpyRowsWriter::add(const at::Tensor& rows) {
  const bool fits = rows.dim() == static_cast<std::int64_t>(shape_.size()) && rows.dim() > 0 &&
                    rows.sizes().slice(1) == at::IntArrayRef(shape_).slice(1) &&
                    rows.scalar_type() == dtype_ && rows_ + rows.size(0) <= shape_.front();
  if (!fits)
    throw Error("E753", fmt::format("'{}' holds {} [{}]; rows of {} [{}] do not fit behind the first {}",
                                    path_, dtype_name(dtype_), fmt::join(shape_, ", "),
                                    dtype_name(rows.scalar_type()), fmt::join(rows.sizes(), ", "), rows_));
  file_.write(bytes_of(plain_tensor(rows, path_)));
  rows_ += rows.size(0);
}

WrittenFile NpyRowsWriter::finish() {
  if (rows_ != shape_.front())
    throw Error("E753",
                fmt::format("'{}' has {} rows of the {} that were announced", path_, rows_, shape_.front()));
  return file_.commit().whole();
}

}  // namespace nexuml::tensor_io
