#include "datasets/catalog.h"

#include "core/base/nearest_name.h"

namespace aflguard::datasets {

std::span<const DatasetInfo> known_datasets() {
  static const std::vector<DatasetInfo> known = {
      {"synthetic",
       "Linear regression of the paper",
       Layout::kNpy,
       8000,
       2000,
       0,
       {100},
       0,
       "aflguard data get synthetic"},
      {"mnist",
       "Handwritten digits",
       Layout::kIdx,
       60000,
       10000,
       10,
       {1, 28, 28},
       0,
       "aflguard data get mnist",
       false,
       {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
      {"fashion-mnist",
       "Photographs of clothes",
       Layout::kIdx,
       60000,
       10000,
       10,
       {1, 28, 28},
       0,
       "aflguard data get fashion-mnist",
       true,
       {"t-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"}},
      {"har",
       "Human activity from smartphones",
       Layout::kNpy,
       7352,
       2947,
       6,
       {561},
       30,
       "aflguard data import har FOLDER",
       false,
       {"walking", "walking upstairs", "walking downstairs", "sitting", "standing", "laying"}},
      {"colorectal",
       "Colorectal histology textures",
       Layout::kIdx,
       4000,
       1000,
       8,
       {1, 64, 64},
       0,
       "aflguard data import colorectal hmnist_64_64_L.csv",
       false,
       {"tumor", "stroma", "complex", "lymphocytes", "debris", "mucosa", "adipose", "empty"}},
      {"cifar-10",
       "Small colour photographs",
       Layout::kCifar10,
       50000,
       10000,
       10,
       {3, 32, 32},
       0,
       "aflguard data get cifar-10",
       true,
       {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}},
  };
  return known;
}

Result<DatasetInfo> find_dataset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DatasetInfo& info : known_datasets()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  return invalid_input(unknown_name("data set", name, names));
}

}  // namespace aflguard::datasets
