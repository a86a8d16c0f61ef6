"""Datasets: what yields tensors, one structure after the other."""

from __future__ import annotations

from itertools import islice

from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import TensorShape, as_dtype, plain
from gradcli.tf.names import without
from gradcli.tf.own import next_seed
from gradcli.tf.tensor import constant, convert_to_tensor, refused, stacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

AUTOTUNE = -1
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2


class TensorSpec:
    """The shape and the type of tensors, as tf.TensorSpec."""

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self.shape, self.dtype, self.name = TensorShape(shape), as_dtype(dtype), name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return that of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype, self.name) == (
            other.shape, other.dtype, other.name)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype.name, self.name))

    def __repr__(self) -> str:
        return (f"TensorSpec(shape={tuple(self.shape)}, dtype={self.dtype!r},"
                f" name={self.name!r})")


class Dataset:
    """What yields structures of tensors, as tf.data.Dataset; each method returns another one.

    title: TensorFlow's name of its kind. iterate: what begins anew each time. length: the number
    of elements, one of the constants for infinitely many or not known. spec: what tells the shapes.
    """

    def __init__(self, title: str, iterate: Callable[[], Iterator[Any]], length: int,
                 spec: Callable[[], Any] | None = None) -> None:
        self._title, self._iterate, self._length = title, iterate, length
        self._spec = spec or self._first

    # ---- sources -------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: Any = None) -> Dataset:
        """Return the parts of tensors along their first axes."""
        whole = _tensors(tensors)
        lengths = [int(t.shape[0]) for t in engine.flatten(whole)]
        for n in lengths:
            if n != lengths[0]:
                raise ValueError(f"Dimensions {lengths[0]} and {n} are not compatible")

        def parts() -> Iterator[Any]:
            for k in range(lengths[0]):
                yield engine.like(whole, [t[k] for t in engine.flatten(whole)])

        return Dataset("_TensorSliceDataset", parts, lengths[0], lambda: engine.like(
            whole, [TensorSpec(t.shape[1:], t.dtype) for t in engine.flatten(whole)]))

    @staticmethod
    def from_tensors(tensors: Any, name: Any = None) -> Dataset:
        """Return tensors as the one element."""
        whole = _tensors(tensors)
        return Dataset("_TensorDataset", lambda: iter([whole]), 1)

    @staticmethod
    def from_generator(generator: Callable[..., Any], output_types: Any = None,
                       output_shapes: Any = None, args: Any = (), output_signature: Any = None,
                       name: Any = None) -> Dataset:
        """Return what a function yields."""
        if output_signature is None and output_types is not None:
            output_signature = engine.like(output_types, [
                TensorSpec(None, t) for t in engine.flatten(output_types)])

        def yielded() -> Iterator[Any]:
            for item in generator(*args):
                yield item if output_signature is None else engine.like(output_signature, [
                    convert_to_tensor(v, s.dtype) for v, s in zip(
                        _leaves(item, output_signature), engine.flatten(output_signature),
                        strict=True)])

        return Dataset("_FlatMapDataset", yielded, UNKNOWN_CARDINALITY, lambda: output_signature)

    @staticmethod
    def range(*args: Any, output_type: Any = "int64", name: Any = None) -> Dataset:
        """Return whole numbers, as Python's `range`."""
        from builtins import range as numbers

        found = numbers(*[int(plain(a)) for a in args])
        return Dataset("_RangeDataset", lambda: iter([constant(k, output_type) for k in found]),
                       len(found), lambda: TensorSpec((), output_type))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: Any = None) -> Dataset:
        """Return elements of several datasets beside each other."""
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = engine.flatten(structure)
        known = [d._length for d in parts if d._length != INFINITE_CARDINALITY]
        return Dataset(
            "_ZipDataset",
            lambda: (engine.like(structure, row) for row in _rows([iter(d) for d in parts])),
            INFINITE_CARDINALITY if not known else min(known),
            lambda: engine.like(structure, [d.element_spec for d in parts]))

    # ---- other datasets ------------------------------------------------------------------------

    def _with(self, title: str, iterate: Callable[[], Iterator[Any]], length: int | None = None,
              spec: Callable[[], Any] | None = None) -> Dataset:
        return Dataset(title, iterate, self._length if length is None else length,
                       spec or (lambda: self.element_spec))

    def _counted(self, count: Callable[[int], int]) -> int:
        return self._length if self._length < 0 else count(self._length)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None,
            deterministic: Any = None, synchronous: Any = None,
            use_unbounded_threadpool: bool = False, name: Any = None) -> Dataset:
        """Apply a function to each element; a tuple is its arguments."""
        def mapped() -> Iterator[Any]:
            return (_tensors(_called(map_func, item)) for item in self)

        title = "_MapDataset" if num_parallel_calls is None else "_ParallelMapDataset"
        return Dataset(title, mapped, self._length)

    def filter(self, predicate: Callable[..., Any], name: Any = None) -> Dataset:
        """Keep the elements of which a function is true."""
        return self._with("_FilterDataset", lambda: (
            item for item in self if _called(predicate, item)), UNKNOWN_CARDINALITY)

    def batch(self, batch_size: Any, drop_remainder: bool = False, num_parallel_calls: Any = None,
              deterministic: Any = None, name: Any = None) -> Dataset:
        """Stack so many elements."""
        n = int(plain(batch_size))

        def batches() -> Iterator[Any]:
            items = iter(self)
            while rows := list(islice(items, n)):
                if len(rows) == n or not drop_remainder:
                    columns = zip(*map(engine.flatten, rows), strict=True)
                    yield engine.like(rows[0], [stacked(list(column)) for column in columns])

        return self._with(
            "_BatchDataset", batches, self._counted(
                lambda m: m // n if drop_remainder else -(-m // n)),
            lambda: engine.like(self.element_spec, [
                TensorSpec((n if drop_remainder else None, *s.shape), s.dtype)
                for s in engine.flatten(self.element_spec)]))

    def unbatch(self, name: Any = None) -> Dataset:
        """Take the elements of batches apart."""
        return self.flat_map(lambda *parts: Dataset.from_tensor_slices(
            parts if len(parts) > 1 else parts[0]))

    def flat_map(self, map_func: Callable[..., Any], name: Any = None) -> Dataset:
        """Return the elements of the datasets that a function returns, one after the other."""
        return Dataset("_FlatMapDataset", lambda: (
            part for item in self for part in _called(map_func, item)), UNKNOWN_CARDINALITY)

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None,
                name: Any = None) -> Dataset:
        """Return the elements in a random order: each drawn of so many."""
        size = int(plain(buffer_size))
        fixed = next_seed(seed) if reshuffle_each_iteration is False else None
        rounds = 0

        def shuffled() -> Iterator[Any]:
            nonlocal rounds
            number = fixed if fixed is not None else next_seed(seed)
            draw = np.random.default_rng([number, 0 if fixed is not None else rounds])
            rounds += 1
            held: list[Any] = []
            for item in self:
                held.append(item)
                if len(held) >= size:
                    yield held.pop(int(draw.integers(len(held))))
            while held:
                yield held.pop(int(draw.integers(len(held))))

        return self._with("_ShuffleDataset", shuffled)

    def repeat(self, count: Any = None, name: Any = None) -> Dataset:
        """Return the elements again and again: so many times, or without end."""
        times = -1 if count is None else int(plain(count))

        def repeated() -> Iterator[Any]:
            k = 0
            while k != times:
                item = engine
                for item in self:
                    yield item
                if item is engine:  # there are none
                    return
                k += 1

        return self._with("_RepeatDataset", repeated, INFINITE_CARDINALITY if times < 0 else
                          self._counted(lambda m: m * times))

    def take(self, count: Any, name: Any = None) -> Dataset:
        """Return the first elements; -1 means all."""
        n = int(plain(count))
        length = n if self._length == INFINITE_CARDINALITY else self._counted(
            lambda m: m if n < 0 else min(m, n))
        return self._with("_TakeDataset", lambda: islice(self, None if n < 0 else n), length)

    def skip(self, count: Any, name: Any = None) -> Dataset:
        """Return the elements behind the first."""
        n = int(plain(count))
        return self._with("_SkipDataset", lambda: islice(self, n, None),
                          self._counted(lambda m: max(m - n, 0)))

    def shard(self, num_shards: Any, index: Any, name: Any = None) -> Dataset:
        """Return each so-manieth element."""
        n, k = int(plain(num_shards)), int(plain(index))
        return self._with("_ShardDataset", lambda: islice(self, k, None, n),
                          self._counted(lambda m: -(-(m - k) // n)))

    def concatenate(self, dataset: Dataset, name: Any = None) -> Dataset:
        """Return the elements, and behind them those of another dataset."""
        def both() -> Iterator[Any]:
            yield from self
            yield from dataset

        lengths = self._length, dataset._length
        return self._with("_ConcatenateDataset", both, min(lengths) if min(lengths) < 0 else
                          sum(lengths))

    def enumerate(self, start: int = 0, name: Any = None) -> Dataset:
        """Return the elements with their numbers."""
        from builtins import enumerate as numbered

        return self._with(
            "_ZipDataset", lambda: ((constant(k, "int64"), item) for k, item in numbered(
                self, start)), None, lambda: (TensorSpec((), "int64"), self.element_spec))

    def cache(self, filename: str = "", name: Any = None) -> Dataset:
        """Keep the elements of the first round for the next ones."""
        if filename:
            raise refused("tf.data.Dataset.cache", "filename")
        kept: list[Any] = []

        def cached() -> Iterator[Any]:
            if not kept:
                kept.extend(self)
            return iter(kept)

        return self._with("CacheDataset", cached)

    def prefetch(self, buffer_size: Any, name: Any = None) -> Dataset:
        """Return the elements: nothing runs ahead here."""
        return self._with("_PrefetchDataset", lambda: iter(self))

    def with_options(self, options: Any, name: Any = None) -> Dataset:
        """Return the elements: options say how, not what."""
        return self

    # ---- their elements ------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return OwnedIterator(self._iterate())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Return the elements as arrays."""
        return (engine.like(item, [t.numpy() for t in engine.flatten(item)]) for item in self)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: Any = None) -> Any:
        """Return the last state: each is `reduce_func(state before, element)`."""
        state = _tensors(initial_state)
        for item in self:
            state = _tensors(reduce_func(state, item))
        return state

    def get_single_element(self, name: Any = None) -> Any:
        """Return the one element."""
        (item,) = self
        return item

    def cardinality(self, name: Any = None) -> Any:
        """Return the number of elements, -1 for infinitely many, -2 where it is not known."""
        return constant(self._length, "int64")

    def __len__(self) -> int:
        if self._length < 0:
            raise TypeError("The dataset is infinite." if self._length == INFINITE_CARDINALITY
                            else "The dataset length is unknown.")
        return self._length

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """Return the shapes and types of an element."""
        return self._spec()

    def _first(self) -> Any:
        first = next(iter(self))
        return engine.like(first, [TensorSpec.from_tensor(t) for t in engine.flatten(first)])

    def __repr__(self) -> str:
        return f"<{self._title} element_spec={self.element_spec!r}>"


class OwnedIterator:
    """The elements of a dataset, one after the other."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        return next(self._items)

    def get_next(self, name: Any = None) -> Any:
        """Return the next element."""
        return next(self._items)


def _tensors(structure: Any) -> Any:
    """Return a structure with tensors in it; a list is one tensor."""
    if isinstance(structure, tuple):
        items = [_tensors(item) for item in structure]
        kind: Any = type(structure)
        return kind(*items) if hasattr(structure, "_fields") else tuple(items)
    if isinstance(structure, dict):
        return {key: _tensors(item) for key, item in structure.items()}
    return structure if isinstance(structure, Dataset) else convert_to_tensor(structure)


def _leaves(item: Any, signature: Any) -> list[Any]:
    """Return the parts of an item where a signature has its own: a list may be a tensor."""
    if isinstance(signature, (tuple, list)):
        return [leaf for part, s in zip(item, signature, strict=True) for leaf in _leaves(part, s)]
    if isinstance(signature, dict):
        return [leaf for key, s in signature.items() for leaf in _leaves(item[key], s)]
    return [item]


def _called(function: Callable[..., Any], item: Any) -> Any:
    return function(*item) if isinstance(item, tuple) else function(item)


def _rows(iterators: list[Iterator[Any]]) -> Iterator[list[Any]]:
    """Yield elements beside each other, as long as all have one."""
    return map(list, zip(*iterators, strict=False))


without(Dataset, "data.Dataset", """apply bucket_by_sequence_length choose_from_datasets counter
    fingerprint group_by_window ignore_errors interleave list_files load options padded_batch
    ragged_batch random rebatch rejection_resample sample_from_datasets save scan snapshot
    sparse_batch take_while unique window""")
