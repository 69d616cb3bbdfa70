"""Names that other people chose are values of TOML and words of a shell, whatever is in them."""

import shlex
import tomllib

import pytest

from gradelake.sql.common.quoting import shell_word, toml_comment, toml_key, toml_value

EACH = "".join(map(chr, [*range(1, 0x100), 0x2028, 0x202E, 0xFEFF, 0x1F600, 0x10FFFF]))
NAMES = ["", "a.b", 'x"\ny = 1 # ', "\\", "''''", "$(x)", "-x", EACH]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_read_back_as_it_was(name):
    value = {"text": name, name: [name, 1, 2.5, True, {}], "more": {name: {"": name}}}
    written = f"{toml_comment(name)}\nv = {toml_value(value)}\n[t.{toml_key(name)}]\n"
    assert tomllib.loads(written) == {"v": value, "t": {name: {}}}
    assert shlex.split(f"x {shell_word(name)} y")[1].removeprefix("./") == name
    assert not shell_word(name).startswith("-")


def test_half_a_character_is_no_value_and_escaped_in_a_comment():
    assert toml_comment("caf\udce9\n") == r"# caf\udce9\n"
    with pytest.raises(ValueError, match="surrogates"):
        toml_value("\udce9")
