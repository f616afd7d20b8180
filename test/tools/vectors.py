"""Makes internal/search/vectors.bin: what words mean, learned from a model of sentences.

The arguments are the model (all-MiniLM-L6-v2 as ONNX) and its tokenizer.json, a list of
words with the most frequent first (GloVe's), the folder of WordNet's database, that of Go's
standard library, whose comments say which words are technical, vocabulary.txt, and the file
to write. It needs numpy, scipy, onnxruntime and tokenizers, and takes a quarter of an hour.

The model's vectors of WordNet's definitions and examples, and of verbs with nouns put
together by chance, are divided up among the words in them: the sum of the words' vectors
is to be that of the sentence, as nearly as it goes, while the vector of each word stays
near that of the word alone. Nothing else is learned from: no definition of a tool, and no
query.
"""

import collections
import pathlib
import random
import re
import sys

import numpy
import onnxruntime
import scipy.sparse
import tokenizers

WORDS = 28_500  # besides technical ones
TECHNICAL = 20  # how often a word is in comments that counts as one
DIMENSIONS = 96
DEFINITIONS, EXAMPLES, PAIRS = 30_000, 15_000, 30_000
FREQUENT = 9_000  # the rank of words in pairs
ROUNDS = 25  # of the conjugate gradient
STEEPNESS = 2.5  # of the numbers of four bits


def embedder(model, tokenizer):
    tokens = tokenizers.Tokenizer.from_file(tokenizer)
    tokens.enable_padding()
    tokens.enable_truncation(96)
    session = onnxruntime.InferenceSession(model)
    names = {i.name for i in session.get_inputs()}

    def embed(texts):
        out = numpy.zeros((len(texts), 384), numpy.float32)
        order = numpy.argsort([len(t) for t in texts])  # texts of one length have no padding
        for i in range(0, len(texts), 64):
            batch = order[i : i + 64]
            encoded = tokens.encode_batch([texts[k] for k in batch])
            ids = numpy.array([e.ids for e in encoded], numpy.int64)
            mask = numpy.array([e.attention_mask for e in encoded], numpy.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            of = session.run(None, {n: v for n, v in given.items() if n in names})[0]
            if of.ndim == 3:
                of = (of * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[batch] = of / numpy.linalg.norm(of, axis=1, keepdims=True)
        return out

    return embed


def technical(folder, vocabulary):
    """Returns the words of Go's comments and of the vocabulary."""
    count = collections.Counter()
    for file in pathlib.Path(folder).rglob("*.go"):
        if "testdata" in file.parts:
            continue
        for line in file.read_text(encoding="utf-8", errors="ignore").splitlines():
            if line.strip().startswith("//"):
                count.update(re.findall("[a-z]{3,}", line))
    with open(vocabulary, encoding="utf-8") as file:
        text = " ".join(line.split("#")[0] for line in file)
    return {w for w in count if count[w] >= TECHNICAL} | set(re.findall("[a-z]{2,}", text))


def sentences(folder, rank):
    chance = random.Random(3)
    definitions, examples, verbs, nouns = [], [], set(), set()
    for pos in "noun", "verb", "adj", "adv":
        with open(f"{folder}/data.{pos}", encoding="ascii") as file:
            for line in file:
                if line.startswith("  "):  # the licence
                    continue
                data, gloss = line.split("|", 1)
                part = data.split()
                words = [part[4 + 2 * i].split("(")[0].replace("_", " ").lower() for i in range(int(part[3], 16))]
                if not any(w in rank for w in words):
                    continue
                common = {w for w in words if rank.get(w, FREQUENT) < FREQUENT}
                verbs |= common if pos == "verb" else set()
                nouns |= common if pos == "noun" else set()
                definitions.append(", ".join(words) + ": " + gloss.strip().split('; "')[0])
                examples += re.findall('"([^"]{8,120})"', gloss)
    chance.shuffle(definitions)
    chance.shuffle(examples)
    verbs, nouns, pairs = sorted(verbs), sorted(nouns), []
    for _ in range(PAIRS):
        kind, verb, noun, other = chance.random(), chance.choice(verbs), chance.choice(nouns), chance.choice(nouns)
        if kind < 0.35:
            pairs.append(f"{verb} {noun}")
        elif kind < 0.6:
            pairs.append(f"{verb} a {noun} of the {other}")
        elif kind < 0.8:
            pairs.append(f"{noun} {other}")
        else:
            pairs.append(f"{verb} {noun} {other}")
    return definitions[:DEFINITIONS] + examples[:EXAMPLES] + pairs


def unit(x):
    return x / numpy.linalg.norm(x, axis=1, keepdims=True)


def learn(words, texts, of_words, of_texts):
    """Returns a vector of each word, so that those of a text add up to the text's."""
    of_texts, of_words = of_texts - of_texts.mean(0), of_words - of_words.mean(0)
    values, axes = numpy.linalg.eigh(numpy.cov(numpy.vstack([of_texts[:40_000], of_words[:20_000]]).T))
    axes = axes[:, numpy.argsort(-values)[:DIMENSIONS]].astype(numpy.float32)
    target, start = unit(of_texts @ axes), unit(of_words @ axes)
    # Frequent words say less (smooth inverse frequency, by Zipf's law).
    frequency = 0.1 / numpy.arange(1, len(words) + 1)
    start *= (1e-3 / (1e-3 + frequency))[:, None]

    rank = {w: i for i, w in enumerate(words)}
    rows, columns, weights = [], [], []
    for row, text in enumerate(texts):
        known = [rank[w] for w in re.findall("[a-z]+", text.lower()) if w in rank]
        rows += [row] * len(known)
        columns += known
        weights += [max(1, len(known)) ** -0.5] * len(known)
    has = scipy.sparse.csr_matrix((numpy.array(weights, numpy.float32), (rows, columns)), shape=(len(texts), len(words)))
    back = has.T.tocsr()

    def apply(x):
        return back @ (has @ x) + x

    x = start.copy()
    rest = back @ target + start - apply(x)
    step, size = rest.copy(), (rest * rest).sum(0)
    for _ in range(ROUNDS):
        applied = apply(step)
        length = size / ((step * applied).sum(0) + 1e-12)
        x += length * step
        rest -= length * applied
        size, before = (rest * rest).sum(0), size
        step = rest + size / (before + 1e-12) * step
    return x


def pack(words, x):
    length = numpy.linalg.norm(x, axis=1, keepdims=True)
    steps = numpy.round(x / (length / DIMENSIONS**0.5) * STEEPNESS)
    nibbles = (numpy.clip(steps, -7, 7) + 8).astype(numpy.uint8)
    lengths = numpy.clip(numpy.round(length[:, 0] / length.max() * 255), 1, 255).astype(numpy.uint8)
    order = sorted(range(len(words)), key=lambda i: words[i])
    out = bytearray((" ".join(words[i] for i in order) + "\n").encode())
    for i in order:
        out.append(lengths[i])
        out += bytes(nibbles[i, 0::2] << 4 | nibbles[i, 1::2])
    return out


def main(model, tokenizer, frequent, wordnet, go, vocabulary, out):
    with open(frequent, encoding="utf-8") as file:
        known = [w for w in file.read().split() if re.fullmatch("[a-z]{2,}", w)]
    besides = technical(go, vocabulary)
    words = known[:WORDS] + [w for w in known[WORDS:] if w in besides]
    embed = embedder(model, tokenizer)
    texts = sentences(wordnet, {w: i for i, w in enumerate(words)})
    vectors = learn(words, texts, embed(words), embed(texts))
    with open(out, "wb") as file:
        file.write(pack(words, vectors))


main(*sys.argv[1:])
