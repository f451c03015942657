"""Numbers that core/random_test.cpp expects of headwave's Random: the generator a second time, in Python integers.

    python make_random.py > random.txt

One line per kind of draw, from seed 2023: bits, uniform, below(10), normal, shuffle of 0..7, and bits of stream 3.
Python 3.11; no packages.
"""

import math

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def scattered(word):
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def rotated(word, by):
    return ((word << by) | (word >> (64 - by))) & MASK


class Random:
    def __init__(self, seed):
        self.seed = seed
        self.state = [scattered((seed + GOLDEN * (i + 1)) & MASK) for i in range(4)]

    def stream(self, number):
        return Random(scattered((scattered(self.seed ^ 0x68656164) + GOLDEN * (number + 1)) & MASK))

    def bits(self):
        s = self.state
        result = (rotated((s[1] * 5) & MASK, 7) * 9) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotated(s[3], 45)
        return result

    def uniform(self):
        return (self.bits() >> 11) / 2**53

    def below(self, n):
        while True:
            word = self.bits()
            if word >= (1 << 64) % n:
                return word % n

    def normal(self):
        while True:
            u, v = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            radius2 = u * u + v * v
            if 0 < radius2 < 1:
                return u * math.sqrt(-2 * math.log(radius2) / radius2)

    def shuffle(self, items):
        for last in range(len(items), 1, -1):
            other = self.below(last)
            items[last - 1], items[other] = items[other], items[last - 1]
        return items


if __name__ == "__main__":
    seed = 2023
    r = Random(seed)
    print("bits", *(r.bits() for _ in range(4)))
    r = Random(seed)
    print("uniform", *(repr(r.uniform()) for _ in range(4)))
    r = Random(seed)
    print("below", *(r.below(10) for _ in range(12)))
    r = Random(seed)
    print("normal", *(repr(r.normal()) for _ in range(6)))
    print("shuffle", *Random(seed).shuffle(list(range(8))))
    r = Random(seed).stream(3)
    print("stream", *(r.bits() for _ in range(2)))
