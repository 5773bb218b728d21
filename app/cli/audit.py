"""`lexicue audit`: the experiments as commands, one file each. In: arguments. Out: lines for people or JSON, a page, an
exit code for CI. Main thread."""

from importlib.util import find_spec

import typer

app = typer.Typer(help="Experiments on Lexicue, on another server, or on the bare library.", no_args_is_help=True)


def _register() -> None:
    from app.cli.audit_determinism import determinism
    from app.cli.audit_recall import recall
    from app.cli.audit_replay import replay
    from app.cli.audit_session import ending_plainly
    from app.cli.audit_truncation import truncation

    for command in (truncation, determinism, recall, replay):
        app.command()(ending_plainly(command))


def _without_extra() -> None:
    """Needs two more packages."""
    typer.secho("Audits need two more packages: pip install 'lexicue[audit]'.", err=True, fg=typer.colors.RED)
    raise typer.Exit(2)


# A server does without error rates and HTML pages.
if all(map(find_spec, ("jinja2", "jiwer"))):
    _register()
else:
    for name in ("truncation", "determinism", "recall", "replay"):
        app.command(name, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(_without_extra)
