"""Ring 1, the protocol reference, from Python: libmrc_dpi.so by ctypes, with nothing but Python's own library.

    from mrc_reference import Library
    mrc = Library("build/tb/dpi/libmrc_dpi.so")
    window = mrc.new("psn_tracker", qps=4, banks=8)
    window.accept("req", op=0, qp=1, psn=100)
    window.expected("rsp")              # {'outcome': 0, …}, or None where nothing is due
    window.state("banks_in_use")
"""
import ctypes


class NotAllowed(Exception):
    """What the reference may not be given."""


class Library:
    def __init__(self, path):
        text, handle, number = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_ulonglong
        types = {
            "new": (handle, [text, text]), "free": (None, [handle]), "error": (text, []), "describe": (text, [text]),
            "put": (ctypes.c_int, [handle, text, number]), "put_byte": (ctypes.c_int, [handle, ctypes.c_uint]),
            "accept": (ctypes.c_int, [handle, text]), "expected": (ctypes.c_int, [handle, text]),
            "get": (number, [handle, text]), "bytes": (ctypes.c_uint, [handle]),
            "get_byte": (ctypes.c_uint, [handle, ctypes.c_uint]), "state": (number, [handle, text, number]),
        }
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in types.items():
            function = getattr(library, f"mrc_reference_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, "_" + name, function)

    def names(self):
        return self._describe(b"").decode().split()

    def describe(self, name):
        """{'in': {port: fields}, 'out': {port: fields}, 'setting': {name: default}, 'state': [name, …]}"""
        text = self._describe(name.encode())
        if text is None:
            raise NotAllowed(self.error())
        found = {"in": {}, "out": {}, "setting": {}, "state": []}
        for kind, first, *rest in (line.split() for line in text.decode().splitlines()):
            if kind == "state":
                found[kind].append(first)
            elif kind == "setting":
                name, _, value = first.partition("=")
                found[kind][name] = int(value)
            else:
                found[kind][first] = rest
        return found

    def error(self):
        return self._error().decode()

    def new(self, name, **settings):
        return Reference(self, name, settings)


class Reference:
    def __init__(self, library, name, settings):
        self._library = library
        self.name = name
        self.ports = library.describe(name)
        text = " ".join(f"{key}={int(value)}" for key, value in settings.items())
        self._handle = library._new(name.encode(), text.encode())
        if not self._handle:
            raise NotAllowed(library.error())

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library._free(self._handle)
            self._handle = None

    def _check(self, result):
        if result < 0:
            raise NotAllowed(f"{self.name}: {self._library.error()}")
        return result

    def accept(self, port, packet=b"", **fields):
        """The reference takes a transfer of an input port."""
        for name in fields:
            if name not in self.ports["in"].get(port, fields):
                raise NotAllowed(f"{self.name}: port {port} has no field {name}")
        for name, value in fields.items():
            self._check(self._library._put(self._handle, name.encode(), int(value)))
        for byte in packet:
            self._check(self._library._put_byte(self._handle, byte))
        self._check(self._library._accept(self._handle, port.encode()))

    def expected(self, port):
        """Fields of the next output of a port, and with "packet" its bytes; None where none is due."""
        if not self._check(self._library._expected(self._handle, port.encode())):
            return None
        fields = {name: self._library._get(self._handle, name.encode()) for name in self.ports["out"][port]}
        count = self._library._bytes(self._handle)
        if count:
            fields["packet"] = bytes(self._library._get_byte(self._handle, at) for at in range(count))
        return fields

    def state(self, name, index=0):
        value = self._library._state(self._handle, name.encode(), index)
        if self._library.error():
            raise NotAllowed(f"{self.name}: {self._library.error()}")
        return value


def vectors(path):
    """Of a file that `mrcsim cosim --keep-vectors` wrote: ("reset", number), ("constant", name, value),
    ("in" or "out", cycle, port, {field: value})."""
    with open(path) as file:
        for line in file:
            words = line.split()
            if not words or words[0] in ("#", "block"):
                continue
            if words[0] == "reset":
                yield "reset", int(words[1])
            elif words[0] == "constant":
                yield "constant", words[1], int(words[2], 0)
            else:
                pairs = (word.partition("=") for word in words[3:])
                yield words[0], int(words[1]), words[2], {name: int(value, 0) for name, _, value in pairs}
