// Samples in a plane, coloured by the group that each belongs to.
//
//     save_plane_plot(folder / "latent_pca", {.title = "'latent' by PCA", .axis = "PCA", .dots = dots,
//                                             .groups = {"ant", "bee"}});       // latent_pca.png and .svg
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace nexuml_library {

struct PlaneDot {
  double x = 0, y = 0;
  std::size_t group = 0;  // a place in `groups`
  bool test = false;
};

struct PlanePlot {
  std::string title;
  std::string axis;  // the axes are called "<axis> 1" and "<axis> 2"
  std::vector<PlaneDot> dots;
  std::vector<std::string> groups;
};

// Throws nexuml::Error E855.
void save_plane_plot(const std::filesystem::path& stem, const PlanePlot& plot);

}  // namespace nexuml_library
