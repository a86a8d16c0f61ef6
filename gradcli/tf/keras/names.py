"""Where Keras's names are found: paths below `keras` by the module here that has them."""

from __future__ import annotations

_LOSSES = """MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError
    MeanSquaredLogarithmicError KLDivergence Poisson CosineSimilarity Hinge SquaredHinge
    CategoricalHinge BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy mse
    mae mape msle kld MSE MAE MAPE MSLE KLD logcosh kullback_leibler_divergence mean_squared_error
    mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error huber log_cosh
    kl_divergence poisson hinge squared_hinge categorical_hinge binary_crossentropy
    categorical_crossentropy sparse_categorical_crossentropy get"""

# Names by the module that has them, and by their group.
_GROUPS = {
    ("layers.weighted", "layers"): "Dense Embedding PReLU",
    ("layers.convolution", "layers"): """Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose
        DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D Convolution1D Convolution2D
        Convolution3D Convolution1DTranspose Convolution2DTranspose SeparableConvolution1D
        SeparableConvolution2D""",
    ("layers.normalization", "layers"): """BatchNormalization LayerNormalization GroupNormalization
        RMSNormalization Normalization SpectralNormalization""",
    ("layers.attention", "layers"): "MultiHeadAttention EinsumDense Attention AdditiveAttention",
    ("layers.cells", "layers"): "SimpleRNNCell GRUCell LSTMCell StackedRNNCells",
    ("layers.recurrent", "layers"): "RNN SimpleRNN GRU LSTM TimeDistributed Bidirectional",
    ("layers.noise", "layers"): """Dropout SpatialDropout1D SpatialDropout2D AlphaDropout
        GaussianDropout GaussianNoise""",
    ("layers.pooling", "layers"): """MaxPooling2D MaxPool2D AveragePooling2D AvgPool2D
        MaxPooling1D MaxPool1D AveragePooling1D AvgPool1D GlobalAveragePooling2D GlobalAvgPool2D
        GlobalAveragePooling1D GlobalAvgPool1D GlobalMaxPooling2D GlobalMaxPool2D
        GlobalMaxPooling1D GlobalMaxPool1D UpSampling1D UpSampling2D ZeroPadding1D ZeroPadding2D
        Cropping1D Cropping2D""",
    ("layers.merging", "layers"): """Concatenate Add Subtract Multiply Maximum Minimum Average Dot
        add subtract multiply maximum minimum average concatenate dot""",
    ("layers.simple", "layers"): """InputLayer Activation Lambda Masking ActivityRegularization
        Softmax Flatten Reshape Permute RepeatVector Rescaling ReLU LeakyReLU ELU Identity
        UnitNormalization Wrapper""",
    ("layers.layer", "layers"): "Layer InputSpec",
    ("layers.layer", ""): "Layer InputSpec",
    ("models.model", ""): "Model Sequential",
    ("models.model", "models"): "Model Sequential",
    ("layers.symbolic", ""): "Input KerasTensor",
    ("layers.symbolic", "layers"): "Input",
    ("variables", ""): "Variable name_scope",
    ("variables", "random"): "SeedGenerator",
    ("variables", "backend"): "clear_session",
    ("variables", "utils"): "clear_session",
    ("utilities", "utils"): "to_categorical set_random_seed",
    ("utilities", "backend"): "epsilon floatx",
    ("models.batches", "utils"): """unpack_x_y_sample_weight pack_x_y_sample_weight
        PyDataset Sequence""",
    ("activation", "activations"): """elu exponential gelu get hard_sigmoid hard_silu hard_swish
        leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu sigmoid silu softmax softplus
        softsign swish tanh""",
    ("initializer", "initializers"): """Constant GlorotNormal GlorotUniform HeNormal HeUniform
        Identity Initializer LecunNormal LecunUniform Ones Orthogonal RandomNormal RandomUniform
        TruncatedNormal VarianceScaling Zeros get constant glorot_normal glorot_uniform he_normal
        he_uniform identity lecun_normal lecun_uniform ones orthogonal random_normal random_uniform
        truncated_normal variance_scaling zeros""",
    ("initializer", ""): "Initializer",
    ("constraint", "constraints"): """Constraint MaxNorm MinMaxNorm NonNeg UnitNorm get max_norm
        min_max_norm non_neg unit_norm""",
    ("regularizer", "regularizers"): "L1 L2 L1L2 Regularizer get l1 l2 l1_l2",
    ("loss", "losses"): f"{_LOSSES} Loss Huber LogCosh cosine_similarity Reduction",
    ("loss", ""): "Loss",
    ("metric", "metrics"): f"""{_LOSSES} Metric Mean Sum MeanMetricWrapper RootMeanSquaredError
        LogCoshError Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy
        TopKCategoricalAccuracy SparseTopKCategoricalAccuracy binary_accuracy
        categorical_accuracy sparse_categorical_accuracy top_k_categorical_accuracy
        sparse_top_k_categorical_accuracy""",
    ("metric", ""): "Metric",
    ("optimizer", "optimizers"): """Optimizer SGD Adam AdamW Adamax Nadam RMSprop Adagrad Adadelta
        Lion get""",
    ("optimizer", ""): "Optimizer",
    ("schedule", "optimizers.schedules"): """LearningRateSchedule ExponentialDecay InverseTimeDecay
        PolynomialDecay CosineDecay PiecewiseConstantDecay""",
    ("models.callback", "callbacks"): """Callback LambdaCallback History EarlyStopping
        LearningRateScheduler TerminateOnNaN""",
}
# Groups that TensorFlow has at its top, too.
_TOP = ("initializer", "losses", "metrics", "optimizers")


def homes() -> dict[str, tuple[str, str]]:
    """Return the module and the name in it of each path below `tf`."""
    found = {}
    for (module, group), names in _GROUPS.items():
        for name in names.split():
            path = f"{group}.{name}" if group else name
            found[f"keras.{path}"] = f"keras.{module}", name
            if path.startswith(_TOP):
                found[path] = f"keras.{module}", name
    return found
