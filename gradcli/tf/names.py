"""Where TensorFlow's names are found: a path below `tf`, and the module here that has it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

# Paths by the module that has them under their last part, or under that after `=`.
HOMES = {
    "dtypes": "DType TensorShape as_dtype dtypes.DType dtypes.as_dtype",
    "tensor": "Tensor constant convert_to_tensor cast dtypes.cast",
    "variable": "Variable",
    "tape": """GradientTape ForwardAccumulator autodiff.ForwardAccumulator autodiff.GradientTape
        UnconnectedGradients custom_gradient recompute_grad grad_pass_through RegisterGradient
        no_gradient gradients hessians=gradients""",
    "control": """function cond case switch_case while_loop map_fn vectorized_map foldl foldr scan
        TensorArray py_function numpy_function""",
    "own": """linspace range slice strided_slice norm linalg.norm linalg.normalize linalg.svd
        math.top_k nn.top_k unique math.polyval is_tensor random.set_seed
        compat.v1.set_random_seed=set_seed ensure_shape math.confusion_matrix
        nn.depth_to_space nn.space_to_depth identity_n""",
    "running": """device control_dependencies init_scope executing_eagerly
        debugging.enable_check_numerics debugging.disable_check_numerics
        config.run_functions_eagerly config.functions_run_eagerly test.compute_gradient errors
        config.experimental_run_functions_eagerly=run_functions_eagerly
        config.list_physical_devices=no_devices config.list_logical_devices=no_devices
        config.experimental.list_physical_devices=no_devices
        config.experimental.set_memory_growth=without_effect
        config.set_visible_devices=without_effect config.optimizer.set_jit=without_effect
        config.threading.set_intra_op_parallelism_threads=without_effect
        config.threading.set_inter_op_parallelism_threads=without_effect
        config.experimental.enable_op_determinism=without_effect
        test.is_gpu_available=no_such_device test.is_built_with_cuda=no_such_device
        autograph.set_verbosity=without_effect autograph.experimental.do_not_convert=unchanged
        get_logger version.VERSION compat.v1.logging.set_verbosity=without_effect
        compat.v1.logging.DEBUG compat.v1.logging.INFO compat.v1.logging.WARN
        compat.v1.logging.ERROR compat.v1.logging.FATAL
        compat.v1.enable_eager_execution=without_effect
        compat.v1.enable_v2_behavior=without_effect no_op=without_effect group=without_effect""",
    "scopes": "name_scope",
    "printing": "print",
    "slices": "IndexedSlices",
    "modules": "Module",
    "data": """data.Dataset data.AUTOTUNE data.INFINITE_CARDINALITY data.UNKNOWN_CARDINALITY
        TensorSpec data.experimental.AUTOTUNE=AUTOTUNE""",
    "train": """train.Checkpoint train.CheckpointManager train.latest_checkpoint
        train.list_variables train.load_variable""",
    "draws": """random.Generator random.get_global_generator random.set_global_generator
        random.categorical constant_initializer zeros_initializer ones_initializer
        random_normal_initializer random_uniform_initializer""",
    "asserting": """debugging.Assert Assert assert_equal=assert_equal assert_less=assert_less
        assert_greater=assert_greater assert_rank=assert_rank debugging.is_numeric_tensor
        debugging.assert_equal debugging.assert_none_equal debugging.assert_less
        debugging.assert_less_equal debugging.assert_greater debugging.assert_greater_equal
        debugging.assert_positive debugging.assert_non_negative debugging.assert_negative
        debugging.assert_non_positive debugging.assert_near debugging.assert_all_finite
        debugging.assert_rank debugging.assert_scalar debugging.assert_type
        debugging.assert_shapes""",
    "nest": "nest.flatten nest.map_structure nest.assert_same_structure nest.pack_sequence_as"
            " nest.is_nested",
}
# Groups that are packages of their own.
PACKAGES = ("keras", "keras.layers", "keras.models")
# What TensorFlow calls types, which are names in several groups.
TYPES = {"float32": "float32", "float64": "float64", "double": "float64", "int32": "int32",
         "int64": "int64", "bool": "bool", "complex128": "complex128", "string": "string"}


@cache
def homes() -> dict[str, tuple[str, str]]:
    """Return the module and the name in it of each path that is no row of the table."""
    from gradcli.tf.keras.names import homes as homes_of_keras

    found = homes_of_keras()
    for module, paths in HOMES.items():
        for item in paths.split():
            path, _, own = item.partition("=")
            found[path] = module, own or path.rpartition(".")[2]
    return found


@cache
def groups() -> dict[str, set[str]]:
    """Return the names in each group: "" for the top, "math", "math.special"."""
    from gradcli.tf.calls import rows

    found: dict[str, set[str]] = {"": {*TYPES, "newaxis"}, "dtypes": {*TYPES}}
    for path in (*homes(), *rows()):
        while path:
            group, _, name = path.rpartition(".")
            found.setdefault(group, set()).add(name)
            path = group
    return found


class Names(ModuleType):
    """A group of names, such as `tf.math`: each found when it is first asked for."""

    def __init__(self, group: str) -> None:
        super().__init__(f"gradcli.tf.{group}")
        self.__dict__["_group"] = group

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing `gradcli.tf.tensor` would make a `tf.tensor`, which TensorFlow does not have.
        if not isinstance(value, ModuleType) or self._path(name) in PACKAGES:
            super().__setattr__(name, value)

    def _path(self, name: str) -> str:
        group: str = self.__dict__["_group"]
        return f"{group}.{name}" if group else name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _found(self._path(name))
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return sorted(groups()[self.__dict__["_group"]])


def _found(path: str) -> Any:
    """Return what TensorFlow has at a path. Raises AttributeError for what is not here."""
    from gradcli.tf.calls import function

    home = homes().get(path)
    if home is not None:
        return getattr(import_module(f"gradcli.tf.{home[0]}"), home[1])
    made = function(path)
    if made is not None and path.startswith("keras.ops."):
        symbolic = import_module("gradcli.tf.keras.layers.symbolic")
        return symbolic.also_symbolic(made, path.rpartition(".")[2])
    if made is not None:
        return made
    if path in PACKAGES:
        return import_module(f"gradcli.tf.{path}")
    group, _, name = path.rpartition(".")
    if name in TYPES and group in ("", "dtypes"):
        from gradcli.tf.dtypes import DType

        return DType(TYPES[name])
    if path == "newaxis":
        return None
    if path in groups():
        return Names(path)
    raise AttributeError(_missing(path))


def _absent(path: str) -> str:
    """Return the message for a name that TensorFlow has and gradcli not."""
    return f"gradcli has no `tf.{path}`, which TensorFlow has: run the script with TensorFlow, or" \
        " write it with what there is (dir(tf))"


class Absent:
    """A method of TensorFlow's that is not here, and says so."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __get__(self, owner: Any, kind: Any = None) -> NoReturn:
        raise AttributeError(_absent(self.path))


def without(kind: type, path: str, names: str) -> None:
    """Let a class say of some methods that they are TensorFlow's only."""
    for name in names.split():
        setattr(kind, name, Absent(f"{path}.{name}"))


def _missing(path: str) -> str:
    """Return the message for a name that is not here: whether TensorFlow has it, and what is near.
    """
    from importlib.resources import files

    from gradcli.base.similar import nearest

    group, _, name = path.rpartition(".")
    if path.startswith("compat."):
        return f"gradcli has no `tf.{path}`: these are the names of other versions, such" \
            " as TensorFlow 1 with its sessions; gradcli has those of TensorFlow 2"
    theirs = files("gradcli.tf").joinpath("tensorflow_names.txt").read_text("utf-8").split()
    if path in theirs:
        return _absent(path)
    near = nearest(name, groups().get(group, ()))
    return f"module 'tensorflow{'.' + group if group else ''}' has no attribute '{name}'" + (
        f"; did you mean `{near}`?" if near else "")
