#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "track/curve_svg.h"
#include "track/report.h"
#include "track/text_files.h"

namespace nexuml {

namespace {

constexpr std::size_t most_table_rows = 120;  // longer tables are linked

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
.title { font: bold 13px sans-serif } .legend { font: 12px sans-serif } .plots img { width: 500px }
details { margin: 8px 0 } summary { cursor: pointer }
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
  if (value.is_integer()) return fmt::format("{}", value.as_integer());
  if (value.is_number()) return fmt::format("{:.4g}", value.as_number());
  return value.is_string() ? value.as_string() : std::string();
}

// The numbers that a reader looks for first, then the table of all.
std::string numbers_section(const Value& summary) {
  if (!summary.is_map()) return {};
  std::string tiles, rows;
  for (const auto& [key, value, position] : summary.entries()) {
    const bool tested = key.starts_with("test/") && key.find('/', 5) == std::string::npos;
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
  std::string html;
  for (const std::string& title : titles) html += curve_svg(title, charts[title]);
  return html.empty() ? html : fmt::format("<h2>Training</h2><div class=\"plots\">{}</div>", html);
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

std::string table_of(const std::string& csv) {
  if (static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) > most_table_rows) return {};
  std::istringstream lines(csv);
  std::string html, line;
  for (bool header = true; std::getline(lines, line); header = false) {
    html += "<tr>";
    for (const std::string& cell : csv_cells(line))
      html += header ? fmt::format("<th>{}</th>", markup_text(cell))
                     : fmt::format("<td>{}</td>", short_number(cell));
    html += "</tr>";
  }
  return "<table>" + html + "</table>";
}

std::string evaluation_section(const RunReport& report) {
  std::string html;
  for (const ReportedEvaluation& evaluation : report.evaluations) {
    std::string plots, tables, links;
    for (const std::string& file : evaluation.files) {
      const std::string name = std::filesystem::path(file).filename().string();
      const std::string text = file_text(report.folder / file).value_or("");
      if (file.ends_with(".png"))
        plots +=
            fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">", markup_text(name), base64(text));
      else if (file.ends_with(".csv"))
        if (const std::string table = table_of(text); !table.empty())
          tables += fmt::format("<div><h3>{}</h3>{}</div>", markup_text(name), table);
      links += fmt::format(" <a href=\"{}\">{}</a>", markup_text(file), markup_text(name));
    }
    html += fmt::format("<h2>{}</h2><div class=\"plots\">{}{}</div><p class=\"quiet\">Files:{}</p>",
                        markup_text(evaluation.name), plots, tables, links);
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
      "<h2>Where it comes from</h2><table>{}</table><h3>Libraries</h3><table><tr><th>id</th><th>version</th>"
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
