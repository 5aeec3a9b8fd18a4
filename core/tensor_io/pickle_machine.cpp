#include "tensor_io/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tensor_io/decimal.h"
#include "tensor_io/input_file.h"

namespace nexuml::tensor_io {

namespace {

constexpr std::size_t kMaxNodes = 8'000'000;
constexpr std::size_t kMaxExpandedNodes = 4'000'000;
constexpr std::size_t kMaxExpandedBytes = 1u << 30;
constexpr std::size_t kMaxPickleDepth = 100;

namespace op {
enum Code : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersistentId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyTuple = ')',
  kEmptyList = ']',
  kEmptyDict = '}',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProtocol = 0x80,
  kNewObject = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};
}  // namespace op

std::uint64_t reversed_bytes(std::uint64_t value) {
  return __builtin_bswap64(value);
}

}  // namespace

void PickleMachine::malformed(std::string_view reason) const {
  refuse("E757", fmt::format("{}: the pickle is malformed at byte {}: {}", file_, place_, reason), file_);
}

std::string_view PickleMachine::take(std::uint64_t length) {
  if (length > bytes_.size() - place_) malformed("it is cut off");
  const std::string_view taken = bytes_.substr(place_, length);
  place_ += length;
  return taken;
}

std::string_view PickleMachine::take_line() {
  const std::size_t end = bytes_.find('\n', place_);
  if (end == std::string_view::npos) malformed("a name without end");
  const std::string_view line = bytes_.substr(place_, end - place_);
  place_ = end + 1;
  return line;
}

template <class Unsigned>
Unsigned PickleMachine::take_number() {
  Unsigned number = 0;
  std::memcpy(&number, take(sizeof number).data(), sizeof number);
  return number;
}

NodeId PickleMachine::add(PickleNode node) {
  if (nodes_.size() >= kMaxNodes) malformed("more than 8 million values");
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId PickleMachine::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) malformed("a value is missing");
  return stack_.back();
}

NodeId PickleMachine::pop() {
  const NodeId node = top();
  stack_.pop_back();
  return node;
}

std::vector<NodeId> PickleMachine::pop_to_mark() {
  if (marks_.empty()) malformed("a mark is missing");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<NodeId> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleMachine::remember(std::uint64_t place, NodeId node) {
  memo_[place] = node;
}

void PickleMachine::recall(std::uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) malformed("it refers to a value that it does not hold");
  stack_.push_back(found->second);
}

PickledValue PickleMachine::run() {
  while (step()) {
  }
  const NodeId root = pop();
  return expand(root, 0);
}

bool PickleMachine::step() {
  const auto opcode = static_cast<unsigned char>(take(1)[0]);
  if (opcode == op::kStop) return false;
  if (!push_scalar(opcode) && !push_text(opcode) && !build_container(opcode) && !use_stack(opcode)) {
    malformed(fmt::format("opcode {:#04x} is not one of those that torch.save writes", opcode));
  }
  return true;
}

bool PickleMachine::push_scalar(unsigned char opcode) {
  switch (opcode) {
    case op::kNone:
      push(PickledValue::None{});
      return true;
    case op::kNewTrue:
      push(true);
      return true;
    case op::kNewFalse:
      push(false);
      return true;
    case op::kBinInt:
      push(std::int64_t{static_cast<std::int32_t>(take_number<std::uint32_t>())});
      return true;
    case op::kBinInt1:
      push(std::int64_t{take_number<std::uint8_t>()});
      return true;
    case op::kBinInt2:
      push(std::int64_t{take_number<std::uint16_t>()});
      return true;
    case op::kLong1:
      push_long(take_number<std::uint8_t>());
      return true;
    case op::kLong4:
      push_long(take_number<std::uint32_t>());
      return true;
    case op::kBinFloat: {  // the only operand in big-endian order
      const std::uint64_t bits = reversed_bytes(take_number<std::uint64_t>());
      double number = 0;
      std::memcpy(&number, &bits, sizeof number);
      push(number);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::push_text(unsigned char opcode) {
  switch (opcode) {
    case op::kShortBinUnicode:
      push(std::string(take(take_number<std::uint8_t>())));
      return true;
    case op::kBinUnicode:
      push(std::string(take(take_number<std::uint32_t>())));
      return true;
    case op::kBinUnicode8:
      push(std::string(take(take_number<std::uint64_t>())));
      return true;
    case op::kShortBinString:
      push(std::string(take(take_number<std::uint8_t>())));
      return true;
    case op::kBinString:
      push(std::string(take(take_number<std::uint32_t>())));
      return true;
    case op::kShortBinBytes:
      push(PickledValue::Bytes{std::string(take(take_number<std::uint8_t>()))});
      return true;
    case op::kBinBytes:
      push(PickledValue::Bytes{std::string(take(take_number<std::uint32_t>()))});
      return true;
    case op::kBinBytes8:
    case op::kByteArray8:
      push(PickledValue::Bytes{std::string(take(take_number<std::uint64_t>()))});
      return true;
    default:
      return false;
  }
}

// Integers of any size, little-endian two's complement.
void PickleMachine::push_long(std::uint64_t length) {
  constexpr std::uint64_t kMaxInteger = 1024;
  if (length > kMaxInteger) malformed("an integer of more than 8192 bits");
  const std::string_view bytes = take(length);
  if (length > 8) return push(PickledValue::BigInteger{decimal_of_twos_complement(bytes)});
  std::uint64_t bits = length > 0 && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  std::memcpy(&bits, bytes.data(), length);
  push(static_cast<std::int64_t>(bits));
}

bool PickleMachine::build_container(unsigned char opcode) {
  using Kind = PickleSequence::Kind;
  const auto last = [this](std::size_t count) {
    std::vector<NodeId> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  };
  switch (opcode) {
    case op::kEmptyTuple:
      push(PickleSequence{Kind::tuple, {}});
      return true;
    case op::kTuple1:
      push(PickleSequence{Kind::tuple, last(1)});
      return true;
    case op::kTuple2:
      push(PickleSequence{Kind::tuple, last(2)});
      return true;
    case op::kTuple3:
      push(PickleSequence{Kind::tuple, last(3)});
      return true;
    case op::kTuple:
      push(PickleSequence{Kind::tuple, pop_to_mark()});
      return true;
    case op::kEmptyList:
      push(PickleSequence{Kind::list, {}});
      return true;
    case op::kList:
      push(PickleSequence{Kind::list, pop_to_mark()});
      return true;
    case op::kEmptySet:
      push(PickleSequence{Kind::set, {}});
      return true;
    case op::kFrozenSet:
      push(PickleSequence{Kind::set, pop_to_mark()});
      return true;
    case op::kAppend:
      append_items(last(1));
      return true;
    case op::kAppends:
    case op::kAddItems:
      append_items(pop_to_mark());
      return true;
    case op::kEmptyDict:
      push(PickleDict{});
      return true;
    case op::kDict: {
      const std::vector<NodeId> items = pop_to_mark();
      push(PickleDict{});
      set_items(items);
      return true;
    }
    case op::kSetItem:
      set_items(last(2));
      return true;
    case op::kSetItems:
      set_items(pop_to_mark());
      return true;
    default:
      return false;
  }
}

void PickleMachine::append_items(const std::vector<NodeId>& items) {
  auto* sequence = std::get_if<PickleSequence>(&nodes_[top()]);
  if (!sequence || sequence->kind == PickleSequence::Kind::tuple)
    malformed("items for what is neither list nor set");
  sequence->items.insert(sequence->items.end(), items.begin(), items.end());
}

void PickleMachine::set_items(const std::vector<NodeId>& keys_and_values) {
  auto* dict = std::get_if<PickleDict>(&nodes_[top()]);
  if (!dict || keys_and_values.size() % 2 != 0) malformed("items for what is no dict");
  dict->keys_and_values.insert(dict->keys_and_values.end(), keys_and_values.begin(), keys_and_values.end());
}

bool PickleMachine::use_stack(unsigned char opcode) {
  switch (opcode) {
    case op::kProtocol: {
      const unsigned protocol = take_number<std::uint8_t>();
      if (protocol > 5) malformed(fmt::format("pickle protocol {}, protocols to 5 are read", protocol));
      return true;
    }
    case op::kFrame:
      take_number<std::uint64_t>();
      return true;
    case op::kMark:
      marks_.push_back(stack_.size());
      return true;
    case op::kPop:
      pop();
      return true;
    case op::kPopMark:
      pop_to_mark();
      return true;
    case op::kDup:
      stack_.push_back(top());
      return true;
    case op::kBinPut:
      remember(take_number<std::uint8_t>(), top());
      return true;
    case op::kLongBinPut:
      remember(take_number<std::uint32_t>(), top());
      return true;
    case op::kMemoize:
      remember(memo_.size(), top());
      return true;
    case op::kBinGet:
      recall(take_number<std::uint8_t>());
      return true;
    case op::kLongBinGet:
      recall(take_number<std::uint32_t>());
      return true;
    case op::kGlobal: {
      const std::string module(take_line());
      push_global(module + "." + std::string(take_line()));
      return true;
    }
    case op::kStackGlobal: {
      const std::string name = as<std::string>(pop(), "a name");
      push_global(as<std::string>(pop(), "a module") + "." + name);
      return true;
    }
    case op::kBinPersistentId:
      push(read_storage_id(pop()));
      return true;
    case op::kReduce: {
      const NodeId arguments = pop();
      const PickleGlobal& global = *as<const PickleGlobal*>(pop(), "something to call");
      push(reduce(global, tuple_items(arguments)));
      return true;
    }
    case op::kNewObject: {
      pop();
      push(instantiate(*as<const PickleGlobal*>(pop(), "a class")));
      return true;
    }
    case op::kBuild:  // attributes, such as `_metadata` of a state dict
      build_attributes(pop());
      return true;
    default:
      return false;
  }
}

void PickleMachine::push_global(const std::string& name) {
  const PickleGlobal* global = find_pickle_global(name);
  if (global && is_numpy(global->word) && !arrays_) global = nullptr;
  if (global && global->word == PickleWord::dtype) return push(global->dtype);
  if (global) return push(global);
  if (name.starts_with("torch.nn.modules.")) {
    refuse(
        "E758",
        fmt::format("{} holds a whole module ({}), whose code would have to be run; its weights are expected",
                    file_, name),
        file_, "save model.state_dict() instead of the model");
  }
  refuse("E757",
         fmt::format("{} needs {}, which reading a state dict never imports or calls; nothing was executed",
                     file_, name),
         file_, "save model.state_dict() and plain values: numbers, texts, lists, dicts");
}

// Without sharing the tree may be exponentially larger than the pickle, hence the limits.
PickledValue PickleMachine::expand(NodeId id, std::size_t depth) {
  if (depth > kMaxPickleDepth) malformed("values nested deeper than 100, or a value inside itself");
  if (++expanded_nodes_ > kMaxExpandedNodes) malformed("more than 4 million values");
  const auto expand_items = [&](const std::vector<NodeId>& items) {
    PickledValue::Items values;
    values.reserve(items.size());
    for (const NodeId item : items) values.push_back(expand(item, depth + 1));
    return values;
  };
  const PickleNode& node = nodes_[id];
  if (const auto* sequence = std::get_if<PickleSequence>(&node)) {
    PickledValue::Items items = expand_items(sequence->items);
    if (sequence->kind == PickleSequence::Kind::list) return {PickledValue::List{std::move(items)}};
    if (sequence->kind == PickleSequence::Kind::tuple) return {PickledValue::Tuple{std::move(items)}};
    return {PickledValue::Set{std::move(items)}};
  }
  if (const auto* dict = std::get_if<PickleDict>(&node)) {
    PickledValue::Items values = expand_items(dict->keys_and_values);
    PickledValue::Dict result;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      result.entries.push_back({std::move(values[i]), std::move(values[i + 1])});
    }
    return {std::move(result)};
  }
  if (const auto* text = std::get_if<std::string>(&node)) expanded_bytes_ += text->size();
  if (const auto* bytes = std::get_if<PickledValue::Bytes>(&node)) expanded_bytes_ += bytes->bytes.size();
  if (expanded_bytes_ > kMaxExpandedBytes) malformed("more than 1 GiB of text");
  return std::visit(
      [&](const auto& value) -> PickledValue {
        if constexpr (std::is_constructible_v<decltype(PickledValue::data), decltype(value)>) {
          return {value};
        } else {
          malformed("a class or a storage in the place of a value");
        }
      },
      node);
}

}  // namespace nexuml::tensor_io
