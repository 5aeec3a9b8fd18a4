#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "track/curve_svg.h"
#include "track/report.h"
#include "track/text_files.h"

namespace nexuml {

namespace {

constexpr std::size_t most_table_rows = 120;  // longer tables are linked
constexpr std::size_t most_open_rows = 40;    // of a table; longer ones are unfolded by a click
constexpr std::size_t most_open_charts = 12;  // further ones are unfolded by a click

constexpr const char* page_style = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1080px; margin: 32px auto; padding: 0 20px }
h1 { font-size: 26px; margin: 0 } h2 { font-size: 19px; margin: 36px 0 10px; border-bottom: 1px solid #ddd }
h3 { font-size: 15px; margin: 18px 0 6px } .quiet { color: #666 } .numbers { display: flex; flex-wrap: wrap; gap: 12px }
.number { border: 1px solid #ddd; border-radius: 6px; padding: 8px 14px } .number b { display: block; font-size: 22px }
table { border-collapse: collapse; font-size: 13px } td, th { padding: 3px 10px; border-bottom: 1px solid #eee;
text-align: right } td:first-child, th:first-child { text-align: left } pre { background: #f7f7f7; padding: 12px;
overflow: auto; font-size: 12px } img, svg { max-width: 100%; height: auto } .plots { display: flex; flex-wrap: wrap;
gap: 18px; align-items: flex-start } .grid { stroke: #e6e6e6 } .axis { stroke: #555; fill: none } .curve { fill: none;
stroke-width: 2; stroke-linecap: round; stroke-linejoin: round } .tick { font: 11px sans-serif; fill: #555 }
.title { font: bold 13px sans-serif } .legend { font: 12px sans-serif } 
.facts td, .facts th { text-align: left }
details { margin: 8px 0 } summary { cursor: pointer }
.scroll { overflow-x: auto; max-width: 100% }
.upwards th + th { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; padding: 10px 3px;
max-height: 150px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.notice { background: #fff4e0; border-left: 4px solid #e69f00; padding: 8px 14px }
)";

std::string base64(const std::string& bytes) {
  static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() * 4 / 3 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
    };
    const unsigned group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int part = 0; part < 4; ++part)
      text +=
          i + static_cast<std::size_t>(part) > bytes.size() ? '=' : letters[group >> (18 - 6 * part) & 63];
  }
  return text;
}

std::string shown_value(const Value& value) {
  if (value.is_boolean()) return value.as_boolean() ? "yes" : "no";
  if (value.is_integer()) return fmt::format("{}", value.as_integer());
  if (value.is_number()) return fmt::format("{:.4g}", value.as_number());
  return value.is_string() ? value.as_string() : std::string();
}

// The numbers that a reader looks for first, then the table of all.
std::string numbers_section(const Value& summary) {
  if (!summary.is_map()) return {};
  std::string tiles, rows;
  for (const auto& [key, value, position] : summary.entries()) {
    const bool tested =
        (key.starts_with("test/") || key.starts_with("eval/")) && key.find('/', 5) == std::string::npos;
    if (tested || key == "epochs" || key == "seconds")
      tiles += fmt::format("<div class=\"number\"><b>{}</b>{}</div>", markup_text(shown_value(value)),
                           markup_text(key));
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>", markup_text(key), markup_text(shown_value(value)));
  }
  return fmt::format(
      "<h2>Result</h2><div class=\"numbers\">{}</div><details><summary>All numbers</summary><table>{}</table>"
      "</details>",
      tiles, rows);
}

// What a reader should know before the numbers: that the run did not go to its end, or to no use.
std::string notices_section(const Value& summary) {
  if (!summary.is_map()) return {};
  std::string html;
  const auto notice = [&](const std::string& text) {
    html += fmt::format("<p class=\"notice\">{}</p>", markup_text(text));
  };
  if (const Value* interrupted = summary.find("interrupted"); interrupted && *interrupted == Value(true))
    notice("The run was interrupted: there is no test. nexuml-run train --resume goes on with it.");
  else if (const Value* reason = summary.find("stopped"); reason && reason->is_string())
    notice("Training was stopped: " + reason->as_string());
  for (const auto& [key, value, position] : summary.entries())
    if (key.ends_with("/loss") && value.is_string()) {
      notice(fmt::format("{} is {}: no finite number", key, value.as_string()));
      break;
    }
  return html;
}

// train/loss, val/loss -> one chart `loss`.
std::string curves_section(const ReportedMetrics& metrics) {
  static const std::set<std::string> counters{"epoch", "step"};
  std::vector<std::string> titles;
  std::map<std::string, std::vector<Curve>> charts;
  for (std::size_t column = 0; column < metrics.columns.size(); ++column) {
    const std::string& name = metrics.columns[column];
    if (counters.contains(name)) continue;
    const std::size_t slash = name.find('/');
    const std::string title = slash == std::string::npos ? name : name.substr(slash + 1);
    if (!charts.contains(title)) titles.push_back(title);
    Curve curve{slash == std::string::npos ? std::string() : name.substr(0, slash), {}};
    for (const auto& row : metrics.rows) curve.values.push_back(row[column]);
    charts[title].push_back(std::move(curve));
  }
  // With one loss term of weight 1 its curves are those of the loss.
  const auto repeats_loss = [&](const std::string& title) {
    return title != "loss" && charts.contains("loss") && charts[title] == charts["loss"];
  };
  // The loss is looked at first, what belongs to no stage, such as the learning rate, last.
  const auto rank = [&](const std::string& title) {
    return title == "loss" ? 0 : charts[title].front().name.empty() ? 2 : 1;
  };
  std::ranges::stable_sort(titles, {}, rank);
  std::string open, folded;
  std::size_t drawn = 0;
  for (const std::string& title : titles)
    if (!repeats_loss(title)) (drawn++ < most_open_charts ? open : folded) += curve_svg(title, charts[title]);
  if (drawn == 0) return {};
  std::string html = fmt::format("<h2>Training</h2><div class=\"plots\">{}</div>", open);
  if (!folded.empty())
    html += fmt::format("<details><summary>{} more curves</summary><div class=\"plots\">{}</div></details>",
                        drawn - most_open_charts, folded);
  return html;
}

// Cells of one CSV line; quoted cells may hold commas.
std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && line.substr(i + 1, 1) == "\"")
      cells.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += line[i];
  }
  return cells;
}

std::string short_number(const std::string& cell) {
  double number = 0;
  const char* end = cell.data() + cell.size();
  const bool is_number = std::from_chars(cell.data(), end, number).ptr == end;
  return is_number && cell.size() > 7 ? fmt::format("{:.4g}", number) : markup_text(cell);
}

double number_in(const std::string& cell) {
  double number = 0;
  std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return number;
}

// A cell of a confusion matrix, the darker the larger its share of the row.
std::string shaded_cell(const std::vector<std::string>& row, std::size_t column) {
  double sum = 0;
  for (std::size_t i = 1; i < row.size(); ++i) sum += number_in(row[i]);
  const double share = column > 0 && sum > 0 ? number_in(row[column]) / sum : 0;
  return fmt::format("<td style=\"background:rgba(0,114,178,{:.2f});color:{}\">{}</td>", share * 0.85,
                     share > 0.6 ? "#fff" : "inherit", markup_text(row[column]));
}

// A confusion matrix of named classes has its column names written upwards: it would be wider than the page.
bool has_long_names(const std::string& csv) {
  constexpr std::size_t long_name = 6;
  const std::vector<std::string> names = csv_cells(csv.substr(0, csv.find('\n')));
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.size() > long_name; });
}

std::string table_of(const std::string& csv, bool shaded) {
  const auto lines_in_file = static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n'));
  if (lines_in_file > most_table_rows) return {};
  std::istringstream lines(csv);
  std::string html, line;
  for (bool header = true; std::getline(lines, line); header = false) {
    html += "<tr>";
    const std::vector<std::string> row = csv_cells(line);
    for (std::size_t i = 0; i < row.size(); ++i)
      html += header   ? fmt::format("<th>{}</th>", markup_text(row[i]))
              : shaded ? shaded_cell(row, i)
                       : fmt::format("<td>{}</td>", short_number(row[i]));
    html += "</tr>";
  }
  const char* kind = shaded && has_long_names(csv) ? " class=\"upwards\"" : "";
  const std::string table = fmt::format("<div class=\"scroll\"><table{}>{}</table></div>", kind, html);
  if (lines_in_file <= most_open_rows) return table;
  return fmt::format("<details><summary>{} rows</summary>{}</details>", lines_in_file - 1, table);
}

// confusion_matrix.csv -> Confusion matrix
std::string title_of(const std::string& file) {
  std::string title = std::filesystem::path(file).stem().string();
  std::replace(title.begin(), title.end(), '_', ' ');
  if (!title.empty()) title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

// Figures are drawn at twice the size at which they are shown.
int shown_width(const std::string& png) {
  constexpr std::size_t width_place = 16;
  if (png.size() < width_place + 4) return 0;
  int width = 0;
  for (std::size_t i = 0; i < 4; ++i) width = width << 8 | static_cast<unsigned char>(png[width_place + i]);
  return width / 2;
}

// The numbers of one algorithm: eval/<name>/<key>.
std::string evaluation_numbers(const Value& summary, const std::string& name) {
  const std::string prefix = "eval/" + name + "/";
  std::string rows;
  if (summary.is_map())
    for (const auto& [key, value, position] : summary.entries())
      if (key.starts_with(prefix))
        rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>", markup_text(key.substr(prefix.size())),
                            markup_text(shown_value(value)));
  return rows.empty() ? rows : fmt::format("<div><h3>Numbers</h3><table>{}</table></div>", rows);
}

// A relative path as the address of a link.
std::string address_text(const std::string& path) {
  std::string address;
  for (const char c : path)
    address += c == '#' || c == '%' || c == '?' || c == ' ' || c == '"' ? fmt::format("%{:02X}", c)
                                                                        : std::string(1, c);
  return address;
}

std::string evaluation_files(const RunReport& report, const ReportedEvaluation& evaluation) {
  std::string plots, tables, links;
  for (const std::string& file : evaluation.files) {
    const std::string name = std::filesystem::path(file).filename().string();
    const std::string text = file_text(report.folder / file).value_or("");
    if (file.ends_with(".png"))
      plots += fmt::format("<img alt=\"{}\" width=\"{}\" src=\"data:image/png;base64,{}\">",
                           markup_text(name), shown_width(text), base64(text));
    else if (file.ends_with(".csv"))
      if (const std::string table = table_of(text, name == "confusion_matrix.csv"); !table.empty())
        tables += fmt::format("<div><h3>{}</h3>{}</div>", markup_text(title_of(name)), table);
    links += fmt::format(" <a href=\"{}\">{}</a>", markup_text(address_text(file)), markup_text(name));
  }
  return fmt::format("<div class=\"plots\">{}{}{}</div><p class=\"quiet\">Files:{}</p>", plots, tables,
                     evaluation_numbers(report.summary, evaluation.name), links);
}

// Algorithms with files, then those that gave numbers alone.
std::string evaluation_section(const RunReport& report) {
  std::string html;
  std::set<std::string> shown;
  for (const ReportedEvaluation& evaluation : report.evaluations) {
    html += fmt::format("<h2>{}</h2>{}", markup_text(evaluation.name), evaluation_files(report, evaluation));
    shown.insert(evaluation.name);
  }
  if (!report.summary.is_map()) return html;
  for (const auto& [key, value, position] : report.summary.entries()) {
    const std::size_t slash = key.starts_with("eval/") ? key.find('/', 5) : std::string::npos;
    if (slash == std::string::npos || !shown.insert(key.substr(5, slash - 5)).second) continue;
    const std::string name = key.substr(5, slash - 5);
    html += fmt::format("<h2>{}</h2>{}", markup_text(name), evaluation_numbers(report.summary, name));
  }
  return html;
}

std::string provenance_section(const Value& provenance) {
  if (!provenance.is_map()) return {};
  std::string rows, libraries;
  for (const auto& [key, value, position] : provenance.entries())
    if (!value.is_list() && !value.is_map())
      rows +=
          fmt::format("<tr><td>{}</td><td>{}</td></tr>", markup_text(key), markup_text(shown_value(value)));
  if (const Value* list = provenance.find("libraries"); list && list->is_list())
    for (const Value& library : list->items()) {
      const auto field = [&](const char* name) {
        const Value* value = library.find(name);
        return markup_text(value ? shown_value(*value) : "");
      };
      libraries += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", field("id"), field("version"),
                               field("build_id"));
    }
  return fmt::format(
      "<h2>Where it comes from</h2><table class=\"facts\">{}</table><h3>Libraries</h3><table "
      "class=\"facts\"><tr><th>id</th><th>version</th>"
      "<th>build</th></tr>{}</table>",
      rows, libraries);
}

std::string name_of(const RunReport& report) {
  const Value* name = report.summary.find("scenario");
  return name && name->is_string() ? name->as_string() : report.folder.filename().string();
}

}  // namespace

std::string report_page(const RunReport& report) {
  const std::string title = markup_text(name_of(report));
  std::string page = fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>"
      "<body><h1>{0}</h1><p class=\"quiet\">{2}</p>",
      title, page_style, markup_text(report.folder.string()));
  page += notices_section(report.summary);
  page += numbers_section(report.summary);
  page += curves_section(report.metrics);
  page += evaluation_section(report);
  if (!report.diagram.empty()) page += "<h2>Pipeline</h2>" + report.diagram;
  if (!report.scenario.empty())
    page += fmt::format("<h2>Scenario</h2><details><summary>scenario.yaml</summary><pre>{}</pre></details>",
                        markup_text(report.scenario));
  page += provenance_section(report.provenance);
  return page + "</body></html>\n";
}

}  // namespace nexuml
