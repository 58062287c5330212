#include "traces/workloads.h"

const char *const workload_names[N_TRAIN_WORKLOADS + N_INFER_WORKLOADS] = {
    "ResNet-50", "BERT", "DCGAN",         "PointNet",  "Transformer", "LSTM",
    "NCF-NeuMF", "PPO",  "DeepSeek-1.5b", "Qwen-1.7b", "Mistral-7b",  "LLaMA-3-7b",
};
