"""What boot/unpack/expand.c does, once more, to compare: from boot/unpack/packed.h alone."""
import zlib

MAX_BITS = 11
LENGTHS, LENGTH_SLOTS, DISTANCE_SLOTS = 256, 9, 21
LITERALS = LENGTHS + 2 * LENGTH_SLOTS
LITERAL_CODES, DISTANCE_CODES = 16, 3
CALL = 0xE8


class Bits:
    """The lowest bit of each byte first."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def peek(self):
        """What follows, at least 17 bits of it."""
        byte = self.at >> 3
        return int.from_bytes(self.data[byte:byte + 4], "little") >> (self.at & 7)

    def take(self, count):
        value = self.peek() & (1 << count) - 1 if count <= 17 else (
            self.take(16) | self.take(count - 16) << 16)
        self.at += count if count <= 17 else 0
        return value

    def number(self, slot):
        return (1 << slot - 1) + self.take(slot - 1) if slot else 0


class Code:
    """Canonical, complete: {(length, bits as they come): symbol}."""

    def __init__(self, lengths):
        self.symbols, code = {}, 0
        for length in range(1, MAX_BITS + 1):
            for symbol, its in enumerate(lengths):
                if its == length:
                    self.symbols[length, int(f"{code:0{length}b}"[::-1], 2)] = symbol
                    code += 1
            code <<= 1
        assert code == 2 << MAX_BITS, "complete"

    def next(self, bits):
        ahead = bits.peek()
        its = next((n, ahead & (1 << n) - 1) for n in range(1, MAX_BITS + 1)
                   if (n, ahead & (1 << n) - 1) in self.symbols)
        bits.at += its[0]
        return self.symbols[its]


def read_lengths(bits, count):
    code, lengths = Code([bits.take(4) for _ in range(MAX_BITS + 3)]), []
    while len(lengths) < count:
        symbol = code.next(bits)
        if symbol <= MAX_BITS:
            lengths.append(symbol)
        else:
            lengths += [0] * (3 + bits.take(3) if symbol == MAX_BITS + 1 else 11 + bits.take(7))
    assert len(lengths) == count
    return lengths


def restore_calls(image):
    at, size = 0, len(image)
    while at + 5 <= size:
        if image[at] == CALL:
            behind = at + 5
            place = int.from_bytes(image[at + 1:behind], "little")
            if place < size:
                place -= behind
            elif place >= (1 << 32) - behind:
                place += size
            image[at + 1:behind] = (place & 0xFFFFFFFF).to_bytes(4, "little")
            at += 4
        at += 1


def expand(packed, size):
    """The `size` bytes that were packed."""
    assert int.from_bytes(packed[:4], "little") == zlib.crc32(packed[4:])
    bits, image, distance = Bits(packed[4:]), bytearray(), 0
    lengths = read_lengths(bits, LITERAL_CODES * LITERALS + DISTANCE_CODES * DISTANCE_SLOTS)
    literals = [Code(lengths[i * LITERALS:(i + 1) * LITERALS]) for i in range(LITERAL_CODES)]
    del lengths[:LITERAL_CODES * LITERALS]
    distances = [Code(lengths[i * DISTANCE_SLOTS:(i + 1) * DISTANCE_SLOTS])
                 for i in range(DISTANCE_CODES)]
    choice = [literals[bits.take(4)] for _ in range(256)]
    while len(image) < size:
        symbol = choice[image[-1] if image else 0].next(bits)
        if symbol < LENGTHS:
            image.append(symbol)
            continue
        length = 2 + bits.number((symbol - LENGTHS) % LENGTH_SLOTS)
        if symbol < LENGTHS + LENGTH_SLOTS:
            distance = 1 + bits.number(distances[min(length, 4) - 2].next(bits))
        assert 1 <= distance <= len(image)
        for _ in range(length):
            image.append(image[-distance])
    assert len(image) == size
    restore_calls(image)
    return bytes(image)
