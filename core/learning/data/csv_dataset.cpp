// How a whole text table becomes a data set; the reader itself is csv.cpp, its rows are csv_rows.cpp.
#include <algorithm>

#include "core/learning/data/csv.h"
#include "core/learning/data/csv_rows.h"

namespace aflguard {
namespace {

/// Lines that an error names.
constexpr std::size_t kLinesInErrors = 5;

/// The first row that is not the header, into `fields`; false when there is none.
Result<bool> begin_rows(CsvReader& reader, CsvRows& rows, CsvRows::Fields& fields) {
  TRY(bool more, reader.next(fields));
  if (!more) return corrupt(reader.path().string() + ": the table is empty");
  while (more) {
    TRY(const bool header, rows.begin(reader, fields));
    if (!header) return true;
    TRY(more, reader.next(fields));
  }
  return false;
}

/// Every row that has a label which is not a class, not only the first: all are to be mended.
Status labels_do_not_fit(const Error& first, CsvReader& reader, CsvRows& rows, CsvRows::Fields& fields) {
  std::vector<std::size_t> lines;
  std::size_t others = 0;
  while (true) {
    const auto more = reader.next(fields);
    if (more.ok() && !*more) break;
    if (!more.ok() && more.error().kind == ErrorKind::kIo) return more.error();
    if (!more.ok() || rows.add(reader, fields).ok() || rows.problem() != RowProblem::kLabel) continue;
    ++others;
    if (lines.size() < kLinesInErrors) lines.push_back(reader.line());
  }
  if (others == 0) return first;
  std::string text = first.message + "; the same on " + (others == 1 ? "line" : "lines");
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? " " : ", ") + std::to_string(lines[i]);
  if (others > lines.size()) text += " and " + std::to_string(others - lines.size()) + " more";
  return Error{first.kind, text};
}

}  // namespace

Result<Dataset> read_csv_dataset(const std::string& name, const std::filesystem::path& path,
                                 const CsvOptions& options) {
  TRY(auto reader, CsvReader::open(path, options.delimiter, options.limits));
  CsvRows rows(name, options);
  CsvRows::Fields fields;
  TRY(bool more, begin_rows(reader, rows, fields));
  const SampleRange& range = options.range;
  std::size_t seen = 0;
  std::size_t left_out = 0;
  while (more && (seen < range.first || seen - range.first < range.count)) {
    if (seen++ >= range.first) {
      const Status added = rows.add(reader, fields);
      if (!added.ok() && rows.problem() == RowProblem::kLabel) {
        return labels_do_not_fit(added.error(), reader, rows, fields).error();
      }
      if (!added.ok() && !rows.left_out_on_purpose()) return added.error();
      if (!added.ok()) ++left_out;
    }
    TRY(more, reader.next(fields));
  }
  if (seen == 0) return corrupt(path.string() + ": the table has a header and no rows");
  if (auto whole = range.within(seen, path.string()); !whole.ok()) return whole.error();
  rows.fill_missing();
  Dataset data = std::move(rows).release();
  data.left_out = left_out;
  TRY_STATUS(data.validate());
  return data;
}

}  // namespace aflguard
