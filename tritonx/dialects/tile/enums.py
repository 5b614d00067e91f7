"""The enumerations of the tile dialect, with their numbers in the IR and their words in its text.

A case is spelled in lower case in the text; where that is not so, `keyword` says how.
"""

from enum import IntEnum


class CacheModifier(IntEnum):
    """Which cache levels a load or store uses.

    >>> CacheModifier.CG.value
    3
    """

    NONE = 1
    CA = 2
    CG = 3
    WB = 4
    CS = 5
    WT = 6
    CV = 7


class EvictionPolicy(IntEnum):
    """How soon the cache may drop the line.

    >>> EvictionPolicy.EVICT_FIRST.value
    2
    """

    NORMAL = 1
    EVICT_FIRST = 2
    EVICT_LAST = 3

    @property
    def keyword(self) -> str:
        return "evict_normal" if self is EvictionPolicy.NORMAL else self.name.lower()


class MemSemantic(IntEnum):
    """The memory order of an atomic.

    >>> MemSemantic.ACQUIRE_RELEASE.value
    4
    """

    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQUIRE_RELEASE = 4

    @property
    def keyword(self) -> str:
        return "acq_rel" if self is MemSemantic.ACQUIRE_RELEASE else self.name.lower()


class MemSyncScope(IntEnum):
    """Among whom an atomic is atomic.

    >>> MemSyncScope.GPU.value
    1
    """

    GPU = 1
    CTA = 2
    SYSTEM = 3

    @property
    def keyword(self) -> str:
        return "sys" if self is MemSyncScope.SYSTEM else self.name.lower()


class RMWOp(IntEnum):
    """What an atomic read-modify-write does.

    >>> RMWOp.ADD.value
    4
    """

    AND = 1
    OR = 2
    XOR = 3
    ADD = 4
    FADD = 5
    MAX = 6
    MIN = 7
    UMAX = 8
    UMIN = 9
    XCHG = 10

    @property
    def keyword(self) -> str:
        return "exch" if self is RMWOp.XCHG else self.name.lower()


class InputPrecision(IntEnum):
    """How `dot` treats f32 inputs: rounded to a narrower type, split into several, or as they are."""

    TF32 = 0
    TF32x3 = 1
    IEEE = 2
    BF16x3 = 3
    BF16x6 = 4


class RoundingMode(IntEnum):
    """How a conversion to a narrower floating-point type rounds.

    >>> RoundingMode.RTNE.value
    1
    """

    RTZ = 0
    RTNE = 1


class PropagateNan(IntEnum):
    """Whether `clampf` gives NaN for a NaN."""

    NONE = 0
    ALL = 0xFFFF


class PaddingOption(IntEnum):
    """What a descriptor load gives outside of the tensor."""

    PAD_ZERO = 1
    PAD_NAN = 2


class ProgramIDDim(IntEnum):
    """An axis of the launch grid."""

    X = 0
    Y = 1
    Z = 2


class ScaleDotElemType(IntEnum):
    """The element format of an operand of `dot_scaled`."""

    E4M3 = 0
    E5M2 = 1
    E2M3 = 2
    E3M2 = 3
    E2M1 = 4
    BF16 = 5
    FP16 = 6


class DescriptorReduceKind(IntEnum):
    """What a descriptor reduction does with the value that is there and the new one."""

    NONE = 0
    ADD = 1
    MIN = 2
    MAX = 3
    INC = 4
    DEC = 5
    AND = 6
    OR = 7
    XOR = 8
