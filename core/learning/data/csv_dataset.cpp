// How a whole text table becomes a data set; the reader itself is csv.cpp, its rows are csv_rows.cpp.
#include "core/learning/data/csv.h"
#include "core/learning/data/csv_rows.h"

namespace aflguard {

Result<Dataset> read_csv_dataset(const std::string& name, const std::filesystem::path& path,
                                 const CsvOptions& options) {
  TRY(auto reader, CsvReader::open(path, options.delimiter, options.limits));
  CsvRows rows(name, options);
  CsvRows::Fields fields;
  TRY(bool more, reader.next(fields));
  if (!more) return corrupt(path.string() + ": the table is empty");
  TRY(const bool header, rows.begin(reader, fields));
  if (header) {
    TRY(more, reader.next(fields));
  }
  const SampleRange& range = options.range;
  std::size_t seen = 0;
  while (more && (seen < range.first || seen - range.first < range.count)) {
    if (seen++ >= range.first) TRY_STATUS(rows.add(reader, fields));
    TRY(more, reader.next(fields));
  }
  if (seen == 0) return corrupt(path.string() + ": the table has a header and no rows");
  if (auto whole = range.within(seen, path.string()); !whole.ok()) return whole.error();
  Dataset data = std::move(rows).release();
  TRY_STATUS(data.validate());
  return data;
}

}  // namespace aflguard
