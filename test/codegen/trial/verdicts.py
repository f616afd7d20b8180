"""Judges values by Python's jsonschema, a validator that shares no code with ours.

Reads lines of {"schema": …, "value": …} and writes true, false or null (no
verdict: the schema is unsound for it, or refers to another document) for each.
"""
import json
import sys
from decimal import Decimal

from jsonschema import Draft7Validator, Draft202012Validator


def number(text):
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else exact


def mend(schema, tuples):
    """Puts habits that every dialect is given credit for into its words."""
    if isinstance(schema, list):
        return [mend(s, tuples) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key in ("const", "enum", "default", "examples"):
            out[key] = value
        elif key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies") and isinstance(value, dict):
            out[key] = {name: mend(s, tuples) for name, s in value.items()}
        else:
            out[key] = mend(value, tuples)
    if tuples:
        if isinstance(out.get("items"), list):
            out["prefixItems"] = out.pop("items")
            if "additionalItems" in out:
                out["items"] = out.pop("additionalItems")
        for name, needs in out.pop("dependencies", {}).items():
            out.setdefault("dependentRequired" if isinstance(needs, list) else "dependentSchemas", {})[name] = needs
    for bound, beside in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(out.get(bound), bool):
            if out.pop(bound) and beside in out:
                out[bound] = out[beside]
    if out.pop("nullable", False) is True:
        kept = {k: out.pop(k) for k in ("$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions") if k in out}
        out = {**kept, "anyOf": [out, {"type": "null"}]}
    return out


validators = {}


def validator_of(schema):
    key = json.dumps(schema, default=str)
    if key not in validators:
        draft7 = "draft-07" in str(schema.get("$schema", "")) if isinstance(schema, dict) else False
        kind = Draft7Validator if draft7 else Draft202012Validator
        try:
            mended = mend(schema, not draft7)
            kind.check_schema(mended)
            validators[key] = kind(mended)
        except Exception:
            validators[key] = None
    return validators[key]


def main():
    for line in sys.stdin:
        case = json.loads(line, parse_float=number)
        try:
            verdict = validator_of(case["schema"]).is_valid(case["value"])
        except Exception:  # whatever it is, it is no verdict
            verdict = None
        print(json.dumps(verdict))


main()
