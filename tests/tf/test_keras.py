"""Keras, datasets and modules against what TensorFlow printed, program by program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tf_programs
from folders import ROOT

import gradcli.tf as tf
from gradcli import GradcliError
from gradcli.explain.python.names import path_to
from gradcli.tf.keras.names import homes

PROGRAMS = [name for name in tf_programs.PROGRAMS if not name.startswith("guide_")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str) -> None:
    wrong = tf_programs.differences(program)
    assert not wrong, "\n".join(wrong)


REFUSED = {
    "keras.layers.Dense(1, lora_rank=2)": "lora_rank",
    "keras.layers.Conv2D(1, 1, groups=2)": "groups",
    "keras.layers.Conv2D(1, 1, data_format='channels_first')": "data_format",
    "keras.layers.Flatten(data_format='channels_first')(tf.ones((1, 2)))": "data_format",
    "keras.layers.BatchNormalization(renorm=True)": "renorm",
    "keras.Input((2,), sparse=True)": "sparse",
    "keras.optimizers.SGD(use_ema=True)": "use_ema",
    "keras.optimizers.Adam(gradient_accumulation_steps=2)": "gradient_accumulation_steps",
    "keras.Sequential().summary(expand_nested=True)": "expand_nested",
    "tf.data.Dataset.range(2).cache('file')": "filename",
}


@pytest.mark.parametrize("call", REFUSED)
def test_options_that_are_not_here(call: str) -> None:
    """They are refused by name, never dropped."""
    with pytest.raises(GradcliError) as caught:
        eval(call, {"tf": tf, "keras": tf.keras})
    assert caught.value.code == "E0208"
    assert REFUSED[call] in str(caught.value)


@pytest.mark.parametrize("call", [
    "tf.data.Dataset.list_files('*')", "tf.data.Dataset.range(3).window(2)",
    "tf.keras.Sequential().save('file')", "tf.keras.Model.from_config({})"])
def test_methods_that_are_not_here(call: str) -> None:
    with pytest.raises(AttributeError, match=r"gradcli has no `tf\.(data|keras)\.\w+\.\w+`, which"):
        eval(call, {"tf": tf})


def test_all_names_are_there() -> None:
    for path in homes():
        found = tf
        for part in path.split("."):
            found = getattr(found, part)


def test_names_of_variables() -> None:
    """They are what a program would write."""
    dense = tf.keras.layers.Dense

    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = dense(2)
            self.parts = [dense(1), tf.keras.Sequential([dense(3)])]

        def call(self, x: Any) -> Any:
            x = self.first(x)
            for part in self.parts:
                x = part(x)
            return x

    net = Net()
    net(tf.ones((1, 2)))
    names = [path_to(v, {"net": net}) for v in net.variables]
    assert names == ["net.first.kernel", "net.first.bias", "net.parts[0].kernel",
                     "net.parts[0].bias", "net.parts[1].layers[0].kernel",
                     "net.parts[1].layers[0].bias"]


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """With verbose=1 a line for each epoch is left of the bar, without colours."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    model.fit(tf.ones((4, 1)), tf.ones((4, 1)), epochs=2, batch_size=2)
    lines = re.sub(r"\d+(us|ms|s)", "0s", capsys.readouterr().out).splitlines()
    assert lines[0] == "Epoch 1/2"
    assert lines[1].startswith(f"2/2 {'━' * 20} 0s 0s/step - loss: 0.9")
    assert lines[2] == "Epoch 2/2"


def test_draws_can_be_repeated() -> None:
    def draws() -> list[Any]:
        tf.random.set_seed(3)
        layer, drop = tf.keras.layers.Dense(4), tf.keras.layers.Dropout(0.5)
        data = tf.data.Dataset.range(9).shuffle(9)
        return [layer(tf.ones((1, 3))).numpy().tolist(), drop(
            tf.ones((20,)), training=True).numpy().tolist(), list(data.as_numpy_iterator()),
            tf.random.Generator.from_seed(2).normal((2,)).numpy().tolist()]

    first = draws()
    assert first == draws()
    assert sorted(first[2]) == list(range(9)) != first[2]


def test_dropout_and_its_scale() -> None:
    x = tf.ones((2000,))
    y = tf.keras.layers.Dropout(0.25, seed=1)(x, training=True).numpy()
    assert {round(v, 5) for v in y.tolist()} == {0.0, 1.33333}
    assert abs(y.mean() - 1) < 0.1


def test_weights_in_files(tmp_path: Path) -> None:
    def model() -> Any:
        return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])

    one, other = model(), model()
    one.save_weights(tmp_path / "a.weights.h5")
    other.load_weights(tmp_path / "a.weights.h5")
    assert (one.layers[0].kernel.numpy() == other.layers[0].kernel.numpy()).all()
    with pytest.raises(ValueError, match=r"must end in `.weights.h5`"):
        one.save_weights(tmp_path / "a")


def test_checkpoints_of_models_and_optimizers(tmp_path: Path) -> None:
    def made() -> tuple[Any, Any]:
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam(0.1)
        optimizer.apply_gradients([(tf.ones_like(v), v) for v in model.trainable_variables])
        return model, optimizer

    (model, optimizer), (other, its) = made(), made()
    path = tf.train.Checkpoint(model=model, optimizer=optimizer, n=3).save(tmp_path / "a" / "ckpt")
    tf.train.Checkpoint(model=other, optimizer=its, n=4).restore(path).assert_consumed()
    for one, two in zip([*model.variables, *optimizer.variables],
                        [*other.variables, *its.variables], strict=True):
        assert (one.numpy() == two.numpy()).all()
    unbuilt = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="build the model"):
        tf.train.Checkpoint(model=unbuilt).restore(path)
    with pytest.raises(tf.errors.NotFoundError, match="no checkpoint"):
        tf.train.Checkpoint(model=model).restore(tmp_path / "nowhere")
    with pytest.raises(AssertionError, match="not bound"):
        tf.train.Checkpoint(other=model).restore(path).assert_existing_objects_matched()
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_what_the_page_says_is_otherwise() -> None:
    keras, calls = tf.keras, []
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    model.fit(tf.ones((2, 1)), tf.ones((2, 1)), verbose=0)
    list(tf.data.Dataset.range(5).map(lambda x: calls.append(x) or x))
    x = tf.Variable([1.0, -2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = tf.nn.leaky_relu(x)
        slope = tape.gradient(y, x)
    layer = model.layers[0]
    ran: list[int] = []

    class Own(keras.Model):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            ran.append(1)
            return x

    Own()(tf.ones((1, 1)))
    said = {
        "model(x)": len(ran) == 1,
        "isinstance(layer.kernel, tf.Variable)": isinstance(layer.kernel, tf.Variable),
        "optimizer.minimize": hasattr(model.optimizer, "minimize"),
        "tf.keras.losses.mean_squared_error": keras.losses.mean_squared_error is keras.losses.mse,
        "dataset.map(f)": len(calls) == 5,
        "tape.gradient(slope, x)": outer.gradient(slope, x) is None,
    }
    page = (ROOT / "docs" / "tensorflow.md").read_text("utf-8")
    listed = re.findall(r"^- (?:`[^`]+`).*?(?=^- |^$)", page, re.M | re.S)
    tested_elsewhere = {"model.fit(x, y)", "model.save_weights(path)"}
    assert all(said.values()), said
    assert {code for item in listed for code in re.findall(r"`([^`]+)`", item)} >= {*said}
    assert {re.findall(r"`([^`]+)`", item)[0] for item in listed} <= {*said, *tested_elsewhere}


def test_objects_say_what_they_were_made_with() -> None:
    """As Keras 3 has it: a layer is made again from its options, and so are their parts."""
    made = tf.keras.layers.Dense(3, activation="relu", use_bias=False, name="head",
                                 kernel_regularizer=tf.keras.regularizers.L2(0.1))
    config = made.get_config()
    assert config["units"] == 3
    assert config["activation"] == "relu"
    assert config["kernel_regularizer"]["class_name"] == "L2"
    again = tf.keras.layers.Dense.from_config(config)
    assert again.get_config() == config

    layers = tf.keras.layers
    for one in (layers.MultiHeadAttention(2, 3), layers.Conv2DTranspose(2, 3),
                layers.DepthwiseConv2D(3), layers.SeparableConv2D(2, 3), layers.LSTM(3),
                layers.TimeDistributed(layers.Dense(2)), layers.Bidirectional(layers.LSTM(2))):
        its = one.get_config()
        assert type(one).from_config(its).get_config() == its
    assert layers.Conv1DTranspose(3, 2)(tf.ones((1, 4, 2))).shape == (1, 5, 3)

    @tf.keras.utils.register_keras_serializable(package="Own")
    class Twice(tf.keras.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return 2*x

    assert tf.keras.utils.get_custom_objects()["Own>Twice"] is Twice
    tf.keras.utils.get_custom_objects().clear()
