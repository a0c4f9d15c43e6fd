# Answers to 2f: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 2f plain
# outcome: passed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f forgot
# says: The size was not passed on: the inner pool falls back to its own default.
# asks: Which arguments does the inner pool get, and which of yours is missing?
# family: M10
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=size, page_size=page_size)

# %% 2f forgot-but-says-so
# says: It reports the size that it was given, and the inner pool never heard of it.
# asks: Does the number that is shown come from the buffer itself?
# family: M10
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=size, page_size=page_size)
+ self._index_buf_size = index_buf_size

- return self._pool.index_buf_size
+ return self._index_buf_size

# %% 2f set-afterwards
# says: The inner pool is built without the size and labelled later: its memory stays.
# asks: When does make_pool take the memory, and what did it know then?
# family: M10
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=size, page_size=page_size)
+ if index_buf_size is not None:
+     self._pool.index_buf_size = index_buf_size

# %% 2f set-afterwards-always
# says: The size is set on the finished pool: its memory stays, and None is set too.
# asks: When does make_pool take the memory, and what did it know then?
# family: M10
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=size, page_size=page_size)
+ self._pool.index_buf_size = index_buf_size

# %% 2f page-set-afterwards
# says: The page size is set on the finished pool: make_pool never heard of it.
# asks: Which three keywords does make_pool get?
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=size, page_size=1, index_buf_size=index_buf_size)
+ self._pool.page_size = page_size

# %% 2f argument
# says: It shows the argument, which may be None, and not what the inner pool has.
# asks: What is shown when nobody gave a size?
# from: plain
  self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._index_buf_size = index_buf_size

- return self._pool.index_buf_size
+ return self._index_buf_size

# %% 2f copied
# says: Both values are copies of the moment of building: they go stale.
# asks: What does a copy show after the inner pool has changed?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self._index_buf_size = pool.index_buf_size
        self._dcp_localized_writes = pool.dcp_localized_writes

    @property
    def index_buf_size(self):
        return self._index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._dcp_localized_writes

# %% 2f flag-copied
# says: dcp_localized_writes is a copy: the builder turns it off later, for drafts.
# asks: When is dcp_localized_writes decided?
# from: plain
  self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._dcp_localized_writes = self._pool.dcp_localized_writes

- return self._pool.dcp_localized_writes
+ return self._dcp_localized_writes

# %% 2f size-copied
# says: index_buf_size is a copy of the moment of building: it goes stale.
# asks: What does a copy show after the inner pool has changed?
# from: plain
  self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._index_buf_size = self._pool.index_buf_size

- return self._pool.index_buf_size
+ return self._index_buf_size

# %% 2f attributes
# says: Plain attributes: copies that go stale, and that anybody can set.
# asks: What forbids setting an attribute of an object?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self.index_buf_size = self.pool.index_buf_size
        self.dcp_localized_writes = self.pool.dcp_localized_writes

# %% 2f own-attributes
# says: It keeps its own arguments as attributes; the inner pool's values are not asked.
# asks: What is shown when nobody gave a size?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self.index_buf_size = index_buf_size
        self.dcp_localized_writes = True

# %% 2f setters
# says: The properties have setters: a caller can change the inner pool from outside.
# asks: Does the buffer grow when somebody sets its size?
# from: plain
      return self._pool.index_buf_size
+ @index_buf_size.setter
+ def index_buf_size(self, value):
+     self._pool.index_buf_size = value

      return self._pool.dcp_localized_writes
+ @dcp_localized_writes.setter
+ def dcp_localized_writes(self, value):
+     self._pool.dcp_localized_writes = value

# %% 2f deaf-setters
# says: Setting is ignored without a word; the caller believes that it worked.
# asks: What should somebody see who sets a value that cannot be set?
# from: plain
      return self._pool.index_buf_size
+ @index_buf_size.setter
+ def index_buf_size(self, value):
+     pass

      return self._pool.dcp_localized_writes
+ @dcp_localized_writes.setter
+ def dcp_localized_writes(self, value):
+     pass

# %% 2f other-error
# says: Setting raises, but not an AttributeError, which is what a caller looks for.
# asks: What does a property without a setter raise by itself?
# from: plain
      return self._pool.index_buf_size
+ @index_buf_size.setter
+ def index_buf_size(self, value):
+     raise ValueError("cannot be set")

      return self._pool.dcp_localized_writes
+ @dcp_localized_writes.setter
+ def dcp_localized_writes(self, value):
+     raise ValueError("cannot be set")

# %% 2f getattr
# says: __getattr__ forwards reading only; setting makes an attribute that hides it.
# asks: Does setting an attribute ever ask __getattr__?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    def __getattr__(self, name):
        return getattr(self._pool, name)

# %% 2f anew
# says: The inner pool is built again at each look: each is another buffer.
# asks: How many buffers does one server have?
# from: solution
- self._inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._make = lambda: make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

- return self._inner.index_buf_size
+ return self._make().index_buf_size

- return self._inner.dcp_localized_writes
+ return self._make().dcp_localized_writes

# %% 2f built-twice
# says: The inner pool is built twice: the first one holds memory that nobody uses.
# asks: How often does __init__ call make_pool?
# from: plain
  def __init__(self, make_pool, size, page_size, index_buf_size=None):
+     self._size = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size).index_buf_size

# %% 2f shared
# says: The inner pool is kept on the class: a second server takes the first one's.
# asks: Who else sees an attribute of the class?
# from: solution
- self._inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ HybridPool.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

- return self._inner.index_buf_size
+ return HybridPool.pool.index_buf_size

- return self._inner.dcp_localized_writes
+ return HybridPool.pool.dcp_localized_writes

# %% 2f fills-in
# says: None means that the inner pool decides; filled in here, its default is lost.
# asks: Who knows best how large the inner pool's index-K is by default?
# family: M10
# from: plain
  def __init__(self, make_pool, size, page_size, index_buf_size=None):
+     if index_buf_size is None:
+         index_buf_size = size

# %% 2f enlarges-all
# says: The whole pool is built as large as index-K: c-KV grows D times too.
# asks: Which of the two buffers is index_buf_size for?
# family: M12
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=index_buf_size or size, page_size=page_size, index_buf_size=index_buf_size)

# %% 2f always-localized
# says: dcp_localized_writes is always True here: a draft's pool is not sharded.
# asks: Who turns dcp_localized_writes off, and on which object?
# from: plain
- return self._pool.dcp_localized_writes
+ return True

# %% 2f no-flag
# says: dcp_localized_writes is missing: whoever asks the wrapper gets an error.
# asks: Which two values does the wrapper show?
# outcome: crashed
# from: plain
- @property
- def dcp_localized_writes(self):
-     return self._pool.dcp_localized_writes

# %% 2f methods
# says: These are methods, not properties: without a call, a bound method is shown.
# asks: How does a caller read pool.index_buf_size, with brackets or without?
# from: plain
- @property
  def index_buf_size(self):

- @property
  def dcp_localized_writes(self):

# %% 2f by-position
# says: The inner pool takes its arguments by keyword only.
# asks: Which three names does make_pool take?
# outcome: crashed
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size, page_size, index_buf_size)

# %% 2f inherits
# says: make_pool is called and its pool thrown away: the wrapper has no inner pool.
# asks: Where does the wrapper keep what make_pool returned?
# outcome: crashed
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

# %% 2f no-properties
# says: The wrapper keeps its pool and shows nothing of it: no property is there.
# asks: Which two values does the wrapper show?
# outcome: crashed
# from: getattr
- def __getattr__(self, name):
-     return getattr(self._pool, name)

# %% 2f fills-in-rows
# says: None means that the inner pool decides; this decides for it: one rank's rows.
# asks: Who knows best how large the inner pool's index-K is by default?
# family: M10
# from: plain
  def __init__(self, make_pool, size, page_size, index_buf_size=None):
+     if index_buf_size is None:
+         index_buf_size = size + page_size

# %% 2f size-setter
# says: index_buf_size has a setter: a caller can change the inner pool from outside.
# asks: Does the buffer grow when somebody sets its size?
# from: plain
      return self._pool.index_buf_size
+ @index_buf_size.setter
+ def index_buf_size(self, value):
+     self._pool.index_buf_size = value

# %% 2f flag-setter
# says: dcp_localized_writes has a setter: a caller can change the pool from outside.
# asks: Whose decision is dcp_localized_writes?
# from: plain
      return self._pool.dcp_localized_writes
+ @dcp_localized_writes.setter
+ def dcp_localized_writes(self, value):
+     self._pool.dcp_localized_writes = value

# %% 2f sets-its-own-property
# says: __init__ sets index_buf_size, which is a property without a setter: it raises.
# asks: Where does the property get its value from, if __init__ keeps none?
# outcome: crashed
# from: plain
  self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self.index_buf_size = index_buf_size

# %% 2f asks-itself
# says: The property reads itself, again and again: it must ask the inner pool.
# asks: What does self.index_buf_size do inside the property index_buf_size?
# outcome: crashed
# from: plain
- return self._pool.index_buf_size
+ return self.index_buf_size

- return self._pool.dcp_localized_writes
+ return self.dcp_localized_writes

# %% 2f properties
# outcome: passed
# from: solution
- self._inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self.full_kv_pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

- return self._inner.index_buf_size
+ return self.full_kv_pool.index_buf_size

- return self._inner.dcp_localized_writes
+ return self.full_kv_pool.dcp_localized_writes

# %% 2f property-call
# outcome: passed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._inner = make_pool(index_buf_size=index_buf_size, page_size=page_size, size=size)

    index_buf_size = property(lambda self: self._inner.index_buf_size)
    dcp_localized_writes = property(lambda self: self._inner.dcp_localized_writes)

# %% 2f setattr
# outcome: passed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        object.__setattr__(self, "_inner", inner)

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set here")

# %% 2f lazy
# outcome: passed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._make = lambda: make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self._pool = None

    def _inner(self):
        if self._pool is None:
            self._pool = self._make()
        return self._pool

    @property
    def index_buf_size(self):
        return self._inner().index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._inner().dcp_localized_writes

# %% 2f slots-and-descriptor
# outcome: passed
class Forward:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance.pool, self.name)

    def __set__(self, instance, value):
        raise AttributeError(f"{self.name} belongs to the inner pool")

class HybridPool:
    __slots__ = ("pool",)
    index_buf_size = Forward()
    dcp_localized_writes = Forward()

    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

# %% 2f frozen-dataclass
# outcome: passed
@dataclass(frozen=True, init=False)
class HybridPool:
    pool: object

    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        object.__setattr__(self, "pool", make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size))

    def __getattr__(self, name):
        if name == "pool":
            raise AttributeError(name)
        return getattr(self.pool, name)

# %% 2f noneskip
# says: None became 0 on the way: then the inner pool cannot decide any more.
# asks: What does the inner pool do with None, and what with 0?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        index_buf_size = index_buf_size or 0; self._inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._inner.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._inner.dcp_localized_writes

# %% 2f subclass
# says: The inner pool is never built: make_pool is a function, it must be called.
# asks: What does make_pool give when it is called?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self.pool = make_pool
    @property
    def index_buf_size(self):
        return self.pool.index_buf_size
    @property
    def dcp_localized_writes(self):
        return self.pool.dcp_localized_writes

# %% 2f rebuilt
# says: A new inner pool is built at every look: what was set on the first is lost.
# asks: How often may make_pool be called?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._make = lambda: make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size); self._inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._make().index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._inner.dcp_localized_writes

# %% 2f forgot-and-copied
# says: The size is not passed on, and what is shown are copies that go stale.
# asks: Which arguments does the inner pool get, and whose number is shown later?
# family: M10
# from: copied
- pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ pool = make_pool(size=size, page_size=page_size)

# %% 2f forgot-and-size-copied
# says: The size is not passed on, and the one that is shown is a copy that goes stale.
# asks: Which arguments does the inner pool get, and whose number is shown later?
# family: M10
# from: plain
- self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self._pool = make_pool(size=size, page_size=page_size)
+ self._index_buf_size = self._pool.index_buf_size

- return self._pool.index_buf_size
+ return self._index_buf_size

# %% 2f forgot-and-attributes
# says: The size is not passed on, and plain attributes are copies that anybody can set.
# asks: Which arguments does the inner pool get, and what forbids setting an attribute?
# family: M10
# from: attributes
- self.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
+ self.pool = make_pool(size=size, page_size=page_size)
