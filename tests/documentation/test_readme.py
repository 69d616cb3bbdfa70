"""The README, command by command, in a clone in which `make demo` was run."""

from tests.documentation.run import run_page


def test_every_command_of_the_readme_does_what_it_shows(made, tmp_path):
    run_page("README.md", made, tmp_path)
