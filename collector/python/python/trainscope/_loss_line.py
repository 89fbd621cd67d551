"""The line of a program that computes what it calls `backward` on, read from its source."""

from __future__ import annotations

import ast
import functools

from trainscope import _source


@functools.lru_cache(maxsize=64)
def line_of_loss(file: str, line: int) -> int:
    """Line of the assignment whose value the backward pass in `line` begins with; `line` if there is none above it.

    Assignments that only change the value are not meant: `loss = loss / 4`, `loss += penalty`.
    """
    try:
        tree = ast.parse("".join(_source.lines_of(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line
    names = _names_at(tree, line)
    found = line
    for statement in _statements_around(tree, line):
        target = _assigned(statement)
        if statement.lineno >= line or not target & names:
            continue
        value = getattr(statement, "value", None)
        is_change = isinstance(statement, ast.AugAssign) or (value is not None and _names_in(value) & target & names)
        if not is_change and (found == line or statement.lineno > found):
            found = statement.lineno
    return found


def _names_at(tree: ast.AST, line: int) -> set[str]:
    """Names of what is passed to or has the `backward` that is called in a line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if not node.lineno <= line <= (node.end_lineno or node.lineno) or "backward" not in node.func.attr:
            continue
        owner = node.func.value
        # In `accelerator.backward(loss)` and `scaler.scale(loss).backward()`: the argument is meant.
        parts = node.args[:1] or (owner.args if isinstance(owner, ast.Call) else [owner])
        return set().union(*(_names_in(part) for part in parts))
    return set()


def _names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _statements_around(tree: ast.Module, line: int) -> list[ast.stmt]:
    """Statements of the innermost function around a line, without those of other functions in it."""
    body: list[ast.stmt] = tree.body
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0):
            # An inner one comes after those around it.
            body = node.body
    statements: list[ast.stmt] = []
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            statements.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return statements


def _assigned(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target]
    else:
        return set()
    return set().union(*(_names_in(target) for target in targets if isinstance(target, (ast.Name, ast.Tuple, ast.List))))
