"""Prints words of WordNet that mean nearly the same, for internal/search.

The argument is the folder of WordNet's database (data.noun, index.noun, cntlist.rev, ...).
A line is a synset, with the words that are derived from its words (fear, fearful). A word
counts in its most frequent sense alone, and only if the concordance that comes with
WordNet has it at least twice.
"""

import collections
import sys

FILES = {"n": "noun", "v": "verb", "a": "adj"}
FREQUENT = 2


def lines(folder, name):
    with open(f"{folder}/{name}", encoding="ascii") as file:
        for line in file:
            if not line.startswith("  "):
                yield line.split("|")[0].split()


def main(folder):
    frequency = collections.Counter()
    for key, _, count in lines(folder, "cntlist.rev"):
        frequency[key.split("%")[0]] += int(count)

    senses = {}  # of a word, the most frequent first
    for pos, name in FILES.items():
        for part in lines(folder, "index." + name):
            senses[part[0], pos] = [pos + offset for offset in part[6 + int(part[3]) :]]

    words, derived = {}, collections.defaultdict(list)
    for pos, name in FILES.items():
        for part in lines(folder, "data." + name):
            synset, count = pos + part[0], int(part[3], 16)
            words[synset] = [part[4 + 2 * i].split("(")[0].lower() for i in range(count)]
            pointers = part[5 + 2 * count :]
            for i in range(int(part[4 + 2 * count])):
                kind, offset, target = pointers[4 * i : 4 * i + 3]
                if kind == "+" and target in FILES:
                    derived[synset].append(target + offset)

    def telling(synset):
        known = (w for w in words[synset] if w.isalpha() and len(w) > 2 and frequency[w] >= FREQUENT)
        return {w for w in known if synset in senses.get((w, synset[0]), [])[:1]}

    kept, of = [], collections.defaultdict(set)

    def keep(groups):
        for group in sorted(set(groups), key=lambda g: (-len(g), sorted(g))):
            if len(group) > 1 and not set.intersection(*(of[w] for w in group)):  # none has it already
                for word in group:
                    of[word].add(len(kept))
                kept.append(group)

    keep(frozenset(telling(s).union(*(telling(d) for d in derived[s]))) for s in words)

    with open(f"{folder}/data.noun", encoding="ascii") as file:
        licence = [line.split(maxsplit=1)[1:] for line in file if line.startswith("  ")]
    print("# Words that mean nearly the same, made from WordNet 3.0 by test/tools/wordnet.py. Its licence:")
    for text in licence:
        print(("# " + "".join(text)).strip())
    for group in sorted(" ".join(sorted(g)) for g in kept):
        print(group)


main(*sys.argv[1:])
