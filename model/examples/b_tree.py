"""A B-tree that does what a key-value store does: each of its steps is one of the store, or changes nothing there.

A request is carried out in several steps: find the leaf, split full nodes from the top down, add the key to the leaf.
Words: a node is *free* if it is a leaf without keys; it is not in the tree yet. Inner nodes have a child for each of
their keys, for what is less than that key, and a *last* child for the rest. The *focus* is the leaf to change.

Source: L. Hochstein's btree.tla in tlaplus/Examples (btree), with the constants of btree.cfg. Counts:
374,727 distinct states and 2,820,091 generated (manifest.json); one worker of TLC prints a depth of 38. For one value,
TLC prints 4,455 and 22,243 and a depth of 38. The recursive FindLeafNode is a loop here: no path has more nodes than
the tree.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.examples.key_value_store import (
    KEY_VALUE_STORE,
    KEYS,
    VALUES,
    Kind,
    Outcome,
    Request,
    Response,
    Store,
)
from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    array,
    choice,
    fifo,
    flag,
    member,
    optional,
    refines,
    require,
    state,
    subset,
)

NODES = Domain("nodes", "nodes of the tree", label=lambda n: f"n{n + 1}")
FULL = Bound("full", "the keys of a full node")

CLIENT = Actor("client")
TREE = Actor("tree")


class Phase(Enum):
    """What happens next."""

    READY = "ready"
    GET = "get value"
    FIND = "find leaf to add"
    CHOOSE = "which to split"
    ADD = "add to leaf"
    UPDATE = "update leaf"
    SPLIT_LEAF = "split leaf"
    SPLIT_INNER = "split inner"
    SPLIT_ROOT = "split root"


@state
class TreeNode:
    """A node: a leaf with values, or an inner node with children."""

    is_leaf: bool = flag(default=True)
    keys: frozenset[int] = subset(KEYS)
    values: Array[int | None] = array(KEYS, optional(VALUES))
    children: Array[int | None] = array(KEYS, optional(NODES))
    last: int | None = optional(NODES)

    @property
    def is_free(self) -> bool:
        """Whether it is not in the tree."""
        return self.is_leaf and not self.keys

    def child_for(self, key: int) -> int | None:
        """The child of the least larger key."""
        larger = [k for k in KEYS if k in self.keys and k > key]
        return self.children[larger[0]] if larger else self.last


@state
class Tree:
    """The nodes, the request, and how far it is carried out."""

    root: int = member(NODES)
    nodes: Array[TreeNode] = array(NODES, TreeNode)
    focus: int | None = optional(NODES)
    to_split: Fifo[int] = fifo(NODES, NODES.bound)
    request: Request | None = optional(Request)
    response: Response | None = optional(Response)
    phase: Phase = choice(Phase)

    def leaf_for(self, key: int) -> int:
        """The leaf in which a key is, or would be."""
        node = self.root
        for _ in NODES:
            child = self.nodes[node].child_for(key)
            if not self.nodes[node].is_leaf and child is not None:
                node = child
        return node

    def parent_of(self, node: int) -> int:
        """The parent of a node that is not the root."""
        return next(n for n in NODES if node in self.nodes[n].children or self.nodes[n].last == node)

    def split(self, one: int, other: int) -> int:
        """Move the larger keys of a node to a free one; return the pivot, which only a leaf keeps."""
        left, right = self.nodes[one], self.nodes[other]
        pivot = sorted(left.keys)[len(left.keys) // 2]
        right.is_leaf = left.is_leaf
        right.keys = frozenset(k for k in left.keys if k > pivot or (k == pivot and left.is_leaf))
        if not left.is_leaf:
            right.last, left.last = left.last, left.children[pivot]
        left.keys = frozenset(k for k in left.keys if k < pivot)
        for k in KEYS:
            if k in right.keys:
                right.values[k], left.values[k] = left.values[k], None
                right.children[k], left.children[k] = left.children[k], None
        return pivot


@action(by=CLIENT, description="asks for {request}", source="GetReq, InsertReq, UpdateReq")
def ask(tree: Tree, request: Request) -> None:
    """A request comes while there is no other."""
    require(tree.phase is Phase.READY and (request.kind is Kind.GET) == (request.value is None))
    tree.request, tree.response = request, None
    if request.kind is Kind.UPDATE:
        tree.focus, tree.phase = tree.leaf_for(request.key), Phase.UPDATE
    else:
        tree.phase = Phase.GET if request.kind is Kind.GET else Phase.FIND


@action(by=TREE, description="gets the value", source="GetValue")
def get(tree: Tree) -> None:
    """The value of the key is returned."""
    require(tree.phase is Phase.GET)
    assert tree.request is not None
    key = tree.request.key
    leaf = tree.nodes[tree.leaf_for(key)]
    tree.response = Response(Outcome.VALUE, leaf.values[key]) if key in leaf.keys else Response(Outcome.MISSING)
    tree.phase = Phase.READY


@action(by=TREE, description="updates the value", source="UpdateLeaf")
def update(tree: Tree) -> None:
    """The value of a key that is there changes."""
    require(tree.phase is Phase.UPDATE)
    assert tree.request is not None and tree.focus is not None
    request, leaf = tree.request, tree.nodes[tree.focus]
    tree.response = Response(Outcome.OK if request.key in leaf.keys else Outcome.ERROR)
    if request.key in leaf.keys:
        leaf.values[request.key] = request.value
    tree.focus, tree.phase = None, Phase.READY


@action(by=TREE, description="finds the leaf", source="FindLeafToAdd")
def find_leaf(tree: Tree) -> None:
    """The leaf for a new key is found; if it is full, nodes have to be split."""
    require(tree.phase is Phase.FIND)
    assert tree.request is not None
    leaf = tree.leaf_for(tree.request.key)
    is_full = len(tree.nodes[leaf].keys) == FULL
    tree.focus, tree.to_split = leaf, [leaf] if is_full else []
    tree.phase = Phase.CHOOSE if is_full else Phase.ADD


@action(by=TREE, description="chooses what to split", source="WhichToSplit")
def choose(tree: Tree) -> None:
    """A node is split after its parent, if that is full."""
    require(tree.phase is Phase.CHOOSE)
    node = tree.to_split.head
    if node == tree.root:
        tree.phase = Phase.SPLIT_ROOT
    elif len(tree.nodes[tree.parent_of(node)].keys) == FULL:
        tree.to_split = [tree.parent_of(node)] + tree.to_split
    else:
        tree.phase = Phase.SPLIT_LEAF if tree.nodes[node].is_leaf else Phase.SPLIT_INNER


@action(by=TREE, description="splits the root", source="SplitRootLeaf, SplitRootInner")
def split_root(tree: Tree) -> None:
    """The root and a free node become children of another free node."""
    require(tree.phase is Phase.SPLIT_ROOT)
    assert tree.request is not None
    one, was_leaf = tree.to_split.head, tree.nodes[tree.root].is_leaf
    free = [n for n in NODES if tree.nodes[n].is_free]
    other, root = free[0], free[1]
    pivot = tree.split(one, other)
    tree.root, top = root, tree.nodes[root]
    top.is_leaf, top.keys, top.last = False, frozenset({pivot}), other
    top.children[pivot] = one
    if was_leaf:
        tree.focus = one if tree.request.key < pivot else other
    else:
        tree.to_split = []
    tree.phase = Phase.ADD


@action(by=TREE, description="splits a leaf", source="SplitLeaf")
def split_leaf(tree: Tree) -> None:
    """A leaf and a free node share its keys; the parent gets the pivot."""
    require(tree.phase is Phase.SPLIT_LEAF)
    assert tree.request is not None
    one, other = tree.to_split.head, next(n for n in NODES if tree.nodes[n].is_free)
    parent = tree.nodes[tree.parent_of(one)]
    pivot = tree.split(one, other)
    if parent.last == one:
        parent.last = other
    else:
        parent.children[next(k for k in KEYS if parent.children[k] == one)] = other
    parent.keys, parent.children[pivot] = parent.keys | {pivot}, one
    tree.focus, tree.phase = one if tree.request.key < pivot else other, Phase.ADD


@action(by=TREE, description="adds the key to the leaf", source="AddToLeaf")
def add(tree: Tree) -> None:
    """The key is added to the leaf, unless it is there."""
    require(tree.phase is Phase.ADD)
    assert tree.request is not None and tree.focus is not None
    request, leaf = tree.request, tree.nodes[tree.focus]
    tree.response, tree.phase = Response(Outcome.ERROR if request.key in leaf.keys else Outcome.OK), Phase.READY
    if request.key not in leaf.keys:
        leaf.keys, leaf.values[request.key] = leaf.keys | {request.key}, request.value


@always()
def inner_nodes_have_a_last_child(tree: Tree) -> bool:
    """A leaf has none."""
    return all(node.is_leaf == (node.last is None) for node in tree.nodes)


@always()
def keys_are_in_order(tree: Tree) -> bool:
    """The child for a key has smaller keys only."""
    inner = [(k, node.children[k]) for node in tree.nodes if not node.is_leaf for k in KEYS if k in node.keys]
    return all(child is not None and all(k > other for other in tree.nodes[child].keys) for k, child in inner)


@always()
def leaves_share_no_keys(tree: Tree) -> bool:
    """A key is in one leaf."""
    return all(sum(node.is_leaf and key in node.keys for node in tree.nodes) <= 1 for key in KEYS)


@always()
def free_nodes_remain(tree: Tree) -> bool:
    """There are enough nodes for all keys."""
    return any(node.is_free for node in tree.nodes)


def store_of(tree: Tree, store: Store) -> None:
    """The store has the values of the leaves."""
    for node in tree.nodes:
        for k in KEYS:
            if node.is_leaf and k in node.keys:
                store.values[k] = node.values[k]
    store.request, store.response, store.is_working = tree.request, tree.response, tree.phase is not Phase.READY


B_TREE = Scenario(
    name="b-tree",
    story="A client gets, inserts and updates values in a B-tree.",
    state=Tree,
    actions=(ask, get, update, find_leaf, choose, split_root, split_leaf, add),
    properties=(
        inner_nodes_have_a_last_child,
        keys_are_in_order,
        leaves_share_no_keys,
        free_nodes_remain,
        refines(KEY_VALUE_STORE, store_of),
    ),
    bounds={"keys": 4, "values": 3, "nodes": 8, "full": 2},
)
