"""Arguments and options of a command, made from the fields of a call.

    @click.command(cls=SectionedCommand)
    @call_options(SearchCall)
    def search(call: SearchCall) -> None: ...

The `Flag` of a field (`base/calls.py`) declares its option.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, Literal, TypeVar, get_args, get_origin

import annotated_types
import click
from click.core import ParameterSource
from pydantic import ValidationError, WithJsonSchema
from pydantic.fields import FieldInfo

from base.calls import Call, Flag, Section, first_refusal
from base.terminal.parameters import completing, option_section

Command = TypeVar("Command", bound=Callable[..., Any])
CallT = TypeVar("CallT", bound=Call)
Completions = Mapping[str, Callable[[], Iterable[str]]]
SECTIONS = tuple(Section)


def call_options(
    call: type[Call],
    completions: Completions | None = None,
    *,
    without: Collection[str] = (),
) -> Callable[[Command], Command]:
    """Return a decorator that adds the fields of a call; the command receives the call as `call`.

    Args:
        call: the class of the call.
        completions: functions by field that return its values, for completion in the shell.
        without: fields that get no option.
    """
    offered = [
        name for name, field in call.model_fields.items() if not flag_of(field).hidden and name not in without
    ]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(**values: Any) -> Any:
            given = given_options(click.get_current_context())
            options = {name: values.pop(name) for name in offered}
            made = made_call(call, {name: value for name, value in options.items() if name in given})
            return command(call=made, **values)

        for parameter in reversed(field_options(call, offered, completions)):
            called = parameter(called)
        return called  # type: ignore[return-value]

    return decorate


def field_options(
    call: type[Call],
    names: Iterable[str],
    completions: Completions | None = None,
) -> list[Callable[[Any], Any]]:
    """Return the click decorators of some fields: arguments first, then options by section."""
    named = [(name, call.model_fields[name]) for name in names]
    named.sort(key=lambda each: _position(each[1]))
    return [_parameter(name, field, (completions or {}).get(name)) for name, field in named]


def flag_of(field: FieldInfo) -> Flag:
    """Return the `Flag` of a field; the default one if it has none."""
    return next((each for each in field.metadata if isinstance(each, Flag)), Flag())


def given_options(context: click.Context) -> set[str]:
    """Return the names of the parameters that the command line contains."""
    return {
        name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def made_call(
    call: type[CallT],
    values: Mapping[str, Any],
    names: Mapping[str, str] = {},
) -> CallT:
    """Make a call from values of the command line.

    Raises:
        UsageError: a value is invalid; the message starts with the option of the field, or that in `names`.
    """
    try:
        return call(**values)
    except ValidationError as error:
        place, message = first_refusal(error)
        name = place.partition(".")[0]
        field = call.model_fields.get(name)
        where = names.get(name) or (_names(name, field)[-1] if field else place)
        raise click.UsageError(f"{where}: {message}") from None


def _position(field: FieldInfo) -> tuple[bool, int, bool]:
    flag = flag_of(field)
    return not flag.argument, SECTIONS.index(flag.section) if flag.section else 0, _is_list(field)


def _names(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return the name of an argument, or the names of an option, the long one last."""
    flag = flag_of(field)
    if flag.argument:
        return (name.upper(),)
    if flag.name.startswith("--") or len(name) == 1:
        return (flag.name,)
    return *filter(None, [flag.name]), f"--{name.replace('_', '-')}"


def _parameter(
    name: str, field: FieldInfo, names: Callable[[], Iterable[str]] | None
) -> Callable[[Any], Any]:
    flag = flag_of(field)
    if flag.argument:
        return click.argument(name, required=field.is_required())
    options: dict[str, Any] = {"help": flag.help or field.description, "metavar": flag.metavar}
    if _value_type(field) is bool:
        options |= {"is_flag": True}
        if field.default:  # the option is --no-…
            options |= {"callback": lambda _, __, value: not value}
    elif _is_list(field):
        options |= {"multiple": True, "callback": _split if flag.commas else None}
        options["help"] += " Repeatable."
    else:
        options |= {"type": _click_type(field)}
        if field.is_required():
            options |= {"required": True}
        elif field.default is not None:
            options |= {"default": field.default, "show_default": True}
    if names:
        options["shell_complete"] = completing(names, files=flag.commas)
    option = click.option(*_names(name, field), name, **options)
    return option_section(flag.section, option) if flag.section else option


def _split(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split values at commas; raise BadParameter if no name is left."""
    names = tuple(filter(None, map(str.strip, ",".join(values).split(","))))
    if values and not names:
        raise click.BadParameter("no name is given")
    return names


def _value_type(field: FieldInfo) -> Any:
    """Return the type of a field's values without None."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    is_optional = type(None) in get_args(field.annotation)
    return kinds[0] if is_optional else field.annotation


def _is_list(field: FieldInfo) -> bool:
    return get_origin(_value_type(field)) in {tuple, frozenset}


def _click_type(field: FieldInfo) -> click.ParamType[Any] | type:
    """Return the click type: choices, or a number within its bounds."""
    kind = _value_type(field)
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if not flag_of(field).metavar and (values := _described_values(field)):
        return click.Choice(values)
    if kind not in {int, float}:
        return str
    bounds = {type(each): each for each in field.metadata}
    if annotated_types.Lt in bounds:  # a 64-bit bound, which the help leaves out
        return int if kind is int else float
    least, above = bounds.get(annotated_types.Ge), bounds.get(annotated_types.Gt)
    most = bounds.get(annotated_types.Le)
    range_of = click.IntRange if kind is int else click.FloatRange
    return range_of(
        least.ge if least else above.gt if above else None,
        most.le if most else None,
        min_open=above is not None,
    )


def _described_values(field: FieldInfo) -> list[str]:
    """Return the values that the JSON schema of a field lists."""
    schemas = [each.json_schema or {} for each in field.metadata if isinstance(each, WithJsonSchema)]
    listed = [each.get("enum", []) for schema in schemas for each in (schema, *schema.get("anyOf", ()))]
    return [str(value) for values in listed for value in values]
