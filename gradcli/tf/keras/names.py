"""Where Keras's names are found: paths below `keras` by the module here that has them."""

from __future__ import annotations

_LOSSES = """MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError
    MeanSquaredLogarithmicError KLDivergence Poisson CosineSimilarity Hinge SquaredHinge
    CategoricalHinge BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy mse
    mae mape msle kld MSE MAE MAPE MSLE KLD logcosh kullback_leibler_divergence mean_squared_error
    mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error huber log_cosh
    kl_divergence poisson hinge squared_hinge categorical_hinge binary_crossentropy
    categorical_crossentropy sparse_categorical_crossentropy get"""

# Names by the module that has them, and by their group; behind `=` the name in the module.
_GROUPS = {
    ("layers.weighted", "layers"): "Dense Embedding PReLU",
    ("layers.convolution", "layers"): """Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose
        DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D Convolution1D
        Convolution2D Convolution3D Convolution1DTranspose Convolution2DTranspose
        SeparableConvolution1D SeparableConvolution2D""",
    ("layers.normalization", "layers"): """BatchNormalization LayerNormalization
        GroupNormalization RMSNormalization Normalization SpectralNormalization""",
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
    ("models.model", "models"): "Model Sequential clone_model",
    ("layers.symbolic", ""): "Input KerasTensor",
    ("layers.symbolic", "layers"): "Input",
    ("variables", ""): "Variable name_scope",
    ("variables", "random"): "SeedGenerator",
    ("variables", "backend"): "clear_session",
    ("variables", "utils"): "clear_session",
    ("functions.utilities", "utils"): "to_categorical set_random_seed",
    ("functions.backend", "backend"): """backend epsilon set_epsilon image_data_format
        set_image_data_format cast_to_floatx get_uid variable constant ones zeros ones_like
        zeros_like eye get_value set_value batch_get_value batch_set_value update update_add
        update_sub eval=get_value moving_average_update int_shape ndim count_params dtype
        is_keras_tensor relu elu sigmoid softmax hard_sigmoid binary_crossentropy
        categorical_crossentropy sparse_categorical_crossentropy random_normal random_uniform
        truncated_normal random_bernoulli dropout floatx set_floatx""",
    ("functions.backend", "config"): """backend epsilon set_epsilon image_data_format
        set_image_data_format floatx set_floatx""",
    ("functions.backend", "utils"): "is_keras_tensor",
    ("functions.operations", "ops"): """shape convert_to_numpy cond fori_loop gelu linspace elu
        sigmoid softmax hard_sigmoid leaky_relu hard_silu hard_swish binary_crossentropy
        categorical_crossentropy sparse_categorical_crossentropy""",
    ("functions.backend", "ops"): "ndim dtype",
    ("functions.backend", "random"): """normal=random_normal uniform=random_uniform
        truncated_normal dropout""",
    ("models.batches", "utils"): """unpack_x_y_sample_weight pack_x_y_sample_weight PyDataset
        Sequence""",
    ("functions.activation", "activations"): """elu exponential gelu get hard_sigmoid hard_silu
        hard_swish leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu sigmoid silu
        softmax softplus softsign swish tanh""",
    ("initializer", "initializers"): """Constant GlorotNormal GlorotUniform HeNormal HeUniform
        Identity Initializer LecunNormal LecunUniform Ones Orthogonal RandomNormal RandomUniform
        TruncatedNormal VarianceScaling Zeros get constant glorot_normal glorot_uniform he_normal
        he_uniform identity lecun_normal lecun_uniform ones orthogonal random_normal random_uniform
        truncated_normal variance_scaling zeros""",
    ("initializer", ""): "Initializer",
    ("constraint", "constraints"): """Constraint MaxNorm MinMaxNorm NonNeg UnitNorm get max_norm
        min_max_norm non_neg unit_norm""",
    ("regularizer", "regularizers"): """L1 L2 L1L2 Regularizer get l1 l2 l1_l2
        OrthogonalRegularizer orthogonal_regularizer""",
    ("regularizer", ""): "Regularizer",
    ("identifiers", "utils"): """get_custom_objects custom_object_scope CustomObjectScope
        register_keras_serializable""",
    ("identifiers", "saving"): """get_custom_objects custom_object_scope CustomObjectScope
        register_keras_serializable""",
    ("functions.loss", "losses"): f"{_LOSSES} Loss Huber LogCosh cosine_similarity Reduction",
    ("functions.loss", ""): "Loss",
    ("metric", "metrics"): f"""{_LOSSES} Metric Mean Sum MeanMetricWrapper RootMeanSquaredError
        LogCoshError Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy
        TopKCategoricalAccuracy SparseTopKCategoricalAccuracy binary_accuracy
        categorical_accuracy sparse_categorical_accuracy top_k_categorical_accuracy
        sparse_top_k_categorical_accuracy""",
    ("metric", ""): "Metric",
    ("confusion", "metrics"): """Precision Recall TruePositives FalsePositives TrueNegatives
        FalseNegatives AUC FBetaScore F1Score R2Score MeanIoU get""",
    ("optimizer", "optimizers"): "Optimizer",
    ("optimizers", "optimizers"): """SGD Adam AdamW Adamax Nadam RMSprop Adagrad Adadelta Lion
        Ftrl get""",
    ("optimizer", ""): "Optimizer",
    ("schedule", "optimizers.schedules"): """LearningRateSchedule ExponentialDecay
        InverseTimeDecay PolynomialDecay CosineDecay PiecewiseConstantDecay""",
    ("models.callback", "callbacks"): """Callback LambdaCallback History LearningRateScheduler
        TerminateOnNaN""",
    ("models.callback", "utils"): "Progbar",
    ("models.monitors", "callbacks"): """EarlyStopping ReduceLROnPlateau ModelCheckpoint
        CSVLogger""",
}
# What TensorFlow calls initializers at its top.
_INITIALIZERS = {"constant_initializer": "Constant", "zeros_initializer": "Zeros",
                 "ones_initializer": "Ones", "random_normal_initializer": "RandomNormal",
                 "random_uniform_initializer": "RandomUniform"}
# Groups that TensorFlow has at its top, too.
_TOP = ("initializer", "losses", "metrics", "optimizers")


def homes() -> dict[str, tuple[str, str]]:
    """Return the module and the name in it of each path below `tf`."""
    found = {path: ("keras.initializer", name) for path, name in _INITIALIZERS.items()}
    for (module, group), names in _GROUPS.items():
        for item in names.split():
            name, _, own = item.partition("=")
            path = f"{group}.{name}" if group else name
            found[f"keras.{path}"] = f"keras.{module}", own or name
            if path.startswith(_TOP):
                found[path] = f"keras.{module}", own or name
    return found
