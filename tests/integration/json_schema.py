# SPDX-License-Identifier: MIT
"""The part of JSON Schema that docs/schema uses, and one rule more: members stand in the order of
`properties`.
"""
import json
import re

TYPES = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list,
         "object": dict, "null": type(None)}
KNOWN = {"$schema", "title", "description", "type", "const", "enum", "required", "properties",
         "additionalProperties", "items", "anyOf", "minimum", "pattern"}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def faults(value, schema, where="$"):
    """What is wrong with a value, as sentences; none: nothing."""
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{where}: the schema says {sorted(unknown)}, which this reader does not know"]
    found = []
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(has_type(value, name) for name in types):
        return [f"{where}: {value!r} is no {' or '.join(types)}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"] and value is not None:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} is not like {schema['pattern']}")
    if "minimum" in schema and has_type(value, "number") and value < schema["minimum"]:
        found.append(f"{where}: {value} is below {schema['minimum']}")
    if "anyOf" in schema and all(faults(value, one, where) for one in schema["anyOf"]):
        found.append(f"{where}: {value!r} is like none of what it may be")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += faults(item, schema["items"], f"{where}[{i}]")
    if isinstance(value, dict):
        found += object_faults(value, schema, where)
    return found


def object_faults(value, schema, where):
    properties = schema.get("properties", {})
    found = [f"{where}: '{name}' is missing" for name in schema.get("required", [])
             if name not in value]
    more = schema.get("additionalProperties", {})
    for name, member in value.items():
        if name in properties:
            found += faults(member, properties[name], f"{where}.{name}")
        elif more is False:
            found.append(f"{where}: '{name}' is in no table")
        else:
            found += faults(member, more, f"{where}.{name}")
    order = [name for name in value if name in properties]
    if order != [name for name in properties if name in value]:
        found.append(f"{where}: the members {order} are not in the order of the schema")
    return found


def load(folder):
    """type -> schema"""
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
