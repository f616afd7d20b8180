"""A command-line tool for tests, built with click as many tools are.

With KIT_LOOP set it reads command lines, each a JSON array of words, from standard
input, and writes for each how click has read it.
"""

import contextlib
import io
import json
import os
import sys

import click
from click import Argument as Arg
from click import Option as Opt
from click.core import ParameterSource

ran = []


def name_of(option):
    """Returns the long spelling of an option, else the short one, without dashes."""
    return max(option.opts, key=len).lstrip("-")


def texts(value):
    """Returns a value as a list of texts."""
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in texts(v)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return [f"{value:g}" if isinstance(value, float) else str(value)]


def record(**_):
    """Notes what click has made of the words. All commands call it."""
    args, flags, ctx = [], {}, click.get_current_context()
    path = ctx.command_path
    while ctx:
        for param in ctx.command.params:
            if ctx.get_parameter_source(param.name) == ParameterSource.COMMANDLINE:
                value = texts(ctx.params[param.name])
                if isinstance(param, Arg):
                    args = value + args if ctx.command_path != path else args + value
                else:
                    flags[name_of(param)] = value
        ctx = ctx.parent
    ran.append({"path": path, "args": args, "flags": flags})


def command(parent, name, text, *params, **settings):
    parent.add_command(click.Command(name, callback=record, params=list(params), help=text, **settings))


def group(parent, name, text, *params, **settings):
    made = click.Group(name, params=list(params), help=text, **settings)
    parent.add_command(made)
    return made


def switch(*names):
    return Opt(names, is_flag=True, help="A switch.")


kit = click.Group("kit", params=[Opt(["--trace"], is_flag=True, help="Say more.")], help="Kit keeps things for tests.")
command(
    kit, "get", "Show things.",
    Opt(["-o", "--output"], help="The form of the output."),
    Opt(["--output-file"], type=click.Path(), help="Write into this file."),
    Opt(["-a", "--all"], is_flag=True, help="Hidden things, too."),
    Opt(["--limit"], type=int, default=10, show_default=True, help="How many."),
    Opt(["--share"], type=float, help="How much of it."),
    Opt(["-l", "--label"], multiple=True, help="Only those with this label; can be given several times. [repeatable]"),
    Opt(["--color"], type=click.Choice(["auto", "always", "never"]), help="When to use colors."),
    Opt(["--cache/--no-cache"], default=True, help="Use what was kept."),
    Opt(["-s/-S", "--sort/--unsorted"], help="In order."),
    Opt(["-v", "--verbose"], count=True, help="Say more."),
    Opt(["-x"], help="Without a long name."),
    Opt(["--user"], is_flag=False, flag_value="me", help="Whose; mine without a value."),
    Opt(["--pair"], nargs=2, help="Two words."),
    Opt(["--pairs"], nargs=2, multiple=True, help="Two words, several times."),
    Opt(["--point"], type=(str, str), help="Two words of a tuple."),
    Arg(["name"], nargs=-1, required=True),
)
force = ["-f", "--force"]
command(kit, "apply", "Change things.", switch(*force), switch("--server-side"), Opt(["--field"], help="One field."), Arg(["file"]))
command(kit, "delete", "Delete a thing.", switch(*force), Arg(["name"]))
command(kit, "copy", "Copy things.", switch(*force), Arg(["src"], nargs=-1), Arg(["dst"]))
command(kit, "span", "Two places.", switch(*force), Arg(["ends"], nargs=2))
command(
    kit, "run", "Run a program.", switch(*force), Arg(["words"], nargs=-1, type=click.UNPROCESSED),
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
config = group(kit, "config", "Settings.")
command(config, "view", "Print the settings.")
command(config, "set", "Change a setting.", switch(*force), Arg(["key"]), Arg(["value"], required=False))
remote = group(config, "remote", "Other places.")
command(remote, "add", "Add a place.", switch(*force), Arg(["name"]))
# A group with a value of its own, which stands before the subcommand.
store = group(kit, "store", "Where things are.", Arg(["place"], required=False), invoke_without_command=True)
store.callback = lambda **_: click.get_current_context().invoked_subcommand or record()
command(store, "drop", "Empty the store.", switch(*force), Arg(["what"], required=False))
command(store, "wipe", "Empty it for good.", switch(*force))
# Subcommands that can follow each other.
pipe = group(kit, "pipe", "Steps one after another.", chain=True)
command(pipe, "pack", "Pack things.", Arg(["name"], required=False))
command(pipe, "wipe", "Throw things away.", switch(*force))


def read(words):
    """Returns how click reads words."""
    ran.clear()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            kit.main(args=words, prog_name="kit", standalone_mode=False)
    except click.ClickException as e:
        return {"error": e.format_message()}
    if len(ran) != 1:
        return {"error": "no command was run"} if not ran else {"path": " + ".join(r["path"] for r in ran), "args": [], "flags": {}}
    return ran[0]


if "KIT_LOOP" in os.environ:
    for line in sys.stdin:
        print(json.dumps(read(json.loads(line))), flush=True)
else:
    kit(prog_name="kit")
