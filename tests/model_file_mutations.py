"""Model files damaged in one place: in their bytes, their schema or one of their arrays."""

import io
import json
import zipfile

ODD = [None, True, -1, 10**30, 0.5, "", "os", "builtins", "system", [], {}, "x" * 99, [[]], "NaN", "__main__"]


def places(node, path=()):
    """Every place in a schema, as the keys that lead there."""
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from places(child, (*path, key))


def change_schema(schema, rng):
    """Put something odd, nothing, a copy of another place or a deep nest in one place of a schema."""
    everywhere = list(places(schema))[1:]
    *way, last = everywhere[rng.integers(len(everywhere))]
    parent = schema
    for key in way:
        parent = parent[key]
    kind = rng.integers(5)
    if kind == 0:
        del parent[last]
    elif kind == 1:
        other = schema
        for key in everywhere[rng.integers(len(everywhere))]:
            other = other[key]
        parent[last] = json.loads(json.dumps(other))
    elif kind == 2 and isinstance(parent[last], str) and parent[last]:
        at = rng.integers(len(parent[last]))
        parent[last] = parent[last][:at] + chr(rng.integers(32, 127)) + parent[last][at + 1 :]
    else:
        parent[last] = ODD[rng.integers(len(ODD))]
    return schema


def mutated(whole, rng):
    """Return the bytes of a file with one mutation."""
    kind = rng.integers(6)
    if kind == 0:
        return whole[: rng.integers(len(whole))]
    if kind == 1:
        at = rng.integers(len(whole))
        return whole[:at] + bytes([rng.integers(256)]) + whole[at + 1 :]
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in files if name != "schema.json"]
    if kind == 2 and arrays:
        name = arrays[rng.integers(len(arrays))]
        content = files[name]
        at = rng.integers(min(len(content), 200))  # of the header mostly
        files[name] = [
            content[:at],
            content[:at] + bytes([rng.integers(256)]) + content[at + 1 :],
            content.replace(b"(", b"(99999999999", 1),
            content.replace(b"<f8", b"|O ", 1),
        ][rng.integers(4)]
    elif kind == 3 and arrays:
        del files[arrays[rng.integers(len(arrays))]]
    elif kind == 4 and rng.random() < 0.2:
        deep = b"[" * 100_000 + b"]" * 100_000
        files["schema.json"] = [deep, b'{"content": ' + deep + b"}"][rng.integers(2)]
    else:
        schema = json.loads(files["schema.json"])
        for _ in range(rng.integers(1, 4)):
            schema = change_schema(schema, rng)
        files["schema.json"] = json.dumps(schema).encode()
    # What the digest would refuse must be refused without it, too.
    files["pushrank.txt"] = files.get("pushrank.txt", b"0").split(b"\n")[0]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()
