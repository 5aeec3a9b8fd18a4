#include "plugins_torch/module_trials.h"

#include <fmt/format.h>

namespace torch_tests {

namespace {

using nexuml::DType;
using nexuml::Shape;
using nexuml::Value;

void add(std::vector<Target>& targets, const std::string& python_module, const std::string& name,
         std::function<Trial(Random&)> trial, std::vector<std::string> state = {},
         Value state_args = Value::list()) {
  targets.push_back({"torch.nn:" + name, "torch.nn.modules." + python_module, std::move(trial),
                     std::move(state), std::move(state_args)});
}

std::string in_dimensions(const char* name, std::size_t n) {
  return fmt::format("{}{}d", name, n);
}

void add_linear(std::vector<Target>& targets) {
  add(
      targets, "linear", "Linear",
      [](Random& r) {
        const std::int64_t in = r.between(1, 9);
        Shape shape = r.coin() ? Shape{in} : Shape{r.between(1, 5), in};
        return Trial{Value::List{in, r.between(1, 9)}, Value::map({{"bias", r.coin()}}), shape};
      },
      {"weight", "bias"}, Value::List{3, 2});
  add(targets, "linear", "Identity", [](Random& r) {
    return Trial{Value::list(), Value::map(), r.shape(2, 2, 1, 4)};
  });
  add(targets, "flatten", "Flatten", [](Random& r) {
    const auto start = r.between(1, 3);
    return Trial{Value::List{start, r.coin() ? std::int64_t{-1} : r.between(start, 3)}, Value::map(),
                 r.shape(2, 2, 1, 4)};
  });
  add(targets, "flatten", "Unflatten", [](Random& r) {
    const auto rows = r.between(1, 4), columns = r.between(1, 4);
    return Trial{Value::List{r.pick<std::int64_t>({1, -2}), Value::List{rows, columns}}, Value::map(),
                 Shape{rows * columns, r.between(1, 3)}};
  });
  add(
      targets, "sparse", "Embedding",
      [](Random& r) {
        return Trial{Value::List{r.between(2, 9), r.between(1, 5)},
                     Value::map({{"padding_idx", r.pick<std::int64_t>({0, 1, -1})}}),
                     Shape(static_cast<std::size_t>(r.between(0, 2)), r.between(1, 3)), DType::int64};
      },
      {"weight"}, Value::List{3, 2});
}

Trial convolution(Random& r, std::size_t n) {
  const std::int64_t groups = r.between(1, 2), in = groups * r.between(1, 3), out = groups * r.between(1, 3);
  Value kwargs = Value::map({{"dilation", r.size(n, 1, 2)}, {"groups", groups}, {"bias", r.coin()}});
  kwargs.set("padding_mode", r.pick<std::string>({"zeros", "reflect", "replicate", "circular"}));
  if (r.coin()) {
    kwargs.set("padding", r.pick<std::string>({"same", "valid"}));
  } else {
    kwargs.set("padding", r.size(n, 0, 2));
    kwargs.set("stride", r.size(n, 1, 3));
  }
  return {Value::List{in, out, r.size(n, 1, 3)}, kwargs, r.shape(in, n, 3, 9)};
}

Trial transposed_convolution(Random& r, std::size_t n) {
  const std::int64_t groups = r.between(1, 2), in = groups * r.between(1, 3), out = groups * r.between(1, 3);
  const std::int64_t stride = r.between(1, 3);
  return {Value::List{in, out, r.size(n, 2, 4), stride, r.size(n, 0, 1), r.between(0, stride - 1), groups},
          Value::map({{"dilation", r.size(n, 1, 2)}, {"bias", r.coin()}}), r.shape(in, n, 2, 5)};
}

void add_convolutions(std::vector<Target>& targets) {
  for (std::size_t n = 1; n <= 3; ++n) {
    add(
        targets, "conv", in_dimensions("Conv", n), [n](Random& r) { return convolution(r, n); },
        {"weight", "bias"}, Value::List{2, 3, 2});
    add(
        targets, "conv", in_dimensions("ConvTranspose", n),
        [n](Random& r) { return transposed_convolution(r, n); }, {"weight", "bias"}, Value::List{2, 3, 2});
  }
}

void add_normalizations(std::vector<Target>& targets) {
  const std::vector<std::string> affine{"weight", "bias"};
  const std::vector<std::string> tracked{"weight", "bias", "running_mean", "running_var",
                                         "num_batches_tracked"};
  for (std::size_t n = 1; n <= 3; ++n) {
    add(
        targets, "batchnorm", in_dimensions("BatchNorm", n),
        [n](Random& r) {
          const std::int64_t channels = r.between(1, 4);
          return Trial{Value::List{channels, 1e-5, r.coin() ? Value() : Value(0.2)},
                       Value::map({{"affine", r.coin()}, {"track_running_stats", r.coin()}}),
                       n == 1 && r.coin() ? Shape{channels} : r.shape(channels, n, 2, 4)};
        },
        tracked, Value::List{3});
    add(
        targets, "instancenorm", in_dimensions("InstanceNorm", n),
        [n](Random& r) {
          const std::int64_t channels = r.between(1, 4);
          return Trial{Value::List{channels},
                       Value::map({{"affine", r.coin()}, {"track_running_stats", r.coin()}}),
                       r.shape(channels, n, 2, 4)};
        },
        tracked, Value::List{3, 1e-5, 0.1, true, true});
  }
  add(
      targets, "normalization", "LayerNorm",
      [](Random& r) {
        const Shape shape = r.shape(2, 2, 1, 5);
        const bool one = r.coin();
        return Trial{one ? Value::List{shape[2]} : Value::List{Value(Value::List{shape[1], shape[2]})},
                     Value::map({{"elementwise_affine", r.coin()}, {"bias", r.coin()}}), shape};
      },
      affine, Value::List{4});
  add(
      targets, "normalization", "GroupNorm",
      [](Random& r) {
        const std::int64_t groups = r.between(1, 3), channels = groups * r.between(1, 3);
        return Trial{Value::List{groups, channels}, Value::map({{"affine", r.coin()}}),
                     r.shape(channels, static_cast<std::size_t>(r.between(1, 3)), 2, 4)};
      },
      affine, Value::List{2, 4});
  add(targets, "normalization", "LocalResponseNorm", [](Random& r) {
    return Trial{Value::List{r.between(1, 4)}, Value::map(),
                 r.shape(5, static_cast<std::size_t>(r.between(1, 2)), 2, 4)};
  });
  add(targets, "normalization", "CrossMapLRN2d", [](Random& r) {
    return Trial{Value::List{r.between(1, 4)}, Value::map(), r.shape(5, 2, 2, 4)};
  });
}

void add_activations(std::vector<Target>& targets) {
  const auto any_shape = [](Random& r) {
    return r.shape(4, static_cast<std::size_t>(r.between(0, 3)), 1, 4);
  };
  for (const char* name : {"ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid"})
    add(targets, "activation", name, [any_shape](Random& r) {
      return Trial{Value::List{r.coin()}, Value::map(), any_shape(r)};
    });
  for (const char* name : {"Tanh", "Sigmoid", "LogSigmoid", "Softsign", "Tanhshrink"})
    add(targets, "activation", name, [any_shape](Random& r) {
      return Trial{Value::list(), Value::map(), any_shape(r)};
    });
  for (const char* name : {"LeakyReLU", "ELU", "CELU", "Hardshrink", "Softshrink"})
    add(targets, "activation", name, [any_shape](Random& r) {
      return Trial{Value::List{0.3}, Value::map(), any_shape(r)};
    });
  for (const char* name : {"Hardtanh", "Threshold", "RReLU", "Softplus"})
    add(targets, "activation", name, [any_shape](Random& r) {
      return Trial{Value::List{0.1, 0.4}, Value::map(), any_shape(r)};
    });
  add(targets, "activation", "GELU", [any_shape](Random& r) {
    return Trial{Value::list(), Value::map({{"approximate", r.coin() ? "none" : "tanh"}}), any_shape(r)};
  });
  add(targets, "activation", "PReLU",
      [any_shape](Random& r) {
        return Trial{Value::List{r.pick<std::int64_t>({1, 4})}, Value::map(), any_shape(r)};
      },
      {"weight"});
  add(targets, "activation", "GLU", [](Random& r) {
    return Trial{Value::List{r.pick<std::int64_t>({1, -1})}, Value::map(),
                 Shape{2 * r.between(1, 3), 2, 2 * r.between(1, 3)}};
  });
  for (const char* name : {"Softmax", "Softmin", "LogSoftmax"})
    add(targets, "activation", name, [](Random& r) {
      return Trial{Value::List{r.pick<std::int64_t>({1, 2, -1})}, Value::map(), r.shape(3, 2, 1, 4)};
    });
  add(targets, "activation", "Softmax2d", [](Random& r) {
    return Trial{Value::list(), Value::map(), r.shape(3, 2, 1, 4)};
  });
}

Value window_arguments(Random& r, std::size_t n) {
  Value kwargs = Value::map({{"ceil_mode", r.coin()}});
  if (r.coin()) kwargs.set("stride", r.size(n, 1, 3));
  if (r.coin()) kwargs.set("padding", r.size(n, 0, 1));
  return kwargs;
}

Value adaptive_size(Random& r, std::size_t n) {
  if (n == 1 || r.coin()) return r.between(1, 5);
  Value sizes = Value::list();
  for (std::size_t i = 0; i < n; ++i) sizes.push_back(r.coin() ? Value() : Value(r.between(1, 5)));
  return sizes;
}

void add_pools(std::vector<Target>& targets) {
  for (std::size_t n = 1; n <= 3; ++n) {
    add(targets, "pooling", in_dimensions("MaxPool", n), [n](Random& r) {
      Value kwargs = window_arguments(r, n);
      kwargs.set("dilation", r.size(n, 1, 2));
      return Trial{Value::List{r.size(n, 2, 3)}, kwargs, r.shape(2, n, 5, 10)};
    });
    add(targets, "pooling", in_dimensions("AvgPool", n), [n](Random& r) {
      Value kwargs = window_arguments(r, n);
      kwargs.set("count_include_pad", r.coin());
      if (n > 1 && r.coin()) kwargs.set("divisor_override", 3);
      return Trial{Value::List{r.size(n, 2, 3)}, kwargs, r.shape(2, n, 3, 10)};
    });
    for (const char* name : {"AdaptiveAvgPool", "AdaptiveMaxPool"})
      add(targets, "pooling", in_dimensions(name, n), [n](Random& r) {
        return Trial{Value::List{adaptive_size(r, n)}, Value::map(), r.shape(2, n, 1, 9)};
      });
    add(targets, "pooling", in_dimensions("LPPool", n), [n](Random& r) {
      return Trial{Value::List{2.0, r.size(n, 1, 3)}, Value::map({{"ceil_mode", r.coin()}}),
                   r.shape(2, n, 3, 9)};
    });
    if (n > 1)
      add(targets, "pooling", in_dimensions("FractionalMaxPool", n), [n](Random& r) {
        Value kwargs = Value::map();
        if (r.coin())
          kwargs.set("output_size", r.size(n, 1, 4));
        else
          kwargs.set("output_ratio", r.pick<double>({0.3, 0.5, 0.7}));
        return Trial{Value::List{r.size(n, 1, 3)}, kwargs, r.shape(2, n, 6, 10)};
      });
  }
}

void add_dropouts(std::vector<Target>& targets) {
  const std::vector<std::pair<const char*, std::size_t>> forms{
      {"Dropout", 0}, {"Dropout2d", 2}, {"Dropout3d", 3}, {"AlphaDropout", 0}, {"FeatureAlphaDropout", 1}};
  for (const auto& [name, spatial] : forms)
    add(targets, "dropout", name, [spatial = spatial](Random& r) {
      return Trial{Value::List{0.4}, Value::map({{"inplace", r.coin()}}), r.shape(3, spatial, 2, 4)};
    });
}

// One amount, or two a dimension.
Value pad_size(Random& r, std::size_t n) {
  return r.size(2 * n, 0, 3);
}

void add_paddings(std::vector<Target>& targets) {
  for (std::size_t n = 1; n <= 3; ++n) {
    for (const char* name : {"ReflectionPad", "ReplicationPad", "ZeroPad"})
      add(targets, "padding", in_dimensions(name, n), [n](Random& r) {
        return Trial{Value::List{pad_size(r, n)}, Value::map(), r.shape(2, n, 4, 6)};
      });
    add(targets, "padding", in_dimensions("ConstantPad", n), [n](Random& r) {
      return Trial{Value::List{pad_size(r, n), 1.5}, Value::map(), r.shape(2, n, 4, 6)};
    });
  }
}

void add_resampling(std::vector<Target>& targets) {
  add(targets, "upsampling", "Upsample", [](Random& r) {
    const auto n = static_cast<std::size_t>(r.between(1, 3));
    static const std::vector<std::vector<std::string>> modes{
        {"nearest", "linear"}, {"nearest", "bilinear", "bicubic"}, {"nearest", "trilinear"}};
    const std::string mode = r.pick(modes[n - 1]);
    Value kwargs = Value::map({{"mode", mode}});
    if (mode != "nearest" && r.coin()) kwargs.set("align_corners", r.coin());
    if (r.coin())
      kwargs.set("size", r.size(n, 1, 9));
    else
      kwargs.set("scale_factor", r.pick<double>({0.5, 0.7, 1.5, 2.0, 3.0}));
    return Trial{Value::list(), kwargs, r.shape(2, n, 3, 8)};
  });
  add(targets, "pixelshuffle", "PixelShuffle", [](Random& r) {
    const auto factor = r.between(1, 3);
    return Trial{Value::List{factor}, Value::map(), r.shape(factor * factor * r.between(1, 2), 2, 1, 4)};
  });
  add(targets, "pixelshuffle", "PixelUnshuffle", [](Random& r) {
    const auto factor = r.between(1, 3);
    return Trial{Value::List{factor}, Value::map(),
                 Shape{2, factor * r.between(1, 3), factor * r.between(1, 3)}};
  });
  add(targets, "fold", "Unfold", [](Random& r) {
    return Trial{
        Value::List{r.size(2, 1, 3)},
        Value::map(
            {{"dilation", r.size(2, 1, 2)}, {"padding", r.size(2, 0, 2)}, {"stride", r.size(2, 1, 2)}}),
        r.shape(2, 2, 5, 8)};
  });
  add(targets, "fold", "Fold", [](Random& r) {
    const auto height = r.between(3, 6), width = r.between(3, 6), kernel = r.between(1, 3);
    return Trial{Value::List{Value::List{height, width}, kernel}, Value::map(),
                 Shape{2 * kernel * kernel, (height - kernel + 1) * (width - kernel + 1)}};
  });
}

}  // namespace

std::vector<Target> all_targets() {
  std::vector<Target> targets;
  add_linear(targets);
  add_convolutions(targets);
  add_normalizations(targets);
  add_activations(targets);
  add_pools(targets);
  add_dropouts(targets);
  add_paddings(targets);
  add_resampling(targets);
  return targets;
}

}  // namespace torch_tests
