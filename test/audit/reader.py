"""Verifies an audit log of mcpctl without any code of mcpctl: reader.py AUDIT.DB VERIFIER-KEY

It is written from the format in internal/audit/logfile/log.go and the C2SP pages of signed
notes and checkpoints, with Python's standard library only. It prints what is wrong, a line each, and ends with 10 then.
"""
import base64, hashlib, json, sqlite3, sys

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def point(data):  # Ed25519, RFC 8032, section 5.1.3
    y = int.from_bytes(data, "little") & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        raise ValueError("not a point")
    if x & 1 != data[31] >> 7:
        x = P - x
    return x, y, 1, x * y % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = add(q, p)
        p, n = add(p, p), n >> 1
    return q


def signed(public, text, signature):
    base_y = 4 * pow(5, P - 2, P) % P
    base = point(base_y.to_bytes(32, "little"))
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + text).digest(), "little") % L
    left, right = times(s, base), add(point(signature[:32]), times(k, point(public)))
    same = (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0
    return s < L and same


class Tree:  # RFC 6962: the full subtrees of the records so far, the largest first
    def __init__(self):
        self.size, self.full = 0, []

    def add(self, leaf):
        n, self.size = self.size, self.size + 1
        while n & 1:
            leaf, n = hashlib.sha256(b"\1" + self.full.pop() + leaf).digest(), n >> 1
        self.full.append(leaf)

    def root(self):
        rest = list(self.full)
        top = rest.pop() if rest else hashlib.sha256(b"").digest()
        while rest:
            top = hashlib.sha256(b"\1" + rest.pop() + top).digest()
        return top


def checkpoint(note, name, key_hash, public):  # the size and root that the key has signed
    text, _, lines = note.partition("\n\n")
    text += "\n"
    origin, size, root = text.splitlines()
    for line in lines.splitlines():
        _, who, sig = line.split(" ")
        sig = base64.b64decode(sig, validate=True)
        if who == name == origin and sig[:4] == key_hash and signed(public, text.encode(), sig[4:]):
            return int(size), base64.b64decode(root)
    raise ValueError("not signed by the key")


def main(path, key):
    name, key_hash, public = key.split("+", 2)
    key_hash, public = bytes.fromhex(key_hash), base64.b64decode(public)[1:]
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    checkpoints, tree, last, wrong, newest = dict(db.execute("SELECT size, note FROM checkpoint")), Tree(), {}, [], -1

    def grow(leaf=None):
        nonlocal newest
        if tree.size in checkpoints:
            try:
                if checkpoint(checkpoints.pop(tree.size), name, key_hash, public) != (tree.size, tree.root()):
                    wrong.append("records up to %d: not those of the checkpoint" % tree.size)
                newest = tree.size
            except ValueError as e:
                wrong.append("checkpoint of %d records: %s" % (tree.size, e))
        if leaf:
            tree.add(leaf)

    for first, count, records in db.execute("SELECT first, count, records FROM segment ORDER BY first"):
        while not last and tree.size < first:  # pruned: only the hashes are there
            (hashes,) = db.execute("SELECT hashes FROM tile WHERE level = 0 AND n = ?", (tree.size // 256,)).fetchone()
            grow(hashes[tree.size % 256 * 32 :][:32])
        lines = records.split(b"\n")[:-1]
        if first != tree.size or count != len(lines):
            wrong.append("records %d to %d: missing, or too many" % (tree.size, first + count - 1))
        for line in lines:
            r = json.loads(line)
            if r["n"] != last.get(r["run"], r["n"] - 1 if first else 0) + 1:
                wrong.append("record %d: number %d of its run" % (tree.size, r["n"]))
            last[r["run"]] = r["n"]
            grow(hashlib.sha256(b"\0" + line).digest())
    grow()
    wrong += ["checkpoint of %d records: the log does not have as many" % size for size in checkpoints]
    print("\n".join(wrong + ["%d records, %d signed" % (tree.size, newest)]))
    return 10 if wrong or newest < 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
